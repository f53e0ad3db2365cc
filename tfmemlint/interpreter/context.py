"""The state of the interpreter, and the operations that all its parts call and that are looked up in tables.

`Context` has no knowledge of Python or TensorFlow of its own: `evaluate`, `execute`, `assign`, `call`, `attribute`,
`item` and `set_attribute` look up a handler in `tfmemlint.interpreter.registry` and call it.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tfmemlint.facts.shapes import expressions
from tfmemlint.interpreter.frames import Catching, Children, Conditions, ConfigFiles, Frame, Heap, Loop, SettledCall
from tfmemlint.interpreter.limits import MAX_STEPS, MAX_STEPS_OF_PROJECT_PROGRAM, STEPS_WITH_ALL_RUNS
from tfmemlint.interpreter.observer import Decision, Observer, Reason, Surrender
from tfmemlint.interpreter.place import Place
from tfmemlint.interpreter.registry import ATTRIBUTES, CALLS, ITEMS, STORES, TARGETS, VISITORS
from tfmemlint.interpreter.settling import Settled, Settling
from tfmemlint.interpreter.state import Call, Event, Guards, State
from tfmemlint.interpreter.unit import EntrySetup
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Cell,
    Choice,
    Class,
    Const,
    Dict,
    Function,
    Instance,
    ModuleInstance,
    OptionParser,
    Part,
    Proto,
    Rows,
    Scope,
    Seq,
    Thread,
    Value,
    as_made,
    choose,
)
from tfmemlint.interpreter.worker_records import WorkersMade

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Exhausted
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.finding import Span
    from tfmemlint.sources import Source

EventT = TypeVar("EventT", bound=Event)

_CONTAINERS = frozenset({Seq, Dict, Choice})
_serials = itertools.count(1)
NO_CELL_CHANGED = float("inf")


class GaveUp(Exception):
    """The program is too large to follow to its end; what was found so far stays."""


class Context(Place):
    """One program being interpreted.

    Args:
        unit: the module that is run. target: the release of TensorFlow that it runs on.
        setup: how it is run, and where its imports are found; None for a file alone.
        observer: gets told of each step; None to tell nobody.
    """

    def __init__(
        self,
        unit: ModuleInstance,
        target: Target,
        setup: EntrySetup | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.target, self.setup, self.observer = target, setup, observer

        # The place in the program
        self.main = self.unit = unit
        """The module that is run, and the one that is being interpreted."""
        unit.scope.unit = unit
        self.frames: list[Frame] = [Frame("", unit.scope, unit.tree)]
        self.loops: list[Loop] = []
        self.handlers: list[Catching] = []
        self.caught: list[tuple[str, ...]] = []
        """The exceptions of the handlers whose bodies are being interpreted, the innermost last."""
        self.statement: ast.stmt | None = None
        self.where = ""
        """The construct that is being evaluated, where it runs at a moment that is easily overlooked."""
        self.site: tuple[Source, ast.AST, ast.stmt | None] | None = None
        """The place in the program's own code that has led into a model of Python's library."""
        self.whole_calls: set[int] = set()
        """The calls, by ``id``, of functions and classes of the program whose keywords are all known."""
        self.depth = 0
        """Calls within calls."""
        self.tracing = 0
        """Keras objects of the program's own that are being called: operations in them are only recorded."""

        # The path that led here
        self.state: State | None = State(eager=target.major >= 2)  # TensorFlow 1 builds graphs unless told otherwise.
        """The state here; None if no path leads here."""
        self.guards: Guards = ()
        """The conditions that hold here."""
        self.conditions = Conditions()
        """The conditions that are known not to hold together."""
        self.uncertain = 0
        """Enclosing pieces of code that need not be run."""
        self.ways: tuple[int, ...] = ()
        """A number for each of these that is not a branch of an ``if``."""
        self.doubts: list[tuple[Scope, Scope]] = []
        """For each of these, the scopes whose names are restored at its end."""
        self.end_state: State | None = None
        """The state in which the entry point is left before its end; None if it isn't."""
        self.surely_left = False
        self.import_state: State | None = None
        """The state at the ``if __name__ == ...`` of the module that is run."""
        self.raised: dict[int, list[State]] = {}
        """By the id of a handler: the states in which something that it catches is known to be raised."""
        self.import_fallbacks = 0
        """Enclosing handlers that only another release enters: nothing that was tried is missing in the target."""
        self.missing_names_used = 0
        """Uses of names that the target lacks."""

        # Values
        self.heap: Heap = {}
        self.last_values: dict[int, Value] = {}
        """The last value of each expression, by the id of its node."""
        self.parts: dict[float, Part] = {}
        """The shares of a GPU's memory that the program has computed, by the number of MiB that came of it."""
        self.gigabytes: dict[float, str] = {}
        """The names of amounts in MiB, by the number that each has become by a division: that many GiB."""
        self.defaults: dict[int, Value] = {}
        """The values of default arguments, by the id of each node."""
        self.rebindings: dict[tuple[int, str], int] = {}
        """The number of times that a name was bound, by the number of its scope."""
        self.attributes_set: dict[str, int] = {}
        """The number of times that an attribute of that name was set."""
        self.instances: dict[int, Instance] = {}
        """The last object of each class, by the id of the class's node."""
        self.made_by: dict[int, Call] = {}
        """The call that returned a `Made`, by its serial number."""
        self.used: set[int] = set()
        self.singling_out: set[str] = set()
        """Serial numbers of `Made` values that were used, or passed on."""
        self.protos: list[tuple[Proto, Call]] = []
        self.parsers: list[OptionParser] = []
        self.run_configs: list[tuple[int, Proto, Any]] = []
        self.ended: dict[Thread, State] = {}
        """The states that threads leave which only start something."""
        self.threads: list[tuple[Thread, State]] = []
        """The threads that are being followed, each with the state that it was started in, the innermost last."""
        self.signals: dict[Instance, dict[Thread | None, State | None]] = {}
        """By object that this program has made, the threads that wake up those that wait for it, each with its state at
        the first signal, as far as that is sure; None for other code."""
        self.signals_lost = False
        """Code that is not followed may give any signal."""
        self.shaped: set[int] = set()
        """Serial numbers of the Keras models whose input shape is known."""
        self.started_generators: dict[int, object] = {}
        """Generators that something has begun to iterate over."""
        self.exhausted: dict[int, tuple[object, Exhausted, tuple[Catching, ...]]] = {}
        """Those that something has gone through to their end, each with what that was, and the handlers around it."""

        # Modules
        self.modules = setup.modules if setup is not None else None
        """The store of the project's modules; None where imports aren't followed."""
        self.units: dict[str, ModuleInstance] = {}
        """The modules that this program has imported, by name."""
        self.path_changed = False
        """The program has changed where it looks for modules."""
        self.asked_modules: set[str] = set()
        """The names of all modules that the module being interpreted, and those that it imports, have asked for."""
        self.env_read: dict[str, Value | None] = {}
        """The environment variables that these have read, with the value if the program has set them."""
        self.config_files = ConfigFiles()
        self.modules_looked_at: set[str] = set()
        """The modules whose names these have looked up."""
        self.circular_imports: set[str] = set()
        """Modules that were asked for while they were being interpreted themselves."""
        self.bound_in_other_module = False
        """A module was given a name by another one."""
        self.is_recording = False
        """True while the effects of an import are recorded (`tfmemlint.interpreter.replays`)."""
        self.getattr_asked: set[tuple[str, str]] = set()
        """The names that the ``__getattr__`` of a module was asked for."""
        self.lineages: dict[int, tuple[Class, tuple[Value, ...]]] = {}
        """The method resolution order of each class, by its id."""
        self.opaque_classes: set[int] = set()
        """Classes with decorators of which nothing is known, by the id of each node."""
        self.being_made: list[Class] = []
        """The classes whose metaclass is making them, the innermost last."""
        self.incomplete: set[Instance] = set()
        """Objects that may have attributes that aren't known: some call of a method of theirs was not followed."""
        # Functions that run at another time
        self.classes: list[Class] = []
        self.functions: dict[int, Function] = {}
        """The functions of the module that is run, by the id of each node."""
        self.visited: set[int] = set()
        """Functions that were called, by the id of each node."""
        self.entered: set[int] = set()
        """Functions of all modules whose bodies were interpreted, by the id of each node."""
        self.named_before_start: set[int] = set()
        """Functions that were used as values before the runtime had started, so that they may run before it does."""
        self.run_elsewhere: set[int] = set()
        """Functions that were given to another process."""
        self.children = Children()
        """The processes that are started in a known way."""
        self.workers = WorkersMade()
        """The processes that work beside each other."""

        # Code in containers
        self.settled: dict[Hashable, SettledCall] = {}
        """The outcomes of functions that configure nothing, by what they depend on (`settled_calls.settled_key`)."""
        self.code_rebindings = 0
        """The number of times that a name of a module, or of a class, that was bound got bound to other code."""
        self.outer_bindings: list[tuple[Scope, str, Value, Value | None]] = []
        """The names of other scopes that functions have bound, with the value before."""
        self.altered_fields: dict[int, set[tuple[Instance | Class | None, str]]] = {}
        """The attributes that functions have changed, by the id of each node (None: of the receiver)."""
        self.harmless_runs: dict[Hashable, int] = {}
        """The number of times that such a function was interpreted."""
        self.constants_given: dict[int, int] = {}
        """The number of times that it has made a constant of constants, by the id of its node."""
        self.classes_made: dict[int, int] = {}
        """The number of classes that a method of a metaclass or of a base class has made, by the id of its node."""
        self.idle_runs: dict[Hashable, int] = {}
        """The number of times that any other function was interpreted and did nothing."""
        self.reads: dict[Cell, Value | None] = {}
        """The containers that the function or module being interpreted has read, with what the heap had of each."""
        self.oldest_cell_changed: float = NO_CELL_CHANGED
        """The number of the oldest container with code in it that it has changed."""
        self.altered_cells: dict[int, set[Cell]] = {}
        """The containers that such functions have changed."""
        self.fields_given: list[tuple[Instance | Class, str, Seq | Dict]] = []
        """The containers that objects were given as attributes and that code may be put into, in this order."""
        self.containers_of: dict[int, list[Seq | Dict]] = {}
        """The same by the id of each object."""
        self.container_changes: dict[tuple[Span, ...], None] = {}
        """The places where code is put into containers, or taken out: each statement with the calls that lead there."""
        self.stored_functions: set[int] = set()
        """Functions that may configure something and were put into containers."""
        self.stored_calls = 0
        """The number of calls of such functions that were interpreted."""

        self.settling = Settling.of(setup, unit.source.text)
        """Tells from where on nothing more need be followed; None if that is not known."""

        # The result
        self.events: list[Event] = []
        self.given_up: list[str] = []
        self.steps = 0
        self.max_steps = MAX_STEPS if self.modules is None else MAX_STEPS_OF_PROJECT_PROGRAM

    # Bookkeeping

    def next_serial(self) -> int:
        """Return a number that nothing else has, in this program or another: modules are shared by programs."""
        return next(_serials)

    @property
    def is_short_of_steps(self) -> bool:
        """True if so much was interpreted that what may well be a repetition is left out."""
        return self.steps > STEPS_WITH_ALL_RUNS

    def step(self) -> None:
        """Count a step.

        Raises:
            GaveUp: there were too many.
        """
        self.steps += 1
        if self.steps > self.max_steps:
            reason = f"more than {self.max_steps} steps"
            self.tell_surrender(Surrender.STEPS, reason)
            raise GaveUp(reason)

    def emit(self, event: EventT) -> EventT:
        """Add an event to those of the program."""
        self.events.append(event)
        if self.observer is not None:
            self.observer.event(event)
        return event

    def give_up(self, reason: str) -> None:
        """Note, once, that something was not followed to its end."""
        if reason not in self.given_up:
            self.given_up.append(reason)
            self.tell_surrender(Surrender.GAVE_UP, reason)

    def tell_surrender(self, what: Surrender, detail: str) -> None:
        """Tell the observer, if there is one, that less is known from here on."""
        if self.observer is not None:
            span = self.span(self.statement) if self.statement is not None else None
            self.observer.gave_up(self.source.path, span, what, detail)

    def tell_branch(self, test: ast.AST, decision: Decision, reason: Reason) -> None:
        """Tell the observer, if there is one, how a branch is decided."""
        if self.observer is not None:
            self.observer.branch(self.source.path, self.span(test), self.text(test), decision, reason)

    # Operations that are looked up in tables

    def execute(self, body: Sequence[ast.stmt]) -> None:
        """Interpret statements one after another, as long as the next one is reached."""
        guards, ways = self.guards, self.ways
        for statement in body:
            if self.state is None or (self.settling is not None and self._is_settled(statement)):
                break
            self.step()
            saved, self.statement = self.statement, statement
            if self.observer is not None:
                self.observer.statement(self.source.path, self.span(statement), self.state)
            handler = VISITORS.get(type(statement))
            if handler is not None:
                handler(self, statement)
            else:
                self.evaluate_children(statement)
            self.statement = saved
        self.guards, self.ways = guards, ways

    def _is_settled(self, statement: ast.stmt) -> bool:
        """True if nothing from a statement of a module's top level on need be followed.

        Raises:
            Settled: the module is not the one that is run.
        """
        if self.settling is None or self.depth or self.uncertain or self.protos:
            return False
        is_main = self.unit is self.main
        row = statement.lineno if is_main else 1
        settled = self.settling.is_settled(self.here, self.units, len(self.frames), row)
        if settled and not is_main:
            raise Settled
        return settled

    def evaluate(self, node: ast.expr | None) -> Value:
        """Interpret an expression, with all that evaluating it does, and return its value."""
        if node is None:
            return Const(None)
        if self.state is None:
            return UNKNOWN
        self.steps += 1
        if self.steps > self.max_steps:
            self.steps -= 1
            self.step()
        handler = VISITORS.get(type(node))
        value: Value = handler(self, node) if handler is not None else self.evaluate_children(node)
        if type(value) in _CONTAINERS:
            value = self.current(value)
        self.last_values[id(node)] = value
        return value

    def evaluate_children(self, node: ast.AST) -> Value:
        """Evaluate all expressions in a node of which nothing more is known."""
        for child in expressions(node):
            self.evaluate(child)
        return UNKNOWN

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind the target of an assignment to a value."""
        handler = TARGETS.get(type(target))
        if handler is not None:
            handler(self, target, value)

    def call(self, callee: Value, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        """Call a value at ``node`` and return the result."""
        if self.state is None:
            return UNKNOWN
        handler = CALLS.get(type(callee)) or CALLS[object]
        result: Value = handler(self, callee, args, keywords, node)
        return result

    def attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        """Return ``base.name``."""
        handler = ATTRIBUTES.get(type(base))
        result: Value = handler(self, base, name, node) if handler is not None else UNKNOWN
        return result

    def item(self, base: Value, key: Value, node: ast.expr, written: ast.expr | None = None) -> Value:
        """Return ``base[key]``; ``written`` is the key as it stands in the source, if it does."""
        handler = ITEMS.get(type(base))
        result: Value = handler(self, base, key, node, written) if handler is not None else UNKNOWN
        return result

    def set_attribute(
        self,
        base: Value,
        name: str,
        value: Value,
        node: ast.AST,
        owner: ast.expr | None = None,
        given: ast.expr | None = None,
    ) -> None:
        """Interpret ``base.name = value`` at ``node``: an assignment's target, or a call of ``setattr``.

        Args:
            owner, given: the base and the value as they stand in the source, if they do.
        """
        self.attributes_set[name] = self.attributes_set.get(name, 0) + 1
        handler = STORES.get(type(base)) or STORES[object]
        handler(self, base, name, value, node, owner, given)

    # Containers

    def current(self, value: Value) -> Value:
        """Return a value with its present contents, if it is a container that has been changed."""
        if isinstance(value, Choice):
            if any(isinstance(option, (Seq, Dict)) for option in value.options):
                return choose(map(self.current, value.options))
            return value
        if isinstance(value, Rows):
            # It may have been changed by another name.
            return self.heap.get((value.cell, ""), value)
        if not isinstance(value, (Seq, Dict)) or value.cell is None:
            return value
        cell = value.cell
        content = self.heap.get((cell, ""))
        if content is not None:
            self.reads.setdefault(cell, content)
            return content
        if cell.watched:
            self.reads.setdefault(cell, None)
        return value if value.items is cell.first.items else as_made(cell)
