"""Fixtures broken at random raise nothing, and their fixes can be parsed: a sample of what tools/fuzz.py tries."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.fixture_files import is_everything_wanted
from tools import fuzz

SEEDS = range(0, 2_000, 100)
"""The first seed of each part, of which 30 are tried; all of the 100 with ``--all-programs``.

A failing seed is tried alone by ``python3 tools/fuzz.py --inputs 1 --seed N``.
"""
FOUND = ROOT / "tests" / "safety" / "broken_inputs"
"""Inputs that once failed, as tools/fuzz.py keeps them."""

KEPT = {
    "two parameters of one name": b"""\
import tensorflow as tf
def scale(x, x, factor=tf.constant(2.0)):
    return x * factor
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
print(scale(3.0))
""",
    "a carriage return alone": b"""\
import tensorflow as tf
[tf.config\r.experimental.set_memoy_growth(gpu, True) for gpu in tf.config.list_physical_devices("GPU")]
""",
}
"""Programs that once failed: seeds 708008 and 716223, made shorter."""


@pytest.mark.parametrize("kind", KEPT)
def test_a_program_that_once_failed_does_not_fail_again(kind: str) -> None:
    assert fuzz.problem_of("train.py", KEPT[kind]) == ""


@pytest.fixture(autouse=True)
def project() -> Iterator[None]:
    """An empty project, which is the current directory."""
    with fuzz.empty_project():
        yield


def _problems(seeds: range) -> list[str]:
    files = fuzz.inputs(ROOT / "fixtures")
    found = []
    for seed in seeds:
        source = random.Random(seed)
        path = source.choice(files)
        data = fuzz.mutated(path.read_text("utf-8", "replace"), source).encode("utf-8", "surrogatepass")
        problem = fuzz.problem_of(path.name, data)
        if problem:
            found.append(f"seed {seed}: {path.relative_to(ROOT)}: {problem}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("first", SEEDS)
def test_an_input_broken_at_random_ends_in_findings(first: int) -> None:
    assert _problems(range(first, first + (100 if is_everything_wanted() else 30))) == []


def test_a_few_of_them() -> None:
    assert _problems(range(90_000, 90_010)) == []


@pytest.mark.parametrize("path", sorted(FOUND.glob("*")), ids=lambda path: path.name)
def test_an_input_that_once_failed_does_not_fail_again(path: Path) -> None:
    assert fuzz.problem_of(path.name.partition("-")[2], path.read_bytes()) == ""


@pytest.mark.slow
def test_a_condition_that_python_cannot_write_again() -> None:
    chain = ".part" * 900
    text = f"import tensorflow as tf\n\nx = tf.constant(1)\nif tf{chain}:\n    tf.Session()\n"
    text += "tf.config.experimental.set_memory_growth(tf.config.list_physical_devices('GPU')[0], True)\n"
    assert fuzz.problem_of("chain.py", text.encode()) == ""
