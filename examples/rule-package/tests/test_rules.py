"""The rules of this package do what their fixtures claim."""

from pathlib import Path

import pytest

from tfmemlint.testing import check_fixture, fixtures_in

FIXTURES = fixtures_in(Path(__file__).parents[1] / "fixtures")


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_a_fixture_is_judged_as_it_claims(path: Path) -> None:
    check_fixture(path)
