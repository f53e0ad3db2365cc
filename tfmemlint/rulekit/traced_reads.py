"""Reports of GPU memory in a ``tf.function``, which is Python code while TensorFlow traces it, and never again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import dotted, last_word
from tfmemlint.facts.tree_walk import all_nodes, parents_of
from tfmemlint.interpreter.program import Call
from tfmemlint.knowledge.functions import MEMORY_CALLS
from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program

_EAGERLY = ("run_eagerly", "run_functions_eagerly", "experimental_run_functions_eagerly", "disable_eager_execution")
"""With one of these, functions may not be traced at all, or there is nothing but tracing."""
_CALLS_IN_EACH_STEP = ("py_function", "numpy_function", "py_func", "eager_py_func")
_GUARDS = ("executing_eagerly", "inside_function")
_STEPS_OF_KERAS = frozenset({"train_step", "test_step", "predict_step"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class TracedRead:
    """A report of memory that is asked for while a function is traced.

    Attributes:
        read: the report. place: it, or the call in the function that leads to it, at its place.
        function: the name of the function. compiled: by XLA, which runs no Python code at all.
    """

    read: Call
    place: Call
    function: str
    compiled: bool


def traced_reads(program: Program) -> Iterator[TracedRead]:
    """Yield each report that is asked for only while a function of the program is traced."""
    reads = list(program.calls(*MEMORY_CALLS))
    if not reads or any(word in unit.source.text for unit in program.units for word in _EAGERLY):
        return
    known = {unit.source.path: _Bodies(program, number) for number, unit in enumerate(program.units)}
    seen: set[tuple[str, Span]] = set()
    for read in reads:
        if any(word in guard for guard, _ in read.guards for word in _GUARDS):
            continue
        for path, span in ((read.path, read.span), *((frame.path, frame.span) for frame in reversed(read.frames))):
            found = known[path].traced_at(span) if path in known else None
            if found is None:
                continue
            if (path, span) not in seen:
                seen.add((path, span))
                yield TracedRead(read, replace(read, path=path, span=span, statement=span), *found)
            break


def _compiles(given: ast.keyword) -> bool:
    """True if an argument of ``tf.function`` may have XLA compile it."""
    is_off = isinstance(given.value, ast.Constant) and not given.value.value
    return given.arg in ("jit_compile", "experimental_compile") and not is_off


def _makes_graph(node: ast.expr) -> bool:
    """True for ``tf.function``, and for a call of it."""
    return dotted(node.func if isinstance(node, ast.Call) else node) in ("tf.function", "tensorflow.function")


class _Bodies:
    """The functions of a module, as far as it is asked for them."""

    def __init__(self, program: Program, number: int) -> None:
        unit = program.units[number]
        self._source, self._tree = unit.source, unit.tree
        self._has = any(word in unit.source.text for word in ("tf.function", "tensorflow", *_STEPS_OF_KERAS))
        self._parents: dict[ast.AST, ast.AST] | None = None

    def traced_at(self, span: Span) -> tuple[str, bool] | None:
        """Return the name of the function that is traced where a call stands, and whether XLA compiles it."""
        if not self._has:
            return None
        if self._parents is None:
            self._parents = parents_of(self._tree)
        calls = (node for node in all_nodes(self._tree) if isinstance(node, ast.Call))
        node: ast.AST | None = next((call for call in calls if self._source.span(call) == span), None)
        while node is not None and not isinstance(node, _FUNCTIONS):
            if isinstance(node, ast.Call) and (dotted(node.func) or "").rpartition(".")[2] in _CALLS_IN_EACH_STEP:
                return None
            node = self._parents.get(node)
        return self._traced(node) if isinstance(node, ast.FunctionDef) else None

    def _traced(self, function: ast.FunctionDef) -> tuple[str, bool] | None:
        made = [each for each in function.decorator_list if _makes_graph(each)] or self._given(function.name)
        if made:
            given = made[0].keywords if isinstance(made[0], ast.Call) else []
            return function.name, any(map(_compiles, given))
        around = (self._parents or {}).get(function)
        if function.name in _STEPS_OF_KERAS and isinstance(around, ast.ClassDef):
            bases = {(dotted(base) or "").rpartition(".")[2] for base in around.bases}
            # Keras has XLA compile it by default, and `tf.py_function` raises there: seen on TensorFlow 2.21.
            return (function.name, True) if bases & {"Model", "Sequential", "Functional"} else None
        return None

    def _given(self, name: str) -> list[ast.expr]:
        """Return the calls of ``tf.function`` that get a function of this name, if nothing calls it by itself."""
        calls = [node for node in all_nodes(self._tree) if isinstance(node, ast.Call)]
        if any(last_word(call.func) == name for call in calls):
            return []
        return [call for call in calls if _makes_graph(call) and call.args and last_word(call.args[0]) == name]
