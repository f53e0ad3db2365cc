"""Callbacks of Keras that read a peak of the GPU memory, and the trainings that get them. Read off the syntax."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.model.records import dataclass
from tfmemlint.rulekit.told_devices import TELLING

_TELLING = TELLING - {"append", "format"}
_RUNS = ("train", "test", "predict")
_MOST_STEPS = 3
"""Times that what holds the peak is looked for: a local name, an attribute, a method that returns it."""


@dataclass(frozen=True, slots=True)
class PeakCallback:
    """A class of callbacks that read a peak in a method that Keras calls.

    Attributes:
        cls: it. read: the call of ``get_memory_info``. kept: the attributes that hold the peak, and the methods that
        return it. tells: the end of a run tells it. run: ``train``, ``test`` or ``predict``. begins: the method that
        Keras calls at the beginning of it; None if there is none.
    """

    cls: ast.ClassDef
    read: ast.Call
    kept: frozenset[str]
    tells: bool
    run: str
    begins: ast.FunctionDef | None


def peak_callbacks(
    tree: ast.Module, functions: Mapping[str, ast.FunctionDef], reads: Collection[int]
) -> dict[str, PeakCallback]:
    """Return the classes of callbacks that read one of some peaks, by name; not those that reset something else than
    what they hold."""
    found: dict[str, PeakCallback] = {}
    for node in all_nodes(tree):
        if isinstance(node, ast.ClassDef) and any(dotted(base).endswith("Callback") for base in node.bases):
            callback = _Class(node, functions, reads).callback()
            if callback is not None:
                found[node.name] = callback
    return found


def callbacks_given(
    call: ast.Call, home: ast.AST, tree: ast.Module, known: Mapping[str, PeakCallback]
) -> Iterator[tuple[PeakCallback, str]]:
    """Yield the callbacks that a training gets, each with its name in ``home``, where it is made; "" without one."""
    given = next((each.value for each in call.keywords if each.arg == "callbacks"), None)
    if isinstance(given, ast.Name):
        given = _assigned(home, given.id) or _assigned(tree, given.id)
    for item in given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]:
        name = item.id if isinstance(item, ast.Name) else ""
        # One that is made before goes on from pass to pass, unless it begins anew.
        made = _assigned(home, name) if name else item
        earlier = _assigned(tree, name) if name and made is None else None
        for value in (made, earlier):
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in known:
                callback = known[value.func.id]
                if value is made or callback.begins is not None:
                    yield callback, name


def tells_peak(home: ast.AST, callback: PeakCallback, name: str) -> bool:
    """True if a loop's body tells or keeps what a callback has read, or the callback does so at the end of a run."""
    return callback.tells or any(_uses(statement, callback, name) for statement in _statements(home))


def returns_peak(home: ast.FunctionDef, callback: PeakCallback, name: str) -> bool:
    """True if a function returns what a callback has read."""
    names = {
        target.id
        for node in ast.walk(home)
        if isinstance(node, ast.Assign) and _uses(node.value, callback, name)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    returned = [node for node in ast.walk(home) if isinstance(node, ast.Return) and node.value is not None]
    return any(
        _uses(node, callback, name) or any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))
        for node in returned
    )


def _statements(home: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements that tell something, or keep it elsewhere than in a plain name."""
    for node in ast.walk(home):
        match node:
            case ast.Expr(ast.Call(func)) if dotted(func).rpartition(".")[2] in _TELLING | {"append"}:
                yield node
            case ast.Assign([ast.Subscript()]):
                yield node
            case _:
                pass


def _uses(node: ast.AST, callback: PeakCallback, name: str) -> bool:
    """True if what a callback holds is read in a node, other than to be compared with another amount."""
    compared = {
        id(part)
        for each in ast.walk(node)
        if isinstance(each, ast.Compare)
        or (isinstance(each, ast.Call) and dotted(each.func) == "max" and each.args[1:])
        for part in ast.walk(each)
    }
    return any(
        isinstance(part, ast.Attribute)
        and isinstance(part.value, ast.Name)
        and part.value.id == name
        and part.attr in callback.kept
        and id(part) not in compared
        for part in ast.walk(node)
    )


def _assigned(home: ast.AST, name: str) -> ast.expr | None:
    """Return what is assigned to a name, if that happens once."""
    found = [
        node.value
        for node in ast.walk(home)
        if isinstance(node, ast.Assign) and any(isinstance(each, ast.Name) and each.id == name for each in node.targets)
    ]
    return found[0] if len(found) == 1 else None


class _Class:
    """A class while what holds the peak is looked for in it."""

    def __init__(self, cls: ast.ClassDef, functions: Mapping[str, ast.FunctionDef], reads: Collection[int]) -> None:
        self._cls = cls
        self._reads = reads
        self._functions = {name for name, node in functions.items() if any(map(self._is_read, _returned(node)))}
        self._methods = {node.name: node for node in cls.body if isinstance(node, ast.FunctionDef)}
        self._kept: set[str] = set()
        self._names: set[tuple[str, str]] = set()

    def callback(self) -> PeakCallback | None:
        for _ in range(_MOST_STEPS):
            for method in self._methods.values():
                self._follow(method)
        hooks = [method for name, method in self._methods.items() if name.startswith("on_")]
        reading = [hook for hook in hooks if self._holds(hook, hook.name)]
        calls = [node for node in ast.walk(self._cls) if isinstance(node, ast.Call)]
        read = next((node for node in calls if id(node) in self._reads), None)
        if read is None or not reading or self._resets(calls):
            return None
        run = next((run for run in _RUNS if any(hook.name.startswith(f"on_{run}_") for hook in reading)), "train")
        tells = any(
            dotted(node.func).rpartition(".")[2] in _TELLING
            and any(
                self._holds(each, f"on_{run}_end") for each in (*node.args, *(given.value for given in node.keywords))
            )
            for hook in reading
            if hook.name == f"on_{run}_end"
            for node in ast.walk(hook)
            if isinstance(node, ast.Call)
        )
        begins = self._methods.get(f"on_{run}_begin")
        return PeakCallback(self._cls, read, frozenset(self._kept), tells, run, begins)

    def _follow(self, method: ast.FunctionDef) -> None:
        for node in ast.walk(method):
            match node:
                case ast.Assign(targets, value) if self._holds(value, method.name):
                    for target in targets:
                        self._keep(target, method.name)
                case ast.AugAssign(target, _, value) if self._holds(value, method.name):
                    self._keep(target, method.name)
                case ast.Expr(ast.Call(ast.Attribute(target, "append" | "add"), [value])) if self._holds(
                    value, method.name
                ):
                    self._keep(target, method.name)
                case ast.Return(ast.expr() as value) if self._holds(value, method.name):
                    self._kept.add(method.name)
                case _:
                    pass

    def _keep(self, target: ast.expr, method: str) -> None:
        match target:
            case ast.Name(name):
                self._names.add((method, name))
            case ast.Attribute(ast.Name("self"), name) | ast.Subscript(ast.Attribute(ast.Name("self"), name)):
                self._kept.add(name)
            case _:
                pass

    def _holds(self, node: ast.AST, method: str) -> bool:
        """True if the peak is in what a node of a method gives."""
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == "current":
            return False
        match node:
            case ast.Call() if self._is_read(node):
                return True
            case ast.Call(ast.Name(name)) if name in self._functions:
                return True
            case ast.Name(name, ast.Load()) if (method, name) in self._names:
                return True
            case ast.Attribute(ast.Name("self"), name, ast.Load()) if name in self._kept:
                return True
            case _:
                return any(self._holds(child, method) for child in ast.iter_child_nodes(node))

    def _is_read(self, node: ast.AST) -> bool:
        return id(node) in self._reads

    def _resets(self, calls: Collection[ast.Call]) -> bool:
        """True if it calls what has "reset" in its name, and is not a method of its own."""
        called = [dotted(node.func) for node in calls]
        own = {f"self.{name}" for name in self._methods}
        return any("reset" in name.lower() and name not in own for name in called)


def _returned(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield what is in the values that a function returns."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return):
            yield from ast.walk(node)
