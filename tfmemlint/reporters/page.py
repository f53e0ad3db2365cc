"""A rule's page: for a terminal, as Markdown, and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

from tfmemlint.model.finding import Severity
from tfmemlint.reporters.destination import FULL, JSON
from tfmemlint.reporters.language import LANGUAGES, language
from tfmemlint.reporters.page_texts import page_text
from tfmemlint.reporters.paint import STYLES, colourful, columns, write

if TYPE_CHECKING:
    from tfmemlint.rulekit.rule import Rule

FORMATS: tuple[str, ...] = ("text", "json")

_FIXES = {
    "always": "A fix is always available.",
    "sometimes": "A fix is sometimes available.",
    "never": "There is no fix.",
}
_SEVERITIES = {
    Severity.ERROR: "Error.",
    Severity.WARNING: "Warning.",
    Severity.ADVICE: "Advice: off unless selected.",
}
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LITERAL = re.compile(r"``([^`\n]+(?:\n[^`\n]+)?)``")


def markdown(rule: Rule, folder: str = "") -> str:
    """Return the page as a Markdown file, as it is published; in the language of a folder of ``tfmemlint/locale``."""
    parts = [f"# {rule.code}: {rule.name}"]
    for heading, body in _sections(rule, folder):
        parts.append(f"## {heading}\n\n{body}" if heading else body)
    return "\n\n".join(part for part in parts if part) + "\n"


def _sections(rule: Rule, folder: str) -> Iterator[tuple[str, str]]:
    """Yield what stands above the first heading, and each section with its heading."""
    page = rule.page()
    texts = {"": f"{page.summary}\n\n{_facts(rule)}", **page.sections}
    for heading, body in texts.items():
        yield page_text(heading, folder), page_text(plain_literals(body), folder)


def _folder() -> str:
    """Return the folder of the user's language, "" for English."""
    return LANGUAGES.get(language(), "")


def show(rule: Rule, stream: IO[str], *, output_format: str = FULL, color: bool | None = None) -> None:
    """Print one rule's page; as JSON, one object."""
    if output_format == JSON:
        write(stream, json.dumps(_object(rule), indent=2) + "\n")
    else:
        _pages([rule], stream, color)


def show_all(rules: Sequence[Rule], stream: IO[str], *, output_format: str = FULL, color: bool | None = None) -> None:
    """Print the pages of ``rules`` one after the other; as JSON, a list of objects."""
    if output_format == JSON:
        write(stream, json.dumps([_object(rule) for rule in rules], indent=2) + "\n")
    else:
        _pages(rules, stream, color)


def show_list(rules: Sequence[Rule], stream: IO[str], *, color: bool | None = None) -> None:
    """Print a line for each rule: its code, its severity, its name and its summary."""
    from tfmemlint.reporters.paint import Segment, painter

    folder = _folder()
    code_width = max(len(rule.code) for rule in rules)
    name_width = max(len(rule.name) for rule in rules)
    painter(stream, color)(
        [
            Segment(rule.code.ljust(code_width), rule.severity.value, rule.url()),
            Segment(f"  {rule.severity.value.ljust(7)}  {rule.name.ljust(name_width)}  "),
            Segment(page_text(" ".join(plain_literals(rule.page().summary).split()), folder), "dim"),
        ]
        for rule in rules
    )


def _pages(rules: Sequence[Rule], stream: IO[str], color: bool | None) -> None:
    if not colourful(stream, color):
        write(stream, "\n".join(markdown(rule, _folder()) for rule in rules))
        return
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.text import Text
    from rich.theme import Theme

    linked = stream.isatty()
    console = Console(
        file=stream,
        force_terminal=True,
        color_system="standard",
        no_color=False,
        highlight=False,
        width=min(columns(stream) or 100, 100),
        theme=Theme({"markdown.code": "cyan"}),
    )
    for number, rule in enumerate(rules):
        link = f" link {rule.url()}" if linked else ""
        console.print("\n" * bool(number), end="")
        console.print(Text.assemble((rule.code, STYLES[rule.severity.value] + link), " ", (rule.name, "bold")))
        for heading, body in _sections(rule, _folder()):
            console.print(Text(f"\n{heading}" if heading else "", style="bold"))
            console.print(Markdown(body, code_theme="ansi_dark", hyperlinks=linked))


def _facts(rule: Rule) -> str:
    return f"{_SEVERITIES[rule.severity]} {_FIXES[rule.fixable]}"


def _object(rule: Rule) -> dict[str, Any]:
    page = rule.page()
    sections = (f"## {heading}\n\n{plain_literals(body)}" for heading, body in page.sections.items())
    return {
        "name": rule.name,
        "code": rule.code,
        "linter": "tfmemlint",
        "severity": rule.severity.value,
        "summary": plain_literals(page.summary),
        "fix": _FIXES[rule.fixable],
        "fix_availability": rule.fixable.capitalize(),
        "explanation": "\n\n".join(sections) + "\n",
        "url": rule.url(),
    }


def plain_literals(text: str) -> str:
    """Return text with Markdown literals: docstrings write literals with two backticks, Markdown with one."""
    parts = _FENCE.split(text)
    return "".join(part if number % 2 else _LITERAL.sub(r"`\1`", part) for number, part in enumerate(parts))
