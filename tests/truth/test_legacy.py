"""TF1 code as people wrote it, before and after the fix, on the installed TensorFlow."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.fixture_files import read_text, strip_markers
from tests.legacy import legacy_paths, with_stubs
from tests.truth.choosing import chosen_paths
from tests.truth.harness import AT_ONCE, Case, checks, judge, read_case
from tfmemlint.verify.edge import Edge
from tfmemlint.verify.ground import Ground

pytestmark = pytest.mark.slow


def _named(path: Path) -> str:
    return path.stem


def _case(path: Path) -> Case:
    case = read_case(path)
    after = with_stubs(case.fixed_code) if case.fixed_code is not None else None
    if "withheld" in strip_markers(read_text(path))[2]:
        after = None
    elif after is None and case.fixed:
        # Nothing is wrong with it, and it stays as it is.
        after = with_stubs(case.code)
    return dataclasses.replace(case, code=with_stubs(case.code), fixed_code=after)


@pytest.fixture(scope="module")
def judged(request: pytest.FixtureRequest, edge: Edge) -> Iterator[dict[Path, Future[list[str]]]]:
    """What TensorFlow contradicts in each file that is to be tested: they run several at a time."""

    def one(path: Path) -> list[str]:
        case = _case(path)
        return judge(case, edge) if case.is_about(edge.version) else []

    with ThreadPoolExecutor(edge.at_once()) as pool:
        yield {path: pool.submit(one, path) for path in chosen_paths(request)}


@pytest.mark.parametrize("path", legacy_paths(), ids=_named)
def test_tensorflow_does_with_both_sides_what_the_header_claims(
    path: Path, edge: Edge, judged: dict[Path, Future[list[str]]]
) -> None:
    case = _case(path)
    if not case.is_about(edge.version):
        pytest.skip(f"is about TensorFlow {case.target or case.since}, installed is {edge.version}")
    problems = judged[path].result()
    assert not problems, "\n".join(problems)


def _on_driver() -> list[Path]:
    """Of each idiom one file whose fixed side is to have a limit, and one that is to have growth."""
    found: dict[tuple[str, str], Path] = {}
    for path in legacy_paths():
        setting = read_case(path).fixed.partition("=")[0]
        if setting in ("limits", "allow_growth"):
            found.setdefault((path.stem.partition("_")[0], setting), path)
    return list(found.values())


ON_DRIVER = _on_driver()


@pytest.fixture(scope="module")
def contradicted(driver: Ground) -> dict[Path, list[str]]:
    """What the memory contradicts that TensorFlow's allocator really takes, all run together."""

    def one(path: Path) -> list[str]:
        return [check.problem for check in checks(_case(path), driver) if check.problem]

    with ThreadPoolExecutor(AT_ONCE * driver.at_once()) as pool:
        return dict(zip(ON_DRIVER, pool.map(one, ON_DRIVER), strict=True))


@pytest.mark.parametrize("path", ON_DRIVER, ids=_named)
def test_the_allocator_does_with_both_sides_what_the_header_claims(
    path: Path, contradicted: dict[Path, list[str]]
) -> None:
    assert contradicted[path] == []
