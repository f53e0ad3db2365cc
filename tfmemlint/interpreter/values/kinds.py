"""The values that hold other values, the scopes that bind names to values, and the modules that scopes belong to.

These types refer to each other: a function closes over a scope, a scope binds names to functions, and the outermost
scope belongs to a module. So they are defined together.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from tfmemlint.interpreter.values.leaves import (
    UNKNOWN,
    Const,
    Count,
    CountPlus,
    Device,
    DeviceName,
    Devices,
    Index,
    Indices,
    Made,
    Part,
    PassNumbers,
    Ref,
    TextMatch,
    Unknown,
)
from tfmemlint.model.records import dataclass, record

if TYPE_CHECKING:
    from tfmemlint.facts.reach import Reach
    from tfmemlint.facts.shapes import Shapes
    from tfmemlint.model.finding import Span
    from tfmemlint.sources import Source


@record(frozen=True, slots=True, eq=False)
class Cell:
    """The identity of a list, set or dictionary among all that look alike; its later contents are in the heap.

    Attributes:
        number: tells whether it was there before something else was made. first: what it was made with.
        watched: what it holds may be called, or is yet to come, so that it matters when it is looked at.
    """

    number: int
    first: Seq | Dict
    watched: bool


@record(frozen=True, slots=True)
class Seq:
    """A list, tuple or set whose items are all known to be there (each may itself be UNKNOWN).

    ``cell``: which one it is; None for what can't be changed, or isn't known by anything else.
    """

    items: tuple[Value, ...]
    kind: str = "list"
    cell: Cell | None = field(default=None, compare=False, repr=False)


@record(frozen=True, slots=True)
class Dict:
    """A dictionary whose keys are known (`tfmemlint.interpreter.values.keys`); ``open`` when there may be others.

    ``default``: what makes the value of a key that isn't there, as in a ``defaultdict``. ``cell``: as of a `Seq`.
    ``file``: the configuration file that has these keys, as reports name it; "" once the program has changed it.
    """

    items: Mapping[Any, Value] = field(default_factory=dict, hash=False)
    open: bool = False
    default: Value | None = None
    cell: Cell | None = field(default=None, compare=False, repr=False)
    file: str = field(default="", compare=False, repr=False)


@record(frozen=True, slots=True)
class Field:
    """The definition of a field of a dataclass: ``dataclasses.field(...)``.

    Attributes:
        default: its value where none is given. factory: what makes one then. init: whether one can be given.
    """

    default: Value | None = None
    factory: Value | None = None
    init: bool = True
    keyword_only: bool | None = None


@record(frozen=True, slots=True)
class Zipped:
    """``zip(...)`` or ``enumerate(...)`` of values, to be iterated together.

    ``made``: as of `Lazy`. ``listed``: its items are kept in a list.
    """

    parts: tuple[Value, ...]
    listed: bool = False
    made: tuple[str, Span] | None = field(default=None, compare=False, repr=False)


@record(frozen=True, slots=True)
class Limit:
    """A ``LogicalDeviceConfiguration``: its ``memory_limit`` in MiB, or None where it was not given.

    ``part``: the share of the GPU's memory that the program made it of.
    """

    value: Value | None
    part: Part | None = field(default=None, compare=False, repr=False)


@record(frozen=True, slots=True, eq=False)
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
    late: list[Any] = field(default_factory=list)
    """Events of fields that were set after a session had taken the message, and that no later one has taken."""
    taken: Any = None
    """The event of the last session that has taken the message."""
    setters: dict[str, Any] = field(default_factory=dict)
    """For each field, the shared fields of the event that set it (`operations.events.event_fields`)."""
    lost: list[Any] = field(default_factory=list)
    """Events of calls that have emptied the message, with the fields that nothing has set again since."""


@record(frozen=True, slots=True, eq=False)
class Function:
    """A function or lambda of the program, with the scope it closes over."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    decorators: tuple[Value, ...] = ()
    bound: Value | None = None
    setter: Value | None = None
    """Of a property: what is called when it is set."""
    deleter: Value | None = None
    """Of a property: what is called when it is deleted."""
    owner: Class | None = None
    """The class whose body defines it: where ``super()`` in it starts from."""


@record(frozen=True, slots=True, eq=False)
class Partial:
    """``functools.partial(...)``: what is called, and the arguments that it gets first."""

    function: Value
    args: tuple[Value, ...]
    keywords: Mapping[str, Value]


@record(frozen=True, slots=True, eq=False)
class Lazy:
    """A generator, a generator expression, a ``map``: nothing of it has run yet.

    Attributes:
        run: go through it; the function is given each value. quiet: it can't configure anything.
        awaitable: it is a coroutine. code: the function of which a part runs for each value, if that is known.
        made: the path and the place of the expression that has made it, if that is known.
    """

    run: Callable[[Callable[[Value], None]], Value]
    quiet: bool = False
    awaitable: bool = False
    code: Value = UNKNOWN
    made: tuple[str, Span] | None = None


@record(frozen=True, slots=True, eq=False)
class Thread:
    """A ``threading.Thread`` that hasn't been started."""

    function: Value
    args: tuple[Value, ...]
    keywords: Mapping[str, Value]


@record(frozen=True, slots=True, eq=False)
class Class:
    """A class of the program; ``members`` are the names that its body binds (what is set later is in the heap)."""

    node: ast.ClassDef
    scope: Scope
    bases: tuple[Value, ...] = ()
    members: dict[str, Value] = field(default_factory=dict)
    metaclass: Value | None = None


@record(frozen=True, slots=True, eq=False)
class Instance:
    """An object of a class of the program; its attributes are in the heap."""

    cls: Class


@record(frozen=True, slots=True, eq=False)
class Super:
    """``super()``: the names that a class and those before it in the lineage of the receiver's class do not answer."""

    owner: Class
    receiver: Value


@record(frozen=True, slots=True, eq=False)
class Property:
    """``property(...)``, ``functools.cached_property(...)``: what is called when it is got, set and deleted."""

    getter: Value | None = None
    setter: Value | None = None
    deleter: Value | None = None


@record(frozen=True, slots=True, eq=False)
class Module:
    """A module of the project's own; its attributes are the names of ``scope``."""

    name: str
    scope: Scope


@record(frozen=True, slots=True)
class Choice:
    """One of several values that may be called: a function that is defined in one of two branches, say.

    Where one of the ways gives a constant it is left out: what can't be called is not meant by a call.
    """

    options: tuple[Value, ...]


Value: TypeAlias = (
    "Unknown | Const | Ref | Seq | Dict | Field | Devices | Device | Count | CountPlus | Indices | Index | PassNumbers "
    "| Zipped | DeviceName | Limit | Made | Proto | Function | Partial | Lazy | Thread | Class | Instance | Super "
    "| Property | Module | Choice | TextMatch"
)


@dataclass(slots=True, eq=False)
class Scope:
    """The names of one function call, class body, or module."""

    parent: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)
    outer: frozenset[str] = frozenset()
    """Names declared ``global`` or ``nonlocal``."""
    local: frozenset[str] = frozenset()
    """Names that the function binds somewhere: they never mean an outer name."""
    is_class: bool = False
    number: int = 0
    """Tells one scope from another; 0 for that of the module that is run."""
    unit: ModuleInstance | None = None
    """The module whose names these are; only for the scope of a module."""
    aliases: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    """Parameters that are names of the caller's: that name, the number of its scope, and how often it was bound."""
    same_as: dict[str, tuple[str, int, int, int]] = field(default_factory=dict)
    """Names that mean a field of another one: the field, the number of that one's scope, and how often that one, and
    the name itself, were bound by then."""

    def lookup(self, name: str) -> Value | None:
        """The value of ``name`` as Python would find it, or None where no scope binds it."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if (first or not scope.is_class) and name in scope.names:
                return scope.names[name]
            if name in scope.local and name not in scope.outer and (first or not scope.is_class):
                return UNKNOWN
            scope, first = scope.parent, False
        return None

    def bind(self, name: str, value: Value) -> None:
        """Bind ``name`` where an assignment in this scope would."""
        self.home(name).names[name] = value

    def home(self, name: str) -> Scope:
        """The scope that an assignment to ``name`` in this one binds it in."""
        scope = self
        if name in self.outer:
            while scope.parent is not None and (scope is self or name not in scope.names):
                scope = scope.parent
        return scope

    def owner(self, name: str) -> Scope:
        """The scope whose ``name`` is meant here; that of the module where none has it."""
        scope = self
        while scope.parent is not None and name not in scope.local and name not in scope.names:
            scope = scope.parent
        return scope

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


@dataclass(slots=True, eq=False)
class ModuleInstance:
    """One module, as it is within one program.

    Attributes:
        name: its dotted name; ``__main__`` for the module that is run.
        package: what relative imports in it start from; None where they can't work (a plain script).
        scope: its names. stars: the modules of others that it star-imports from.
        running: its top level is being gone through. library: it is a model of something of Python's library.
    """

    source: Source
    tree: ast.Module
    reach: Reach
    shapes: Shapes
    name: str = "__main__"
    package: str | None = None
    scope: Scope = field(default_factory=Scope)
    stars: list[str] = field(default_factory=list)
    running: bool = False
    library: bool = False

    @property
    def configures(self) -> bool:
        """True if it has a word about configuring GPUs in it."""
        return self.shapes.configures

    def let_go(self) -> None:
        """Nobody asks for its names any more. Scopes, and the functions in them, hold each other: so that they don't
        stay, with the syntax tree, until Python looks for such circles."""
        for value in self.scope.names.values():
            if isinstance(value, Class) and value.scope is self.scope:
                value.members.clear()
        self.scope.names.clear()
        self.scope.unit = None
