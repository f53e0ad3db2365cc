"""Makefiles: the variables that reach the programs of each recipe, and those that do not.

Source: the manual of GNU Make. Each line of a recipe is run by a shell of its own, unless ``.ONESHELL`` is a target. A
variable of make is not one of the environment, unless it is exported, or the environment had it before. Variables are
expanded when a recipe runs: their last value counts. ``make NAME=value`` overrides any of them, and the environment one
that is set by ``?=``, whose value therefore isn't known.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import field, replace

from tfmemlint.deployment.shell.script import MAX_PROGRAMS, read_shell
from tfmemlint.model.configuration import ASSIGNMENT, EXPORT, MAKE, ConfigurationRead, Lost, VariableSetting, asked
from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass
from tfmemlint.sources.config_files.makefile import (
    MakeExport,
    MakeOther,
    MakeRule,
    MakeVariable,
    RecipeLine,
    items_of,
    reference,
)
from tfmemlint.sources.config_files.templates import HIDDEN
from tfmemlint.sources.config_files.text_places import Places

_PREFIX = re.compile(r"[ \t@+-]*")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MAY_START = re.compile(r"(?i)py|\.sh\b")
"""A line of a recipe without such a word starts no program that is looked for."""
_SHELL = re.compile(r"(?:[\w./-]*/)?(?:env[ \t]+)?(?:sh|bash|dash|zsh|ksh)(?:[ \t][^$]*)?")
_INTERPRETER = re.compile(r"[\w./~-]*python[0-9.]*(?:[ \t]+-u)?")
_DEFINES = re.compile(r"\$[({](?:eval|call|foreach|file|guile)\b")
_WRITTEN = re.compile(r"(?:\$\([^()\n]*\)|\$\{[^{}\n]*\}|\"[^\"\n]*\"|'[^'\n]*'|[^\s;&|\"'])*")
_MAX_VALUE_CHARS = 2_000
_MAX_EXPANDED_CHARS = 200_000
"""Characters that values of variables add to the recipes of one file; further references aren't expanded."""
_MAX_STEPS = 5_000
"""References that are followed for values that are expanded at once (``:=``)."""
_MAX_DEPTH = 20
"""References in the values of references; deeper ones aren't expanded."""
_MAX_LINES = 5_000
"""Lines of recipes that are read."""
_AUTOMATIC = "@"


@dataclass(slots=True)
class _Variable:
    """A variable: its value as written, None if it isn't known, and whether the environment overrides it."""

    text: str | None
    by_default: bool
    setting: VariableSetting


@dataclass(slots=True)
class _Line:
    """A line of a recipe that was read."""

    path: tuple[int, ...]
    found: ConfigurationRead


def read_makefile(text: str) -> ConfigurationRead:
    """Return the variables that a makefile sets, and the programs that its recipes start."""
    return _File(text).read()


@dataclass(slots=True)
class _File:
    """A makefile that is being read.

    Attributes:
        variables: by name. own: those of targets, by target. of_targets: the last of each name.
        exported: the names of exported variables, "" for all. never: those of ``unexport``. maybe: those that are
            exported, or not, under a condition.
        open: another file, or a function, may define more.
        one_shell: ``.ONESHELL`` is a target. unread: recipes can't be read.
        left: the number of programs that are still looked for. room: the characters that values may still add.
        complete: all is read, so that values don't change any more. steps: references that may be followed before.
    """

    text: str
    places: Places = field(init=False)
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    out: ConfigurationRead = field(default_factory=ConfigurationRead)
    variables: dict[str, _Variable] = field(default_factory=dict)
    own: dict[str, list[VariableSetting]] = field(default_factory=dict)
    of_targets: dict[str, VariableSetting] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    never: set[str] = field(default_factory=set)
    maybe: set[str] = field(default_factory=set)
    open: bool = False
    one_shell: bool = False
    unread: bool = False
    left: int = MAX_PROGRAMS
    room: int = _MAX_EXPANDED_CHARS
    complete: bool = False
    steps: int = _MAX_STEPS

    def __post_init__(self) -> None:
        self.places = Places(self.text)

    def read(self) -> ConfigurationRead:
        self.out.asked = asked(self.text)
        rules: list[MakeRule] = []
        for item in items_of(self.text):
            match item:
                case MakeVariable():
                    self._assign(item)
                case MakeExport():
                    self._export(item)
                case MakeOther():
                    self._other(item.text)
                case MakeRule():
                    self.one_shell = self.one_shell or ".ONESHELL" in item.targets
                    if ".EXPORT_ALL_VARIABLES" in item.targets:
                        self.exported.add("")
                    rules.append(item)
        self.complete = True
        plain = [each.setting for each in self.variables.values() if not self._is_exported(each.setting.name)]
        self.out.settings = [
            replace(setting, passed=True) if self._is_exported(setting.name) else setting
            for setting in self.out.settings
        ]
        if not self.unread:
            lines = _MAX_LINES
            for rule in rules:
                if lines > 0:
                    self._recipe(rule, rule.recipe[:lines])
                    lines -= len(rule.recipe)
            self._unexported(plain)
        return self.out

    # What make itself sets

    def _assign(self, item: MakeVariable) -> None:
        name, value = item.name, item.text
        if name == ".RECIPEPREFIX" or (name == "SHELL" and not _SHELL.fullmatch(value)):
            self.unread = True
        if not _NAME.fullmatch(name):
            return
        old = self.variables.get(name)
        if not item.targets and item.sign == "?=" and old is not None:
            return
        known = (
            item.sign not in ("+=", "!=")
            and not item.path
            and "\\#" not in value
            and "\\\n" not in self.text[item.given : item.line[1]]
        )
        setting = self._setting(item, value if known and "$" not in value and item.sign != "?=" else None)
        exports = "export" in item.words
        if item.targets:
            if exports or name in self.exported:
                setting = replace(setting, passed=True, scope=(next(self.numbers),))
                self.out.settings.append(setting)
            self.of_targets[name] = setting
            for target in item.targets:
                self.own.setdefault(target, []).append(setting)
            return
        text = value if known else None
        if text is not None and item.sign.startswith(":"):
            resolved = self._resolved(text, 0)
            text = resolved.replace("$", "$$") if resolved is not None else None
        if old is not None and item.path:
            setting = replace(setting, value=None)
        self.variables[name] = _Variable(text, item.sign == "?=", setting)
        self.out.settings.append(setting)
        if exports:
            self.exported.add(name)

    def _setting(self, item: MakeVariable, value: str | None) -> VariableSetting:
        span = self.places.span
        on_one_line = "\n" not in self.text[item.given : item.stop]
        end = item.line[1]
        return VariableSetting(
            item.name,
            value,
            span(item.start, item.end),
            span(item.given, item.stop) if on_one_line else None,
            span(item.line[0], end),
            MAKE,
            "" if value is not None and self.text[item.given : item.stop] == value else None,
            tuple(-number for number in item.path),
            passed="export" in item.words,
            certain=not item.path,
        )

    def _export(self, item: MakeExport) -> None:
        for name in item.names or ("",):
            if "$" in name:
                self.open = True
            elif item.path:
                self.maybe.add(name)
            elif item.exports:
                self.exported.add(name)
                self.never.discard(name)
            else:
                self.exported.discard(name)
                self.never.update({name} - {""})

    def _other(self, text: str) -> None:
        words = text.split()
        if words[:1] == ["define"]:
            self.variables.pop(words[-1], None)
        elif words[:1] != ["vpath"] and (words[0] in ("include", "-include", "sinclude") or _DEFINES.search(text)):
            self.open = True
            for variable in self.variables.values():
                variable.text = None
                variable.setting = replace(variable.setting, value=None)

    def _is_exported(self, name: str) -> bool:
        return name in self.exported or ("" in self.exported and name not in self.never)

    # Recipes

    def _recipe(self, rule: MakeRule, recipe: Sequence[RecipeLine]) -> None:
        names = [target for target in rule.targets if not target.startswith(".")]
        if not recipe or not names:
            return
        scope = (next(self.numbers),)
        given: tuple[VariableSetting, ...] | None = None
        read: list[_Line] = []
        pieces = [self._expanded(line, names) for line in recipe]
        if self.one_shell:
            joined = "".join(f"{text}\n" for text, _ in pieces)
            offsets = [offset for _, own in pieces for offset in (*own, own[-1] if own else 0)]
            pieces = [(joined, offsets)]
        for line, (text, offsets) in zip(recipe, pieces, strict=False):
            starts = self.left > 0 and _MAY_START.search(text) is not None
            if starts and given is None:
                given = self._given(names)
            found = read_shell(
                text,
                self.places.of_part(offsets),
                inherited=given or () if starts else (),
                numbers=self.numbers,
                base=(*scope, *line.path, -next(self.numbers)),
                where=f"target {names[0]}",
            )
            found.problems.clear()
            found.settings = [self._as_written(setting, certain=not line.path) for setting in found.settings]
            found.lost = [
                replace(lost, setting=self._as_written(lost.setting))
                for lost in found.lost
                if lost.setting.name not in self.out.asked
            ]
            if starts:
                self.left -= max(len(found.starts), 1)
            else:
                found.starts.clear()
            read.append(_Line(line.path, found))
            self.out.add(found)
        self._lost_between(read)

    def _given(self, names: Sequence[str]) -> tuple[VariableSetting, ...]:
        """Return the variables that the shells of a recipe get from make."""
        found: dict[str, VariableSetting] = {}
        for name, variable in self.variables.items():
            if self._is_exported(name) or (name in self.maybe and name not in self.never):
                found[name] = replace(variable.setting, value=self._value(name), passed=True)
        for name, setting in self.of_targets.items():
            # A target has its variables for what it depends on, too.
            if name in found or setting.passed or self._is_exported(name):
                found[name] = replace(found.get(name, setting), value=None, passed=True)
        for setting in self.own.get(names[0], ()):
            if setting.passed or self._is_exported(setting.name):
                found[setting.name] = setting if len(names) == 1 else replace(setting, value=None)
        return tuple(found.values())

    def _value(self, name: str) -> str | None:
        """Return the value of a variable, with the references in it expanded; None if it isn't known."""
        variable = self.variables.get(name)
        if variable is None or variable.text is None or variable.by_default:
            return None
        return self._resolved(variable.text, 0)

    def _resolved(self, text: str, depth: int) -> str | None:
        if "$" not in text:
            return text
        parts, at = [], 0
        while (mark := text.find("$", at)) >= 0:
            parts.append(text[at:mark])
            name, end = reference(text, mark)
            if name == "$":
                parts.append("$")
            else:
                variable = self.variables.get(name)
                self.steps -= not self.complete
                if variable is None or variable.text is None or depth >= _MAX_DEPTH or self.steps < 0:
                    return None
                if variable.by_default and not _INTERPRETER.fullmatch(variable.text):
                    return None
                value = self._resolved(variable.text, depth + 1)
                if self.complete:
                    # It is the same for all that refer to it.
                    variable.text = None if value is None else value.replace("$", "$$")
                if value is None:
                    return None
                parts.append(value)
            at = end
            if sum(map(len, parts)) > _MAX_VALUE_CHARS:
                return None
        return "".join([*parts, text[at:]])

    def _expanded(self, line: RecipeLine, names: Sequence[str]) -> tuple[str, list[int]]:
        """Return the text that the shell gets for a line of a recipe, and the place of each of its characters."""
        text, end = self.text, line.end
        prefix = _PREFIX.match(text, line.start, end)
        at = prefix.end() if prefix is not None else line.start
        parts: list[str] = []
        offsets: list[int] = []
        while at < end:
            mark = text.find("$", at, end)
            mark = mark if mark >= 0 else end
            broken = text.find("\\\n\t", at, mark)
            if broken >= 0:
                # The tab that begins a further line of a recipe is none of the shell's.
                mark = broken + 2
            parts.append(text[at:mark])
            offsets += range(at, mark)
            at = mark
            if broken >= 0:
                at += 1
            elif at < end:
                name, behind = reference(text, at, end)
                value = self._shown(name, names)
                parts.append(value)
                offsets += [at, *[behind - 1] * (len(value) - 1)] if value else []
                at = behind
        return "".join(parts), offsets

    def _shown(self, name: str, names: Sequence[str]) -> str:
        """Return what a reference in a recipe is read as: its value, a reference of the shell's if that isn't known, or
        what hides it."""
        if name == "$":
            return "$"
        if name == _AUTOMATIC and len(names) == 1 and re.fullmatch(r"[\w./-]+", names[0]):
            return names[0]
        if not _NAME.fullmatch(name):
            return HIDDEN
        variable = self.variables.get(name)
        if name in self.of_targets:
            variable = None
        if variable is not None and variable.by_default and _INTERPRETER.fullmatch(variable.text or ""):
            return variable.text or ""
        value = self._value(name) if variable is not None else None
        if value is None or len(value) > self.room:
            return f"${{{name}}}"
        self.room -= len(value)
        return value

    def _as_written(self, setting: VariableSetting, *, certain: bool = True) -> VariableSetting:
        """Return a setting of a recipe, whose value may be a reference of make's, with the place of the latter."""
        given, key = setting.given, setting.key
        setting = replace(setting, certain=setting.certain and certain)
        if setting.quote is not None and self._slice(given) == f"{setting.quote}{setting.value}{setting.quote}":
            return setting
        at = self.places.offset(key.end_row, key.end_column)
        found = _WRITTEN.match(self.text, at + 1) if self.text.startswith("=", at) else None
        if found is not None:
            given = self.places.span(found.start(), found.end())
        return replace(setting, given=given, quote=None)

    def _slice(self, span: Span | None) -> str | None:
        if span is None or span.row != span.end_row:
            return None
        start = self.places.offset(span.row, span.column)
        return self.text[start : start + span.end_column - span.column]

    # What is lost

    def _lost_between(self, lines: Sequence[_Line]) -> None:
        """Note what a line of a recipe sets and a later line lacks."""
        starts = [
            (number, start) for number, line in enumerate(lines) for start in line.found.starts if not start.shell
        ]
        for number, line in enumerate(lines):
            if not line.found.idle:
                continue
            for setting in line.found.settings:
                if setting.how not in (EXPORT, ASSIGNMENT) or setting.name in self.out.asked:
                    continue
                for later, start in starts:
                    has = any(own.name == setting.name for own in start.settings)
                    if later > number and not has and not _exclude(line.path, lines[later].path):
                        lost = replace(setting, passed=False)
                        self.out.lost.append(Lost(lost, "line", start.span, self._words(start.span)))
                        break

    def _unexported(self, plain: Sequence[VariableSetting]) -> None:
        """Note variables of make that no program gets."""
        if self.open:
            # Another file may export them.
            return
        kept = self.out.asked | self.maybe | self.never | set(self.of_targets)
        starts = [start for start in self.out.starts if not start.shell]
        for setting in plain:
            if setting.name in kept:
                continue
            lacking = (start for start in starts if all(own.name != setting.name for own in start.settings))
            start = next(lacking, None)
            if start is not None:
                self.out.lost.append(Lost(setting, "unexported", start.span, self._words(start.span)))

    def _words(self, span: Span) -> str:
        start, end = self.places.offset(span.row, span.column), self.places.offset(span.end_row, span.end_column)
        return " ".join(self.text[start:end].replace("\\\n", " ").split())


def _exclude(path: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """True if two lines are in different branches of a condition."""
    return any(number != branch for number, branch in zip(path, other, strict=False))
