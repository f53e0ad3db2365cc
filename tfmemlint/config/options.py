"""The options of a project, in one table: configuration files, environment variables, the page and the schema read it.

The names are ruff's where ruff has the option.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tfmemlint.config.memory import parse_memory
from tfmemlint.model.finding import Severity
from tfmemlint.model.records import dataclass

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target

EXTEND = "extend"
"""Names another configuration file, whose options hold where this one says nothing. It is an option of files alone."""
PREFIX = "TFMEMLINT_"
"""Begins the variable of each option: ``TFMEMLINT_OUTPUT_FORMAT``."""
LIST, TABLE, FLAG, TEXT = "list", "table", "flag", "text"
"""The shapes of values: a list of strings, a table of strings or lists of strings, true or false, a string."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Attributes:
        key: its name in configuration files.
        shape: the shape of its value.
        words: what it does, for the page and for editors.
        convert: takes the value as TOML has it and returns the value to use. Raises ValueError.
        whole_run: it holds for the whole run, and is taken from the configuration of the working directory; other
            options hold for the files that their configuration file is the nearest one of.
        values: what a text, or an item of a list or of a table, is: ``selector``, ``pattern``, ``severity``, ``kind``,
            ``format``, or "" for anything.
        default: the value without the option, in words; "" for none.
    """

    key: str
    shape: str
    words: str
    convert: Callable[[object], Any]
    whole_run: bool = False
    values: str = ""
    default: str = ""

    @property
    def variable(self) -> str:
        """The environment variable."""
        return PREFIX + self.key.upper().replace("-", "_")

    def from_text(self, text: str) -> Any:
        """Return the value that a text stands for, in an environment variable or as a value of the command line.

        The items of a list have commas between them; a table is ``KEY:VALUE,KEY:VALUE``.

        Raises:
            ValueError: the text does not have the shape of the option.
        """
        if self.shape == LIST:
            return self.convert(split(text))
        if self.shape == TABLE:
            return self.convert(split_pairs(text, lists=self.values == "pattern"))
        if self.shape == FLAG:
            flags = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
            if text.strip().lower() not in flags:
                raise ValueError(f"expected true or false, found {text!r}")
            return self.convert(flags[text.strip().lower()])
        return self.convert(text)


def split(text: str) -> list[str]:
    """Return the items of a text with commas between them."""
    return [item.strip() for item in text.split(",") if item.strip()]


def split_pairs(text: str, *, lists: bool) -> dict[str, Any]:
    """Return the table that ``KEY:VALUE,KEY:VALUE`` stands for; with ``lists``, a value is a list, and keys repeat.

    Raises:
        ValueError: an item has no colon.
    """
    table: dict[str, Any] = {}
    for item in split(text):
        key, colon, value = item.rpartition(":")
        if not colon or not key or not value:
            raise ValueError(f"{item!r} is not of the form {'PATTERN:RULE' if lists else 'RULE:SEVERITY'}")
        if lists:
            table.setdefault(key.strip(), []).append(value.strip())
        else:
            table[key.strip()] = value.strip()
    return table


def severity_named(word: str) -> Severity:
    """Return the severity of this name, in any letter case.

    Raises:
        ValueError: there is none.
    """
    try:
        return Severity(word.strip().lower())
    except ValueError:
        words = ", ".join(severity.value for severity in Severity)
        raise ValueError(f"{word!r} is no severity; there are {words}") from None


def nearest(word: str, known: list[str]) -> str:
    """Return ``; did you mean 'x'?`` for the known word that is most like a word, else the list of known words."""
    import difflib

    near = difflib.get_close_matches(word.replace("_", "-").lower(), known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}"


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"expected a list of strings, found {_kind(value)}")
    return tuple(value)


def _table(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a table of file patterns and lists of rules, found {_kind(value)}")
    return {pattern: _strings(selectors) for pattern, selectors in value.items()}


def _severities(value: object) -> dict[str, Severity]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a table of rules and severities, found {_kind(value)}")
    return {selector: _severity(word) for selector, word in value.items()}


def _severity(value: object) -> Severity:
    return severity_named(_text(value))


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, found {_kind(value)}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a string, found {_kind(value)}")
    return value


def _format(value: object) -> str:
    from tfmemlint.reporters.formats import format_named

    return format_named(_text(value)).name


def _target(value: object) -> Target:
    from tfmemlint.knowledge.releases import Target

    return Target.stated(_text(value))


def _memory(value: object) -> float:
    return parse_memory(str(value) if isinstance(value, int | float) and not isinstance(value, bool) else _text(value))


def _kinds(value: object) -> tuple[str, ...]:
    from tfmemlint.sources.kinds import checked

    return checked(_strings(value))


def _kind(value: object) -> str:
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "a table",
    }
    if isinstance(value, list):
        return next((f"{_kind(each)} in it" for each in value if not isinstance(each, str)), "a list")
    return names.get(type(value), type(value).__name__)


_BY_DEFAULT = "all rules but those of severity advice"

OPTIONS: Mapping[str, Option] = {
    option.key: option
    for option in (
        Option("select", LIST, "run these rules only", _strings, values="selector", default=_BY_DEFAULT),
        Option("extend-select", LIST, "also run these rules", _strings, values="selector"),
        Option("ignore", LIST, "do not run these rules", _strings, values="selector"),
        Option("extend-ignore", LIST, "do not run these rules either", _strings, values="selector"),
        Option("per-file-ignores", TABLE, "rules that are off in the files of a pattern", _table, values="pattern"),
        Option(
            "extend-per-file-ignores",
            TABLE,
            "the same, in addition to those of the files that this one extends",
            _table,
            values="pattern",
        ),
        Option("severity", TABLE, "the severity of what rules find", _severities, values="severity"),
        Option(
            "min-severity",
            TEXT,
            "leave out findings below this severity",
            _severity,
            values="severity",
            default="advice",
        ),
        Option("exclude", LIST, "leave out the files of these patterns, which are written as in .gitignore", _strings),
        Option("extend-exclude", LIST, "also leave out the files of these patterns", _strings),
        Option("kinds", LIST, "look for these kinds of files only", _kinds, values="kind", default="all but text"),
        Option("extend-kinds", LIST, "also look for these kinds of files", _kinds, values="kind"),
        Option("ignore-kinds", LIST, "do not look for these kinds of files", _kinds, values="kind"),
        Option("respect-gitignore", FLAG, "leave out files that git ignores", _flag, default="true"),
        Option(
            "respect-gitattributes",
            FLAG,
            "leave out files that .gitattributes marks as generated or vendored",
            _flag,
            default="true",
        ),
        Option(
            "target-version",
            TEXT,
            "the TensorFlow release that the code runs on",
            _target,
            default="the one that the project requires",
        ),
        Option("gpu-memory", TEXT, "the memory of one GPU, such as 16GiB", _memory),
        Option(
            "read-gpu-memory",
            FLAG,
            "fixes may add code that asks NVML for the memory of a GPU, where that is not given",
            _flag,
            default="false",
        ),
        Option("unsafe-fixes", FLAG, "also apply fixes that a person should review", _flag, default="false"),
        Option(
            "baseline", TEXT, "the file with the findings that are left out, as they are known", _text, whole_run=True
        ),
        Option("output-format", TEXT, "how to report", _format, whole_run=True, values="format", default="full"),
    )
}
"""The options, by name, in the order of the page."""


def option_named(key: str) -> Option:
    """Return the option with this name.

    Raises:
        ValueError: there is none; the message names the nearest one.
    """
    if key not in OPTIONS:
        raise ValueError(f"unknown option {key!r}{nearest(key, [*OPTIONS, EXTEND])}")
    return OPTIONS[key]
