"""The editor by which a rule rewrites configuration files: names and values in place, with their quotes."""

from __future__ import annotations

import re
from typing import ClassVar

from tfmemlint.deployment import read
from tfmemlint.fixes.edits import apply
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.configuration import LIST, MAPPING, ConfigurationRead, VariableSetting
from tfmemlint.model.finding import Applicability, Edit, Finding, Span
from tfmemlint.model.records import dataclass

_SAFE = re.compile(r"[\w.,:/@%+-]*")
"""Values that need no quotes in any of these languages."""
_STRING = re.compile(r"(?!(?:true|false|yes|no|on|off|null|y|n)\Z)[A-Za-z_][\w-]*", re.IGNORECASE)
"""Values that YAML takes for strings without quotes."""


@dataclass(frozen=True, slots=True)
class WrittenItem:
    """A name (``is_name``) or a value as a configuration file writes it."""

    evaluated_value: str | None
    setting: VariableSetting
    is_name: bool
    span: Span


class TextEditor:
    """One rewrite of one configuration file: the part of `Editor` that fixes of variables need."""

    Withheld: ClassVar[type[Withheld]] = Withheld

    def __init__(self, text: str, language: str, target: Target) -> None:
        self.text = text
        self.language = language
        self.target = target
        self.applicability = Applicability.SAFE
        self.message = ""
        self.needs: set[str] = set()
        self.edits: tuple[Edit, ...] | None = None
        self._edits: list[Edit] = []
        self._lines = text.split("\n")
        self._wanted: list[tuple[str, str | None]] = []
        found = read(language, text)
        self._settings = found.settings if found is not None else []
        self.found = found
        self.finds_less = ""

    def safe(self, message: str) -> None:
        """Mark the rewrite as safe. ``message`` says what it does, as a sentence without a full stop."""
        self.applicability, self.message = Applicability.SAFE, message

    def unsafe(self, message: str) -> None:
        """Mark the rewrite as unsafe: a person should look at it. ``message`` is as in `safe`."""
        self.applicability, self.message = Applicability.UNSAFE, message

    def expression_at(self, span: Span) -> WrittenItem:
        """Return the name or the value at exactly ``span``.

        Raises:
            Withheld: there is none.
        """
        for setting in self._settings:
            if setting.key == span:
                return WrittenItem(setting.name, setting, True, span)
            if setting.given == span:
                return WrittenItem(setting.value, setting, False, span)
        raise Withheld("the place of the variable isn't known")

    def code(self, node: WrittenItem) -> str:
        """Return a name or a value as the file writes it."""
        line = self._lines[node.span.row - 1]
        return line[node.span.column - 1 : node.span.end_column - 1]

    def replace(self, node: WrittenItem, text: str) -> None:
        """Replace a name or a value by ``text``.

        Raises:
            Withheld: it can't be written there.
        """
        new = text if node.is_name else quoted(node.setting, text)
        if self._lines and (node.span.row != node.span.end_row):
            raise Withheld("it is written over several lines")
        self._edits.append(Edit(node.span, new))
        self._wanted.append((text, None) if node.is_name else ("", text))

    def split_settings(self, key: Span, settings: tuple[tuple[str, str], ...]) -> None:
        """Give each of several settings in one value an entry of its own.

        Raises:
            Withheld: that can't be done here.
        """
        setting = self.expression_at(key).setting
        given = setting.given
        if given is None or given.row != given.end_row or given.row != setting.key.row:
            raise Withheld("it is written over several lines")
        (_, first), *others = settings
        if not all(_SAFE.fullmatch(value) and value for _, value in settings):
            raise Withheld("one of the values needs quotes")
        row = self._lines[given.row - 1]
        before = row[: setting.key.column - 1]
        match setting.how:
            case "ENV":
                span = Span(setting.key.row, setting.key.column, given.end_row, given.end_column)
                self._edits.append(Edit(span, " ".join(f"{name}={value}" for name, value in settings)))
            case "export" | "assignment" | "prefix":
                more = "".join(f" {name}={value}" for name, value in others)
                self._edits.append(Edit(given, first + more))
            case "option":
                option = re.search(r"(-e|--env)([ =]?)[\"']?$", before)
                if option is None or before[-1:] in "\"'":
                    raise Withheld("the option can't be split")
                more = "".join(f" {option[1]}{option[2]}{name}={value}" for name, value in others)
                self._edits.append(Edit(given, first + more))
            case "list" | "file" | "make":
                begun = r"[ \t]*-[ \t]+" if setting.how == LIST else r"[ \t]*(?:export[ \t]+)?"
                if re.fullmatch(begun, before) is None:
                    raise Withheld("the entry shares its line with others")
                more = "".join(f"\n{before}{name}={value}" for name, value in others)
                self._edits.append(Edit(given, first + more))
            case "mapping":
                if re.fullmatch(r"[ \t]*", before) is None or row[given.end_column - 1 :].strip():
                    raise Withheld("the entry shares its line with others")
                more = "".join(f"\n{before}{name}: {_for_mapping(value)}" for name, value in others)
                self._edits.append(Edit(given, quoted(setting, first) + more))
            case _:
                raise Withheld("the setting can't be split")
        self._wanted += settings

    def insert(self, row: int, column: int, text: str) -> None:
        """Insert ``text`` in front of a character; ``row`` and ``column`` count from 1."""
        self._edits.append(Edit(Span(row, column, row, column), text))

    def delete(self, span: Span) -> None:
        """Delete what is at ``span``."""
        self._edits.append(Edit(span, ""))

    def row(self, number: int) -> str:
        """Return one row of the file."""
        return self._lines[number - 1]

    def replace_row(self, number: int, text: str) -> None:
        """Replace the text of a row."""
        self._edits.append(Edit(Span(number, 1, number, len(self.row(number)) + 1), text))

    def move_row(self, number: int, above: int) -> None:
        """Move a row above another one."""
        self.insert(above, 1, f"{self.row(number)}\n")
        last = number == len(self._lines)
        end = Span(number, 1, number, len(self.row(number)) + 1) if last else Span(number, 1, number + 1, 1)
        self._edits.append(Edit(end, ""))

    def finish(self) -> str:
        """Make all changes, and return the new text.

        Raises:
            Withheld: the new text does not have the settings that the changes were to make.
        """
        try:
            text = apply(self.text, self._edits)
        except ValueError as error:
            raise Withheld(str(error)) from error
        found = read(self.language, text)
        said = {(setting.name, setting.value) for setting in found.settings} if found is not None else set()
        for name, value in self._wanted:
            if not any(name in ("", known) and value in (None, other) for known, other in said):
                raise Withheld("the file would not say that")
        if self.finds_less and _lost(found, self.finds_less) >= _lost(self.found, self.finds_less):
            raise Withheld("the program would not get it")
        return text


def _lost(found: ConfigurationRead | None, name: str) -> int:
    """Return the number of times that a variable of this name is lost."""
    return sum(lost.setting.name == name for lost in found.lost) if found is not None else 0


def quoted(setting: VariableSetting, text: str) -> str:
    """Return ``text`` as the value of a setting, in the quotes of its present value.

    Raises:
        Withheld: only a part of the value is in quotes, or the text needs others.
    """
    if setting.quote is None:
        raise Withheld("the value is composed of several parts")
    if not _SAFE.fullmatch(text):
        raise Withheld("the value needs quotes of its own")
    if setting.how == MAPPING and not setting.quote:
        return _for_mapping(text)
    return f"{setting.quote}{text}{setting.quote}"


def _for_mapping(text: str) -> str:
    return text if _STRING.fullmatch(text) else f'"{text}"'


def pass_to_program(editor: object, finding: Finding) -> None:
    """Set a variable in a place where the program receives it."""
    details, row = finding.details, finding.span.row
    begun, key = details["begun"], details["key"]
    if not isinstance(editor, TextEditor) or not isinstance(begun, Span) or not isinstance(key, Span):
        raise Withheld("the file is not a configuration file")
    line = editor.row(row)
    match details["why"]:
        case "unexported":
            if re.fullmatch(r"[ \t]*", line[: key.column - 1]) is None:
                raise Withheld("the assignment is not the first on its line")
            editor.insert(row, key.column, "export ")
            editor.unsafe("Export it")
        case "layer":
            if re.fullmatch(r"RUN[ \t]+export([ \t]+[A-Za-z_]\w*=[\w.,:/@%+-]+)+[ \t]*", line) is None:
                raise Withheld("the RUN does more than export a variable")
            editor.replace_row(row, re.sub(r"^RUN[ \t]+export", "ENV", line))
            editor.unsafe("Write ENV")
        case "late":
            if re.fullmatch(r"export[ \t]+[A-Za-z_]\w*=\S*[ \t]*", line) is None or editor.row(begun.row)[:1] in " \t":
                raise Withheld("more than this line would have to move")
            editor.move_row(row, begun.row)
            editor.unsafe(f"Move it above line {begun.row}")
        case _:
            raise Withheld("there are several ways to set it for other steps")
