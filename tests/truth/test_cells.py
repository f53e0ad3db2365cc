"""A cell that is run again after the work, on TensorFlow: it fails where TFM707 says so, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixture_files import FIXTURES, read_text, strip_markers
from tests.truth.harness import failure, run
from tfmemlint.rulekit.cells import percent_cells
from tfmemlint.verify.edge import Edge

PATHS = sorted(path for path in (FIXTURES / "TFM707").glob("*.py") if not path.name.endswith(".fixed.py"))
BETWEEN = "import tensorflow\ntensorflow.constant(0)\n"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_cell_fails_in_its_second_run_where_that_is_said(path: Path, edge: Edge) -> None:
    text, expected, header = strip_markers(read_text(path))
    lines = text.split("\n")
    said = {row for row, codes in expected.items() if "TFM707" in codes}
    for cell in percent_cells(text):
        again = "\n".join(lines[cell.first - 1 : cell.last])
        error = failure(run(edge, f"{text}\n{BETWEEN}{again}\n", path, int(header.get("gpus", "1"))))
        fails = any(cell.first <= row <= cell.last for row in said)
        assert bool(error) is fails, (cell, error)
