"""Paths, open files, parsers of INI files, and the values that configuration files have."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts import of_text, read_as
from tfmemlint.interpreter.operations.config_files import (
    INI_TEXT,
    as_path,
    content_of,
    joined,
    lines_of,
    opened,
    read_ini,
)
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.registry import attribute_of, item_of, method
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Amount,
    Const,
    Fields,
    FileContent,
    FilePath,
    FileValue,
    IniParser,
    Seq,
    Value,
)

_SAME = frozenset({"absolute", "resolve", "expanduser", "as_posix"})
_READ = frozenset({"read", "read_text", "read_bytes", "decode", "strip"})


_MAX_FOLDERS = 6
"""Folders above a file that ``path.parents`` is known to have."""


@attribute_of(FilePath)
def attribute_of_path(context: Context, base: FilePath, name: str, node: ast.AST) -> Value:
    if name == "parent":
        return FilePath(os.path.dirname(base.path), base.anchored)
    return Seq(tuple(_folders_above(base)), "tuple") if name == "parents" else UNKNOWN


def _folders_above(base: FilePath) -> Iterator[FilePath]:
    """Yield the folders that a file is in, the nearest first."""
    path = base.path
    for _ in range(_MAX_FOLDERS):
        path = os.path.dirname(path)
        yield FilePath(path, base.anchored)


@method(FilePath)
def method_of_path(context: Context, base: FilePath, call: MethodCall) -> Value:
    values, keywords = call.drained_arguments(context)
    name = call.name
    first = values[0] if values else None
    if name in _SAME:
        return base
    if name == "open":
        return opened(context, base, keywords.get("mode", first))
    if name in _READ:
        return content_of(FileContent(base))
    if name.startswith("write"):
        opened(context, base, Const("w"))
        return UNKNOWN
    parts = [path for path in map(as_path, values) if path is not None]
    if name == "joinpath" and len(parts) == len(values):
        return joined(base, *parts)
    if name == "with_name" and parts:
        return joined(FilePath(os.path.dirname(base.path), base.anchored), parts[0])
    return UNKNOWN


@method(FileContent)
def method_of_content(context: Context, base: FileContent, call: MethodCall) -> Value:
    call.drained_arguments(context)
    if call.name in ("splitlines", "readlines"):
        return lines_of(context, base)
    # Without an argument all of it is read.
    return content_of(base) if call.name in _READ and not getattr(call.node, "args", ()) else UNKNOWN


@item_of(FileValue)
def item_of_value(
    context: Context, base: FileValue, key: Value, node: ast.expr, written: ast.expr | None = None
) -> Value:
    items = base.value
    if not isinstance(items, tuple):
        return Amount("str", source=base.source) if base.type == "str" else UNKNOWN
    plain = isinstance(key, Const) and type(key.value) is int and -len(items) <= key.value < len(items)
    found: Value = items[key.value] if plain and isinstance(key, Const) else UNKNOWN
    return found


_CHANGING = frozenset({"strip", "lower", "upper", "title"})


@method(FileValue)
def method_of_value(context: Context, base: FileValue, call: MethodCall) -> Value | None:
    if base.type == "str" and call.name in _CHANGING and not getattr(call.node, "args", ()):
        return FileValue(
            *("str", base.unit, base.source, base.sure),
            path=base.path,
            row=base.row,
            value=getattr(str(base.value), call.name)(),
        )
    result = of_text(base, call.name)
    if result is not None:
        call.drained_arguments(context)
    return result


@item_of(IniParser)
def section(context: Context, base: IniParser, key: Value, node: ast.expr, written: ast.expr | None = None) -> Value:
    name = key.value if isinstance(key, Const) else None
    return Fields(base.sections.get(name, {}) if isinstance(name, str) else {}, INI_TEXT)


_GETTING = frozenset({"get", "getint", "getfloat", "getboolean"})
_READING = frozenset({"read", "read_file", "read_string"})


@method(IniParser)
def method_of_parser(context: Context, base: IniParser, call: MethodCall) -> Value:
    values, keywords = call.drained_arguments(context)
    if call.name in _READING:
        read_ini(context, base, call.name, values or list(keywords.values())[:1])
        return UNKNOWN
    if call.name not in _GETTING:
        if call.name not in ("sections", "has_section", "has_option", "options", "items", "write"):
            base.sections.clear()
        return UNKNOWN
    names = [
        str(value.value).lower() if place else value.value
        for place, value in enumerate(values[:2])
        if isinstance(value, Const) and isinstance(value.value, str)
    ]
    found: Value = INI_TEXT
    if len(names) == 2:
        found = base.sections.get(names[0], {}).get(names[1], INI_TEXT)
    fallback = keywords.get("fallback")
    if call.name != "get":
        return read_as(call.name, found)
    if fallback is not None and not isinstance(found, (FileValue, Const)):
        known = isinstance(fallback, Const) and isinstance(fallback.value, (str, type(None)))
        return Amount("str", source=INI_TEXT.source, sure=known) if isinstance(fallback, Const) else UNKNOWN
    return found
