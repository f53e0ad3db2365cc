"""Methods that a framework would call by another name: ``setUpModule`` of a ``TestCase``, ``on_training_begin``.

Read off the syntax. Sources of the names: Python's documentation of ``unittest`` (a module has ``setUpModule``, a class
``setUpClass``), and ``keras.callbacks.Callback``.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tfmemlint.facts.syntax import dotted
from tfmemlint.model.records import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef
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


@dataclass(frozen=True, slots=True)
class MisnamedHook:
    """A method that nothing calls.

    Attributes:
        function: the method. framework: what would call it, by the name that is ``right``.
        alone: the functions of the module that it alone calls.
    """

    function: Function
    framework: str
    right: str
    alone: tuple[Function, ...] = ()


def misnamed_hooks(tree: ast.Module, text: str) -> Iterator[MisnamedHook]:
    """Yield the methods of a module that a framework would call by another name, and that nothing else calls."""
    if not any(word in text for word in ("TestCase", "Callback")):
        return
    # ``Callback`` of another framework has other hooks.
    of_keras = _FROM_KERAS.search(text) is not None
    of_other_tests = _OF_TESTS.search(text) is not None
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    frameworks = {name: _framework(cls, classes, of_keras) for name, cls in classes.items()}
    found: list[MisnamedHook] = []
    for name, cls in classes.items():
        framework = frameworks[name]
        methods = {function.name: function for function in cls.body if isinstance(function, Function)}
        for function in methods.values() if framework else ():
            right = _right_name(function.name, framework)
            if right and right not in methods:
                found.append(MisnamedHook(function, framework, right))
    if "unittest" in frameworks.values():
        functions = [node for node in tree.body if isinstance(node, Function) and node.name in _NOT_OF_MODULES]
        found += [MisnamedHook(function, "unittest", "setUpModule") for function in functions]
    for hook in found:
        is_called = len(re.findall(rf"\b{hook.function.name}\b", text)) > 1
        if not is_called and not (hook.framework == "unittest" and of_other_tests):
            yield replace(hook, alone=_called_alone(hook.function, tree, text))


def _called_alone(function: Function, tree: ast.Module, text: str) -> tuple[Function, ...]:
    own = {node.name: node for node in tree.body if isinstance(node, Function)}
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    called = [own[func.id] for func in calls if isinstance(func, ast.Name) and func.id in own]
    return tuple(each for each in called if len(re.findall(rf"\b{each.name}\b", text)) == 2)


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
