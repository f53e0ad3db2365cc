"""What the interpreter knows about a value: little, but never more than is so.

A value is one of the frozen classes below. ``UNKNOWN`` is the honest answer for everything else; nothing is ever
concluded from it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from tfmemlint.interpreter.scopes import Scope
    from tfmemlint.model.finding import Span


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything at all."""


UNKNOWN = Unknown()


@dataclass(frozen=True, slots=True)
class Const:
    """A Python constant: int, float, str, bytes, bool, None."""

    value: Any


@dataclass(frozen=True, slots=True)
class Ref:
    """Something imported, by its canonical dotted name (``tf.config.list_physical_devices``, ``os.environ``).

    TensorFlow's names start with ``tf.``; ``tensorflow.compat.v2.x`` and ``tensorflow.x`` are both ``tf.x``. What is
    not TensorFlow's keeps its own name. ``device_lib`` is ``tf.python.client.device_lib``.
    """

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """Which list, set or dictionary it is, among all that look alike: what was put into it later is in the heap.

    Attributes:
        number: tells whether it was there before something else was made. first: what it was made with.
        watched: what it holds may be called, or is yet to come, so that it matters when it is looked at.
    """

    number: int
    first: Seq | Dict
    watched: bool


@dataclass(frozen=True, slots=True)
class Seq:
    """A list, tuple or set whose items are all known to be there (each may itself be UNKNOWN).

    ``cell``: which one it is; None for what can't be changed, or isn't known by anything else.
    """

    items: tuple[Value, ...]
    kind: str = "list"
    cell: Cell | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Dict:
    """A dictionary with constant string keys; ``open`` when there may be others.

    ``default``: what makes the value of a key that isn't there, as in a ``defaultdict``. ``cell``: as of a `Seq`.
    """

    items: Mapping[str, Value] = field(default_factory=dict, hash=False)
    open: bool = False
    default: Value | None = None
    cell: Cell | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Field:
    """What a dataclass says of one of its fields: ``dataclasses.field(...)``.

    Attributes:
        default: its value where none is given. factory: what makes one then. init: whether one can be given.
    """

    default: Value | None = None
    factory: Value | None = None
    init: bool = True
    keyword_only: bool | None = None


@dataclass(frozen=True, slots=True)
class Devices:
    """A list of devices that TensorFlow returned.

    Attributes:
        kind: ``physical`` (``list_physical_devices``), ``logical`` (``list_logical_devices``), ``local``
            (``device_lib.list_local_devices``: DeviceAttributes).
        type: ``GPU``, ``CPU``, or None for all types.
        whole: the list holds every device of its type; False after a slice or a filter that isn't understood.
        names: the list holds the devices' names (strings), not the devices.
        first: of a slice of the whole list, how many of the first ones it has.
    """

    kind: str
    type: str | None
    whole: bool = True
    names: bool = False
    first: int | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """One device out of a list.

    Attributes:
        kind, type: as in `Devices`.
        index: its number; a string that names an index expression (``args.gpu``) whose value isn't known; or ``each``
            for the variable of a loop over the whole list.
        loop: it is the variable of a loop over devices (in the loop's first pass ``index`` is 0, then ``each``).
    """

    kind: str
    type: str | None
    index: int | str | None = None
    loop: bool = False

    @property
    def each(self) -> bool:
        """Whether this stands for every device of a loop in turn."""
        return self.loop or self.index == EACH


EACH = "each"


@dataclass(frozen=True, slots=True)
class Count:
    """How many devices a list has: ``len(gpus)``."""

    of: Devices


@dataclass(frozen=True, slots=True)
class Indices:
    """The numbers of the devices of a list: ``range(len(gpus))``."""

    of: Devices


@dataclass(frozen=True, slots=True)
class Index:
    """One of those numbers, as the variable of a loop."""

    device: Device


@dataclass(frozen=True, slots=True)
class Zipped:
    """``zip(...)`` or ``enumerate(...)`` of values, to be iterated together."""

    parts: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class DeviceName:
    """The ``name`` of a device: a string such as ``/physical_device:GPU:0`` or ``/device:GPU:0``."""

    device: Device


@dataclass(frozen=True, slots=True)
class Limit:
    """A ``LogicalDeviceConfiguration``: its ``memory_limit`` in MiB, or None where it was not given."""

    value: Value | None


@dataclass(frozen=True, slots=True)
class Made:
    """What a call of a named thing returned (``Made('tf.distribute.MirroredStrategy')``).

    A method of it is called ``tf.distribute.MirroredStrategy().scope``. ``serial`` tells two results of one call apart.
    """

    name: str
    serial: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Proto:
    """A ``ConfigProto``, ``GPUOptions`` or the like, or a part of one: a mutable message; compared by identity.

    Attributes:
        name: its canonical type (``tf.compat.v1.ConfigProto``).
        record: what is known of the whole message, shared by all its parts.
        prefix: where in the whole message this part stands (``gpu_options.``), or "".
    """

    name: str
    record: ProtoRecord
    prefix: str = ""


@dataclass(slots=True, eq=False)
class ProtoRecord:
    """A message's fields by dotted name, where each was set, and whether anything ever got the message."""

    fields: dict[str, Value] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    consumed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function or lambda of the program, with the scope it closes over."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    decorators: tuple[Value, ...] = ()
    bound: Value | None = None
    setter: Function | None = None
    """Of a property: what is called when it is set."""


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """``functools.partial(...)``: what is called, and the arguments that it gets first."""

    function: Value
    args: tuple[Value, ...]
    keywords: Mapping[str, Value]


@dataclass(frozen=True, slots=True, eq=False)
class Lazy:
    """A generator, a generator expression, a ``map``: nothing of it has run yet.

    Attributes:
        run: go through it; the function is given each value. quiet: it can't configure anything.
    """

    run: Callable[[Callable[[Value], None]], Value]
    quiet: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Thread:
    """A ``threading.Thread`` that hasn't been started."""

    function: Value
    args: tuple[Value, ...]
    keywords: Mapping[str, Value]


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """A class of the program; ``members`` are the names that its body binds (what is set later is in the heap)."""

    node: ast.ClassDef
    scope: Scope
    bases: tuple[Value, ...] = ()
    members: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An object of a class of the program; its attributes are in the heap."""

    cls: Class


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A module of the project's own; its attributes are the names of ``scope``."""

    name: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several values that may be called: a function that is defined in one of two branches, say.

    Where one of the ways gives a constant it is left out: what can't be called is not meant by a call.
    """

    options: tuple[Value, ...]


MOST_OPTIONS = 6

Value: TypeAlias = (
    "Unknown | Const | Ref | Seq | Dict | Field | Devices | Device | Count | Indices | Index | Zipped | DeviceName "
    "| Limit | Made | Proto | Function | Partial | Lazy | Thread | Class | Instance | Module | Choice"
)
_CALLED = (Function, Partial, Lazy, Class, Instance, Module, Choice)


def join(left: Value | None, right: Value | None) -> Value:
    """What is known where two ways through the program meet: what both agree on."""
    if left is right and left is not None:
        return left
    if isinstance(left, (Seq, Dict)) and isinstance(right, (Seq, Dict)) and left.cell is right.cell is not None:
        # One and the same; what is in it is joined in the heap.
        return left
    if isinstance(left, _CALLED) or isinstance(right, _CALLED):
        return _either(left or UNKNOWN, right or UNKNOWN)
    if left is None or right is None:
        known = left if left is not None else right
        if isinstance(known, Proto):
            known.record.consumed = True
        return UNKNOWN
    if holds_code(left) or holds_code(right):
        return _either(left, right)
    try:
        if left == right and type(left) is type(right):
            # 1 == True == 1.0 in Python, but they are three different values to TensorFlow.
            if isinstance(left, Const) and not _same_constant(left, right):
                return UNKNOWN
            # Of two lists with the same in them it may be either.
            return replace(left, cell=None) if isinstance(left, (Seq, Dict)) and left.cell is not None else left
    except (TypeError, ValueError):
        return UNKNOWN
    for lost in (left, right):
        if isinstance(lost, Proto):
            # It lives on under a name that may as well mean something else: nobody can say who gets it.
            lost.record.consumed = True
    if isinstance(left, Seq) and isinstance(right, Seq) and len(left.items) == len(right.items):
        return Seq(tuple(join(a, b) for a, b in zip(left.items, right.items, strict=True)), left.kind)
    return UNKNOWN


def _either(left: Value, right: Value) -> Value:
    """Any of two values, one of which may be called."""
    options: list[Value] = []
    for value in (left, right):
        for option in value.options if isinstance(value, Choice) else (value,):
            if isinstance(option, (Seq, Dict)):
                if not any(is_same(option, known) for known in options):
                    options.append(option)
                continue
            if isinstance(option, Proto):
                option.record.consumed = True
            if isinstance(option, Const) or (option != UNKNOWN and not isinstance(option, (*_CALLED, Ref))):
                option = UNKNOWN if not isinstance(option, Const) else option
            if not isinstance(option, Const) and option not in options:
                options.append(option)
    return Choice(tuple(options)) if len(options) <= MOST_OPTIONS else UNKNOWN


def parts(value: Value) -> tuple[Value, ...]:
    """What is in a list or a dictionary, or may be meant by a choice; of all else, nothing."""
    match value:
        case Seq(items):
            return items
        case Dict(items):
            return tuple(items.values())
        case Choice(options):
            return options
        case _:
            return ()


def is_called(value: Value) -> bool:
    """Whether a value is code of the program's own, or has some."""
    if isinstance(value, Seq):
        return any(is_called(item) for item in value.items)
    if isinstance(value, Dict):
        return any(is_called(item) for item in value.items.values())
    return isinstance(value, _CALLED)


def holds_code(value: Value | None) -> bool:
    """Whether a value is a list or a dictionary that it matters to tell from others: code is in it, or may come."""
    return isinstance(value, (Seq, Dict)) and ((value.cell is not None and value.cell.watched) or is_called(value))


def is_same(left: Value, right: Value) -> bool:
    """Whether two values are one list or dictionary, with the same in it."""
    if not isinstance(left, (Seq, Dict)) or not isinstance(right, (Seq, Dict)):
        return False
    return left.cell is right.cell and left == right


def join_contents(cell: Cell, left: Value | None, right: Value | None) -> Value:
    """What is in a list or a dictionary where two ways meet; None for a way on which it is as it was made."""
    ways: list[Value] = []
    for value in (left, right):
        for one in value.options if isinstance(value, Choice) else (value,):
            content = as_made(cell) if one is None else one
            if not isinstance(content, (Seq, Dict)):
                return UNKNOWN
            if not any(_as_equal(content, known) for known in ways):
                ways.append(content)
    if len(ways) == 1:
        return ways[0]
    if len(ways) > MOST_OPTIONS:
        return UNKNOWN
    if any(map(is_called, ways)):
        return Choice(tuple(ways))
    first, other = ways[0], ways[1]
    if len(ways) == 2 and isinstance(first, Seq) and isinstance(other, Seq) and len(first.items) == len(other.items):
        return Seq(tuple(join(a, b) for a, b in zip(first.items, other.items, strict=True)), first.kind, cell)
    return UNKNOWN


def _as_equal(left: Value, right: Value) -> bool:
    """Whether two contents are the same, constants by their types, too."""
    if isinstance(left, Seq) and isinstance(right, Seq):
        return len(left.items) == len(right.items) and all(map(_is_equal, left.items, right.items))
    if isinstance(left, Dict) and isinstance(right, Dict):
        return (
            left.open is right.open
            and list(left.items) == list(right.items)
            and all(map(_is_equal, left.items.values(), right.items.values()))
        )
    return False


def _is_equal(left: Value, right: Value) -> bool:
    return left is right or (left == right and (not isinstance(left, Const) or _same_constant(left, right)))


def as_made(cell: Cell) -> Seq | Dict:
    """A list or a dictionary as it was before anything was put into it."""
    return replace(cell.first, cell=cell)


def _same_constant(left: Const, right: Value) -> bool:
    return isinstance(right, Const) and type(left.value) is type(right.value)
