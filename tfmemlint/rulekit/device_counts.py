"""The entries of ``device_count`` in options of a session, read off the syntax."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from tfmemlint.facts.statements import own_nodes
from tfmemlint.facts.syntax import dotted, times_bound
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.knowledge.functions import meant_type
from tfmemlint.model.records import dataclass

_NUMBERED = re.compile(r"/?(?:device:)?gpu:\d+", re.IGNORECASE)
_IS_NUMBER = re.compile(
    r"(?:\A|_)(?:gpu|device|dev)_?(?:id|idx|index|no|nr|number|to_use)\Z|\A(?:which|use)_gpu\Z", re.IGNORECASE
)
"""Names of numbers of GPUs: ``gpu_id``."""
_CHOOSES = r"(?<![\w.])(?:gpu|device)[ \t]{0,3}(?:#|no\.?|number|id|index)?[ \t]{0,3}[:=]?[ \t]{0,3}%d(?![\w.])"
_ORDINALS = {1: re.compile(r"\bsecond[ \t](?:gpu|device)", re.IGNORECASE)}
_COMMENT_LINES = 2
"""Lines above an entry in which a comment may speak of it."""


@dataclass(frozen=True, slots=True)
class DeviceCountEntry:
    """An entry of ``device_count``.

    Attributes:
        key, value: its parts. statement: the statement that holds it.
        keyword: the whole argument, where it is the only entry of one; else None.
    """

    key: ast.expr
    value: ast.expr
    statement: ast.stmt
    keyword: ast.keyword | None = None


def device_count_entries(tree: ast.Module) -> Iterator[DeviceCountEntry]:
    """Yield the entries of ``device_count={...}`` and ``config.device_count[...] = ...``."""
    tables = _tables(tree)
    for statement in all_nodes(tree):
        if not isinstance(statement, ast.stmt):
            continue
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=ast.Attribute(attr="device_count"), slice=key)], value=value):
                yield DeviceCountEntry(key, value, statement)
            case _:
                pass
        for node in own_nodes(statement):
            if isinstance(node, ast.keyword) and node.arg == "device_count":
                yield from _entries_given(node, statement, tables)


def _entries_given(
    keyword: ast.keyword, statement: ast.stmt, tables: Mapping[str, ast.Dict]
) -> Iterator[DeviceCountEntry]:
    given = tables.get(keyword.value.id) if isinstance(keyword.value, ast.Name) else keyword.value
    if not isinstance(given, ast.Dict):
        return
    only = keyword if len(given.keys) == 1 and given is keyword.value else None
    for key, value in zip(given.keys, given.values, strict=True):
        if key is not None:
            yield DeviceCountEntry(key, value, statement, only)


def _tables(tree: ast.Module) -> Mapping[str, ast.Dict]:
    """Return the dictionaries that a name has which is bound once."""
    bound = times_bound(tree)
    found: dict[str, ast.Dict] = {}
    for node in all_nodes(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() as table) if bound[name] == 1:
                found[name] = table
    return found


def unknown_type(entry: DeviceCountEntry) -> str:
    """Return the type that the key of an entry means and is not: ``gpu``; "" if it is one, or means something else."""
    key = entry.key.value if isinstance(entry.key, ast.Constant) else None
    if not isinstance(key, str):
        return ""
    return "GPU" if _NUMBERED.fullmatch(key) else meant_type(key)


def number_meant(entry: DeviceCountEntry, lines: list[str]) -> str:
    """Return the number of a GPU that is given as the count of GPUs, as written; "" for a count.

    Its name says that it is one, or a comment beside it names the GPU of this number.
    """
    if not isinstance(entry.key, ast.Constant) or entry.key.value != "GPU":
        return ""
    value = entry.value.args[0] if isinstance(entry.value, ast.Call) and entry.value.args else entry.value
    name = dotted(value).rpartition(".")[2]
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
        name = str(value.slice.value)
    if name and _IS_NUMBER.search(name):
        return name
    number = value.value if isinstance(value, ast.Constant) else None
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        return ""
    first = max(entry.statement.lineno - 1 - _COMMENT_LINES, 0)
    rows = lines[first : (entry.value.end_lineno or entry.value.lineno)]
    comments = [row.partition("#")[2] for row in rows if "#" in row]
    chooses = re.compile(_CHOOSES % number, re.IGNORECASE)
    ordinal = _ORDINALS.get(number)
    said = any(chooses.search(text) or (ordinal is not None and ordinal.search(text)) for text in comments)
    return str(number) if said else ""
