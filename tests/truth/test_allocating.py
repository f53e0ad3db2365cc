"""Memory that is really taken: the verdicts of `verify`, and what fixtures claim of the allocator, on every ground
that this machine has for it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fixture_files import FIXTURES, fixture_paths
from tests.truth.harness import AT_ONCE, Case, checks, read_case
from tfmemlint.knowledge.releases import Target
from tfmemlint.sources import Source
from tfmemlint.verify.ground import Ground
from tfmemlint.verify.prove import Proof, RunOptions, prove
from tfmemlint.verify.verdict import Verdict, VerdictKind

pytestmark = pytest.mark.slow

GROUNDS = ["driver", pytest.param("gpu", marks=pytest.mark.gpu)]

START = """\
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
"""
PROGRAMS = {
    "growth": "for gpu in gpus:\n    tf.config.experimental.set_memory_growth(gpu, True)\n",
    "limit": (
        "tf.config.set_logical_device_configuration(gpus[0],"
        " [tf.config.LogicalDeviceConfiguration(memory_limit=1024)])\n"
    ),
    "two": (
        "tf.config.set_logical_device_configuration(gpus[0], [\n"
        "    tf.config.LogicalDeviceConfiguration(memory_limit=512),\n"
        "    tf.config.LogicalDeviceConfiguration(memory_limit=256),\n"
        "])\n"
    ),
    "dropped": (
        "tf.config.experimental.set_memory_growth(gpus[0], True)\n"
        "tf.config.set_logical_device_configuration(gpus[0],"
        " [tf.config.LogicalDeviceConfiguration(memory_limit=1024)])\n"
    ),
    "late": (
        "tf.constant(1)\nfor gpu in gpus[:0]:\n    pass\n"
        "try:\n    tf.config.set_logical_device_configuration(gpus[0],"
        " [tf.config.LogicalDeviceConfiguration(memory_limit=1024)])\nexcept RuntimeError as error:\n    print(error)\n"
    ),
    "async": (
        'import os\nos.environ["TF_GPU_ALLOCATOR"] = "cuda_malloc_async"\n'
        "tf.config.set_logical_device_configuration(gpus[0],"
        " [tf.config.LogicalDeviceConfiguration(memory_limit=512)])\n"
    ),
    "fraction": (
        "options = tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=0.05)\n"
        "session = tf.compat.v1.Session(config=tf.compat.v1.ConfigProto(gpu_options=options))\n"
    ),
    "report": 'print(tf.config.experimental.get_memory_info("GPU:0")["peak"])\n',
    "half": (
        "tf.config.set_logical_device_configuration(gpus[0],"
        " [tf.config.LogicalDeviceConfiguration(memory_limit=0.5)])\n"
    ),
}
TAKES_ALL = ("late", "report")
"""Programs that leave TensorFlow's default in force: it takes nearly the whole card, which need not be ours alone."""


@dataclass(frozen=True)
class Proved:
    """What became of the programs on one ground."""

    ground: Ground
    proofs: dict[str, Proof]

    def verdicts(self, name: str) -> list[Verdict]:
        """The verdicts on one program; skips where it was not run."""
        if name not in self.proofs:
            pytest.skip("would take the whole of a card that may be shared")
        assert not self.proofs[name].problem
        return self.proofs[name].verdicts


@pytest.fixture(scope="module", params=GROUNDS)
def proved(request: pytest.FixtureRequest) -> Proved:
    """All programs, run together: who goes beyond a limit waits for ten seconds."""
    ground: Ground = request.getfixturevalue(request.param)
    names = [name for name in PROGRAMS if ground.kind != "gpu" or name not in TAKES_ALL]
    ground.overhead_mib()

    def one(name: str) -> Proof:
        source = Source(f"{name}.py", START + PROGRAMS[name])
        return prove(source, ground, RunOptions(gpus=1), Target.newest())

    with ThreadPoolExecutor(AT_ONCE * ground.at_once()) as pool:
        return Proved(ground, dict(zip(names, pool.map(one, names), strict=True)))


def test_memory_growth_takes_memory_as_it_is_used(proved: Proved) -> None:
    (verdict,) = proved.verdicts("growth")
    assert verdict.kind is VerdictKind.HOLDS
    assert "at first use" in verdict.observed


def test_a_limit_is_kept_and_what_goes_beyond_it_is_refused(proved: Proved) -> None:
    (verdict,) = proved.verdicts("limit")
    assert verdict.kind is VerdictKind.HOLDS, verdict
    assert "896 MiB granted, 1152 refused" in verdict.observed


def test_each_of_two_logical_devices_keeps_to_its_own_limit(proved: Proved) -> None:
    (verdict,) = proved.verdicts("two")
    assert verdict.kind is VerdictKind.HOLDS, verdict
    assert "448 MiB granted, 576 refused" in verdict.observed
    assert "224 MiB granted, 288 refused" in verdict.observed


def test_growth_is_seen_to_be_dropped_by_a_limit(proved: Proved) -> None:
    growth, limit = proved.verdicts("dropped")
    assert growth.kind is VerdictKind.NOTHING
    assert "GPU:0: 1024 MiB at first use" in growth.observed
    assert limit.kind is VerdictKind.HOLDS


def test_a_limit_that_comes_too_late_raises_though_the_program_catches_it(proved: Proved) -> None:
    (verdict,) = proved.verdicts("late")
    assert verdict.kind is VerdictKind.RAISES
    assert "Virtual devices cannot be modified" in verdict.reason


def test_the_asynchronous_allocator_does_not_keep_to_a_limit(proved: Proved) -> None:
    allocator, limit = proved.verdicts("async")
    assert allocator.kind is VerdictKind.HOLDS
    assert limit.kind is VerdictKind.NOTHING
    assert "beyond the limit of 512 MiB" in limit.reason


def test_a_share_for_the_first_session_is_a_limit_for_the_process(proved: Proved) -> None:
    (verdict,) = proved.verdicts("fraction")
    assert verdict.kind is VerdictKind.HOLDS, verdict
    assert verdict.configuration == "per_process_gpu_memory_fraction=0.05"


def test_a_report_of_memory_reports(proved: Proved) -> None:
    (verdict,) = proved.verdicts("report")
    assert verdict.kind is VerdictKind.HOLDS
    assert "peak" in verdict.observed


def test_half_a_mebibyte_is_too_little_to_start_with(proved: Proved) -> None:
    (verdict,) = proved.verdicts("half")
    assert verdict.kind is VerdictKind.RAISES
    assert "Failed to allocate scratch buffer" in verdict.reason


OBSERVED = [case for case in map(read_case, fixture_paths("bad")) if case.observed]


@pytest.fixture(scope="module")
def contradicted(driver: Ground) -> dict[Path, list[str]]:
    """What TensorFlow's allocator contradicts in the fixtures that only it can show, all run together."""

    def one(case: Case) -> list[str]:
        return [check.problem for check in checks(case, driver) if check.problem]

    with ThreadPoolExecutor(AT_ONCE * driver.at_once()) as pool:
        return dict(zip((case.path for case in OBSERVED), pool.map(one, OBSERVED), strict=True))


@pytest.mark.parametrize("case", OBSERVED, ids=lambda case: str(case.path.relative_to(FIXTURES)))
def test_the_allocator_does_what_a_fixture_says(case: Case, contradicted: dict[Path, list[str]]) -> None:
    assert contradicted[case.path] == []
