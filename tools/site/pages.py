"""The pages of the site: what is changed in a page of ``docs`` before Sphinx reads it, and nothing else."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
REPOSITORY = "https://github.com/tfmemlint/tfmemlint"

_FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,}|~{3,}).*?^(?P=indent)(?P=fence)[`~]*\s*?$", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"(?P<text>\]\()(?P<target>[^)\s]+)\)")
_LISTED = re.compile(r"^(?:- |\| )\[(?P<title>[^\]]+)\]\((?P<page>[\w/-]+)\.md\)", re.MULTILINE)
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_FOLDERS = {"rules/README": "TFM*", "evidence/README": "allocator"}
"""Tables of contents that their pages hold as a table or a text: the pattern of their pages."""


def for_the_site(text: str, path: Path) -> str:
    """Return the text of the page at ``path`` with links to the repository's files, and with the navigation."""
    text = _outside_fences(text, lambda part: _LINK.sub(lambda link: f"](<{_target(link['target'], path)}>)", part))
    name = path.relative_to(DOCS).with_suffix("").as_posix().removeprefix("zh/")
    if name == "index":
        return text + "".join(_toctree(caption, pages) for caption, pages in sections(path))
    if name in _FOLDERS:
        return f"{text}\n```{{toctree}}\n:hidden:\n:glob:\n\n{_FOLDERS[name]}\n```\n"
    return text


def sections(index: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the headings of an index, each with the pages that are listed below it and what the index calls them."""
    parts = _HEADING.split(index.read_text(encoding="utf-8"))
    for caption, body in zip(parts[1::2], parts[2::2], strict=True):
        if pages := {match["page"]: match["title"] for match in _LISTED.finditer(body)}:
            yield caption, pages


def page_in(language: str, name: str) -> bool:
    """Return True if the page is there in this language."""
    return (DOCS / ("zh" if language == "zh" else "") / f"{name}.md").exists()


def links(text: str) -> Iterator[str]:
    """Yield the targets of all links and pictures of a page, but those in blocks of code."""
    for link in _LINK.finditer(_FENCE.sub("", text)):
        yield link["target"]


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    plain = _FENCE.sub("", text)
    headings = re.findall(r"^#{1,6} +(.+?)\s*$", plain, re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each).lower()).replace(" ", "-")
        for each in headings
    }


def _toctree(caption: str, pages: dict[str, str]) -> str:
    entries = "\n".join(f"{title} <{page}>" for page, title in pages.items())
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"


def _target(target: str, page: Path) -> str:
    """Return the target of a link for the site: a page of this language as it is, one of English by its address, any
    other file by its address in the repository."""
    name, _, anchor = target.partition("#")
    if "://" in target or not name or name.startswith("mailto:"):
        return target
    path = Path(os.path.normpath(page.parent / name))
    home = DOCS / "zh" if page.is_relative_to(DOCS / "zh") else DOCS
    if path.suffix in (".svg", ".png"):
        return target
    ending = f"#{anchor}" if anchor else ""
    if path.is_relative_to(home) and path.suffix == ".md" and not (home == DOCS and path.is_relative_to(DOCS / "zh")):
        return target
    if path.is_relative_to(DOCS) and path.suffix == ".md":
        # The folder of the Chinese pages is one folder of the site, too; MyST takes the scheme off (conf.py).
        other = os.path.relpath(path.with_suffix(".html"), page.parent)
        return f"english-part:{other}{ending}" if ending else f"english:{other}"
    kind = "tree" if path.is_dir() else "blob"
    return f"{REPOSITORY}/{kind}/main/{path.relative_to(ROOT).as_posix()}{ending}"


def _outside_fences(text: str, change: Callable[[str], str]) -> str:
    parts, end = [], 0
    for match in _FENCE.finditer(text):
        parts += [change(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*parts, change(text[end:])])
