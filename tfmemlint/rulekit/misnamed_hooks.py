"""Methods that a framework would call by another name: ``setUpModule`` of a ``TestCase``, ``on_training_begin``.

Read off the syntax. Sources of the names: Python's documentation of ``unittest`` (a module has ``setUpModule``, a class
``setUpClass``), and ``keras.callbacks.Callback``.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.program import NeverRun
from tfmemlint.model.finding import Span
from tfmemlint.rulekit.turned_guards import CONFIGURING, never_run

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program

KIND = "hook"
_OF_TEST_CASES = ("setUp", "tearDown", "setUpClass", "tearDownClass", "asyncSetUp", "asyncTearDown", "runTest", "run")
_OF_CALLBACKS = (
    *(f"on_{what}_{when}" for what in ("train", "test", "predict", "epoch", "batch") for when in ("begin", "end")),
    *(f"on_{what}_batch_{when}" for what in ("train", "test", "predict") for when in ("begin", "end")),
    *("set_model", "set_params"),
)
_NOT_OF_MODULES = ("setUpClass", "setUp", "setupModule", "setUpmodule")
"""Names of functions of a module by which ``setUpModule`` is meant."""
_HOOKS: Mapping[str, tuple[str, ...]] = {"unittest": _OF_TEST_CASES, "Keras": _OF_CALLBACKS}
_MEANT: Mapping[str, Mapping[str, str]] = {
    "unittest": {"setUpModule": "setUpClass", "setUpTestData": "setUpClass"},
    "Keras": {"on_train_start": "on_train_begin", "on_fit_start": "on_train_begin", "on_fit_begin": "on_train_begin"},
}
"""Names that another place, or another framework, has."""
_NEAR = 0.78
_OF_TESTS = re.compile(r"\bpytest\b|\bnose\b|\bdjango\b")
"""Frameworks with hooks of other names."""
_FROM_KERAS = re.compile(r"from[ \t]{1,9}[\w.]{0,60}keras\.callbacks[ \t]{1,9}import[^\n]{0,200}\bCallback\b")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def misnamed_hooks(program: Program) -> Iterator[tuple[NeverRun, _Function, str, str]]:
    """Yield each call that configures GPUs in a method which nothing calls, with the method, the framework that calls
    one of another name, and that name."""
    text = program.source.text
    if program.configuration is not None or not any(word in text for word in ("TestCase", "Callback")):
        return
    # ``Callback`` of another framework has other hooks.
    of_keras = _FROM_KERAS.search(text) is not None
    classes = {node.name: node for node in ast.walk(program.tree) if isinstance(node, ast.ClassDef)}
    for cls in classes.values():
        framework = _framework(cls, classes, of_keras)
        for function in cls.body if framework else ():
            if isinstance(function, _Function):
                right = _right_name(function.name, framework)
                if right and not any(isinstance(other, _Function) and other.name == right for other in cls.body):
                    yield from _never_run(program, function, framework, right)
    if any(_framework(cls, classes, of_keras) == "unittest" for cls in classes.values()):
        for function in program.tree.body:
            if isinstance(function, _Function) and function.name in _NOT_OF_MODULES:
                yield from _never_run(program, function, "unittest", "setUpModule")


def hook_place(program: Program, function: _Function) -> Span:
    """Return the place of a function's name."""
    row = function.lineno
    line = program.source.lines[row - 1]
    column = line.index(function.name, function.col_offset) + 1
    return Span(row, column, row, column + len(function.name))


def _never_run(
    program: Program, function: _Function, framework: str, right: str
) -> Iterator[tuple[NeverRun, _Function, str, str]]:
    text = program.source.text
    if len(re.findall(rf"\b{function.name}\b", text)) > 1 or (framework == "unittest" and _OF_TESTS.search(text)):
        return
    call = next(_configuring(function), None)
    if call is None:
        own = {node.name: node for node in program.tree.body if isinstance(node, _Function)}
        named = (
            node.func.id
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        )
        call = next((found for name in named if name in own for found in _configuring(own[name])), None)
        if call is None or len(re.findall(rf"\b{_around(own, call)}\b", text)) > 2:
            return
    yield never_run(program, call, KIND), function, framework, right


def _configuring(function: _Function) -> Iterator[ast.Call]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in CONFIGURING:
            yield node


def _around(functions: Mapping[str, _Function], call: ast.Call) -> str:
    """Return the name of the function that makes a call."""
    return next(name for name, function in functions.items() if any(node is call for node in ast.walk(function)))


def _framework(cls: ast.ClassDef, classes: Mapping[str, ast.ClassDef], of_keras: bool, depth: int = 4) -> str:
    """Return whose hooks a class has; "" for a class of nobody's, or of several."""
    found = set()
    for base in cls.bases:
        name = dotted(base).rpartition(".")[2]
        if name in classes and depth and classes[name] is not cls:
            found.add(_framework(classes[name], classes, of_keras, depth - 1))
        elif name in ("TestCase", "IsolatedAsyncioTestCase"):
            found.add("unittest")
        else:
            found.add("Keras" if name == "Callback" and (of_keras or "keras" in dotted(base)) else "")
    return found.pop() if len(found) == 1 else ""


def _right_name(name: str, framework: str) -> str:
    """Return the hook that is meant by a name; "" if it is one itself, or none is like it."""
    if name in _HOOKS[framework] or name.startswith("test"):
        return ""
    if name in _MEANT[framework]:
        return _MEANT[framework][name]
    by_case = {hook.lower(): hook for hook in _HOOKS[framework]}
    plain = name.lower() if framework == "Keras" else name.lower().replace("_", "")
    found = difflib.get_close_matches(plain, by_case, n=1, cutoff=1.0 if framework == "unittest" else _NEAR)
    return by_case[found[0]] if found else ""
