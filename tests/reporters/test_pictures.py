"""Pages with pictures: self-contained, light and dark, and opened in a real browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tfmemlint.reporters.pictures.charts import Bar, Part, Texts, bars, course
from tfmemlint.reporters.pictures.page import DARK, LIGHT, figure, page, table, write

pytest.importorskip("matplotlib", reason="pictures need matplotlib, which isn't installed")

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
TEXTS = Texts("in order", "MiB", "limit", "it rises <and> falls")
MAX_BYTES = 1_000_000


def _page() -> str:
    rows = [Bar("GPU 0", [Part("a", 3.0, "c0", "3 & more"), Part("b", 1.0, "rest")], "x" * 50 + " " + "y" * 50)]
    parts = [
        figure(bars(rows, "MiB", "two parts"), "bars"),
        figure(course([0, 5, 2], [(0.5, "1")], 6, TEXTS), "course"),
        table(("MiB", "what"), [("1", "<b>")], numbers=(0,)),
    ]
    return page("A <title>", parts)


def test_a_page_needs_nothing_beside_it() -> None:
    text = _page()
    assert len(text) < MAX_BYTES
    assert not re.findall(r'(?:src|href)="(?!#)', text)
    assert "@import" not in text
    assert "<script" not in text


def test_colours_are_those_of_the_page() -> None:
    text = _page()
    assert "#0a0b" not in text
    for name in ("c0", "rest", "ink", "dim"):
        assert f"var(--{name})" in text
    assert set(LIGHT) == set(DARK)


def test_words_are_escaped() -> None:
    text = _page()
    assert "A &lt;title&gt;" in text
    assert "it rises &lt;and&gt; falls" in text
    assert "3 &amp; more" in text
    assert "<b>" not in text
    assert "y" * 50 not in text  # words behind a bar are shortened


def test_a_picture_is_the_same_each_time() -> None:
    assert _page() == _page()


def test_no_bars_and_no_course_are_drawn_too() -> None:
    assert bars([], "MiB", "nothing").startswith("<svg")
    assert course([], [], None, TEXTS).startswith("<svg")


def test_what_can_t_be_written_is_said(tmp_path: Path) -> None:
    assert write(str(tmp_path / "a.html"), "x") == ""
    assert "No such file" in write(str(tmp_path / "none" / "a.html"), "x")


def _brightness(left: tuple[int, ...]) -> float:
    red, green, blue = (((value / 255 + 0.055) / 1.055) ** 2.4 if value > 10 else value / 3295 for value in left[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(first: str, second: str) -> float:
    """The contrast ratio of WCAG 2.2."""
    levels = sorted(_brightness(tuple(bytes.fromhex(colour.removeprefix("#")))) + 0.05 for colour in (first, second))
    return levels[1] / levels[0]


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_words_have_the_contrast_that_readers_need(colours: dict[str, str]) -> None:
    assert _contrast(colours["ink"], colours["paper"]) >= 7
    assert _contrast(colours["dim"], colours["paper"]) >= 4.5


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here to open a page in")
@pytest.mark.parametrize(("dark", "colours"), [(False, LIGHT), (True, DARK)])
def test_a_browser_draws_it(dark: bool, colours: dict[str, str], tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    assert BROWSER is not None
    path, picture = tmp_path / "page.html", tmp_path / "page.png"
    path.write_text(_page(), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    subprocess.run(
        [BROWSER, *options, scheme, f"--screenshot={picture}", "--window-size=900,1200", path.as_uri()],
        check=True,
        capture_output=True,
        timeout=300,
    )
    with image.open(picture) as opened:
        seen = opened.convert("RGB")
        assert seen.getpixel((2, 2)) == tuple(bytes.fromhex(colours["paper"][1:]))
        drawn = {colour for _, colour in seen.getcolors(1 << 24)}
    for name in ("c0", "c4", "rest"):
        assert tuple(bytes.fromhex(colours[name][1:])) in drawn
