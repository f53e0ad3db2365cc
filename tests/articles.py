"""The fixtures of articles, as a user would have them: without the claims in their comments."""

from __future__ import annotations

from pathlib import Path

from tests.fixture_files import FIXTURES, read_text, strip_markers
from tfmemlint.engine.check_source import check_source
from tfmemlint.fixes.compute_fix import Options
from tfmemlint.fixes.loop import Fixed, fix_source
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import Source

ARTICLES = FIXTURES / "articles"


def copy_articles(folder: Path) -> dict[str, dict[int, list[str]]]:
    """Write the articles' files into ``folder``; gives the expected codes by file and row."""
    expected: dict[str, dict[int, list[str]]] = {}
    for path in sorted(ARTICLES.glob("*.py")):
        text, codes, _ = strip_markers(read_text(path))
        (folder / path.name).write_text(text, encoding="utf-8")
        expected[path.name] = codes
    return expected


def read_article(name: str) -> tuple[str, dict[int, list[str]]]:
    """One article as a user would have it, and the expected codes by its rows."""
    text, codes, _ = strip_markers(read_text(ARTICLES / name))
    return text, codes


def found_in_article(name: str, text: str) -> list[Finding]:
    """What all rules together find in it."""
    return check_source(Source(name, text), rules(), Target.newest())


def fixed_article(name: str, text: str, gpu_memory_mib: float | None = 16384) -> Fixed:
    """What all rules together make of it, where the user says that a GPU has so many MiB."""
    return fix_source(
        Source(name, text),
        rules=rules(),
        target=Target.newest(),
        check=lambda source: check_source(source, rules(), Target.newest()),
        options=Options(unsafe=True, gpu_memory_mib=gpu_memory_mib),
    )
