"""Values that Python code makes, as far as they can be read off it: the words and the variables of what it starts.

What is counted, and what a list is gone through for, stands for its second item, as in the loops of shell scripts: the
first is GPU 0, with which most mistakes do not show.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Sequence

from tfmemlint.deployment.python.scopes import LOOPS, MAX_DEPTH, Scope
from tfmemlint.facts.syntax import dotted
from tfmemlint.model.configuration import HERE

_PATHS = frozenset({"Path", "PurePath", "abspath", "realpath", "fspath", "resolve", "absolute", "as_posix", "normpath"})
"""Functions and methods that leave a path what it is."""
_SAME = frozenset({"str", "list", "tuple", "sorted"})


def value_of(node: ast.expr, scope: Scope, depth: int = 0) -> object | None:
    """Return the text, the number or the list that an expression makes; None if it is not known.

    Paths below the file's own directory begin with ``HERE``. Items of a list are None if they are not known.
    """
    if depth > MAX_DEPTH:
        return None
    below = depth + 1
    match node:
        case ast.Constant(value=(str() | int()) as value) if not isinstance(value, bool):
            return value
        case ast.Name(id="__file__"):
            return f"{HERE}/{scope.file.name}"
        case ast.Name():
            return _named(node, scope, below)
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            return _items(elts, scope, below)
        case ast.JoinedStr(values=parts):
            texts = [text_of(part, scope, below) for part in parts]
            return None if None in texts else "".join(text for text in texts if text is not None)
        case ast.FormattedValue(value=value, format_spec=None):
            return value_of(value, scope, below)
        case ast.Attribute(value=base, attr="parent"):
            path = text_of(base, scope, below)
            return None if path is None else posixpath.dirname(path)
        case ast.Attribute() if dotted(node) == "sys.executable":
            return "python"
        case ast.BinOp(left=left, op=op, right=right):
            return _computed(value_of(left, scope, below), op, value_of(right, scope, below))
        case ast.Subscript(value=base, slice=ast.Constant(value=int() as index)):
            items = value_of(base, scope, below)
            return items[index] if isinstance(items, list) and -len(items) <= index < len(items) else None
        case ast.Call():
            return _called(node, scope, below)
        case _:
            return None


def text_of(node: ast.expr, scope: Scope, depth: int = 0) -> str | None:
    """Return an expression's value as a text; None if it is not known, or a list."""
    value = value_of(node, scope, depth)
    return None if value is None or isinstance(value, list) else str(value)


def item_of(node: ast.expr, scope: Scope, depth: int = 0) -> object | None:
    """Return what stands for the items of something that is gone through."""
    if isinstance(node, ast.Call) and not node.keywords:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "range" and node.args:
            bounds = [value_of(each, scope, depth) for each in node.args]
            first = bounds[0] if len(bounds) > 1 else 0
            end = bounds[min(1, len(bounds) - 1)]
            step = bounds[2] if len(bounds) > 2 else 1
            if not isinstance(first, int) or not isinstance(step, int):
                return None
            return first if isinstance(end, int) and end <= first + step else first + step
        if name == "enumerate" and node.args:
            start = value_of(node.args[1], scope, depth) if len(node.args) > 1 else 0
            many = _is_one(value_of(node.args[0], scope, depth))
            return [start + (0 if many else 1) if isinstance(start, int) else None, item_of(node.args[0], scope, depth)]
        if name == "zip":
            return [item_of(each, scope, depth) for each in node.args]
    value = value_of(node, scope, depth)
    if isinstance(value, list):
        return value[min(1, len(value) - 1)] if value else None
    # Whatever text it is that is split, each part of it is one of several.
    return "1" if _is_split(node) else None


def _is_one(value: object) -> bool:
    return isinstance(value, list) and len(value) == 1


def _is_split(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="split"), args=[ast.Constant(value=",")]):
            return True
        case _:
            return False


def _named(node: ast.Name, scope: Scope, depth: int) -> object | None:
    bound = scope.file.loop_of(node)
    where: Scope | None = scope
    while bound is None and where is not None:
        if node.id in where.given:
            given, outer, is_item = where.given[node.id]
            return item_of(given, outer, depth) if is_item else value_of(given, outer, depth)
        bound = where.bound(node.id)
        if bound is None and where.holds(node.id):
            return None
        scope, where = where, where.outer
    if bound is None:
        return None
    value, target = bound
    is_loop = isinstance(scope.file.parents.get(target), LOOPS)
    return _part((item_of if is_loop else value_of)(value, scope, depth), target, node.id)


def _part(value: object | None, target: ast.expr, name: str) -> object | None:
    """Return the part of a value that a name of a target gets."""
    if isinstance(target, ast.Name):
        return value if target.id == name else None
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, list) and len(value) == len(target.elts):
        for each, part in zip(target.elts, value, strict=True):
            if any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(each)):
                return _part(part, each, name)
    return None


def _items(elts: Sequence[ast.expr], scope: Scope, depth: int) -> list[object]:
    """Return the items of a list; None for all that a starred expression adds, if that is not known."""
    found: list[object] = []
    for each in elts:
        if isinstance(each, ast.Starred):
            added = value_of(each.value, scope, depth)
            found += added if isinstance(added, list) else [None]
        else:
            found.append(value_of(each, scope, depth))
    return found


def _computed(left: object, op: ast.operator, right: object) -> object | None:
    if isinstance(op, ast.Div) and isinstance(left, str) and isinstance(right, str):
        return posixpath.join(left, right)
    if isinstance(left, list) and isinstance(op, ast.Add):
        return [*left, *(right if isinstance(right, list) else [None])]
    if isinstance(left, str) and isinstance(right, str) and isinstance(op, ast.Add):
        return left + right
    if isinstance(left, int) and isinstance(right, int):
        match op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.FloorDiv() if right:
                return left // right
            case ast.Mod() if right:
                return left % right
            case _:
                return None
    if isinstance(left, str) and isinstance(op, ast.Mod) and left.count("%") == 1 and isinstance(right, (int, str)):
        return left.replace("%s", str(right)).replace("%d", str(right))
    return None


def _called(node: ast.Call, scope: Scope, depth: int) -> object | None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    base = node.func.value if isinstance(node.func, ast.Attribute) else None
    if name == "join" and dotted(node.func).endswith("path.join"):
        texts = [text_of(each, scope, depth) for each in node.args]
        return None if None in texts else posixpath.join("", *(text for text in texts if text is not None))
    if name == "dirname" and node.args:
        path = text_of(node.args[0], scope, depth)
        return None if path is None else posixpath.dirname(path)
    if name == "format" and base is not None and not node.keywords:
        text = text_of(base, scope, depth)
        given = [text_of(each, scope, depth) for each in node.args]
        if text is None or None in given or text.count("{}") != len(given) or text.count("{") != len(given):
            return None
        for each in given:
            text = text.replace("{}", str(each), 1)
        return text
    if name == "split" and base is not None:
        text, mark = text_of(base, scope, depth), text_of(node.args[0], scope, depth) if node.args else ""
        return [*text.split(mark or None)] if text is not None and mark is not None else None
    if name in ("with_name", "joinpath") and base is not None and len(node.args) == 1:
        path, last = text_of(base, scope, depth), text_of(node.args[0], scope, depth)
        if path is None or last is None:
            return None
        return posixpath.join(posixpath.dirname(path) if name == "with_name" else path, last)
    if name == "strip" and base is not None and not node.args:
        text = text_of(base, scope, depth)
        return None if text is None else text.strip()
    if name in _SAME and len(node.args) == 1:
        value = value_of(node.args[0], scope, depth)
        return str(value) if name == "str" and isinstance(value, int) else value
    if name == "int" and len(node.args) == 1:
        text = text_of(node.args[0], scope, depth)
        return int(text) if text is not None and text.isdigit() else None
    if name in _PATHS:
        inner = node.args[0] if node.args else base
        return value_of(inner, scope, depth) if inner is not None else None
    return None
