"""Loops: how often a body is gone through, and what its variable stands for each time."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from tfmemlint.interpreter.context import LONGEST_UNROLLED, MAX_LOOPS, Loop
from tfmemlint.interpreter.tensorflow import TensorFlow
from tfmemlint.interpreter.values import (
    EACH,
    UNKNOWN,
    Choice,
    Const,
    Count,
    Device,
    DeviceName,
    Devices,
    Dict,
    Index,
    Indices,
    Instance,
    Lazy,
    Seq,
    Value,
    Zipped,
    is_called,
)


class Loops(TensorFlow):
    """Going through loops."""

    def _For(self, node: ast.For | ast.AsyncFor) -> None:
        iterable = self.evaluate(node.iter)
        if self.state is None:
            return
        self.iterate(
            node,
            iterable,
            lambda value: self.assign(node.target, value),
            lambda: self.execute(node.body),
            self.bound_names([node.target, *node.body]),
        )
        self.execute(node.orelse)

    _AsyncFor = _For

    def iterate(  # type: ignore[override]
        self,
        node: ast.AST,
        iterable: Value,
        bind: Callable[[Value], None],
        body: Callable[[], None],
        rebound: frozenset[str],
    ) -> None:
        """Go through a loop: over what is known item by item, otherwise twice, since a second pass can be too late."""
        if self.state is None:
            return
        iterable = self.current(iterable)
        if isinstance(iterable, Instance):
            iterable = self.called_on(iterable, "__iter__", node)
        if self.state is None:
            return
        if isinstance(iterable, Lazy):
            self.iterate_lazy(node, iterable, bind, body, rebound)
            return
        if isinstance(iterable, Choice):
            # What is in it has been looked at: a list whose items differ from way to way is the same list on each.
            self.any_of(_as_such(iterable), lambda option: self._iterated(node, option, bind, body, rebound))
            return
        if isinstance(iterable, Seq) and iterable.kind == "set" and len(iterable.items) > 1 and is_called(iterable):
            # Nobody knows in which order.
            orders = Choice((Seq(iterable.items, "tuple"), Seq(iterable.items[::-1], "tuple")))
            self.any_of(orders, lambda option: self._iterated(node, option, bind, body, rebound))
            return
        cell = iterable.cell if isinstance(iterable, (Seq, Dict)) else None
        content = self.heap.get((cell, "")) if cell is not None else None
        passes = elements(iterable)
        over_devices = any(_has_device(value) for value, _ in passes)
        definite = bool(passes) and passes[0][0] is not UNKNOWN
        if (isinstance(iterable, Seq) and not iterable.items) or (self.here.max_gpus == 0 and _is_of_gpus(iterable)):
            return

        def bound(value: Value) -> Callable[[], bool]:
            def enter() -> bool:
                bind(value)
                return True

            return enter

        each = isinstance(iterable, (Seq, Dict)) and len(passes) == len(iterable.items)
        self._run_loop(node, [bound(value) for value, _ in passes], body, rebound, over_devices, definite, each=each)
        if cell is not None and is_called(iterable) and self.heap.get((cell, "")) is not content:
            # It was changed meanwhile: what it is asked for next depends on how.
            self.unsure()

    def _iterated(
        self,
        node: ast.AST,
        iterable: Value,
        bind: Callable[[Value], None],
        body: Callable[[], None],
        rebound: frozenset[str],
    ) -> Value:
        self.iterate(node, iterable, bind, body, rebound)
        return UNKNOWN

    def _While(self, node: ast.While) -> None:
        first = self.evaluate(node.test)
        if self.state is None:
            return
        verdict = self.verdict(node.test, first)
        if verdict.truth is False and not verdict.assumed:
            self.execute(node.orelse)
            return
        rebound = self.bound_names(node.body)
        counted = any(isinstance(self._last_values.get(id(child)), Count) for child in ast.walk(node.test))
        endless = verdict.truth is True and isinstance(node.test, ast.Constant)

        def again() -> bool:
            next_time = self.verdict(node.test, self.evaluate(node.test))
            return self.state is not None and (next_time.truth is not False or next_time.assumed)

        self._run_loop(
            node,
            [lambda: True, again],
            lambda: self.execute(node.body),
            rebound,
            counted,
            definite=verdict.truth is True or counted,
            endless=endless,
        )
        self.execute(node.orelse)

    def _run_loop(
        self,
        node: ast.AST,
        passes: Sequence[Callable[[], bool]],
        body: Callable[[], None],
        rebound: frozenset[str],
        over_devices: bool,
        definite: bool,
        endless: bool = False,
        each: bool = False,
    ) -> None:
        """Go through a loop's passes; ``each``: there are just as many."""
        before = self.snapshot()
        graphs = self.here.graphs
        loop = Loop(node, len(self.frames), over_devices, rebound, each=each)
        deep = sum(one.repeated for one in self.loops) >= MAX_LOOPS
        self.loops.append(loop)
        ends = []
        for number, enter in enumerate(passes):
            if number and (deep or self.state is None):
                break
            loop.repeated = number > 0
            # Some ways may have left the loop by now.
            unsure = not definite or bool(loop.breaks) or (number > 0 and not over_devices and not each)
            if number > 0 and not over_devices and not each:
                # There need not be another pass.
                ends.append(self.snapshot())
            with self.doubtful(doubt=unsure):
                if enter():
                    body()
            for skipped in loop.continues:
                self.merge(skipped)
            loop.continues.clear()
        self.loops.pop()
        if endless and any(frame.on_yield is not None for frame in self.frames):
            # Whoever iterates over an endless generator ends it.
            self.state = None
        elif endless:
            self.leave(certain=not loop.breaks)
        else:
            for end in ends:
                self.merge(end)
            if not definite:
                self.merge(before)
        for left in loop.breaks:
            self.merge(left)
        if self.state is not None and self.state.graphs != graphs:
            self.state = replace(self.state, graphs=graphs)


def elements(iterable: Value) -> list[tuple[Value, bool]]:
    """The values that a loop's variable takes, each with whether it is a repetition; two unknowns where unknown."""
    match iterable:
        case Seq(items) if items and len(items) <= LONGEST_UNROLLED:
            return [(item, position > 0) for position, item in enumerate(items)]
        case Dict(items, open=False) if items and len(items) <= LONGEST_UNROLLED:
            return [(Const(key), position > 0) for position, key in enumerate(items)]
        case Devices(kind=kind, type=type_, whole=whole, names=names):
            first = Device(kind, type_, 0 if whole else "some", loop=True)
            rest = Device(kind, type_, EACH if whole else "some", loop=True)
            pair: list[Value] = [DeviceName(first), DeviceName(rest)] if names else [first, rest]
            return [(pair[0], False), (pair[1], True)]
        case Indices(of):
            return [
                (Index(Device(of.kind, of.type, 0, loop=True)), False),
                (Index(Device(of.kind, of.type, EACH, loop=True)), True),
            ]
        case Zipped(parts):
            columns = [elements(part) for part in parts]
            known = [column for column in columns if column[0][0] is not UNKNOWN]
            length = min((len(column) for column in known), default=2)
            return [
                (Seq(tuple(column[row][0] if row < len(column) else UNKNOWN for column in columns), "tuple"), row > 0)
                for row in range(length)
            ]
        case _:
            return [(UNKNOWN, False), (UNKNOWN, True)]


def _as_such(choice: Choice) -> Choice:
    """The lists among several values, each as what is in it, which no name leads to."""
    return Choice(
        tuple(
            Seq(one.items, one.kind if one.kind == "set" else "tuple") if isinstance(one, Seq) else one
            for one in choice.options
        )
    )


def _is_of_gpus(iterable: Value) -> bool:
    """Whether there is nothing to go through where there is no GPU."""
    match iterable:
        case Devices(kind="physical", type="GPU") | Indices(of=Devices(type="GPU")):
            return True
        case Zipped(parts):
            return any(_is_of_gpus(part) for part in parts)
        case _:
            return False


def _has_device(value: Value) -> bool:
    match value:
        case Device(loop=True) | DeviceName(device=Device(loop=True)) | Index():
            return True
        case Seq(items):
            return any(_has_device(item) for item in items)
        case _:
            return False
