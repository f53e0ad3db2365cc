"""The fixtures of articles, as a user would have them: without the claims in their comments."""

from __future__ import annotations

from pathlib import Path

from tests.fixture_files import FIXTURES, read_text, strip_markers

ARTICLES = FIXTURES / "articles"


def copy_articles(folder: Path) -> dict[str, dict[int, list[str]]]:
    """Write the articles' files into ``folder``; gives the expected codes by file and row."""
    expected: dict[str, dict[int, list[str]]] = {}
    for path in sorted(ARTICLES.glob("*.py")):
        text, codes, _ = strip_markers(read_text(path))
        (folder / path.name).write_text(text, encoding="utf-8")
        expected[path.name] = codes
    return expected
