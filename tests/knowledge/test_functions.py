"""The parameters of TensorFlow's functions, and the places of those that are looked for elsewhere."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from tfmemlint.knowledge import names
from tfmemlint.knowledge.misplaced import REAL_PLACES
from tfmemlint.knowledge.releases import Target
from tfmemlint.knowledge.signatures import SIGNATURES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", SIGNATURES)
def test_parameters_are_those_of_the_installed_release(name: str) -> None:
    tensorflow: Any = pytest.importorskip("tensorflow")
    found: Any = tensorflow
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    if found is None:
        pytest.skip(f"the installed TensorFlow has no {name}")
    parameters = [parameter for parameter in inspect.signature(found).parameters if parameter != "cls"]
    if inspect.isclass(found):
        parameters = [
            parameter for parameter in inspect.signature(found.__new__).parameters if parameter not in ("cls", "_cls")
        ]
    assert tuple(parameters) == SIGNATURES[name]


@pytest.mark.parametrize(("name", "real"), REAL_PLACES.items())
def test_no_release_has_the_one_and_the_newest_has_the_other(name: str, real: str) -> None:
    assert not names.ever_existed(name)
    assert names.exists(real, Target.newest())
