"""Every fixture, and every example on a rule's page, on the installed TensorFlow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixture_files import FIXTURES, fixture_paths
from tests.truth.harness import Case, failure, judge, read_case, run
from tfmemlint.rule import Rule, rules
from tfmemlint.verify.edge import Edge


def _named(path: Path) -> str:
    return str(path.relative_to(FIXTURES))


def _skip_where_it_cannot_run(case: Case, edge: Edge) -> None:
    if case.target and not edge.version.startswith(f"{case.target}."):
        pytest.skip(f"is about TensorFlow {case.target}, installed is {edge.version}")


@pytest.mark.parametrize("path", fixture_paths("bad"), ids=_named)
def test_tensorflow_does_what_the_bad_fixture_claims(path: Path, edge: Edge) -> None:
    case = read_case(path)
    _skip_where_it_cannot_run(case, edge)
    problems = judge(case, edge)
    assert not problems, "\n".join(problems)
    # After the fixed side has been judged: a ground is about the failing side, and excuses the fixed one only
    # where the header says nothing of it.
    if case.needs_driver:
        pytest.skip(f"needs the simulated driver: {case.ground}")
    if case.groundless:
        pytest.skip(f"has no ground: {case.ground}")


@pytest.mark.parametrize("path", fixture_paths("ok"), ids=_named)
def test_tensorflow_runs_the_ok_fixture(path: Path, edge: Edge) -> None:
    case = read_case(path)
    _skip_where_it_cannot_run(case, edge)
    if case.ground:
        pytest.skip(f"{'needs the simulated driver' if case.needs_driver else 'has no ground'}: {case.ground}")
    problems = judge(case, edge)
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
