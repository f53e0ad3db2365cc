"""What a rule is, how its page is read, and how rules are found."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import GenericAlias
from typing import TYPE_CHECKING, Any, ClassVar

from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.text_defect import TextDefect

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Event, Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction

DOCS_URL = "https://github.com/tfmemlint/tfmemlint/blob/main/docs/rules/{code}.md"


class Rule(ABC):
    """One rule: a code, a name, a severity, a page (the docstring) and a method that yields findings.

    The docstring is the rule's page. Its sections are headed ``What it does``, ``Why it matters``, ``Example``,
    ``Use instead`` and, where something is raised, ``Seen as``; the first line is the summary.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    fixable: ClassVar[str] = "never"
    """``always``, ``sometimes`` or ``never``: whether the rule offers a rewrite."""
    supersedes: ClassVar[tuple[str, ...]] = ()
    """Codes of rules that keep silent where this one has seen the same defect at the same place."""

    whole_program: ClassVar[bool] = False
    """It is about what a program does as a whole: it also speaks of modules other than the one that is run."""

    triggers: ClassVar[tuple[str, ...] | None] = None
    """Regular expressions; a file in none of whose lines one of them matches is not read for this rule. They are stated
    as literals. With None, every file that mentions TensorFlow is read; with (), none is read for this rule alone."""

    launch_triggers: ClassVar[tuple[str, ...]] = ()
    """Triggers that count only for programs that a configuration file launches."""

    any_tensorflow_file: ClassVar[bool] = False
    """It is not about GPU memory alone: where a selection names it, its triggers do not count, and every file that
    mentions TensorFlow is read."""

    any_file: ClassVar[bool] = False
    """It is not about TensorFlow: where a selection names it, every file with one of its triggers is read."""

    sees_launch_environment: ClassVar[bool] = False
    """It is about variables in force: it also speaks of programs that a configuration file starts with some set."""

    default_in_documents: ClassVar[bool] = False
    """It is advice in a program; of a text that is no program it is said without being asked for."""

    text_defects: ClassVar[tuple[TextDefect, ...]] = ()
    """The defects in texts, as opposed to programs, that this rule reports."""

    of_another_release: ClassVar[bool] = False
    """It is about names that other releases have: the release for which a file is judged may be the wrong one."""

    between_alternatives: ClassVar[bool] = False
    """It is about two settings that exclude each other: nobody takes both where a document numbers them."""

    for_any_gpu_count: ClassVar[bool] = False
    """Its findings hold for any number of GPUs; with a known number `plan` works the outcome out by itself."""

    about_earlier_settings: ClassVar[bool] = False
    """Its finding is at a session, but the setting that is lost is another one, made before it."""

    raises_when_runtime_starts: ClassVar[bool] = False
    """What it reports raises where the runtime starts, not at the finding."""

    @abstractmethod
    def check(self, program: Program) -> Iterator[Finding]:
        """Yield what is wrong with ``program``."""

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Mend ``finding`` by means of ``editor``; raise ``editor.Withheld`` with the reason where that isn't safe.

        The first thing a rewrite does is to find the place anew in the concrete tree (``editor.call_at`` and kin), so
        that two readings of the code have to agree before a byte is changed.
        """
        raise NotImplementedError

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what is wrong in ``finding`` and what to write instead, for programs that write code.

        Args:
            finding: a finding of this rule. text: the code at its place. target: the release that it was judged for.
        """
        from tfmemlint.rulekit.correction import of_use

        return of_use(text)

    def finding(self, program: Program, event: Event, message: str, **more: Any) -> Finding:
        """A finding of this rule at ``event``; ``more`` are fields of `Finding`, by their names."""
        span = more.pop("span", event.span)
        severity = more.pop("severity", self.severity)
        if severity is Severity.ERROR and self.whole_program and event.state.entry_unknown and program.comes_by(event):
            # Nobody calls the function that it is found through; whoever comes by here comes another way.
            severity = Severity.WARNING
        return Finding(
            code=self.code,
            name=self.name,
            severity=severity,
            path=event.path,
            span=span,
            message=message,
            noqa_row=more.pop("noqa_row", event.statement.end_row),
            fixable=more.pop("fixable", self.fixable != "never"),
            **more,
        )

    @classmethod
    def url(cls) -> str:
        """Where the rule's page is published."""
        return DOCS_URL.format(code=cls.code)

    @classmethod
    def page(cls) -> Page:
        """The rule's page."""
        return Page(inspect.getdoc(cls) or "")


class Page:
    """A rule's docstring, cut into its sections."""

    _HEADING = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)
    _BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

    def __init__(self, text: str) -> None:
        parts = self._HEADING.split(text)
        self.summary = parts[0].strip()
        self.sections = {heading: body.strip() for heading, body in zip(parts[1::2], parts[2::2], strict=True)}

    def code(self, section: str, language: str = "python") -> list[str]:
        """The blocks of one section that are in one language; in any, with ``""``."""
        blocks = self._BLOCK.findall(self.sections.get(section, ""))
        return [body for found, body in blocks if language in ("", found)]


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """Every rule: the modules of ``tfmemlint.rules``, and those that other packages bring, in the order of codes.

    Raises:
        ValueError: two rules claim one code.
    """
    package = importlib.import_module("tfmemlint.rules")

    modules: list[Any] = [
        importlib.import_module(f"{package.__name__}.{info.name}")
        for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name)
    ]
    modules.extend(modules_of_others())
    found: dict[str, Rule] = {}
    for module in modules:
        for cls in classes_in(module):
            if cls.code in found:
                raise ValueError(f"two rules claim {cls.code}: {type(found[cls.code]).__name__} and {cls.__name__}")
            found[cls.code] = cls()
    return tuple(found[code] for code in sorted(found))


def classes_in(module: Any) -> Iterator[type[Rule]]:
    """Yield the rules that a module defines."""
    for cls in vars(module).values():
        # To Python 3.10 `tuple[str, ...]` is an instance of `type` as well, but no class.
        if not isinstance(cls, type) or isinstance(cls, GenericAlias) or not issubclass(cls, Rule):
            continue
        if cls.__module__ == module.__name__ and not cls.__abstractmethods__:
            yield cls


@lru_cache(maxsize=1)
def modules_of_others() -> tuple[Any, ...]:
    """Return the modules with rules that other installed packages bring."""
    if not _others_bring_rules():
        return ()
    from importlib.metadata import entry_points

    return tuple(entry.load() for entry in entry_points(group="tfmemlint.rules"))


def _others_bring_rules() -> bool:
    """Whether some installed package has an entry point for rules. `importlib.metadata` would tell as well, but takes
    longer to import than a small file takes to check."""
    for directory in dict.fromkeys(sys.path):
        try:
            with os.scandir(directory or ".") as scan:
                names = [entry.name for entry in scan if entry.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            if os.path.isfile(directory):
                # An archive: what is in it takes more than a look.
                return True
            continue
        for name in names:
            try:
                with open(os.path.join(directory, name, "entry_points.txt"), "rb") as file:
                    if b"[tfmemlint.rules]" in file.read():
                        return True
            except OSError:
                continue
    return False


def codes_where(holds: Callable[[Rule], bool]) -> frozenset[str]:
    """Return the codes of the rules for which ``holds`` is true."""
    return frozenset(rule.code for rule in rules() if holds(rule))


@lru_cache(maxsize=1)
def codes() -> frozenset[str]:
    """The code of every rule."""
    return frozenset(rule.code for rule in rules())
