"""The plan against all fixtures, whose headers say what TensorFlow itself made of each program."""

from __future__ import annotations

import re
from pathlib import Path

from tests.fixture_files import FIXTURES, fixture_paths, read_text, strip_markers
from tests.for_each import for_each_file
from tfmemlint.knowledge.releases import Target
from tfmemlint.plans.model import Device, FilePlan, PredictionKind
from tfmemlint.plans.read import plan_of
from tfmemlint.sources import Source

DIFFERENT = (PredictionKind.FAILS, PredictionKind.DEPENDS)
WHY_SILENCED = "what is right about these is a comment that silences a rule: the call fails all the same"
SILENCED = {
    "TFM903/ok_at_work.py",
    "TFM903/ok_whole_file.py",
    "TFM903/ok_whole_statement.py",
    "TFM904/ok_known.py",
    "TFM904/ok_names.py",
    "TFM905/ok_with_reason.py",
}
NO_SHARE = {"TFM304/ok_unified_memory.py"}
"""Unified memory is asked for on purpose; of the GPU's own it is no share."""
SURE = ("TFM101", "TFM102", "TFM103", "TFM105", "TFM106", "TFM107", "TFM201", "TFM202", "TFM203", "TFM401")
"""Rules about settings that never take effect, whatever else is so."""

NOT_SAID = ("none", "unknown", "before")

_LIMITS = re.compile(r"limits=(\[\[.*\]\])")


def _named(path: Path) -> str:
    return str(path.relative_to(FIXTURES))


def _plan(path: Path, text: str, header: dict[str, str], gpus: int | None = None) -> FilePlan:
    target = Target.parse(header["target"]) if "target" in header else Target.newest()
    return plan_of(Source(path.name, text), target, gpus=gpus, named=True)


def _readable(kind: str) -> list[Path]:
    return [path for path in fixture_paths(kind) if path.parent.name not in ("TFM901", "TFM902")]


@for_each_file(_readable("ok"))
def test_what_is_right_is_said_to_happen(path: Path) -> None:
    text, _, header = strip_markers(read_text(path))
    plan = _plan(path, text, header)
    wrong = [one for entry in plan.entries for one in entry.intents if one.prediction.kind in DIFFERENT]
    if _named(path) in SILENCED | NO_SHARE:
        assert wrong, WHY_SILENCED
        return
    assert not wrong, [(one.place.span.row, one.prediction.words) for one in wrong]
    assert not any(entry.stop for entry in plan.entries)


@for_each_file(_readable("bad"))
def test_what_does_not_happen_is_not_said_to_happen(path: Path) -> None:
    text, expectations, header = strip_markers(read_text(path))
    rows = {row for row, codes in expectations.items() if any(code in SURE for code in codes)}
    for entry in _plan(path, text, header).entries:
        for one in entry.intents:
            span = one.place.span
            if any(span.row <= row <= span.end_row for row in rows):
                assert one.prediction.kind in DIFFERENT, f"line {span.row}: {one.words}: {one.prediction.words}"


@for_each_file(_readable("bad"))
def test_the_devices_get_what_tensorflow_gave_them(path: Path) -> None:
    text, _, header = strip_markers(read_text(path))
    gpus = max(int(count) for count in header.get("gpus", "1").split(","))
    if gpus and "lacks" in header:
        devices = [device for entry in _plan(path, text, header, gpus).entries for device in entry.devices]
        known = [one for one in _each(devices) if one[1].memory.kind not in NOT_SAID]
        if "visible" in header["lacks"]:
            # Of a device that is shown or hidden in a line, the plan says no more than that.
            known = [one for one in known if one[1].visible_row is None]
        assert not known or not all(_may_have(device, header["lacks"], number) for number, device in known)
    fixed = path.with_name(f"{path.stem}.fixed.py")
    if gpus and fixed.exists() and "fixed" in header:
        for entry in _plan(path, read_text(fixed), header, gpus).entries:
            for number, device in _each(list(entry.devices)):
                share_not_known = device.memory.kind == "fraction" and device.memory.fraction is None
                assert share_not_known or _may_have(device, header["fixed"], number), device


def _each(devices: list[Device]) -> list[tuple[int, Device]]:
    return [(device.number if device.number is not None else 0, device) for device in devices]


def _may_have(device: Device, claim: str, number: int) -> bool:
    """Whether what the plan says of a device agrees with a claim; what it says it doesn't know agrees with any."""
    memory = device.memory
    if memory.kind in NOT_SAID:
        return True
    if "allow_growth" in claim:
        return memory.growth is ("allow_growth=True" in claim)
    match = _LIMITS.search(claim)
    if match is not None:
        limits = [
            [float(size) for size in gpu.split(",") if size] for gpu in re.findall(r"\[([\d., ]*)\]", match[1][1:-1])
        ]
        wanted = limits[number] if number < len(limits) else []
        if memory.kind == "limit":
            return memory.mib is None or list(memory.mib) == wanted
        return memory.kind == "all" and not wanted
    if "fraction" in claim:
        return memory.fraction == float(claim.partition("=")[2])
    if "visible" in claim:
        seen = claim.partition("visible=")[2].split(",")
        return device.visible is not True or str(number) in seen or device.visible_row is not None
    return True
