"""Ways that end early: what is raised, who catches it, and what runs all the same."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.facts.syntax import dotted, ends_in_exit, gives_up, handler_types, is_idle, is_silent
from tfmemlint.interpreter.assigning import Assigning
from tfmemlint.interpreter.catching import Broken, Catching, Continued, Exit, Left, Returned
from tfmemlint.interpreter.context import Snapshot
from tfmemlint.interpreter.program import Handler
from tfmemlint.interpreter.state import Phase, State, Tri, join_states
from tfmemlint.interpreter.values import UNKNOWN, Class, Ref, Value

_MISSING = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError"})
"""What a name is answered with that a release lacks."""


class Handling(Assigning):
    """Following exceptions, and other ways out of a block."""

    # Out of a block

    def throw(self, *exceptions: str) -> bool:
        """Something may raise one of these here: whether there is a handler in the program that goes on from there."""
        if self.state is None:
            return False
        for catching in reversed(self.handlers):
            if catching.exits is not None:
                catching.exits.append(Left(self.state, exceptions, certain=False))
                return self._is_caught(exceptions)
            for handler in catching.group:
                if any(handler.takes(one) for one in exceptions):
                    self.raised.setdefault(id(handler), []).append(self.state)
                    return True
        return False

    def _is_caught(self, exceptions: Sequence[str]) -> bool:
        return any(handler.takes(one) for entry in self.handlers for handler in entry.group for one in exceptions)

    def leave(self, *, certain: bool, exceptions: tuple[str, ...] = ("SystemExit",)) -> None:
        """The way to here ends with an exception: a handler takes it, or the entry point ends."""
        final = next((one.exits for one in reversed(self.handlers) if self._meets(one, exceptions)), None)
        if self.state is not None and final is not None:
            final.append(Left(self.state, exceptions, certain))
            self.state = None
        elif self.throw(*exceptions):
            self.state = None
        else:
            super().leave(certain=certain)

    def _meets(self, catching: Catching, exceptions: Sequence[str]) -> bool:
        """Whether that is the first place where an exception from here stops on its way."""
        return catching.exits is not None or any(one.takes(name) for one in catching.group for name in exceptions)

    def _out(self, way: Exit) -> bool:
        """Whether a ``finally`` of this function stands in the way of a ``return``, ``break`` or ``continue``."""
        loops = len(self.loops) if isinstance(way, (Broken, Continued)) else 0
        for catching in reversed(self.handlers):
            if catching.exits is not None and catching.depth == len(self.frames) and catching.loops >= loops:
                catching.exits.append(way)
                return True
        return False

    def _go_on(self, way: Exit, state: State) -> None:
        """Go on with a way out of a block behind that block's ``finally``, in this ``state``."""
        match way:
            case Left(_, exceptions, certain):
                self.state = state
                self.leave(certain=certain, exceptions=exceptions)
            case Returned(_, value):
                if not self._out(Returned(state, value)):
                    self.frame.returns.append((state, value))
            case Broken(snapshot):
                if not self._out(Broken(replace(snapshot, state=state))) and self.loops:
                    self.loops[-1].breaks.append(replace(snapshot, state=state))
            case Continued(snapshot):
                if not self._out(Continued(replace(snapshot, state=state))) and self.loops:
                    self.loops[-1].continues.append(replace(snapshot, state=state))
        self.state = None

    # Statements

    def _Return(self, node: ast.Return) -> None:
        value = self.evaluate(node.value)
        if self.state is not None:
            if len([frame for frame in self.frames if frame.call is not None]) == 0:
                # Nobody in sight gets it.
                self.escape(value)
            self._go_on(Returned(self.state, value), self.state)

    def _Raise(self, node: ast.Raise) -> None:
        self._children(node)
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if self.state is None:
            return
        exceptions = self._raised_by(raised)
        self.leave(certain=isinstance(raised, ast.Name) and raised.id == "SystemExit", exceptions=exceptions)

    def _raised_by(self, raised: ast.expr | None) -> tuple[str, ...]:
        """The names by which a handler may catch what is raised."""
        value = self._last_values.get(id(raised)) if raised is not None else None
        if raised is None or not isinstance(value, (Ref, Class)):
            # What a handler raises again, most often.
            caught = self.caught[-1] if self.caught else ()
            return tuple("Exception" if one == "*" else one for one in caught) or ("Exception",)
        return tuple(_lineage(value)) or ("Exception",)

    def _Break(self, node: ast.Break) -> None:
        if self.loops and self.state is not None:
            self._go_on(Broken(self.snapshot()), self.state)
        self.state = None

    def _Continue(self, node: ast.Continue) -> None:
        if self.loops and self.state is not None:
            self._go_on(Continued(self.snapshot()), self.state)
        self.state = None

    def _Try(self, node: ast.Try) -> None:
        final = Catching((), len(self.frames), len(self.loops), []) if node.finalbody else None
        if final is not None:
            self.handlers.append(final)
        before = self.snapshot()
        self._guarded(node, before)
        if final is not None:
            self.handlers.pop()
            self._finally(node.finalbody, before, final.exits or [])

    _TryStar = _Try

    def _guarded(self, node: ast.Try, before: Snapshot) -> None:
        """The body of a ``try``, its handlers, and what follows where nothing is raised."""
        group = tuple(
            Handler(
                handler_types(handler),
                self.span(handler) if not handler.body else self.statement_span(handler),
                reraises=ends_in_exit(handler.body),
                idle=is_idle(handler.body),
                silent=is_silent(handler.body),
                gives_up=gives_up(handler.body),
            )
            for handler in node.handlers
        )
        self.handlers.append(Catching(group, len(self.frames)))
        lacking = self.lacking
        self.execute(node.body)
        self.handlers.pop()
        lacks = self.lacking > lacking
        after = self.snapshot()
        if self.state is not None:
            self.execute(node.orelse)
        end = self.snapshot()
        ends = []
        entered = []
        for handler, described in zip(node.handlers, group, strict=True):
            self.restore(before)
            self.merge(after)
            caught = self.raised.pop(id(described), [])
            if caught:
                self.state = functools.reduce(join_states, caught)
            elif self.state is not None and before.state is not None:
                # Whether the body had come as far as what starts the runtime when it failed, nobody knows.
                self.state = _started_or_not(self.state, before.state)
            if handler.name:
                self.bind(handler.name, UNKNOWN)
            self.caught.append(described.catches)
            fallback = not caught and not lacks and not _MISSING.isdisjoint(described.catches)
            self.fallbacks += fallback
            with self.doubtful():
                if handler.type is not None:
                    self.evaluate(handler.type)
                self.execute(handler.body)
            self.fallbacks -= fallback
            self.caught.pop()
            ends.append(self.snapshot())
            if caught or (described.takes("ImportError") and self._falls_back(before, after)):
                entered.append(ends[-1])
        # Unless something is known to raise, the body is taken to go through: a claim that rests on an exception nobody
        # knows of would be a guess.
        self.restore(end)
        for handled in entered or (ends if self.state is None else ()):
            self.merge(handled)

    def _falls_back(self, before: Snapshot, after: Snapshot) -> bool:
        """Whether a handler has imported a module of the project's own in the place of one that may be missing."""
        if self.state is None or before.state is None or self.state.imported is before.state.imported:
            return False
        if after.state is not None and after.state.imported is not before.state.imported:
            # It was one of the project's own, too, and there it was.
            return False
        return any(name not in before.state.imported for name in self.state.imported)

    def _finally(self, body: Sequence[ast.stmt], before: Snapshot, exits: Sequence[Exit]) -> None:
        """What runs whichever way the block before it ended."""
        end = self.snapshot()
        if exits or self.state is None:
            self.restore(before)
            self.merge(end)
            if exits:
                self.state = functools.reduce(join_states, [one.state for one in exits])
                if end.state is not None:
                    # The same lines are run where nothing is raised: what is so on this way alone is not so for sure.
                    self.state = _started_or_not(self.state, end.state)
            with self.doubtful(doubt=end.state is not None):
                self.execute(body)
            if self.state is not None:
                ended = self.state
                for one in exits:
                    self._go_on(one, ended)
            self.restore(end)
        if end.state is not None:
            self.execute(body)

    def suppressing(self, exceptions: tuple[str, ...], manager: ast.expr, body: functools.partial[None]) -> None:
        """A block that these exceptions end, but don't get out of."""
        described = Handler(exceptions, self.span(manager), reraises=False, idle=True, silent=True)
        before = self.snapshot()
        self.handlers.append(Catching((described,), len(self.frames)))
        body()
        self.handlers.pop()
        caught = self.raised.pop(id(described), [])
        if caught:
            end = self.snapshot()
            self.restore(before)
            self.merge(end)
            self.state = functools.reduce(join_states, caught)
            self.merge(end)

    caught: list[tuple[str, ...]]
    """What the handlers catch that we are in."""


def _lineage(value: Value) -> list[str]:
    """The names of a class of exceptions and of those that it is derived from."""
    match value:
        case Ref(name):
            return [name]
        case Class(node, _, bases):
            return [node.name, *(name for base in bases for name in _lineage(base))]
        case _:
            return []


def _started_or_not(state: State, before: State) -> State:
    """What has started since ``before`` may have, or not."""
    changes = {
        which: Phase(Tri.UNKNOWN)
        for which in ("context", "allocator", "listed")
        if getattr(state, which) != getattr(before, which)
    }
    return replace(state, **changes) if changes else state  # type: ignore[arg-type]


def handled_names(parts: Sequence[ast.expr]) -> tuple[str, ...]:
    """The names of exceptions, as they are written in a call or in a tuple."""
    named = [one for part in parts for one in (part.elts if isinstance(part, ast.Tuple) else [part])]
    return tuple(dotted(one).replace("tensorflow.", "tf.", 1) or "?" for one in named)
