"""Programs of several files on the installed TensorFlow: each does what its headers claim."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.program_files import program_folders, read_program
from tests.truth.choosing import chosen_paths
from tests.truth.launching import problems
from tfmemlint.verify.edge import Edge

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def judged(request: pytest.FixtureRequest, edge: Edge) -> Iterator[dict[Path, Future[list[str]]]]:
    """What TensorFlow contradicts in each folder that is to be tested: they run several at a time."""
    chosen = chosen_paths(request, "folder")
    with ThreadPoolExecutor(edge.at_once()) as pool:
        yield {folder: pool.submit(lambda folder: problems(read_program(folder), edge), folder) for folder in chosen}


@pytest.mark.parametrize("folder", program_folders(), ids=lambda path: path.name)
def test_tensorflow_does_what_a_program_of_several_files_claims(
    folder: Path, judged: dict[Path, Future[list[str]]]
) -> None:
    found = judged[folder].result()
    assert not found, "\n".join(found)


def test_every_bad_program_says_what_comes_of_it() -> None:
    for folder in program_folders("bad"):
        headers = [start.header for start in read_program(folder).starts]
        assert any({"raises", "lacks", "ground"} & header.keys() for header in headers), folder.name
