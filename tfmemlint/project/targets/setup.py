"""Requirements in ``setup.py``, which is read and never run."""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Iterator

from tfmemlint.project.targets.requirement_files import Reader, decoded
from tfmemlint.project.targets.stated import Stated, of_requirement
from tfmemlint.project.targets.tables import DOCS, WEAK

_KEYS = {"install_requires": False, "extras_require": False, "tests_require": True}
"""The keys that setuptools takes, each with True if it is no more than a hint."""
_DEEPEST = 12
_UNKNOWN = "{?}"
"""The text that stands for a part of a text that can't be told."""

_VERSION_FILE = re.compile(r"(?!/)(?!.*\.\.)[\w./-]{0,200}(?:version|about)\w{0,80}\.py")
_MAX_VERSION_FILES = 4
"""Files with versions that are read: people have one."""

_Text = tuple[str, int]


def of_setup(path: str, text: str, read: Reader | None = None) -> Iterator[Stated]:
    """Yield the requirements that are written out in a ``setup.py``: lists, maybe under a name, in parts, from a
    function of the file, with the versions that it takes from a ``version.py`` of the project.

    Args:
        path: the file. text: its text. read: returns the bytes of another file of the project.

    Raises:
        ValueError: the file is not Python.
    """
    tree = _parsed(text)
    known = _Known(tree)
    for other in _version_files(path, tree):
        data = read(other) if read is not None else None
        if data is not None:
            known.add_constants(_parsed(decoded(data)))
    for key, value in known.given():
        weak = _KEYS[key]
        for group, node in known.groups(value) if key == "extras_require" else [("", value)]:
            if DOCS.search(group):
                continue
            for line, row in known.texts(node):
                for part in line.splitlines():
                    found = of_requirement(part, path, row, weak=weak or WEAK.search(group) is not None)
                    if found is not None:
                        yield found


def _parsed(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"it is not Python: {getattr(error, 'msg', '') or type(error).__name__}") from None


def _version_files(path: str, tree: ast.Module) -> Iterator[str]:
    """Yield the files with versions that a ``setup.py`` imports, or names to read: few, and below its directory."""
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), level=0) if "version" in module or "about" in module:
                found[module.replace(".", "/") + ".py"] = None
            case ast.Constant(value=str(text)) if _VERSION_FILE.fullmatch(text):
                found[text] = None
            case ast.Call(func=ast.Attribute(attr="join"), args=parts):
                words = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
                found["/".join(words)] = None
    for name in list(found)[:_MAX_VERSION_FILES]:
        if _VERSION_FILE.fullmatch(name):
            yield os.path.normpath(os.path.join(os.path.dirname(path), name))


class _Known:
    """The values of the names of a file, in any of its places."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._values: dict[str, list[ast.expr]] = {}
        self._returned: dict[str, list[ast.expr]] = {}
        self._entries: dict[str, list[tuple[str, ast.expr]]] = {}
        for node in self._nodes:
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._assigned(target, value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self._values.setdefault(name, []).append(value)
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
                    self._values.setdefault(name, []).append(value)
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend"), args=[value]):
                    self._values.setdefault(name, []).append(value)
                case ast.FunctionDef(name=name):
                    inner = (
                        inner_node
                        for inner_node in ast.walk(node)
                        if isinstance(inner_node, ast.Return) and inner_node.value is not None
                    )
                    self._returned[name] = [statement.value for statement in inner if statement.value is not None]

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                self._values.setdefault(name, []).append(value)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))):
                self._entries.setdefault(name, []).append((key, value))

    def add_constants(self, tree: ast.Module) -> None:
        """Take over the texts and numbers at the top of another file, under names that have no value here."""
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as value) if name not in self._values:
                    self._values[name] = [value]

    def given(self) -> Iterator[tuple[str, ast.expr]]:
        """Yield what is given as one of `_KEYS`, as an argument or in a dictionary."""
        for node in self._nodes:
            match node:
                case ast.keyword(arg=str(key), value=value) if key in _KEYS:
                    yield key, value
                case ast.Dict(keys=keys, values=values):
                    for entry, value in zip(keys, values, strict=True):
                        if isinstance(entry, ast.Constant) and entry.value in _KEYS:
                            yield str(entry.value), value
        for entries in self._entries.values():
            yield from ((key, value) for key, value in entries if key in _KEYS)

    def groups(self, node: ast.expr, depth: int = _DEEPEST) -> Iterator[tuple[str, ast.expr]]:
        """The extras of a dictionary of them."""
        match node:
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    yield (key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""), value
            case ast.Name(id=name) if depth:
                for value in self._values.get(name, ()):
                    yield from self.groups(value, depth - 1)
                yield from self._entries.get(name, ())

    def texts(self, node: ast.expr, depth: int = _DEEPEST) -> list[_Text]:
        """The texts that an expression may hold, each with its row: those of lists, and of all values of a name."""
        if depth == 0:
            return []
        match node:
            case ast.Constant(value=str(text)):
                return [(text, node.lineno)]
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return [text for item in items for text in self.texts(item, depth - 1)]
            case ast.Starred(value=value):
                return self.texts(value, depth - 1)
            case ast.Dict(values=values):
                return [text for value in values for text in self.texts(value, depth - 1)]
            case ast.IfExp(body=body, orelse=other):
                return self.texts(body, depth - 1) + self.texts(other, depth - 1)
            case ast.BoolOp(values=values):
                return [text for value in values for text in self.texts(value, depth - 1)]
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                if self._is_text(left) or self._is_text(right):
                    return [(self._text_of(node, depth), node.lineno)]
                return self.texts(left, depth - 1) + self.texts(right, depth - 1)
            case ast.JoinedStr() | ast.BinOp(op=ast.Mod()):
                return [(self._text_of(node, depth), node.lineno)]
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="format")):
                return [(self._text_of(node, depth), node.lineno)]
            case ast.Call(func=ast.Name(id="list" | "tuple" | "set" | "sorted"), args=[value]):
                return self.texts(value, depth - 1)
            case ast.Call(func=ast.Name(id=name)):
                return [text for value in self._returned.get(name, ()) for text in self.texts(value, depth - 1)]
            case ast.Name(id=name):
                return [text for value in self._values.get(name, ()) for text in self.texts(value, depth - 1)]
        return []

    def _is_text(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=str()) | ast.JoinedStr() | ast.BinOp(op=ast.Mod()):
                return True
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self._is_text(left) or self._is_text(right)
        return False

    def _text_of(self, node: ast.expr, depth: int) -> str:
        """One text, with `_UNKNOWN` for the parts of it that can't be told."""
        if depth == 0:
            return _UNKNOWN
        match node:
            case ast.Constant(value=value) if isinstance(value, str | int | float):
                return str(value)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self._text_of(left, depth - 1) + self._text_of(right, depth - 1)
            case ast.JoinedStr(values=values):
                return "".join(self._text_of(part, depth - 1) for part in values)
            case ast.FormattedValue(value=value, format_spec=None, conversion=-1):
                return self._text_of(value, depth - 1)
            case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str(text)), right=right):
                parts = right.elts if isinstance(right, ast.Tuple) else [right]
                if text.count("%") == text.count("%s") == len(parts):
                    return text % tuple(self._text_of(part, depth - 1) for part in parts)
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format"), args=[], keywords=named
            ):
                for word in named:
                    text = text.replace(f"{{{word.arg}}}", self._text_of(word.value, depth - 1))
                return text
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format"), args=parts):
                if any(isinstance(part, ast.Starred) for part in parts):
                    return _UNKNOWN
                if text.count("{") == text.count("{}") == len(parts):
                    return text.format(*(self._text_of(part, depth - 1) for part in parts))
            case ast.Attribute(attr=name) if len(self._values.get(name, ())) == 1:
                return self._text_of(self._values[name][0], depth - 1)
            case ast.Name(id=name) if len(self._values.get(name, ())) == 1:
                return self._text_of(self._values[name][0], depth - 1)
        return _UNKNOWN
