"""The values of a configuration file (YAML, JSON, TOML, INI, ``.env``), each with its row.

Nothing in the file is run: no tag of YAML makes an object, and aliases are followed up to `MAX_VALUES` values. A file
that is none of its kind, or is too large, has no values.
"""

from __future__ import annotations

import configparser
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass
from tfmemlint.sources.config_files.tables import parse_ini, parse_toml

MAX_CHARACTERS = 200_000
"""Characters of a file; settings that people write are shorter."""
MAX_VALUES = 5_000
"""Values of one file, those that aliases repeat counted each time."""
MAX_INTEGER_BITS = 1_000
"""Bits of a whole number; longer ones have no place in a setting."""
MAX_DEPTH = 40
"""Mappings and lists within others."""
_MAX_DIGITS = 400
"""Characters of a number in YAML; 1:30:00 is one, too, and takes the square of its length."""

JSON, YAML, TOML, INI, ENV = "json", "yaml", "toml", "ini", "env"
KINDS: Mapping[str, str] = {
    ".json": JSON,
    ".yaml": YAML,
    ".yml": YAML,
    ".toml": TOML,
    ".ini": INI,
    ".cfg": INI,
    ".conf": INI,
    ".env": ENV,
}
"""The kinds of configuration files by the ends of their names."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One value.

    Attributes:
        value: a string, a number, a bool, None, a tuple of settings (a list), or a dictionary of settings by name.
        row: the row of the file that it begins in, from 1 on; 0 if that is not known.
    """

    value: Any
    row: int = 0


class _TooLarge(Exception):
    """There are more values, or deeper ones, than are looked at."""


def read_values(kind: str, text: str) -> Setting | None:
    """Return the values of a text of one of the `KINDS`; None if it is not of that kind, or too large. Never raises."""
    if len(text) > MAX_CHARACTERS:
        return None
    readers = {JSON: _json, YAML: _yaml, TOML: _toml, INI: _ini, ENV: _env}
    try:
        found = readers[kind](text)
        return None if found is None or _has_large_numbers(found) else found
    except Exception:  # whatever a parser raises about a text that nobody meant for it: `!!int ""` is an IndexError
        return None


def _has_large_numbers(setting: Setting) -> bool:
    """True if a value, or the name of one, is a whole number of more bits than settings have.

    The limit of digits that Python has does not hold for `0xfff...`, and such a number can't be printed.
    """
    value = setting.value
    if isinstance(value, dict):
        return any(map(_is_large, value)) or any(map(_has_large_numbers, value.values()))
    return any(map(_has_large_numbers, value)) if isinstance(value, tuple) else _is_large(value)


def _is_large(value: object) -> bool:
    return isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS


# YAML


def _yaml(text: str) -> Setting | None:
    import yaml  # imported only where a program reads such a file

    from tfmemlint.sources.config_files.yaml_nodes import documents, pairs

    count = itertools.count(1)
    constructor: Any = yaml.constructor.SafeConstructor()

    def setting(node: Any, depth: int) -> Setting:
        if next(count) > MAX_VALUES or depth > MAX_DEPTH:
            raise _TooLarge
        row = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            entries = [(key, value) for key, value in pairs(node) if isinstance(key, yaml.ScalarNode)]
            return Setting({_plain(key): setting(value, depth + 1) for key, value in entries}, row)
        if isinstance(node, yaml.SequenceNode):
            return Setting(tuple(setting(item, depth + 1) for item in node.value), row)
        return Setting(_plain(node), row)

    def _plain(node: Any) -> object:
        name = node.tag.rpartition(":")[2]
        if name not in ("int", "float", "bool", "null", "str"):
            return node.value
        if name in ("int", "float") and len(node.value) > _MAX_DIGITS:
            raise _TooLarge
        return getattr(constructor, f"construct_yaml_{name}")(node)

    try:
        nodes = list(itertools.islice(documents(text), 2))
        return setting(nodes[0], 0) if len(nodes) == 1 else None
    except yaml.YAMLError:
        return None


# JSON

_TOKEN = late_pattern(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def _json(text: str) -> Setting | None:
    json.loads(text)
    count = itertools.count(1)
    tokens = ((match[0], match.start()) for match in _TOKEN.finditer(text))
    rows = _Rows(text)

    def value(token: str, at: int, depth: int) -> Setting:
        if next(count) > MAX_VALUES or depth > MAX_DEPTH:
            raise _TooLarge
        row = rows.of(at)
        if token == "{":
            items: dict[Any, Setting] = {}
            for key, _ in tokens:
                if key == "}":
                    break
                if key != ",":
                    next(tokens)
                    items[json.loads(key)] = value(*next(tokens), depth + 1)
            return Setting(items, row)
        if token == "[":
            listed: list[Setting] = []
            for item, place in tokens:
                if item == "]":
                    break
                if item != ",":
                    listed.append(value(item, place, depth + 1))
            return Setting(tuple(listed), row)
        return Setting(json.loads(token), row)

    return value(*next(tokens), 0)


class _Rows:
    """The rows of places that are asked for from the first to the last."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.row = text, 0, 1

    def of(self, at: int) -> int:
        self.row += self.text.count("\n", self.at, at)
        self.at = at
        return self.row


# TOML

_KEY_PART = late_pattern(r"""[ \t]*([\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*([.=\]])""")


def _toml(text: str) -> Setting | None:
    found = parse_toml(text)
    rows: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for row, line in enumerate(text.split("\n"), 1):
        begun = line.lstrip(" \t")
        brackets = len(begun) - len(begun.lstrip("["))
        keys, end = _dotted(begun[brackets:])
        if brackets and end == "]":
            table = keys
            rows.setdefault(table, row)
        elif not brackets and end == "=":
            rows.setdefault((*table, *keys), row)
    return _with_rows(found, (), rows, itertools.count(1))


def _dotted(text: str) -> tuple[tuple[str, ...], str]:
    """Return the parts of the dotted key that a text begins with, and the ``=`` or ``]`` behind it; else ""."""
    keys: list[str] = []
    match = _KEY_PART.match(text)
    while match is not None and len(keys) < MAX_DEPTH:
        keys.append(match[1].strip("\"'"))
        if match[2] != ".":
            return tuple(keys), match[2]
        match = _KEY_PART.match(text, match.end())
    return (), ""


def _with_rows(value: Any, path: tuple[str, ...], rows: Mapping[tuple[str, ...], int], count: Iterator[int]) -> Setting:
    if next(count) > MAX_VALUES or len(path) > MAX_DEPTH:
        raise _TooLarge
    row = rows.get(path, 0)
    if isinstance(value, dict):
        return Setting({key: _with_rows(item, (*path, key), rows, count) for key, item in value.items()}, row)
    if isinstance(value, list):
        items = (_with_rows(item, path, rows, count) for item in value)
        return Setting(tuple(items), row)
    return Setting(value, row)


# INI and .env

_OPTION = late_pattern(r"^([^\s#;:=\[][^:=\n]*)[:=]")
_SECTION = late_pattern(r"^\[([^\]]+)\]")


def _ini(text: str) -> Setting | None:
    """Return the sections, each with its options by their names in lower case; a value with ``%`` is left as it is."""
    parser = configparser.RawConfigParser()
    parse_ini(text, parser)
    rows: dict[tuple[str, str], int] = {}
    section = ""
    for row, line in enumerate(text.split("\n"), 1):
        head, option = _SECTION.match(line), _OPTION.match(line)
        if head is not None:
            section = head[1]
        elif option is not None:
            rows[section, option[1].strip().lower()] = row
    count = itertools.count(1)
    found: dict[Any, Setting] = {}
    for name in (*parser.sections(), parser.default_section):
        options: dict[Any, Setting] = {}
        for option_name, value in parser[name].items():
            if next(count) > MAX_VALUES:
                raise _TooLarge
            row = rows.get((name, option_name)) or rows.get((parser.default_section, option_name), 0)
            options[option_name] = Setting(value, row)
        found[name] = Setting(options)
    return Setting(found)


_ASSIGNED = late_pattern(r"^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)", re.ASCII | re.DOTALL)
_COMMENT = late_pattern(r"(?<=\s)#")


def _env(text: str) -> Setting | None:
    found: dict[Any, Setting] = {}
    for row, line in enumerate(text.split("\n"), 1):
        match = _ASSIGNED.match(line)
        if match is None:
            continue
        value = match[2].strip()
        quote = value[:1]
        if quote and quote in "'\"" and value.find(quote, 1) > 0:
            value = value[1 : value.find(quote, 1)]
        else:
            value = _COMMENT.split(value, maxsplit=1)[0].rstrip()
        if "$" in value or "\\" in value:
            continue
        found[match[1]] = Setting(value, row)
        if len(found) > MAX_VALUES:
            raise _TooLarge
    return Setting(found)
