"""Whether code runs that nothing visibly calls: the tool against Python, program by program.

The programs are in ``fixtures/calls``. Each starts TensorFlow's runtime in a piece of code, and sets memory growth at
its end: in those called ``bad_`` the piece runs before, so that growth is set too late; in those called ``ok_`` not.
"""

from __future__ import annotations

import ast
import importlib.util
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.fixture_files import FIXTURES
from tests.recording import starts_before_growth
from tfmemlint.engine.check_source import check_source
from tfmemlint.knowledge import library
from tfmemlint.knowledge.releases import Target
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import decode

CALLS = FIXTURES / "calls"
PROGRAMS = sorted(CALLS.rglob("*.py"))
LATE = [rule for rule in rules() if rule.code == "TFM101"]


def _is_reported(path: Path) -> bool:
    source = decode(path.name, path.read_bytes())
    return bool(check_source(source, LATE, Target.newest()))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_growth_that_comes_too_late_is_reported_and_no_other(path: Path) -> None:
    assert _is_reported(path) is path.name.startswith("bad_")


def _imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found - {"tensorflow", "toolbox"}


@pytest.mark.slow
def test_python_does_what_the_names_of_the_programs_say() -> None:
    runnable = [path for path in PROGRAMS if all(importlib.util.find_spec(name) for name in _imported(path))]
    assert len(runnable) > len(list(CALLS.glob("*.py"))) * 0.9
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        observed = dict(zip(runnable, pool.map(starts_before_growth, runnable), strict=True))
    wrong = [path.name for path, starts in observed.items() if starts is not path.name.startswith("bad_")]
    assert wrong == []


def test_each_model_of_the_library_is_python_and_is_listed() -> None:
    assert set(library.sections()) == library.MODELLED
    for text, _ in library.sections().values():
        ast.parse(text)
