"""The fixtures that are texts: beside each, a file ``NAME.found`` lists what is to be found in it, a row and a code a
line; a text without one must stay silent."""

from __future__ import annotations

from pathlib import Path

from tests.fixture_files import FIXTURES
from tfmemlint.config.selection import Layer, Selection
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import from_text
from tfmemlint.model.finding import Finding
from tfmemlint.rulekit.rule import rules

TEXTS = FIXTURES / "texts"
PAGES = FIXTURES / "articles" / "pages"


def texts_in(folder: Path) -> list[Path]:
    """The texts of a folder, without the lists of what is found."""
    return sorted(path for path in folder.iterdir() if path.suffix in (".md", ".txt", ".html", ".rst"))


def expected(path: Path) -> list[tuple[int, str]]:
    """The rows and codes that are to be found in a text."""
    listed = path.with_name(f"{path.name}.found")
    if not listed.exists():
        return []
    rows = (line.split() for line in listed.read_text(encoding="utf-8").splitlines())
    return [(int(row), code) for row, code in rows]


def found(path: Path, *selected: str) -> list[Finding]:
    """What is found in a text, as `check` finds it; with codes, by these rules alone."""
    selection = Selection.resolve(rules(), [Layer(select=selected)]) if selected else None
    return from_text(path.read_bytes(), path.name, RunContext(selection=selection, explain_fixes="never")).findings


def told(findings: list[Finding]) -> list[tuple[int, str]]:
    """Findings as rows and codes."""
    return [(finding.span.row, finding.code) for finding in findings]
