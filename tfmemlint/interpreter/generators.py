"""What runs later than it is written: generators, and functions that are handed to somebody else."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from tfmemlint.interpreter.calls import Caller
from tfmemlint.interpreter.context import LONGEST_UNROLLED, Frame, Loop
from tfmemlint.interpreter.program import Arg
from tfmemlint.interpreter.state import ANY, Phase, Setting, Tri
from tfmemlint.interpreter.unit import ModuleInstance
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Choice,
    Class,
    Dict,
    Function,
    Instance,
    Lazy,
    Partial,
    Ref,
    Seq,
    Value,
    is_called,
)

_LEAVES = re.compile(r"\bexit|abort|sys\.path")
"""What a function has in it that may end the program, or change where it finds modules."""
_DRAINED = frozenset(
    {"list", "tuple", "set", "frozenset", "sorted", "sum", "any", "all", "min", "max", "dict", "collections.deque"}
)
"""What goes through an iterator to its end (`any` and `all` may stop before; they seldom do)."""
_WRAPPING = frozenset(
    {"functools.lru_cache", "functools.cache", "staticmethod", "classmethod", "contextlib.contextmanager"}
)
"""What gives a function that does what the one does that it is given."""
KEEPING = _WRAPPING | {
    "functools.wraps",
    "functools.update_wrapper",
    "functools.singledispatch",
    "functools.total_ordering",
    "isinstance",
    "callable",
    "id",
    "type",
    "repr",
    "print",
    "typing.cast",
    *("len", "bool", "str", "any", "all", "hash", "hasattr", "next", "filter", "itertools.chain", "json.dumps"),
    *("copy.copy", "copy.deepcopy", "dataclasses.dataclass", "dataclasses.replace"),
}
"""What is given a function and does not call it."""
_PROCESSES = frozenset({"multiprocessing.Process", "multiprocessing.context.Process", "torch.multiprocessing.Process"})
_POOL_METHODS = frozenset(
    {"Process", "submit", "apply", "apply_async", "map", "map_async", "imap", "imap_unordered", "starmap"}
)
"""Of a pool, which may well be one of processes; or of a context of ``multiprocessing``."""
_PASSED_ON = frozenset({"iter", "tqdm", "tqdm.tqdm", "tqdm.auto.tqdm", "reversed"})
_BY_KEY = frozenset({"sorted", "min", "max"})


class Later(Caller):
    """Running what is lazy, when it is asked to run."""

    # Making

    def generator(self, function: Function, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST) -> Lazy:
        """What calling a generator function gives: its body runs piece by piece, as somebody iterates over it."""
        quiet = self.is_quiet(function)
        return Lazy(lambda on_yield: self.run_function(function, args, keywords, node, on_yield=on_yield), quiet)

    def _GeneratorExp(self, node: ast.GeneratorExp) -> Value:
        return self._within(node, lambda: self._comprehension(node, node.elt))

    def mapped(self, function: Value, iterable: Value, node: ast.AST) -> Value:
        """``map(function, iterable)``."""

        def run() -> Value:
            def bind(value: Value) -> None:
                item[:] = [value]

            def body() -> None:
                self.yielded(self.call_any(function, item, {}, node))

            item: list[Value] = []
            self.iterate(node, iterable, bind, body, frozenset())
            return UNKNOWN

        return self._within(node, run)

    def _within(self, node: ast.AST, run: Callable[[], Value]) -> Lazy:
        """A piece of this very function that runs later."""
        scope, unit, function = self.scope, self.unit, self.frame.function

        def later(on_yield: Callable[[Value], None]) -> Value:
            consumer = self.consumer()
            here, self.unit = self.unit, unit
            self.frames.append(Frame(function, scope, node, on_yield=on_yield, consumer=consumer))
            try:
                return run()
            finally:
                self.frames.pop()
                self.unit = here

        return Lazy(later)

    # Running

    def _Yield(self, node: ast.Yield) -> Value:
        value = self.evaluate(node.value)
        if self.state is not None:
            self.yielded(value)
        return UNKNOWN

    def _YieldFrom(self, node: ast.YieldFrom) -> Value:
        value = self.evaluate(node.value)
        if self.state is None:
            return UNKNOWN
        if isinstance(value, Lazy):
            self.consume(value, self.yielded)
        elif isinstance(value, Seq):
            for item in value.items:
                self.yielded(item)
        else:
            self.yielded(UNKNOWN)
        return UNKNOWN

    def yielded(self, value: Value) -> None:
        """A value is handed to whoever iterates: his code runs now, in his own surroundings."""
        if self.state is None:
            return
        frame = self.frame
        if frame.on_yield is None or frame.consumer is None:
            self.escape(value)
            return
        saved = self.frames, self.unit, self.statement, self.loops, self.handlers
        taker = frame.consumer
        self.frames, self.unit, self.statement = list(taker.frames), taker.unit, taker.statement
        self.loops, self.handlers = taker.loops, taker.handlers
        try:
            frame.on_yield(value)
        finally:
            self.frames, self.unit, self.statement, self.loops, self.handlers = saved

    def consume(self, lazy: Lazy, on_yield: Callable[[Value], None]) -> Value:
        """Run what is lazy, with ``on_yield`` for each value that it gives."""
        if self.state is None:
            return UNKNOWN
        if id(lazy) in self.begun:
            # Where it stands by now is not known.
            self.unsure(lazy.quiet)
            return UNKNOWN
        self.begun[id(lazy)] = lazy
        return lazy.run(on_yield)

    def drain(self, lazy: Lazy) -> Value:
        """Run what is lazy to its end."""
        return self.consume(lazy, lambda value: None)

    def first_of(self, lazy: Lazy) -> Value:
        """Run what is lazy up to its first value: ``next(...)``, or entering a context."""
        before = self.statement
        ends = []
        values: list[Value] = []

        def stop(value: Value) -> None:
            ends.append(self.snapshot())
            values.append(value)
            self.state = None

        self.consume(lazy, stop)
        self.statement = before
        for end in ends:
            self.merge(end)
        return values[0] if len(values) == 1 else UNKNOWN

    def iterate_lazy(
        self,
        node: ast.AST,
        lazy: Lazy,
        bind: Callable[[Value], None],
        body: Callable[[], None],
        rebound: frozenset[str],
    ) -> None:
        """A loop over what is lazy: its body runs where a value is given."""
        loop = Loop(node, len(self.frames), False, rebound)
        self.loops = [*self.loops, loop]

        def turn(value: Value) -> None:
            bind(value)
            body()
            for skipped in loop.continues:
                self.merge(skipped)
            loop.continues.clear()
            loop.repeated = True

        self.consume(lazy, turn)
        self.loops = self.loops[:-1]
        for left in loop.breaks:
            self.merge(left)

    # What is handed on

    def unsure(self, quiet: bool = False) -> None:
        """Something of the program's own may run now, or not: unless it is ``quiet``, nobody knows what has started,
        and what is configured. What only might start something leaves no trace: nothing is ever concluded from what
        hasn't started."""
        if self.state is None or quiet:
            return
        phases = {
            which: Phase(Tri.UNKNOWN)
            for which in ("context", "allocator", "listed")
            if getattr(self.state, which).has is Tri.NO
        }
        growth = {**self.state.growth, ANY: Setting(UNKNOWN)}
        self.state = replace(self.state, growth=growth, **phases)  # type: ignore[arg-type]

    def is_quiet(self, function: Value) -> bool:
        """Whether a function neither configures anything nor leaves the program, as far as its words tell."""
        match function:
            case Function(node, scope):
                unit = scope.module.unit
                return unit is not None and self._is_quiet(node, unit)
            case Partial(inner):
                return self.is_quiet(inner)
            case Choice(options):
                return all(self.is_quiet(option) for option in options)
            case Class(node, scope) | Instance(Class(node, scope)):
                unit = scope.module.unit
                return unit is None or self._is_quiet(node, unit)
            case _:
                return True

    def _is_quiet(self, node: ast.AST, unit: ModuleInstance) -> bool:
        if self.modules is None:
            return unit.reach.is_inert(node)
        known = self.modules.quiet.get(id(node))
        if known is None:
            lines = unit.source.lines[getattr(node, "lineno", 1) - 1 : getattr(node, "end_lineno", None)]
            leaves = _LEAVES.search("\n".join(lines)) is not None
            known = not leaves and not self.modules.sets(unit.source.path, getattr(node, "name", ""), lines)
            self.modules.quiet[id(node)] = known
        return known

    def sets_nothing(self, function: Value) -> bool:
        """Whether a function configures no GPU, as far as words tell: those of the whole module that it is in, and of
        what it mentions elsewhere."""
        match function:
            case Function(node, scope):
                unit = scope.module.unit
                if unit is None:
                    return False
                if self.modules is None:
                    return not unit.configures or unit.reach.is_inert(node)
                lines = unit.source.lines[getattr(node, "lineno", 1) - 1 : getattr(node, "end_lineno", None)]
                return not self.modules.sets(unit.source.path, getattr(node, "name", ""), lines)
            case Partial(inner):
                return self.sets_nothing(inner)
            case Choice(options):
                return all(self.sets_nothing(option) for option in options)
            case _:
                return True

    def hand_on(self, value: Value) -> None:
        """A value goes to code that isn't the program's own, which may call it."""
        match value:
            case Function() | Partial(Function() | Partial()):
                self.unsure(self.sets_nothing(value))
            case Choice(options):
                for option in options:
                    self.hand_on(option)
            case Lazy():
                self.unsure(value.quiet)
            case Seq() | Dict():
                self.let_out(value)
            case _:
                pass

    def hand_to_a_process(self, called: str, values: Sequence[Value]) -> None:
        """What may be the start of a process of its own is given functions to run there."""
        if called in _PROCESSES or called.rpartition(".")[2] in _POOL_METHODS:
            self.elsewhere.update(id(value.node) for value in values if isinstance(value, Function))

    def in_the_background(
        self, function: Value, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
    ) -> None:
        """A thread starts: what it does happens at some time from now on."""
        before = self.snapshot()
        with self.doubtful():
            self.call_any(function, args, keywords, node)
        self.merge(before)
        self.unsure(self.is_quiet(function))

    # Built-in functions about it

    def lazy_builtin(self, name: str, node: ast.AST, values: list[Value], keywords: dict[str, Value]) -> Value | None:
        """A built-in or standard function that takes or makes something lazy; None where it is no such call."""
        if name == "functools.partial" and values:
            return Partial(values[0], tuple(values[1:]), dict(keywords))
        if name in _WRAPPING and values and is_called(values[0]):
            return values[0]
        if name == "map" and len(values) == 2:
            return self.mapped(values[0], values[1], node)
        if name in _BY_KEY and isinstance(keywords.get("key"), (Function, Partial, Choice, Ref)):
            self._sort(keywords["key"], values[0] if values else UNKNOWN, node)
        first = values[0] if values else None
        if not isinstance(first, Lazy):
            return None
        if name == "next":
            return self.first_of(first)
        if name in _PASSED_ON:
            return first
        if name == "enumerate":
            return Lazy(lambda on_yield: first.run(lambda value: on_yield(Seq((UNKNOWN, value), "tuple"))), first.quiet)
        if name in _DRAINED:
            value = self.drain(first)
            if isinstance(value, Seq) and name in ("list", "tuple"):
                return Seq(value.items, name)
            return value if name in ("list", "tuple", "set", "sorted") else UNKNOWN
        return None

    def _sort(self, key: Value, values: Value, node: ast.AST) -> None:
        """Whatever is sorted by a key, or the least of it is looked for: the key is asked for each value."""
        if isinstance(values, Seq) and 0 < len(values.items) <= LONGEST_UNROLLED:
            for item in values.items:
                self.call_any(key, [item], {}, node)
            return
        before = self.snapshot()
        with self.doubtful():
            self.call_any(key, [UNKNOWN], {}, node)
        self.merge(before)

    def call_any(self, callee: Value, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        """Call whatever it is, by values alone."""
        if self.state is None:
            return UNKNOWN
        if isinstance(callee, Ref):
            span = self.span(node)
            written = [Arg(value, span, "") for value in args]
            written += [Arg(value, span, "", keyword) for keyword, value in keywords.items()]
            return self.call_name(callee.name, node, list(args), dict(keywords), written)
        return self.call_value(callee, args, keywords, node)
