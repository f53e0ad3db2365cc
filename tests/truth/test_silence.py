"""The code that must stay silent, on the installed TensorFlow: it runs, and is configured as its header says."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.fixture_files import SILENCE, read_text, silent_paths, strip_markers
from tests.truth.choosing import chosen_paths
from tests.truth.harness import failure, has, in_force, read_case, run, settings
from tfmemlint.verify.edge import Edge

pytestmark = pytest.mark.slow


def _named(path: Path) -> str:
    return str(path.relative_to(SILENCE))


@pytest.fixture(scope="module")
def judged(request: pytest.FixtureRequest, edge: Edge) -> Iterator[dict[Path, Future[list[str]]]]:
    """What TensorFlow contradicts in each file that is to be tested: they run several at a time."""
    chosen = chosen_paths(request)
    with ThreadPoolExecutor(edge.at_once()) as pool:
        yield {path: pool.submit(_problems, path, edge) for path in chosen}


def _problems(path: Path, edge: Edge) -> list[str]:
    case = read_case(path)
    if case.ground or not case.is_about(edge.version):
        return []
    wanted = settings(strip_markers(read_text(path))[2].get("has", ""))
    problems = []
    for gpus in case.gpus:
        result = run(edge, case.code, path, gpus)
        error = failure(result)
        if error:
            problems.append(f"with {gpus} GPU(s) it raises {error}")
        elif not has(result, wanted):
            problems.append(f"with {gpus} GPU(s) it should have {wanted}, but TensorFlow got {in_force(result)}")
    return problems


@pytest.mark.parametrize("path", silent_paths(), ids=_named)
def test_tensorflow_runs_what_must_stay_silent(path: Path, edge: Edge, judged: dict[Path, Future[list[str]]]) -> None:
    case = read_case(path)
    if not case.is_about(edge.version):
        pytest.skip(f"is about TensorFlow {case.target or case.since}, installed is {edge.version}")
    problems = judged[path].result()
    assert not problems, "\n".join(problems)
    if case.ground:
        pytest.skip(case.ground)
