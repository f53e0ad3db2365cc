"""The table of the members of TensorFlow's objects, compared with the installed release."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.checkout import ROOT
from tfmemlint.knowledge import types
from tfmemlint.knowledge.members import way_to
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.intent import Purpose

NEWEST = Target.newest()


@pytest.mark.tensorflow
@pytest.mark.slow
def test_the_table_has_what_the_installed_release_has() -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "knowledge" / "measure_types.py")],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    head, *lines = run.stdout.splitlines()
    target = Target.parse(head.removeprefix("# "))
    for line in lines:
        name, *members = line.split(" ")
        if name == "message":
            name = f"message {members.pop(0)}"
        here = {member.partition("=")[0].rstrip("*") for member in members}
        assert not [member for member in here if types.lacks(name, member, target)], name
        # Whatever strategy is in scope may have it.
        any_strategy = name.startswith("tf.distribute.get_strategy")
        assert types.lacks(name, "surely_not_there", target) is not any_strategy


@pytest.mark.parametrize(
    ("type_", "member", "missing"),
    [
        (types.PHYSICAL, "name", False),
        (types.PHYSICAL, "memory_limit", True),
        (types.PHYSICAL, "_asdict", False),
        (types.ATTRIBUTES, "memory_limit", False),
        (types.CONFIGURATION, "memory_limit", False),
        ("message ConfigProto", "allow_growth", True),
        ("message ConfigProto", "CopyFrom", False),
        ("message GPUOptions", "allow_growth", False),
        ("dict", "current", True),
        ("dict", "items", False),
        ("tf.distribute.MirroredStrategy().extended", "worker_devices", False),
        ("of a type that nobody knows", "anything", False),
    ],
)
def test_members(type_: str, member: str, missing: bool) -> None:
    assert types.lacks(type_, member, NEWEST) is missing


def test_a_member_that_came_between_two_measured_releases_may_be_there_between_them() -> None:
    limit = "gpu_host_mem_limit_in_mb"
    options = "message GPUOptions.Experimental"
    assert types.lacks(options, limit, Target(2, 9))
    assert not types.lacks(options, limit, Target(2, 10))


def test_fields_lead_to_the_messages_in_them() -> None:
    assert types.field_of("message ConfigProto", "gpu_options") == types.Field("message GPUOptions", False)
    devices = types.field_of("message ConfigProto", "device_count")
    assert devices is not None and devices.repeated
    assert types.field_of("message ConfigProto", "allow_growth") is None


@pytest.mark.parametrize(
    ("type_", "member", "code"),
    [
        ("message ConfigProto", "allow_growth", "{0}.gpu_options.allow_growth"),
        ("message GPUOptions", "memory_growth", "{0}.allow_growth"),
        ("message GPUOptions", "gpu_memory_fraction", "{0}.per_process_gpu_memory_fraction"),
        (types.PHYSICAL, "type", "{0}.device_type"),
        ("tf.distribute.MirroredStrategy", "num_gpus", "{0}.num_replicas_in_sync"),
        # What is spelled alike, but is something else, is not offered.
        ("message GPUOptions", "allow_something", ""),
        (types.PHYSICAL, "names", ""),
    ],
)
def test_what_is_offered_does_what_was_wanted(type_: str, member: str, code: str) -> None:
    assert way_to(type_, member).code == code


def test_the_memory_of_a_device_is_told_by_others() -> None:
    assert way_to(types.PHYSICAL, "total_memory").value == "total"
    assert "nvml" in way_to(types.PHYSICAL, "total_memory").advice.lower()
    assert way_to(types.LOGICAL, "memory_usage").purpose is Purpose.REPORT
