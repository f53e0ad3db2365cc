"""The base class of rules, the pages of rules, and the registry that finds rules."""

from __future__ import annotations

import importlib
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import GenericAlias
from typing import TYPE_CHECKING, Any, ClassVar

from tfmemlint.model.finding import Finding, Severity, Span, Way
from tfmemlint.model.placed_text import placed
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.other_packages import modules_of_others

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Event, Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction

_OWN_PACKAGE = "tfmemlint.rules."
_RAISES = re.compile(r"\braises ((?:tf\.errors\.)?\w+)")
"""The exception that an outcome names."""
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
    """``always``, ``sometimes`` or ``never``: how often the rule offers a rewrite."""
    supersedes: ClassVar[tuple[str, ...]] = ()
    """Codes of rules whose findings are dropped if this rule reports the same defect at the same place."""

    whole_program: ClassVar[bool] = False
    """The rule is about a program as a whole: it also reports modules other than the one that is run."""

    docs_url: ClassVar[str] = ""
    """The address of the published pages of a rule of another package; ``{code}`` and ``{name}`` are the rule's."""

    triggers: ClassVar[tuple[str, ...] | None] = None
    """Regular expressions; a file in none of whose lines one of them matches is not read for this rule. With
    None, every file that mentions TensorFlow is read; with (), none is read for this rule alone."""

    launch_triggers: ClassVar[tuple[str, ...]] = ()
    """Triggers that count only for programs that a configuration file launches."""

    any_tensorflow_file: ClassVar[bool] = False
    """The rule is not about GPU memory alone: if a selection names it, its triggers do not count, and every file that
    mentions TensorFlow is read."""

    any_file: ClassVar[bool] = False
    """The rule is not about TensorFlow: if a selection names it, every file with one of its triggers is read."""

    sees_launch_environment: ClassVar[bool] = False
    """The rule is about variables in force: it also reports programs that a configuration file starts with variables
    set."""

    default_in_documents: ClassVar[bool] = False
    """The rule is advice in a program; in a text that is not a program it is on by default."""

    text_defects: ClassVar[tuple[TextDefect, ...]] = ()
    """The defects in texts, as opposed to programs, that this rule reports."""

    of_another_release: ClassVar[bool] = False
    """The rule is about names that other releases have: a file may be judged for the wrong release."""

    fixes_comments: ClassVar[bool] = False
    """The rule rewrites comments: its fixes get a `tfmemlint.fixes.comment_editor.CommentEditor`."""

    between_alternatives: ClassVar[bool] = False
    """The rule is about two settings that exclude each other: if a document numbers them as alternatives, nobody uses
    both."""

    for_any_gpu_count: ClassVar[bool] = False
    """Findings of the rule hold for any number of GPUs; with a known number, `plan` computes the outcome itself."""

    about_earlier_settings: ClassVar[bool] = False
    """The finding is at a session, but the setting that is lost was made before the session."""

    raises_when_runtime_starts: ClassVar[bool] = False
    """The reported defect raises when the runtime starts, not at the finding."""

    @abstractmethod
    def check(self, program: Program) -> Iterator[Finding]:
        """Yield the findings in ``program``."""

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Fix ``finding`` with ``editor``; raise ``editor.Withheld`` with the reason if that is not safe.

        A rewrite first finds the place again in the concrete tree (``editor.call_at`` and similar), so that two
        readings of the code must agree before a byte changes.
        """
        raise NotImplementedError

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return the wrong code in ``finding`` and its replacement, for programs that write code.

        Args:
            finding: a finding of this rule.
            text: the code at its place.
            target: the release that it was judged for.
        """
        from tfmemlint.rulekit.correction import of_use

        return of_use(text)

    def finding(self, program: Program, event: Event, message: str, **more: Any) -> Finding:
        """Return a finding of this rule at ``event``; ``more`` are fields of `Finding` by name.

        Texts name places of the program by `tfmemlint.model.placed_text.place`.
        """
        span = more.pop("span", event.span)
        severity = more.pop("severity", self.severity)
        if severity is Severity.ERROR and self.whole_program and event.state.entry_unknown and program.comes_by(event):
            # Nothing calls the function that leads to the event; every other path reaches it in another way.
            severity = Severity.WARNING
        raised = _RAISES.search(more.get("outcome", ""))
        if raised is not None and any(each.takes(raised[1]) and not each.reraises for each in event.handlers):
            more["details"] = {**more.get("details", {}), "handled": True}
        return Finding(
            code=self.code,
            name=self.name,
            severity=severity,
            path=event.path,
            span=span,
            message=placed(message, event.path),
            outcome=placed(more.pop("outcome", ""), event.path),
            advice=placed(more.pop("advice", ""), event.path),
            notes=tuple(placed(note, event.path) for note in more.pop("notes", ())),
            noqa_row=more.pop("noqa_row", event.statement.end_row),
            fixable=more.pop("fixable", self.fixable != "never") and not _is_given_elsewhere(event, span, more),
            way=Way(event.span, event.frames) if self.whole_program else None,
            **more,
        )

    @classmethod
    def url(cls) -> str:
        """Return the address of the rule's published page: for a rule of another package, ``docs_url``, else the page
        of that package; "" if none is known."""
        if cls.docs_url:
            return cls.docs_url.format(code=cls.code, name=cls.name)
        return DOCS_URL.format(code=cls.code) if cls.__module__.startswith(_OWN_PACKAGE) else _page_of(cls.__module__)

    @classmethod
    def page(cls) -> Page:
        """Return the rule's page."""
        import inspect

        return Page(inspect.getdoc(cls) or "")


def _is_given_elsewhere(event: Event, span: Span, fields: Mapping[str, Any]) -> bool:
    """True if a finding is about an item of ``*args`` or ``**kwargs``, which is written somewhere else, where the fix
    does not look for it (``renames_key``)."""
    if fields.get("details", {}).get("renames_key"):
        return False
    places = (span, *fields.get("anchors", {}).values())
    return any(map(event.is_unpacked, places))


@lru_cache
def _page_of(module: str) -> str:
    """Return the address that the package of a module states for its documentation, or its home page; "" for none."""
    from importlib.metadata import PackageNotFoundError, metadata, packages_distributions

    for name in packages_distributions().get(module.partition(".")[0], ()):
        try:
            about = metadata(name)
        except PackageNotFoundError:
            continue
        labelled = [entry.partition(",") for entry in about.get_all("Project-URL") or ()]
        urls = {label.strip().lower(): url.strip() for label, _, url in labelled}
        for label in ("documentation", "docs", "homepage", "home", "repository", "source"):
            if label in urls:
                return str(urls[label])
        home_page = about.get_all("Home-page")
        if home_page:
            return str(home_page[0])
    return ""


class Page:
    """A rule's docstring, divided into its sections."""

    _HEADING = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)
    _BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

    def __init__(self, text: str) -> None:
        parts = self._HEADING.split(text)
        self.summary = parts[0].strip()
        self.sections = {heading: body.strip() for heading, body in zip(parts[1::2], parts[2::2], strict=True)}

    def code(self, section: str, language: str = "python") -> list[str]:
        """Return the code blocks of one section in one language; in any language with ``""``."""
        blocks = self._BLOCK.findall(self.sections.get(section, ""))
        return [body for found, body in blocks if language in ("", found)]


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """Return every rule in the order of codes: the modules of ``tfmemlint.rules``, and those of other installed
    packages.

    Raises:
        ValueError: two rules claim one code.
    """
    package = importlib.import_module("tfmemlint.rules")

    modules: list[Any] = [importlib.import_module(f"{package.__name__}.{name}") for name in _modules_in(package)]
    modules.extend(modules_of_others())
    found: dict[str, Rule] = {}
    for module in modules:
        for cls in classes_in(module):
            if cls.code in found:
                raise ValueError(f"two rules claim {cls.code}: {type(found[cls.code]).__name__} and {cls.__name__}")
            found[cls.code] = cls()
    return tuple(found[code] for code in sorted(found))


def _modules_in(package: Any) -> list[str]:
    """Return the names of the modules of a package."""
    try:
        files = {name for place in package.__path__ for name in os.listdir(place)}
    except OSError:
        # It lies in an archive.
        import pkgutil

        return sorted(info.name for info in pkgutil.iter_modules(package.__path__))
    names = {name.removesuffix(".py") for name in files if name.endswith(".py")}
    return sorted(name for name in names if name.isidentifier() and name != "__init__")


def classes_in(module: Any) -> Iterator[type[Rule]]:
    """Yield the rules that a module defines."""
    for cls in vars(module).values():
        # To Python 3.10 `tuple[str, ...]` is an instance of `type` as well, but no class. What is imported is left out
        # first: asking an abstract class for its subclasses takes long.
        if not isinstance(cls, type) or isinstance(cls, GenericAlias) or cls.__module__ != module.__name__:
            continue
        if issubclass(cls, Rule) and not cls.__abstractmethods__:
            yield cls


def codes_where(holds: Callable[[Rule], bool]) -> frozenset[str]:
    """Return the codes of the rules for which ``holds`` is true."""
    return frozenset(rule.code for rule in rules() if holds(rule))


@lru_cache(maxsize=1)
def codes() -> frozenset[str]:
    """Return the code of every rule."""
    return frozenset(rule.code for rule in rules())
