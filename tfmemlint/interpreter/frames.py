"""The records that the interpreter keeps of where it is: frames, loops, handlers, snapshots, and ways out of blocks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from tfmemlint.interpreter.state import Guards, Handler, State
from tfmemlint.interpreter.values import Cell, Class, Dict, Function, Instance, ModuleInstance, Scope, Seq, Value
from tfmemlint.model.finding import Span, Step
from tfmemlint.model.records import dataclass, record

if TYPE_CHECKING:
    from tfmemlint.sources.config_files.values import Setting

Heap = Mapping[tuple[Instance | Class | Cell, str], Value]
"""The attributes of objects, the attributes that classes were given after their body, and, under an empty name, the
contents of each list, set or dictionary that was changed."""


Ways: TypeAlias = "tuple[Guards, ...]"
"""Ways to a place of a program, each by the conditions that hold on it."""
Write: TypeAlias = "tuple[Instance | Class | Scope | None, str, Value]"
"""A binding of a name outside of a call: whose (None: the receiver's), which, and to what."""


@dataclass(slots=True)
class Conditions:
    """Conditions of a program that do not hold together.

    Attributes:
        exclusions: guards of which not all hold, by the guard that says so.
        compared: by what was compared: the sets of constants of which it was asked whether it is one, and the guard of
            each such test.
        objects: by its id, each object of which a condition reads attributes or items, with a number of its own and the
            name that it had first.
        flags: by the number of the scope, then the name, of each variable that branches set to constants: how often it
            had been bound, and the ways on which it is true, each by the conditions that hold on it.
    """

    exclusions: dict[str, tuple[tuple[str, bool], ...]] = field(default_factory=dict)
    compared: dict[str, dict[frozenset[Hashable], str]] = field(default_factory=dict)
    objects: dict[int, tuple[object, int, str]] = field(default_factory=dict)
    flags: dict[int, dict[str, tuple[int, Ways]]] = field(default_factory=dict)

    def object_named(self, value: object, name: str) -> tuple[int, str]:
        """Return a number that tells an object from all others, and the name that it goes by: the first that it had."""
        return self.objects.setdefault(id(value), (value, len(self.objects), name))[1:]


@dataclass(slots=True)
class ConfigFiles:
    """The configuration files that a program has asked for.

    Attributes:
        found: what is in each, by its absolute path; None for one that is not there, or that is not read.
        requests: the number of times that it has asked. written: the files that it may write itself.
    """

    found: dict[str, Setting | None] = field(default_factory=dict)
    requests: int = 0
    written: set[str] = field(default_factory=set)


@record(frozen=True, slots=True)
class SettledCall:
    """The outcome of calling a function that configures nothing, kept so that its next call need not be followed.

    Attributes:
        starts: the call has started something. reads: the containers that it has read, with what the heap had of each.
        receiver: the object of a method that has read containers.
        fields: the empty lists and dictionaries that it has given its object as attributes.
        writes: what else it has bound outside of it. code: the attributes of the receiver that it calls.
        rebindings: how often a name of a module had been bound to other code before.
    """

    starts: bool
    reads: Mapping[Cell, Value | None]
    receiver: Value | None = None
    fields: tuple[tuple[str, Seq | Dict], ...] = ()
    writes: tuple[Write, ...] = ()
    code: tuple[Value | None, ...] = ()
    rebindings: int = 0


@record(frozen=True, slots=True)
class Consumer:
    """The place of the code that iterates over a generator, kept while the generator runs."""

    frames: tuple[Frame, ...]
    unit: ModuleInstance
    statement: ast.stmt | None
    loops: list[Loop]
    handlers: list[Catching]


@record(frozen=True, slots=True)
class Return:
    """A way out of a function: its value, all that callers can see of what the function has done, and the conditions
    within the function under which it is taken."""

    state: State
    value: Value
    heap: Heap
    module_names: dict[str, Value]
    guards: Guards = ()


DEFAULT_METHOD = "default"
"""The start method of processes where the program says nothing: by the system, and the release of Python."""


@record(frozen=True, slots=True, eq=False)
class Child:
    """A function that a new process runs.

    Attributes:
        function: it. args: what it is called with, as far as that is known. method: how the process is started:
            ``spawn``, ``forkserver``, ``fork``, `DEFAULT_METHOD`, or ``loky`` (which imports no module of the program's
            own).
        initializer: what the process calls before; None if nothing. fields: of an event where it is given the function.
        made: where the process is made, or the pool that it belongs to.
    """

    function: Function
    args: Sequence[Value]
    method: str
    initializer: Value | None
    fields: Mapping[str, Any]
    made: Span


@dataclass(slots=True)
class Children:
    """The processes that a program starts: how the next ones are ("": not known), what the last pool calls first in
    each and where it is made, and those noted."""

    method: str = DEFAULT_METHOD
    initializer: Value | None = None
    pool: Span | None = None
    noted: list[Child] = field(default_factory=list)


@dataclass(slots=True)
class Frame:
    """One function call, class body or module that is being interpreted.

    Attributes:
        returns: each ``return`` so far. guards: the conditions that held where it was called.
        call, site: where it is called, in words, and as code.
        on_yield: gets each value that a generator yields to ``consumer``.
    """

    function: str
    scope: Scope
    node: ast.AST
    call: Step | None = None
    returns: list[Return] = field(default_factory=list)
    receiver: Value | None = None
    cls: Value | None = None
    on_yield: Callable[[Value], None] | None = None
    consumer: Consumer | None = None
    guards: Guards = ()
    site: ast.AST | None = None

    def conditions_within(self, guards: Guards) -> Guards:
        """Return the conditions within the function that hold at one place of it."""
        count = len(self.guards)
        return guards[count:] if guards[:count] == self.guards else ()


@record(frozen=True, slots=True)
class Snapshot:
    """Everything that may differ between two paths through a program, at one point of it."""

    state: State | None
    names: dict[str, Value]
    module_names: dict[str, Value]
    heap: Heap


@dataclass(slots=True)
class Loop:
    """One loop that is being interpreted.

    Attributes:
        depth: the number of frames around it. devices: it iterates over devices. rebound: the names that it binds.
        repeated: this is a second pass. each: it has exactly as many passes as are interpreted.
        breaks, continues: the snapshots at each ``break`` and ``continue`` so far.
    """

    node: ast.AST
    depth: int
    devices: bool
    rebound: frozenset[str]
    repeated: bool = False
    each: bool = False
    breaks: list[Snapshot] = field(default_factory=list)
    continues: list[Snapshot] = field(default_factory=list)


@record(frozen=True, slots=True, eq=False)
class Catching:
    """The handlers of an enclosing ``try``, or its ``finally``.

    Attributes:
        group: the handlers. depth, loops: how many frames and loops there are around the ``try``.
        exits: of a ``finally``: the ways out of the ``try`` that pass through it; None for handlers.
    """

    group: tuple[Handler, ...]
    depth: int
    loops: int = 0
    exits: list[Exit] | None = None


@record(frozen=True, slots=True)
class Raised:
    """An exception of one of these names is raised; ``certain`` if the program ends unless something catches it."""

    state: State
    exceptions: tuple[str, ...]
    certain: bool


@record(frozen=True, slots=True)
class Returned:
    """A function returns."""

    state: State
    value: Value


@record(frozen=True, slots=True)
class Broken:
    """A loop is left by ``break``."""

    snapshot: Snapshot

    @property
    def state(self) -> State:
        """The state at the ``break``."""
        assert self.snapshot.state is not None
        return self.snapshot.state


@record(frozen=True, slots=True)
class Continued:
    """A pass of a loop ends by ``continue``."""

    snapshot: Snapshot

    @property
    def state(self) -> State:
        """The state at the ``continue``."""
        assert self.snapshot.state is not None
        return self.snapshot.state


Exit: TypeAlias = Raised | Returned | Broken | Continued
"""A way out of a block."""
