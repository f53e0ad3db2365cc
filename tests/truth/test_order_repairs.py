"""Programs whose configuration came too late run on TensorFlow once they are fixed, and print what they printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fixes.helpers import code
from tests.fixes.projects import make
from tests.fixes.repaired_conditions import REPAIRED
from tests.fixture_files import is_everything_wanted
from tests.fixture_runs import command
from tests.program_files import program_folders, read_program
from tests.truth.harness import SECONDS, failure, has
from tests.truth.launching import launcher
from tests.truth.orders import LENIENT, outcomes, sample
from tfmemlint.verify.edge import Edge
from tfmemlint.verify.result import Result

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]

LATE = {"TFM101", "TFM102", "TFM103"}
SEED, PROGRAMS = 7, 60
SAMPLE = 30
"""How many of the random programs are run unless ``--all-programs`` asks for all: some have what the others lack."""
SHARE = 0.95
"""The share of late configuration that has to end fixed, of all that is found in random programs."""
_REORDERED = "what is printed or written comes in another order"
"""The words of a fix that says so itself: then the same lines are printed."""
_VARIES = re.compile(r"0x[0-9a-f]+|-?\d+\.\d*(?:e[+-]?\d+)?|\s+")
"""What differs from run to run: addresses, random numbers, and the space around them."""


def _run(edge: Edge, root: Path, entry: str, gpus: int, env: dict[str, str], prelude: str = "") -> Result:
    # A fix may leave a file as long as it was, in the same second: Python would then run the old one's compiled code.
    text = f"import sys\nsys.dont_write_bytecode = True\n{prelude}{launcher(entry, root)}"
    return edge.run(text, gpus=gpus, env=env, cwd=root, filename="launcher.py", timeout=SECONDS)


@pytest.mark.parametrize("case", REPAIRED)
def test_a_repaired_project_is_configured_and_prints_what_it_printed(
    case: str, edge: Edge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repaired = REPAIRED[case]
    make(tmp_path, repaired.files)
    monkeypatch.chdir(tmp_path)
    entry = f"python {repaired.entry}"
    assert "Physical devices cannot be modified" in failure(_run(edge, tmp_path, entry, 1, {}))
    reference = _run(edge, tmp_path, entry, 1, {}, LENIENT)
    for name, text in repaired.after.items():
        (tmp_path / name).write_text(code(text), encoding="utf-8")
    fixed = _run(edge, tmp_path, entry, 1, {})
    assert failure(fixed) == ""
    assert has(fixed, {"allow_growth": True})
    if _REORDERED in repaired.message:
        assert sorted(fixed.stdout.splitlines()) == sorted(reference.stdout.splitlines()) != []
    else:
        assert fixed.stdout == reference.stdout
    without = _run(edge, tmp_path, entry, 0, {})
    assert failure(without) == ""


def _late_programs() -> list[Path]:
    return [
        folder
        for folder in program_folders("bad")
        if LATE.intersection(code for _, _, code in read_program(folder).expected)
    ]


@pytest.mark.parametrize("folder", _late_programs(), ids=lambda path: path.name)
def test_a_fix_of_a_program_of_several_files_harms_nothing(
    folder: Path, edge: Edge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = read_program(folder)
    program.put(tmp_path)
    monkeypatch.chdir(tmp_path)
    starts = [
        (
            start.entry,
            int(start.header.get("gpus", "1").split(",")[0]),
            dict(one.split("=", 1) for one in start.header.get("env", "").split()),
        )
        for start in program.starts
    ]
    references = [_run(edge, tmp_path, *start, LENIENT) for start in starts]
    command("fix", "--unsafe-fixes", "--no-cache", ".")
    texts = {path: path.read_text("utf-8") for path in tmp_path.rglob("*.py")}
    if all(texts[tmp_path / name] == text for name, text in program.texts.items() if name.endswith(".py")):
        return
    for start, reference in zip(starts, references, strict=True):
        fixed = _run(edge, tmp_path, *start)
        assert failure(fixed) == ""
        assert _VARIES.sub("", fixed.stdout) == _VARIES.sub("", reference.stdout)
    command("fix", "--unsafe-fixes", "--no-cache", ".")
    assert {path: path.read_text("utf-8") for path in tmp_path.rglob("*.py")} == texts


def test_random_order_defects_are_fixed_and_nothing_is_harmed(edge: Edge) -> None:
    numbers = sample(SEED, PROGRAMS if is_everything_wanted() else SAMPLE)
    found = outcomes(SEED, numbers, edge)
    late = sum(count for what, count in found.counts.items() if what not in ("not late", "not found"))
    assert late > len(numbers) / 3, "these programs show nothing"
    assert not found.counts["harmed"] and not found.counts["twice"], found.odd
    assert found.counts["fixed"] / late >= SHARE, found.odd
