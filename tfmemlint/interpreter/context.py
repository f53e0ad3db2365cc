"""The interpreter's registers: the state, the scopes, where it is, and the events so far."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from tfmemlint.interpreter.catching import Catching
from tfmemlint.interpreter.program import Event, Handler, RuntimeStart
from tfmemlint.interpreter.scopes import Scope
from tfmemlint.interpreter.state import Guards, Phase, State, Tri, join_states
from tfmemlint.interpreter.unit import EntrySetup, ModuleInstance
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Cell,
    Class,
    Dict,
    Function,
    Instance,
    Made,
    Seq,
    Value,
    is_called,
    join,
    join_contents,
)
from tfmemlint.model.finding import Span, Step

if TYPE_CHECKING:
    from tfmemlint.facts.reach import Reach
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.sources import Source

Heap = Mapping[tuple[Instance | Class | Cell, str], Value]
"""The attributes of objects, and those that classes were given after their body; and, by an empty name, what is in a
list, a set or a dictionary that was changed."""

_serials = itertools.count(1)

EventT = TypeVar("EventT", bound=Event)

MAX_DEPTH = 24
"""Calls within calls that are followed; deeper ones are not known."""
MAX_STEPS = 400_000
"""Statements and calls that are interpreted before a program is given up: bounded work for any input."""
MAX_STEPS_ACROSS = 100_000
"""The same for a program of several modules, of which a project may have hundreds."""
MAX_NESTED = 2
"""How often a function that configures something is followed within itself."""
MAX_COUNTED = 5
"""The same where all arguments are known, as in a recursion that counts down."""
MAX_IMPORTS = 60
"""Modules imported within modules that are followed."""
MOST_PLACES = 500
"""How many places are kept where code is put into lists, or taken out of them."""
LONGEST_UNROLLED = 8
"""How many items of a list are gone through one by one."""
MAX_RUNS = 4
"""How often a function without anything of interest is gone through, whatever others have put where it looks."""
MAX_LOOPS = 3
"""Loops within loops that get a second pass."""


class GaveUp(Exception):
    """The program is too large to follow to its end; what was found so far stands."""


NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of a call of a function without anything of interest.

    Attributes:
        starts: it has started something. reads: the lists that it has looked at, and what the heap had of each.
        receiver: of a method that has, whose it was.
        fields: what it has given its object, a list or a dictionary each, into which others may put something.
    """

    starts: bool
    reads: Mapping[Cell, Value | None]
    receiver: Value | None = None
    fields: tuple[tuple[str, Seq | Dict], ...] = ()


@dataclass(frozen=True, slots=True)
class Consumer:
    """Where whoever iterates over a generator stands, while the generator runs."""

    frames: tuple[Frame, ...]
    unit: ModuleInstance
    statement: ast.stmt | None
    loops: list[Loop]
    handlers: list[Catching]


@dataclass(slots=True)
class Frame:
    """One function call, class body or module being interpreted.

    ``on_yield`` takes what a generator gives to ``consumer``.
    """

    function: str
    scope: Scope
    node: ast.AST
    call: Step | None = None
    returns: list[tuple[State, Value]] = field(default_factory=list)
    receiver: Value | None = None
    cls: Value | None = None
    on_yield: Callable[[Value], None] | None = None
    consumer: Consumer | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that may differ between two ways through a program, at one point of it."""

    state: State | None
    names: dict[str, Value]
    module_names: dict[str, Value]
    heap: Heap


@dataclass(slots=True)
class Loop:
    """One loop being interpreted."""

    node: ast.AST
    depth: int
    devices: bool
    rebound: frozenset[str]
    repeated: bool = False
    each: bool = False
    breaks: list[Snapshot] = field(default_factory=list)
    continues: list[Snapshot] = field(default_factory=list)


class Machine:
    """What all parts of the interpreter share."""

    def __init__(self, unit: ModuleInstance, target: Target, run: EntrySetup | None = None) -> None:
        self.main = self.unit = unit
        unit.scope.unit = unit
        self.target = target
        self.run_as = run
        self.modules = run.modules if run is not None else None
        """Where other modules of the project are found; None where imports aren't followed."""
        self.answered: set[tuple[str, str]] = set()
        self.asked: set[str] = set()
        """The project's own modules that the module being gone through, and those that it imports, have asked for."""
        self.env_read: dict[str, Value | None] = {}
        """What these have found in the environment, as far as the program has put it there."""
        self.meddled = False
        """A module was given a name by another one."""
        self.within: set[str] = set()
        """Modules that were asked for while they were still being gone through: an import in a circle."""
        self.units: dict[str, ModuleInstance] = {}
        """The modules that this program has imported."""
        self.heap: Heap = {}
        self.state: State | None = State()
        """The state here; None where no way leads."""
        self.left: State | None = None
        """The state in which the entry point is left before its end; None where it isn't."""
        self.surely_left = False
        self.frames: list[Frame] = [Frame("", unit.scope, unit.tree)]
        self.loops: list[Loop] = []
        self.handlers: list[Catching] = []
        self.caught: list[tuple[str, ...]] = []
        self.fallbacks = 0
        self.lacking = 0
        self.guards: Guards = ()
        self.uncertain = 0
        self.ways: tuple[int, ...] = ()
        self.statement: ast.stmt | None = None
        self.events: list[Event] = []
        self.visited: set[int] = set()
        self.early: set[int] = set()
        """Functions that went somewhere as values before the runtime had started, so that they may run before it."""
        self.elsewhere: set[int] = set()
        """Functions that another process was given to run."""
        self.instances: dict[int, Instance] = {}
        self.functions: dict[int, Function] = {}
        self.tracing = 0
        """How many Keras objects of the program's own are being called here: operations in them are only recorded."""
        self.raised: dict[int, list[State]] = {}
        """By the id of a handler: the states in which something that it catches is known to be raised."""
        self.begun: dict[int, object] = {}
        """Generators that somebody has begun to iterate over."""
        self.where = ""
        """What is being evaluated, where that runs at a moment that is easily overlooked."""
        self.depth = 0
        """Calls within calls."""
        self.path_changed = False
        """The program has changed where it looks for modules."""
        self.attributes_set: dict[str, int] = {}
        """How often an attribute of that name was set."""
        self.rebindings: dict[tuple[int, str], int] = {}
        self.doubts: list[tuple[Scope, Scope]] = []
        """For each branch that we are in, the scopes whose names are put back when it ends."""
        self.settled: dict[int, Settled] = {}
        """Functions without anything of interest that were gone through, each with what came of it."""
        self.reads: dict[Cell, Value | None] = {}
        """The lists that the function or module being gone through has looked at, each with what the heap had of it."""
        self.changed: float = NEVER
        """The number of the oldest list with code in it that it has changed."""
        self.altered: dict[int, set[Cell]] = {}
        """The lists that such functions have changed."""
        self.runs: dict[int, int] = {}
        """How often functions without anything of interest were gone through."""
        self.given: dict[int, list[Seq | Dict]] = {}
        """The lists and dictionaries that objects were given as attributes, and that something may be put into, by the
        id of each."""
        self.fields: list[tuple[Instance | Class, str, Seq | Dict]] = []
        """The same in the order in which they were given."""
        self.put: dict[tuple[Span, ...], None] = {}
        """Where code is put into lists, or taken out of them: each statement with the calls that lead there."""
        self.stored: set[int] = set()
        """Functions that may configure something and were put into lists: whoever goes through these may call them."""
        self.noisy = 0
        """How many calls there were of such functions."""
        self.steps = 0
        self.most_steps = MAX_STEPS if self.modules is None else MAX_STEPS_ACROSS
        self.gave_up: list[str] = []
        self.used: set[int] = set()
        """Serial numbers of `Made` values whose attributes or methods were used, or that were handed on."""

    # Where we are

    @property
    def source(self) -> Source:
        """The text that is being gone through."""
        return self.unit.source

    @property
    def module(self) -> Scope:
        """The names of the module that is being gone through."""
        return self.unit.scope

    @property
    def reach(self) -> Reach:
        return self.unit.reach

    @property
    def stars(self) -> list[str]:
        """The modules of others that star-imports took everything from."""
        return self.unit.stars

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def scope(self) -> Scope:
        return self.frames[-1].scope

    @property
    def here(self) -> State:
        """The state here, for code that is only reached where there is one."""
        assert self.state is not None
        return self.state

    def consumer(self) -> Consumer:
        """Where we are, to come back to while a generator runs."""
        return Consumer(tuple(self.frames), self.unit, self.statement, self.loops, self.handlers)

    def next_serial(self) -> int:
        """A number that nothing else has, in this program or another: modules are shared by programs."""
        return next(_serials)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._methods = {}

    _methods: ClassVar[dict[type[ast.AST], Callable[..., Any] | None]] = {}

    def method_for(self, kind: type[ast.AST]) -> Callable[..., Any] | None:
        """What goes through nodes of one kind: a method of this class, which is given the interpreter and the node."""
        found = self._methods[kind] = getattr(type(self), f"_{kind.__name__}", None)
        return found

    def step(self) -> None:
        self.steps += 1
        if self.steps > self.most_steps:
            raise GaveUp(f"more than {self.most_steps} steps")

    def give_up(self, reason: str) -> None:
        """Say, once, that something was not followed to its end."""
        if reason not in self.gave_up:
            self.gave_up.append(reason)

    def span(self, node: ast.AST) -> Span:
        return self.source.span(node)

    def text(self, node: ast.AST) -> str:
        return self.source.segment(self.span(node))

    def bound_names(self, body: Sequence[ast.AST]) -> frozenset[str]:
        """The plain names that statements bind."""
        return self.unit.shapes.bound_names(body)

    # Events

    def around(self, node: ast.AST) -> dict[str, Any]:
        """The fields that all events share, for an event at ``node``."""
        statement = self.statement if self.statement is not None else node
        handlers: list[Handler] = []
        probed = False
        for catching in reversed(self.handlers):
            for handler in catching.group:
                handlers.append(handler if catching.depth == len(self.frames) else replace(handler, here=False))
                probed = probed or handler.probes
        devices = next((loop for loop in reversed(self.loops) if loop.devices), None)
        return {
            "path": self.source.path,
            "span": self.span(node),
            "statement": self.statement_span(statement),
            "state": self.here,
            "frames": tuple(frame.call for frame in self.frames if frame.call is not None),
            "handlers": tuple(handlers),
            "guards": self.guards,
            "probed": probed,
            "repeated": any(loop.repeated for loop in self.loops),
            "devices_loop": self.span(devices.node) if devices else None,
            "function": self.frame.function,
            "certain": self.uncertain == 0,
            "ways": self.ways,
        }

    def statement_span(self, statement: ast.AST) -> Span:
        """The span of a statement; of a compound one, its head alone."""
        span = self.span(statement)
        body = getattr(statement, "body", None)
        if isinstance(body, list) and body and isinstance(statement, ast.stmt):
            head_end = max(span.row, self.span(body[0]).row - 1)
            if head_end < span.end_row:
                return Span(span.row, span.column, head_end, len(self.source.lines[head_end - 1]) + 1)
        return span

    def emit(self, event: EventT) -> EventT:
        self.events.append(event)
        return event

    def start(self, node: ast.AST, what: str, name: str, text: str) -> None:
        """Something starts: the context, the allocator, or the listing of devices."""
        state = self.here
        phase: Phase = getattr(state, what)
        now = phase.under(self.guards)
        if now.has is Tri.YES:
            return
        where = self.where or ("class body:" if isinstance(self.frame.node, ast.ClassDef) else "")
        first = now.has in (Tri.NO, Tri.UNKNOWN)
        event = RuntimeStart(what=what, name=name, text=text, first=first, where=where, **self.around(node))
        self.emit(event)
        if what == "context" and state.may_differ:
            # With several GPUs it does not start then.
            self.throw("ValueError")
        changes = {what: Phase(Tri.YES, event)}
        # Making the devices lists them, and the context makes them.
        if what in ("context", "allocator") and state.listed.has is not Tri.YES:
            changes["listed"] = Phase(Tri.YES, event)
        if what == "context" and state.allocator.has is not Tri.YES:
            changes["allocator"] = Phase(Tri.YES, event)
        self.state = replace(state, **changes)  # type: ignore[arg-type]

    # Ways that end, part and meet

    def leave(self, *, certain: bool, exceptions: tuple[str, ...] = ("SystemExit",)) -> None:
        """The way to here ends, and with it the entry point: ``certain`` where no handler can change that."""
        sure = certain and not self.uncertain
        if self.state is not None and (sure or not self.surely_left):
            alone = self.left is None or sure is not self.surely_left
            self.left = self.state if alone or self.left is None else join_states(self.left, self.state)
            self.surely_left = sure
        self.state = None

    def snapshot(self) -> Snapshot:
        """How things stand, to be put back or merged by the same function."""
        module_names = dict(self.module.names) if self.scope is not self.module else {}
        return Snapshot(self.state, dict(self.scope.names), module_names, self.heap)

    def restore(self, saved: Snapshot, state: State | None = None) -> None:
        """Put things back as they were, but for another ``state`` where one is given."""
        self.state = state or saved.state
        self.heap = saved.heap
        self.scope.names.clear()
        self.scope.names.update(saved.names)
        if self.scope is not self.module:
            self.module.names.clear()
            self.module.names.update(saved.module_names)

    def merge(self, other: Snapshot, mine: Guards = (), theirs: Guards = ()) -> None:
        """Let another way end here: what the two agree on is known from here on."""
        if other.state is None:
            return
        if self.state is None:
            self.restore(other)
            return
        self.state = join_states(self.state, other.state, mine, theirs)
        _join_names(self.scope.names, other.names, self.used)
        if self.scope is not self.module:
            _join_names(self.module.names, other.module_names, self.used)
        if self.heap is not other.heap:
            self.heap = _joined_heap(self.heap, other.heap, self.used)

    def keep(self, holder: Instance | Class, name: str, value: Value) -> None:
        """Give an object, or a class, an attribute."""
        if isinstance(value, (Seq, Dict)) and value.cell is not None and value.cell.watched:
            self.given.setdefault(id(holder), []).append(value)
            self.fields.append((holder, name, value))
        self.heap = {**self.heap, (holder, name): value}

    def bind_outer(self, home: Scope, name: str, value: Value) -> None:
        """Bind a name of another scope than the current one: where some branch that we are in won't put it back, what
        it is from here on is not known."""
        if home.unit is not None and home.unit is not self.unit:
            self.meddled = True
        if isinstance(value, (Seq, Dict)):
            self.note_put()
        covered = all(home is scope or home is module for scope, module in self.doubts)
        if not covered:
            _lose(value, self.used)
        home.names[name] = value if covered else UNKNOWN

    def note_put(self) -> None:
        """Code is put into a list here, or taken out of it."""
        if self.statement is not None and len(self.put) < MOST_PLACES:
            calls = (frame.call.span for frame in self.frames if frame.call is not None)
            chain = (self.statement_span(self.statement), *calls)
            self.put[chain] = None

    @contextmanager
    def at(self, where: str) -> Iterator[None]:
        """Within: a default argument, say, is evaluated."""
        saved, self.where = self.where, where
        try:
            yield
        finally:
            self.where = saved

    def doubtful(self, guards: Guards = (), *, doubt: bool = True) -> Doubtful:
        """Within: what happens need not happen, and ``guards`` hold."""
        return Doubtful(self, guards, doubt)

    # The parts that the subclasses add

    def throw(self, *exceptions: str) -> bool:
        raise NotImplementedError

    def execute(self, body: Sequence[ast.stmt]) -> None:
        raise NotImplementedError

    def evaluate(self, node: ast.expr | None) -> Value:
        raise NotImplementedError

    def call_value(self, callee: Value, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        raise NotImplementedError

    def iterate(self, node: ast.AST, iterable: Value, bind: object, body: object, rebound: frozenset[str]) -> None:
        raise NotImplementedError


class Doubtful:
    """A stretch of the way that need not be gone, or where conditions hold; see `Machine.doubtful`."""

    __slots__ = ("doubt", "guards", "machine", "saved", "ways")

    def __init__(self, machine: Machine, guards: Guards, doubt: bool) -> None:
        self.machine, self.guards, self.doubt = machine, guards, doubt

    def __enter__(self) -> None:
        machine = self.machine
        self.saved, self.ways = machine.guards, machine.ways
        machine.guards = (*self.saved, *self.guards)
        if self.doubt and not self.guards:
            machine.ways = (*self.ways, machine.next_serial())
        machine.uncertain += self.doubt
        machine.doubts.append((machine.scope, machine.module))

    def __exit__(self, *_: object) -> None:
        machine = self.machine
        machine.guards, machine.ways = self.saved, self.ways
        machine.uncertain -= self.doubt
        machine.doubts.pop()


def _join_names(mine: dict[str, Value], theirs: dict[str, Value], used: set[int]) -> None:
    """Join the names of two ways; what most names stand for is the very same object on both."""
    for name in theirs.keys() - mine.keys():
        # A name that some way does not bind means nothing else there: what is called by it is what another way binds.
        mine[name] = theirs[name] if is_called(theirs[name]) else join(None, theirs[name])
        _lose(theirs[name], used)
    others = map(theirs.get, mine)
    for name, value, other in [one for one in zip(mine, mine.values(), others, strict=True) if one[1] is not one[2]]:
        if other is None and is_called(value):
            continue
        mine[name] = join(value, other)
        if mine[name] == UNKNOWN:
            _lose(value, used)
            _lose(other, used)


def _joined_heap(mine: Heap, theirs: Heap, used: set[int]) -> Heap:
    joined = dict(mine)
    values = map(mine.get, theirs)
    for key, value, other in [one for one in zip(theirs, values, theirs.values(), strict=True) if one[1] is not one[2]]:
        holder = key[0]
        joined[key] = join(value, other) if type(holder) is not Cell else join_contents(holder, value, other)
        if joined[key] == UNKNOWN:
            _lose(value, used)
            _lose(other, used)
    for key in mine.keys() - theirs.keys() if len(joined) > len(theirs) else ():
        holder = key[0]
        joined[key] = join(mine[key], None) if type(holder) is not Cell else join_contents(holder, mine[key], None)
        _lose(mine[key], used)
    return joined


def _lose(value: Value | None, used: set[int]) -> None:
    """A result that can't be followed any more may be used by anything."""
    if isinstance(value, Made):
        used.add(value.serial)
