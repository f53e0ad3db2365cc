"""Configurations that depend on the truth of another one, which returns nothing: ``set_visible_devices(...) and ...``.

All functions of TensorFlow that configure the GPUs return ``None`` (measured with TensorFlow 2.21), which is false.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import NeverRun
from tfmemlint.rulekit.turned_guards import CONFIGURING, never_run

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.model.finding import Span

KIND = "truth"
"""The kind of a finding about such a configuration."""
_OF_TENSORFLOW = re.compile(r"(?:^|\.)config\.(?:experimental\.)?\w+\Z")


def truths_of_nothing(program: Program) -> Iterator[tuple[NeverRun, Span, str]]:
    """Yield each configuration that is not run, with the call that is asked for its truth, and the name of that."""
    if program.configuration is not None:
        return
    names = _Names(program.tree)
    for node in all_nodes(program.tree):
        for test, skipped in _skipped(node, names):
            for part in skipped:
                call = next(names.configuring(part), None)
                if call is not None:
                    event = never_run(program, call, KIND) if names.is_tensorflow(call) else None
                    event = event or _of_function(program, call, names)
                    yield event, program.source.span(test), dotted(test.func)
                    break


def _of_function(program: Program, call: ast.Call, names: _Names) -> NeverRun:
    """Return the event of a call of a function of the program that would configure the GPUs."""
    inner = next(names.within(dotted(call.func)))
    event = never_run(program, inner, KIND)
    span = program.source.span(call)
    return NeverRun(
        path=event.path, span=span, statement=span, state=event.state, kind=KIND, called=event.called, text=""
    )


def _skipped(node: ast.AST, names: _Names) -> Iterator[tuple[ast.Call, Sequence[ast.AST]]]:
    """Yield each call without a result that is asked for its truth, with what runs only if it is true."""
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            for number, part in enumerate(values[:-1]):
                if isinstance(part, ast.Call) and names.returns_nothing(part):
                    yield part, values[number + 1 :]
                    return
        case ast.If(test=test, body=body) | ast.While(test=test, body=body):
            for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]:
                if isinstance(part, ast.Call) and names.returns_nothing(part):
                    yield part, body
                    return
        case ast.IfExp(test=test, body=chosen):
            if isinstance(test, ast.Call) and names.returns_nothing(test):
                yield test, [chosen]
        case _:
            return


class _Names:
    """The functions of a module, and the names that it has from TensorFlow."""

    def __init__(self, tree: ast.Module) -> None:
        self._functions: dict[str, list[ast.FunctionDef]] = {}
        self._imported: set[str] = set()
        self._bound: set[str] = set()
        for node in all_nodes(tree):
            match node:
                case ast.FunctionDef(name=name):
                    self._functions.setdefault(name, []).append(node)
                case ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    self._bound.add(name)
                case ast.ImportFrom(module=str() as module, names=aliases) if module.startswith("tensorflow"):
                    self._imported.update(alias.asname or alias.name for alias in aliases)
                case _:
                    pass

    def is_tensorflow(self, call: ast.Call) -> bool:
        """True if a call is one of TensorFlow's functions that configure the GPUs."""
        name = dotted(call.func)
        if name.rpartition(".")[2] not in CONFIGURING:
            return False
        return name in self._imported or (_OF_TENSORFLOW.search(name) is not None and not name.startswith("self."))

    def within(self, name: str) -> Iterator[ast.Call]:
        """Yield the calls of TensorFlow by which a function of the module configures the GPUs."""
        for node in ast.walk(self._functions[name][0]) if self._is_plain(name) else ():
            if isinstance(node, ast.Call) and self.is_tensorflow(node):
                yield node

    def _is_plain(self, name: str) -> bool:
        found = self._functions.get(name, [])
        return len(found) == 1 and not found[0].decorator_list and name not in self._bound

    def returns_nothing(self, node: ast.Call) -> bool:
        """True for a call that configures the GPUs and has no result."""
        if self.is_tensorflow(node):
            return True
        name = dotted(node.func)
        if next(self.within(name), None) is None:
            return False
        return not any(
            isinstance(part, (ast.Yield, ast.YieldFrom)) or (isinstance(part, ast.Return) and part.value is not None)
            for part in ast.walk(self._functions[name][0])
        )

    def configuring(self, node: ast.AST) -> Iterator[ast.Call]:
        """Yield the calls in code that configure the GPUs, or of a function of the module that does."""
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and (
                self.is_tensorflow(part) or next(self.within(dotted(part.func)), None) is not None
            ):
                yield part
