"""The commands that a project installs, read from what declares them; ``setup.py`` is never run."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from tfmemlint.sources.config_files.tables import parse_ini, parse_toml
from tfmemlint.sources.regular import read_regular

_GROUPS = ("console_scripts", "gui_scripts")
_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_LARGEST = 2**20
"""Bytes of a file in which commands are looked for."""
_ERRORS = (ValueError, SyntaxError, LookupError, TypeError, AttributeError, RecursionError, MemoryError)


def console_scripts(root: str) -> tuple[tuple[str, str], ...]:
    """The module and the function of each command that the project at ``root`` installs, each once."""
    return _scripts(root, tuple(_age(os.path.join(root, name)) for name in _FILES))


def _age(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return 0, 0
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=256)
def _scripts(root: str, _ages: tuple[tuple[int, int], ...]) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for name, read in zip(_FILES, (_of_pyproject, _of_cfg, _of_setup), strict=True):
        try:
            data = read_regular(os.path.join(root, name), _LARGEST)
            if b"script" in data:
                found.extend(target for text in read(data) if (target := _target(text)) is not None)
        except (OSError, *_ERRORS):
            continue
    return tuple(dict.fromkeys(found))


def _target(text: object) -> tuple[str, str] | None:
    """``package.module:function [extra]``."""
    if not isinstance(text, str):
        return None
    module, _, function = (part.strip() for part in text.partition("[")[0].partition(":"))
    if all(part.isidentifier() for part in (*module.split("."), *function.split("."))):
        return module, function
    return None


def _of_pyproject(data: bytes) -> Iterator[object]:
    table: Any = parse_toml(data.decode("utf-8-sig"))
    for keys in (
        ("project", "scripts"),
        ("project", "gui-scripts"),
        ("project", "entry-points", "console_scripts"),
        ("project", "entry-points", "gui_scripts"),
        ("tool", "poetry", "scripts"),
    ):
        inner = table
        for key in keys:
            inner = inner.get(key) if isinstance(inner, dict) else None
        for value in inner.values() if isinstance(inner, dict) else ():
            # Poetry also has `{ reference = "a:b", type = "console" }`, and once had `{ callable = "a:b" }`.
            yield value.get("reference", value.get("callable")) if isinstance(value, dict) else value


def _of_cfg(data: bytes) -> Iterator[object]:
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parse_ini(data.decode("utf-8-sig"), parser)
    except ValueError:
        return
    for group in _GROUPS:
        yield from _lines(parser.get("options.entry_points", group, fallback="").splitlines())


def _of_setup(data: bytes) -> Iterator[object]:
    if not any(group.encode() in data for group in _GROUPS):
        return
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(data)
    nodes = list(ast.walk(tree))
    assigned: dict[str, ast.expr] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            assigned.update((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
    for node in nodes:
        match node:
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value in _GROUPS:
                        yield from _lines(_strings(value, assigned))
            case ast.keyword(arg="console_scripts" | "gui_scripts", value=value):
                yield from _lines(_strings(value, assigned))
            case ast.Constant(value=str(text)) if "_scripts]" in text:
                yield from _of_ini(text)


def _strings(node: ast.expr, assigned: dict[str, ast.expr], depth: int = 8) -> list[str]:
    """The lines of a list that is written out, maybe under a name, maybe as a sum."""
    if depth == 0:
        return []
    match node:
        case ast.Constant(value=str(text)):
            return text.splitlines()
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [line for item in items for line in _strings(item, assigned, depth - 1)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _strings(left, assigned, depth - 1) + _strings(right, assigned, depth - 1)
        case ast.Name(id=name) if name in assigned:
            return _strings(assigned[name], assigned, depth - 1)
        case _:
            return []


def _of_ini(text: str) -> Iterator[str]:
    group = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            group = line.strip("[] ")
        elif group in _GROUPS:
            yield from _lines([line])


def _lines(lines: list[str]) -> Iterator[str]:
    """Yield the values behind the equals signs."""
    for line in lines:
        name, equals, target = line.partition("=")
        if equals and not name.lstrip().startswith("#"):
            yield target.partition("#")[0]
