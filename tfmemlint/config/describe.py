"""The options that hold, each with the place that it is from, and the schema of configuration files for editors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from tfmemlint.config.options import EXTEND, FLAG, LIST, OPTIONS, TABLE, Option

if TYPE_CHECKING:
    from tfmemlint.config.files import Config
    from tfmemlint.rulekit.rule import Rule

SCHEMA_URL = "https://github.com/tfmemlint/tfmemlint/blob/main/docs/schemas/configuration.json"
COMMAND_LINE = "the command line"
DEFAULT = "default"


def holding(config: Config) -> list[tuple[Option, list[tuple[Any, str]]]]:
    """Return each option with the values that hold, as configuration files have them, and the place of each.

    An option of which the last place counts has one value; one that places add to has one for each. The place is
    `DEFAULT` for an option that nothing sets.
    """
    found = []
    for option in OPTIONS.values():
        given = [
            (_plain(option, table.values[option.key]), table.origin or COMMAND_LINE)
            for table in config.tables
            if option.key in table.values
        ]
        if given and not _adds_up(option):
            given = given[-1:]
        found.append((option, given or [(option.default, DEFAULT)]))
    return found


def _adds_up(option: Option) -> bool:
    return option.key.startswith("extend-") or option.key in ("ignore", "severity", "ignore-kinds")


def _plain(option: Option, value: Any) -> Any:
    """Return a converted value as it is written."""
    if option.key == "gpu-memory":
        return f"{value:g}MiB"
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, dict):
        return {key: _plain(option, item) for key, item in value.items()}
    return value if isinstance(value, bool) else str(value)


def as_lines(config: Config) -> list[str]:
    """Return a line for each value that holds: what a configuration file would say, and the place."""
    rows = []
    for option, values in holding(config):
        for value, place in values:
            shown = f"# {option.key}: {value or 'nothing'}" if place == DEFAULT else f"{option.key} = {_toml(value)}"
            rows.append((shown, place))
    width = max((len(shown) for shown, place in rows if place != DEFAULT), default=0)
    width = min(max(width, 30), 70)
    return [f"{shown.ljust(width)}  # {place}" if place != DEFAULT else shown for shown, place in rows]


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def as_data(config: Config) -> dict[str, Any]:
    """Return the options that hold as plain data; those that nothing sets are left out."""
    options = {
        option.key: [{"value": value, "from": place} for value, place in values]
        for option, values in holding(config)
        if values[0][1] != DEFAULT
    }
    return {"file": config.path, "options": options}


def schema(rules: Sequence[Rule]) -> dict[str, Any]:
    """Return the JSON schema of ``tfmemlint.toml``, and of ``[tool.tfmemlint]``, in the form of the Schema Store."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_URL,
        "title": "tfmemlint",
        "description": "Options of tfmemlint, in tfmemlint.toml or in [tool.tfmemlint] of pyproject.toml",
        "type": "object",
        "properties": {
            EXTEND: {
                "type": "string",
                "description": "Another configuration file, whose options hold where this one says nothing",
            },
            **{option.key: _schema_of(option, rules) for option in OPTIONS.values()},
        },
        "additionalProperties": False,
    }


def _schema_of(option: Option, rules: Sequence[Rule]) -> dict[str, Any]:
    words = option.words[0].upper() + option.words[1:]
    if option.default:
        words += f" (default: {option.default})"
    found: dict[str, Any] = {"description": words}
    item = _schema_of_item(option, rules)
    if option.shape == FLAG:
        return {**found, "type": "boolean"}
    if option.shape == LIST:
        return {**found, "type": "array", "items": item}
    if option.shape == TABLE:
        values = item if option.values == "severity" else {"type": "array", "items": _selectors(rules)}
        names = {"propertyNames": _selectors(rules)} if option.values == "severity" else {}
        return {**found, "type": "object", **names, "additionalProperties": values}
    return {**found, **item}


def _schema_of_item(option: Option, rules: Sequence[Rule]) -> dict[str, Any]:
    from tfmemlint.knowledge.releases import KNOWN
    from tfmemlint.model.finding import Severity
    from tfmemlint.reporters.formats import FORMATS
    from tfmemlint.sources.kinds import ALL

    if option.key == "target-version":
        return {"type": "string", "examples": [KNOWN[-1]], "pattern": r"^\d+\.\d+"}
    if option.key == "gpu-memory":
        return {"type": "string", "examples": ["16GiB"], "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*[A-Za-z]+\s*$"}
    words = {
        "severity": [severity.value for severity in Severity],
        "kind": list(ALL),
        "format": list(FORMATS),
    }.get(option.values)
    if words is not None:
        return {"type": "string", "enum": words}
    return _selectors(rules) if option.values == "selector" else {"type": "string"}


def _selectors(rules: Sequence[Rule]) -> dict[str, Any]:
    """Return the schema of a selector: editors offer the known ones, and rules of other packages are accepted."""
    families = sorted({rule.code[:end] for rule in rules for end in range(3, len(rule.code))})
    known = ["ALL", *families, *(rule.code for rule in rules), *(rule.name for rule in rules)]
    return {"anyOf": [{"enum": known}, {"type": "string", "pattern": "^[A-Za-z]+[0-9]*$"}, {"pattern": "^[a-z-]+$"}]}
