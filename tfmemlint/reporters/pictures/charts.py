"""Draw charts with matplotlib, as SVG in the colours of the page.

matplotlib writes colours as numbers. Each colour of the page has a number of its own here, for which the SVG gets the
page's variable in the end, so that one picture is light and dark.
"""

from __future__ import annotations

import importlib.util
import io
import re
import textwrap
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from tfmemlint.model.records import dataclass
from tfmemlint.reporters.paint import in_html
from tfmemlint.reporters.pictures.page import LIGHT

MISSING = "--html needs matplotlib: `pip install 'tfmemlint[pictures]'` brings it"
_NUMBERS = {name: f"#0a0b{number:02x}" for number, name in enumerate(LIGHT, 16)}
_COLOUR = re.compile("|".join(_NUMBERS.values()))
_NAMES = {number: name for name, number in _NUMBERS.items()}
_WIDTH_INCHES = 9.0
_BAR_INCHES = 0.34
_MAX_WORDS = 60
"""The characters behind a bar; a bound for readability."""
PALETTE = ("c0", "c1", "c2", "c3", "c4", "c5")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar: its name for the legend, its size, its colour (a name of the page's), words for a pointer that
    rests on it, and the pattern that is drawn on it, as matplotlib writes it.
    """

    name: str
    size: float
    colour: str
    words: str = ""
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its name, its parts from left to right, and words behind it."""

    name: str
    parts: Sequence[Part] = field(default=())
    words: str = ""


def is_missing() -> bool:
    """True if matplotlib isn't installed."""
    return importlib.util.find_spec("matplotlib") is None


def bars(rows: Sequence[Bar], unit: str, describe: str) -> str:
    """Return horizontal bars as SVG, the first one on top.

    Args:
        unit: the label of the axis. describe: what is seen, for readers who don't see it.
    """
    figure, axes = _axes(1.0 + _BAR_INCHES * len(rows))
    most = max((sum(part.size for part in row.parts) for row in rows), default=0) or 1
    shown: dict[str, Any] = {}
    hints: dict[str, str] = {}
    for place, row in enumerate(rows):
        left = 0.0
        for number, part in enumerate(row.parts):
            (drawn,) = axes.barh(place, part.size, left=left, color=_NUMBERS[part.colour], height=0.72)
            if part.pattern:
                # The line around it has the pattern's colour.
                drawn.set(hatch=part.pattern, edgecolor=_NUMBERS["dim"], linewidth=0)
            drawn.set_gid(f"part-{place}-{number}")
            hints[f"part-{place}-{number}"] = part.words or f"{part.name}: {part.size:,.1f} {unit}"
            shown.setdefault(part.name, (part.colour, drawn))
            left += part.size
        if row.words:
            words = textwrap.shorten(row.words, _MAX_WORDS, placeholder=" ...")
            axes.text(left + most * 0.01, place, words, va="center", fontsize=8, color=_NUMBERS["dim"])
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, most * 1.12)
    axes.set_xlabel(unit)
    # The legend has the order of the palette, whichever bar a name comes first in.
    names = sorted(shown, key=lambda name: list(LIGHT).index(shown[name][0]))
    axes.legend(
        [shown[name][1] for name in names],
        names,
        ncols=3,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        frameon=False,
        fontsize=8,
    )
    return _svg(figure, f"{describe}. {_in_words(rows, unit)}", hints)


def _in_words(rows: Sequence[Bar], unit: str) -> str:
    """Return the sizes of bars for readers who don't see them."""
    texts = []
    for row in rows:
        parts = ", ".join(f"{part.name} {part.size:,.1f} {unit}" for part in row.parts)
        texts.append(f"{row.name}: {parts or 'nothing'}")
    return "; ".join(texts)


def course(heights: Sequence[float], marks: Sequence[tuple[float, str]], most: float | None, texts: Texts) -> str:
    """Return a filled line as SVG.

    Args:
        heights: the values, at equal distances. marks: places from 0 to 1, and what is there.
        most: the height of a line for a limit; None for none.
    """
    figure, axes = _axes(3.2)
    places = [number / max(len(heights) - 1, 1) for number in range(len(heights))]
    axes.fill_between(places, heights, step="post", color=_NUMBERS["c4"], linewidth=0)
    axes.step(places, heights, where="post", color=_NUMBERS["c0"], linewidth=1)
    top = max(heights, default=1) or 1
    if most is not None and most <= 1.5 * top:
        axes.axhline(most, color=_NUMBERS["c5"], linewidth=1.2, linestyle="--")
        axes.text(0, most, texts.limit, va="bottom", fontsize=8, color=_NUMBERS["ink"])
        top = max(top, most)
    axes.set_ylim(0, top * 1.15)
    axes.set_xlim(0, 1)
    for place, words in marks:
        axes.axvline(place, color=_NUMBERS["dim"], linewidth=0.8, linestyle=":")
        axes.text(place, top * 1.15, words, ha="center", va="bottom", fontsize=8, color=_NUMBERS["ink"])
    axes.set_xticks([])
    axes.set_xlabel(texts.across)
    axes.set_ylabel(texts.up)
    return _svg(figure, texts.describe, {})


@dataclass(frozen=True, slots=True)
class Texts:
    """The words of a chart: along the axes, beside the limit's line, and for readers who don't see it."""

    across: str
    up: str
    limit: str
    describe: str


def _axes(height: float) -> tuple[Any, Any]:
    """Return a figure with one pair of axes in the page's colours; the height is in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH_INCHES, height), layout="constrained")
    axes: Any = figure.add_subplot()
    figure.patch.set_alpha(0)
    axes.patch.set_alpha(0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_NUMBERS["line"])
    axes.tick_params(colors=_NUMBERS["ink"], labelsize=8)
    axes.xaxis.label.set_color(_NUMBERS["dim"])
    axes.yaxis.label.set_color(_NUMBERS["dim"])
    return figure, axes


def _svg(figure: Any, describe: str, hints: dict[str, str]) -> str:
    """Return a figure as an ``svg`` element that any page can hold."""
    from matplotlib import rc_context

    out = io.StringIO()
    # Texts stay texts, for search and for readers of screens; names inside don't change from run to run.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "tfmemlint", "text.parse_math": False}):
        figure.set_layout_engine("constrained")
        legend = figure.axes[0].get_legend()
        for text in legend.get_texts() if legend is not None else ():
            text.set_color(_NUMBERS["ink"])
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = _COLOUR.sub(lambda match: f"var(--{_NAMES[match[0]]})", text)
    for name, words in hints.items():
        text = text.replace(f'<g id="{name}">', f'<g id="{name}"><title>{in_html(words)}</title>', 1)
    return text.replace("<svg ", f'<svg role="img" aria-label="{in_html(describe)}" ', 1)
