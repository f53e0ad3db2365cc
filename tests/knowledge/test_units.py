"""Units of memory in names and conversions."""

from __future__ import annotations

import pytest

from tfmemlint.knowledge import units


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("memory_gb", units.GIB),
        ("gpuMemLimitMB", units.MIB),
        ("limit_in_bytes", units.BYTES),
        ("size_kib", units.KIB),
        ("GPU_MEM_GB", units.GIB),
        # A factor, two units, no unit.
        ("GB", ""),
        ("bytes_per_mb", ""),
        ("mb_to_gb", ""),
        ("number", ""),
        ("rgb", ""),
        ("subbytes", ""),
    ],
)
def test_a_name_states_its_unit(name: str, unit: str) -> None:
    assert units.unit_in_name(name) == unit


@pytest.mark.parametrize(
    ("unit", "factor", "result"),
    [
        (units.BYTES, 1 / 1024**2, units.MIB),
        (units.GIB, 1024, units.MIB),
        (units.GIB, 1024**3, units.BYTES),
        (units.BYTES, 0.8, units.BYTES),
        (units.BYTES, 1e-6, units.MIB),
        (units.GIB, 1000, units.MIB),
        (units.GIB, 500, ""),
        (units.MIB, 1024**3, ""),
    ],
)
def test_a_factor_converts_or_scales(unit: str, factor: float, result: str) -> None:
    assert units.converted(unit, units.bits_of_factor(factor)) == result


@pytest.mark.parametrize(
    ("text", "mib"),
    [
        ("2GB", 2048),
        ("1.5 GiB", 1536),
        ("512MB", 512),
        ("4g", 4096),
        ("2048 kB", 2),
        ("0GB", None),
        ("4096", None),
        ("GB", None),
        ("half", None),
        ("2 GPUs", None),
    ],
)
def test_an_amount_that_is_a_text(text: str, mib: float | None) -> None:
    assert units.amount_in_mib(text) == mib
