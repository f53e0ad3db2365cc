"""The page around pictures: one HTML file, light or dark as the reader's browser is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tfmemlint.reporters.paint import in_html

LIGHT = {
    "ink": "#1b1f24",
    "dim": "#57606a",
    "line": "#c9d1d9",
    "paper": "#ffffff",
    "c0": "#0072b2",
    "c1": "#e69f00",
    "c2": "#009e73",
    "c3": "#cc79a7",
    "c4": "#56b4e9",
    "c5": "#d55e00",
    "rest": "#d7dce1",
}
"""The colours of a light page, by name. ``c0`` to ``c5`` are the palette of Okabe and Ito, which people who are colour
blind can tell apart (Wong, Nature Methods 8, 441, 2011).
"""
DARK = {
    **LIGHT,
    "ink": "#e6edf3",
    "dim": "#9aa4af",
    "line": "#3d444d",
    "paper": "#0d1117",
    "c0": "#2f6fd6",
    "rest": "#30363d",
}
"""The same on a dark page; the darkest of the palette is lighter there."""
_STYLE = """
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; max-width: 62rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
figure { margin: 1rem 0; } figcaption, .dim { color: var(--dim); }
div.wide { overflow-x: auto; } svg { width: 100%; min-width: 44rem; height: auto; }
@media print { svg { min-width: 0; } }
svg text { font-family: system-ui, sans-serif !important; }
table { border-collapse: collapse; margin: 0.5rem 0; } th { text-align: left; }
td, th { border-bottom: 1px solid var(--line); padding: 0.2rem 0.8rem 0.2rem 0; vertical-align: top; }
td { overflow-wrap: anywhere; } td:not(.number) { min-width: 6rem; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
"""


def page(title: str, parts: Sequence[str]) -> str:
    """Return an HTML page; ``parts`` are pieces of HTML, and ``title`` is text."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{in_html(title)}</title>'
    dark = f"@media (prefers-color-scheme: dark) {{ {_colours(DARK)} }}"
    style = f"<style>:root {{ color-scheme: light dark; }} {_colours(LIGHT)} {dark} {_STYLE}</style>"
    body = "\n".join([f"<h1>{in_html(title)}</h1>", *parts])
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}\n{style}</head>\n<body>\n{body}\n</body>\n</html>\n'


def _colours(colours: dict[str, str]) -> str:
    return f":root {{ {' '.join(f'--{name}: {value};' for name, value in colours.items())} }}"


def heading(text: str) -> str:
    """Return a heading."""
    return f"<h2>{in_html(text)}</h2>"


def launched(start: Mapping[str, Any] | None) -> str:
    """Return which line starts a program, to be put behind its name; "" if none does."""
    return f", as {start['path']}:{start['row']} starts it" if start else ""


def paragraph(text: str, *, dim: bool = False) -> str:
    """Return a paragraph; ``dim``: of less weight."""
    kind = ' class="dim"' if dim else ""
    return f"<p{kind}>{in_html(text)}</p>"


def figure(svg: str, caption: str) -> str:
    """Return a picture with words below it."""
    # On a narrow screen a picture is as wide as its words need, and is moved sideways, by keys as well.
    return f'<figure><div class="wide" tabindex="0">{svg}</div><figcaption>{in_html(caption)}</figcaption></figure>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Return a table; ``numbers`` are the columns of numbers, from 0."""
    if not rows:
        return ""
    first = "".join(f'<th scope="col">{in_html(text)}</th>' for text in head)
    lines = "".join(
        "<tr>" + "".join(_cell(text, place in numbers) for place, text in enumerate(row)) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{first}</tr></thead><tbody>{lines}</tbody></table>"


def _cell(text: str, is_number: bool) -> str:
    kind = ' class="number"' if is_number else ""
    return f"<td{kind}>{in_html(text)}</td>"


def write(path: str, text: str) -> str:
    """Write a page to a file; return "" or why that failed."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        return f"{path}: {error.strerror or error}"
    return ""
