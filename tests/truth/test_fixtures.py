"""Every fixture, and every example on a rule's page, on the installed TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.fixture_files import FIXTURES, fixture_paths
from tests.truth.choosing import chosen_paths
from tests.truth.harness import Case, failure, judge, read_case, run
from tfmemlint.rulekit.rule import Rule, rules
from tfmemlint.verify.edge import Edge


def _named(path: Path) -> str:
    return str(path.relative_to(FIXTURES))


def _one_of_each_rule(paths: list[Path]) -> list[ParameterSet]:
    """The fixtures, of which all but the first of each rule that has a ``.fixed.py`` are slow."""
    quick: dict[str, Path] = {}
    for path in paths:
        if path.with_name(f"{path.stem}.fixed.py").exists():
            quick.setdefault(path.parent.name, path)
    return [
        pytest.param(path, id=_named(path), marks=() if path in quick.values() else pytest.mark.slow) for path in paths
    ]


def _skip_where_it_cannot_run(case: Case, edge: Edge) -> None:
    if not case.is_about(edge.version):
        pytest.skip(f"is about TensorFlow {case.target or case.since}, installed is {edge.version}")


@pytest.fixture(scope="module")
def judged(request: pytest.FixtureRequest, edge: Edge) -> Iterator[dict[Path, Future[list[str]]]]:
    """What TensorFlow contradicts in each fixture that is to be tested: they run several at a time."""

    def one(path: Path) -> list[str]:
        case = read_case(path)
        return judge(case, edge) if case.is_about(edge.version) else []

    chosen = chosen_paths(request)
    with ThreadPoolExecutor(edge.at_once()) as pool:
        yield {path: pool.submit(one, path) for path in chosen}


@pytest.mark.parametrize("path", _one_of_each_rule(fixture_paths("bad")))
def test_tensorflow_does_what_the_bad_fixture_claims(
    path: Path, edge: Edge, judged: dict[Path, Future[list[str]]]
) -> None:
    case = read_case(path)
    _skip_where_it_cannot_run(case, edge)
    problems = judged[path].result()
    assert not problems, "\n".join(problems)
    # After the fixed side has been judged: a ground is about the failing side, and excuses the fixed one only
    # where the header says nothing of it.
    if case.needs_driver:
        pytest.skip(f"needs the simulated driver: {case.ground}")
    if case.groundless:
        pytest.skip(f"has no ground: {case.ground}")


@pytest.mark.slow
@pytest.mark.parametrize("path", fixture_paths("ok"), ids=_named)
def test_tensorflow_runs_the_ok_fixture(path: Path, edge: Edge, judged: dict[Path, Future[list[str]]]) -> None:
    case = read_case(path)
    _skip_where_it_cannot_run(case, edge)
    if case.ground:
        pytest.skip(f"{'needs the simulated driver' if case.needs_driver else 'has no ground'}: {case.ground}")
    problems = judged[path].result()
    assert not problems, "\n".join(problems)


PAGES = [rule for rule in rules() if "Ground" not in rule.page().sections]


@pytest.mark.parametrize("rule", PAGES, ids=lambda rule: rule.code)
def test_the_use_instead_of_a_rule_s_page_runs(rule: Rule, edge: Edge) -> None:
    for block in rule.page().code("Use instead"):
        error = failure(run(edge, block, Path("page.py"), 2))
        assert not error, f"{error}\n{block}"


@pytest.mark.parametrize("rule", PAGES, ids=lambda rule: rule.code)
def test_the_example_of_a_rule_s_page_raises_nothing_that_the_page_does_not_name(rule: Rule, edge: Edge) -> None:
    seen_as = rule.page().sections.get("Seen as", "")
    for block in rule.page().code("Example"):
        error = failure(run(edge, block, Path("page.py"), 2))
        assert not error or error.partition(":")[0] in seen_as, f"{error}\n{block}"
