"""The info string after the opening fence of a Markdown block: a language, a directive of MyST, a chunk of Quarto."""

from __future__ import annotations

import re

from tfmemlint.model.records import dataclass
from tfmemlint.sources.documents.blocks import PYTHON, UNKNOWN
from tfmemlint.sources.documents.languages import KNOWN, named

_BRACES = re.compile(r"\{+\s*(?P<inner>[^{}]*(?:\{[^{}]*\}[^{}]*)*)\}*\s*(?P<rest>.*)")
_NAME = re.compile(r"[\w:.+-]+")
_WORD = re.compile(r"[^\s{,;:=\[(?|!]+")
_CLASS = re.compile(r"\.([\w+-]+)")
_QUIET = re.compile(r"\beval\s*=\s*(?:F|FALSE|false|False)\b|\.noeval\b|\bactive\s*=\s*['\"][^'\"p]*['\"]")

CODE = {"code": "", "code-block": "", "sourcecode": "", "code-cell": "", "code-cell-output": "text"}
"""Directives of MyST whose argument is a language."""
_OF_PYTHON = {
    "ipython": "ipython", "jupyter-execute": "python", "testcode": "python", "testsetup": "python",
    "doctest": "pycon", "plot": "python", "ipython3": "python", "pyodide": "python", "exec_code": "python",
}  # fmt: skip
VERBATIM = frozenset({
    "raw", "math", "mermaid", "graphviz", "digraph", "csv-table", "toctree", "parsed-literal", "image",
    "bibliography", "include", "literalinclude", "contents", "testoutput", "productionlist", "r", "julia", "ojs",
    "sql", "dot", "js", "css", "stan", "rust", "html", "latex", "glue", "embed", "iframe", "tikz", "plantuml",
    "output", "cat", "perl",
})  # fmt: skip
"""Directives and engines whose body is neither Markdown nor code that is read."""
ADMONITIONS = frozenset({
    "note", "warning", "tip", "hint", "important", "attention", "caution", "danger", "error", "seealso",
    "admonition", "tab-set", "tab-item", "tabs", "tab", "group-tab", "code-tab", "dropdown", "details", "card",
    "grid", "grid-item", "grid-item-card", "margin", "sidebar", "topic", "versionadded", "versionchanged",
    "deprecated", "toggle", "exercise", "solution", "example", "only", "figure", "panels", "aside", "callout",
    "div", "container", "todo",
})  # fmt: skip
"""Directives whose body is Markdown, indented code and all."""


@dataclass(frozen=True, slots=True)
class Info:
    """An info string, parsed.

    Attributes:
        language: of a `Block`, or another in lower case; ``""`` if none is stated.
        directive: the name of a directive of MyST; ``"eval-rst"`` if the body is reStructuredText.
        nested: True if the body is Markdown.
        chunk: True if the document runs it when it is rendered.
        quiet: True if a chunk has an option against that.
    """

    language: str = UNKNOWN
    directive: str = ""
    nested: bool = False
    chunk: bool = False
    quiet: bool = False


def understood(info: str) -> Info:
    """Parse an info string."""
    info = info.strip()
    if not info.startswith("{"):
        return _plain(info)
    match = _BRACES.match(info)
    inner = match["inner"].strip() if match is not None else ""
    rest = match["rest"].strip() if match is not None else ""
    if inner[:1] in (".", "#", "="):
        return _attributes(inner)
    name = _NAME.match(inner)
    if name is None:
        return Info()
    word = name[0].lower()
    if info.startswith("{{"):
        # Quarto shows such a chunk as it is written.
        return Info(named(word))
    if word in ("eval-rst", "eval_rst"):
        return Info(directive="eval-rst")
    if word in CODE:
        return Info(named(CODE[word] or rest.split(" ")[0]), "code-cell" if word == "code-cell" else "code")
    if word in ("prompt", "code-tab"):
        return Info(named(rest.split(" ")[0]), "code")
    if word in _OF_PYTHON:
        return Info(named(_OF_PYTHON[word]), "code")
    language = named(word)
    if language == PYTHON:
        return Info(PYTHON, chunk=True, quiet=_QUIET.search(inner) is not None)
    if language in KNOWN:
        return Info(language)
    if word in VERBATIM:
        return Info(word)
    return Info(directive=word, nested=True)


def _plain(info: str) -> Info:
    word = _WORD.match(info)
    if word is None or info[word.end() :].startswith("="):
        attributes = re.search(r"\{\s*([.#][^}]*)\}?", info)
        return _attributes(attributes[1]) if attributes is not None else Info()
    name = word[0].lower()
    if name in ("eval_rst", "eval-rst", "rst", "rest", "restructuredtext"):
        return Info(directive="eval-rst")
    if name in ("markdown", "md", "mdx", "qmd", "myst"):
        return Info(name, nested=True)
    file = re.match(r"[\w./-]+\.\w+", info)
    language = named(name)
    if language == name and file is not None:
        language = named(file[0])
    return Info(language, quiet=_QUIET.search(info) is not None)


def _attributes(inner: str) -> Info:
    """Parse attributes of Pandoc: ``.python .numberLines startFrom="10"``."""
    if inner.startswith("="):
        return Info("raw")
    classes = [str(name) for name in _CLASS.findall(re.sub(r"\"[^\"]*\"|'[^']*'", "", inner))]
    said = re.search(r"\blang(?:uage)?=['\"]?([\w+-]+)", inner)
    if said is not None:
        classes.insert(0, said[1])
    languages = [named(name) for name in classes]
    language = next((language for language in languages if language in KNOWN), languages[0] if languages else UNKNOWN)
    return Info(language, quiet=_QUIET.search(inner) is not None)
