"""The project's words: no docstring begins with a question word, no name is ``one``, one term per thing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.for_each import for_each_file

ROOT = Path(__file__).resolve().parents[1]

HELD = ("benchmarks", "rules", "tfmemlint", "tools")
"""The folders whose Python files are held."""

PAGES = (
    "CONTRIBUTING.md",
    "docs/ci.md",
    "docs/api.md",
    "docs/editors.md",
    "docs/mcp.md",
    "docs/rule-packages.md",
    "docs/corrections.md",
    "docs/knowledge.md",
    "docs/structure.md",
    "README.md",
    "docs/documents.md",
    "docs/expectations.md",
    "docs/formats.md",
    "docs/fit.md",
    "docs/precision.md",
    "docs/programs.md",
    "docs/settings.md",
    "docs/speed.md",
    "docs/targets.md",
    "docs/verify.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "rules").glob("*.md")),
)
"""The pages that are held."""

EXCEPTIONS = {
    "tfmemlint/fixes/rewrites/templates/gpu_memory_mib.py": "it is the code that a fix puts into the user's file",
}
"""Files that are not held, each with the reason."""

_KEPT = {"simulated card ": "it is the seed of the UUIDs of simulated GPUs"}
"""Strings that are not held, each with the reason."""

_QUESTION = re.compile(r"(What|Where|Whether|Which|How|Who)\b")
_WORDS = {
    "fix": re.compile(r"\bmend(s|ed|ing)?\b", re.IGNORECASE),
    "GPU": re.compile(r"(?<!credit )\bcards?\b(?!:)", re.IGNORECASE),
    "intent": re.compile(r"\bwish(es)?\b(?!:)", re.IGNORECASE),
}
_IDENTIFIERS = re.compile(r"``[^`]*``|`[^`]*`|\w*[_.]\w*")
"""Quoted code and identifiers: their names are not words of the text."""


def _files() -> list[Path]:
    found = (path for folder in HELD for path in sorted((ROOT / folder).rglob("*.py")))
    return [path for path in found if path.relative_to(ROOT).as_posix() not in EXCEPTIONS]


def _place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT).as_posix()}:{line}"


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of modules, classes, functions and attributes, each with its line."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            for statement in block if isinstance(block, list) else ():
                value = statement.value if isinstance(statement, ast.Expr) else None
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield statement.lineno, value.value


def _names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the names that a file binds, each with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name


def _shown_texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the strings of a file that read like sentences, as users see them; docstrings are left out."""
    docstrings = {line for line, _ in _docstrings(tree)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or node.lineno in docstrings:
            continue
        if " " in node.value.strip() and node.value not in _KEPT:
            yield node.lineno, node.value


def _without_code(text: str) -> str:
    """Return a page with code blocks blanked, so that line numbers stay."""
    return re.sub(r"^```.*?^```", lambda match: re.sub(r"[^\n]", "", match[0]), text, flags=re.DOTALL | re.MULTILINE)


def _wrong_words(text: str) -> Iterator[str]:
    plain = _IDENTIFIERS.sub("", text)
    for better, pattern in _WORDS.items():
        for match in pattern.finditer(plain):
            yield f"{match[0]!r}: write {better!r}"


@for_each_file(_files(), lambda path: path.parent.relative_to(ROOT).as_posix())
def test_a_file_keeps_to_the_words(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    wrong = []
    for line, text in _docstrings(tree):
        if _QUESTION.match(text.strip()):
            wrong.append(f"{_place(path, line)}: a docstring begins with {text.split()[0]!r}")
        wrong += [f"{_place(path, line)}: {problem}" for problem in _wrong_words(text)]
    for line, name in _names(tree):
        if name.strip("_") == "one":
            wrong.append(f"{_place(path, line)}: {name!r} does not say what it is")
    for line, text in _shown_texts(tree):
        wrong += [f"{_place(path, line)}: {problem}" for problem in _wrong_words(text)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_keeps_to_the_words(name: str) -> None:
    path = ROOT / name
    wrong = []
    for number, text in enumerate(_without_code(path.read_text(encoding="utf-8")).split("\n"), 1):
        wrong += [f"{_place(path, number)}: {problem}" for problem in _wrong_words(text)]
    assert not wrong, "\n".join(wrong)


def test_exceptions_exist() -> None:
    assert not [name for name in EXCEPTIONS if not (ROOT / name).exists()]
