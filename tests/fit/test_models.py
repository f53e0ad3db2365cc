"""The peak that is measured, against what is worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fit.models import MIB, MODELS, START
from tfmemlint.fit.measure import FitOutcome, measure
from tfmemlint.fit.runner import FitOptions
from tfmemlint.verify.driver.build import minor_of
from tfmemlint.verify.ground import Ground

pytestmark = pytest.mark.slow

KERAS_3 = (2, 16)
"""Since this release; the optimizers of Keras 2 have other temporaries, and slots that are never used."""


@pytest.mark.parametrize("name", MODELS)
def test_the_peak_is_what_it_has_to_be(name: str, ground: Ground) -> None:
    model = MODELS[name]
    found = measure(Path("model.py").resolve(), START + model.code, ground, FitOptions(), lambda words: None)
    assert found.outcome is FitOutcome.FITS, found.problem
    assert found.asked.steps == 3
    (device,) = found.asked.devices
    assert device.peak is not None
    assert device.held is not None
    roles = {role: size / MIB for role, size in device.held["roles"].items()}
    assert roles["trained variables"] == pytest.approx(model.parameters, rel=0.1)
    asked, peak = device.held["asked_peak"] / MIB, device.peak / MIB
    if (minor_of(ground.version) or KERAS_3) >= KERAS_3:
        assert asked == pytest.approx(model.expected, rel=0.05)
        assert asked <= peak * 1.001
        assert peak <= 1.2 * model.expected
    else:
        assert 0.6 * model.expected < peak < 1.7 * model.expected
