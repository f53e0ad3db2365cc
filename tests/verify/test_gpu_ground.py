"""The ground of real GPUs, tried on a simulated machine that it takes for a real one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tfmemlint.knowledge.releases import Target
from tfmemlint.sources import Source
from tfmemlint.verify.choose_ground import DriverGround, GpuGround, choose, no_gpu
from tfmemlint.verify.prove import RunOptions, prove
from tfmemlint.verify.result import GroundError
from tfmemlint.verify.verdict import Verdict, VerdictKind

pytestmark = pytest.mark.slow

CONTEXT_MIB = 400
OTHERS_MIB = 6000
"""What other processes hold of each card: it is busy."""
START = "import tensorflow as tf\ngpus = tf.config.list_physical_devices('GPU')\n"


class Pretended(GpuGround):
    """A machine with cards of 16 GiB, on which other processes are at work, and on which a context costs memory."""

    def __init__(self, cards: int = 2) -> None:
        super().__init__()
        self.driver = DriverGround()
        self.cards = cards

    def server_environment(self) -> dict[str, str]:
        return {**super().server_environment(), **self.driver.server_environment()}

    def complete(self, request: dict[str, Any]) -> None:
        from tfmemlint.verify import driver

        super().complete(request)
        machine = driver.environment(gpus=self.cards, used_mib=OTHERS_MIB, context_mib=CONTEXT_MIB)
        request["env"] = {**machine, **request["env"]}


@pytest.fixture(scope="module")
def ground() -> Iterator[Pretended]:
    try:
        pretended = Pretended()
    except GroundError as error:
        pytest.skip(str(error))
    with pretended:
        yield pretended


def _verdicts(ground: Pretended, code: str) -> list[Verdict]:
    proof = prove(Source("train.py", START + code), ground, RunOptions(), Target.newest())
    assert not proof.problem
    return proof.verdicts


def test_what_a_context_costs_is_measured_and_not_taken_for_the_programs_memory(ground: Pretended) -> None:
    assert ground.overhead_mib() == (CONTEXT_MIB, CONTEXT_MIB)
    (verdict,) = _verdicts(ground, "for gpu in gpus: tf.config.experimental.set_memory_growth(gpu, True)\n")
    assert verdict.kind is VerdictKind.HOLDS
    assert "GPU:0: 2 MiB at first use, +320 MiB after 320 MiB" in verdict.observed
    assert "GPU:1: 2 MiB" in verdict.observed


def test_a_limit_that_fits_beside_the_other_processes_takes_effect(ground: Pretended) -> None:
    logical = "[tf.config.LogicalDeviceConfiguration(memory_limit=2048)]"
    (verdict,) = _verdicts(ground, f"tf.config.set_logical_device_configuration(gpus[1], {logical})\n")
    assert verdict.kind is VerdictKind.HOLDS, verdict
    assert "GPU:1: 1792 MiB granted, 2304 refused, 2048 MiB held" in verdict.observed


def test_a_limit_for_which_a_busy_card_has_no_room_is_no_limit_that_can_be_had(ground: Pretended) -> None:
    logical = "[tf.config.LogicalDeviceConfiguration(memory_limit=14000)]"
    (verdict,) = _verdicts(ground, f"tf.config.set_logical_device_configuration(gpus[0], {logical})\n")
    assert verdict.kind is VerdictKind.NOTHING
    assert "of 14000 MiB could be allocated" in verdict.reason


def test_a_gpu_that_tensorflow_does_not_list_is_no_ground() -> None:
    try:
        blind = Pretended(cards=0)
    except GroundError as error:
        pytest.skip(str(error))
    with blind, pytest.raises(GroundError, match="TensorFlow doesn't list it"):
        blind.ensure_seen()


def test_without_a_gpu_there_is_a_reason_and_another_ground() -> None:
    reason = no_gpu()
    if not reason:
        pytest.skip("this machine has a GPU")
    with pytest.raises(GroundError, match="no real GPU"):
        choose("gpu")
    ground, why = choose("auto")
    assert ground.kind in ("driver", "edge")
    assert "no real GPU" in why
