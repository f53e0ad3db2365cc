"""The rooms of the house: every module is in a package, an import goes down the layers, and none goes in a circle.

Imports count wherever they are: at the top of a module, in a function, under ``TYPE_CHECKING``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tools.structure import House, circles, read

LAYERS = (
    "cli",
    "server",
    "mcp",
    "testing",
    "estate",
    "api",
    "doctor",
    "fit",
    "verify",
    "plans",
    "debug",
    "engine",
    "config",
    "reporters",
    "rules",
    "intents",
    "text_checks",
    "rulekit",
    "history",
    "fixes",
    "deployment",
    "interpreter",
    "project",
    "facts",
    "knowledge",
    "sources",
    "model",
)
"""The packages of ``tfmemlint``, from the top down: each may import those below it."""

SHOWN = 12
"""Imports of a circle that a failure lists: enough to see where to cut a small one."""


@pytest.fixture(scope="module")
def house() -> House:
    """The working tree."""
    return read(ROOT)


def test_every_module_is_in_a_package_that_is_a_layer(house: House) -> None:
    assert house.loose == [], "beside tfmemlint/__init__.py and __main__.py there are packages only"
    assert sorted(house.rooms) == sorted(LAYERS), "LAYERS says where a package stands"


def test_no_import_goes_up_the_layers(house: House) -> None:
    upward = [
        f"{edge}: {edge.rooms[0]} is below {edge.rooms[1]} and may not import it; move what both need down"
        for edge in house.imports
        if set(edge.rooms) <= set(LAYERS) and LAYERS.index(edge.rooms[0]) > LAYERS.index(edge.rooms[1])
    ]
    assert not upward, "\n".join(upward)


def test_no_module_imports_the_package_itself(house: House) -> None:
    """``tfmemlint/__init__.py`` holds the version, and imports the library when it is asked; all else is in a room."""
    wrong = [str(edge) for edge in house.imports if edge.imported == "" and "__version__" not in edge.text]
    assert not wrong, "\n".join(wrong)


def test_no_modules_of_a_package_import_each_other_in_a_circle(house: House) -> None:
    found = circles(house.module_arrows(at_import=False, within_rooms=True))
    words = [_words(house, tuple(circle)) for circle in found]
    assert not words, "these modules import each other in a circle: " + "\n".join(words)


def test_no_modules_wait_for_each_other_when_they_are_imported(house: House) -> None:
    found = [_words(house, tuple(circle)) for circle in circles(house.module_arrows(at_import=True))]
    assert not found, "these modules wait for each other when they are imported: " + "\n".join(found)


def _words(house: House, circle: tuple[str, ...]) -> str:
    """The modules of a circle, and the imports that make it, a line each."""
    inside = [edge for edge in house.imports if {edge.importer, edge.imported} <= set(circle)]
    lines = [f"  {edge}" for edge in inside if edge.importer != edge.imported]
    more = [f"  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return "\n".join([", ".join(circle), *lines[:SHOWN], *more])


def test_circles_are_found_as_groups_of_all_that_reach_each_other() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a", "f"}}
    assert circles(graph) == [["a", "b", "c"], ["d", "e"]]


@pytest.mark.slow
def test_the_tool_counts_and_draws_this_checkout(tmp_path: Path) -> None:
    picture = tmp_path / "structure.svg"
    command = [sys.executable, "tools/structure.py", "--svg", str(picture)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"rooms{len(LAYERS):51d}" in done.stdout
    drawn = picture.read_text(encoding="utf-8")
    assert all(f">{layer}</text>" in drawn for layer in LAYERS)
