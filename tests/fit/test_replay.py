"""The model of TensorFlow's allocator, and the search for a limit that begins where it says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tfmemlint.fit.child.replay import fits, requests, smallest_region
from tfmemlint.fit.child.trace import memory
from tfmemlint.fit.child.xspace import Event
from tfmemlint.fit.limit_search import MAX_LIMIT_RUNS, search_limit
from tfmemlint.fit.observation import observe
from tfmemlint.verify.driver.log import GpuUsage, Usage
from tfmemlint.verify.result import Result

MIB = 1 << 20


def _asked(*sizes: float) -> list[tuple[int, int]]:
    """Return requests in MiB; a negative number releases the request of that place, from 1."""
    return [(int(-size) - 1, 0) if size < 0 else (place, int(size * MIB)) for place, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("wanted", "least"),
    [
        pytest.param(_asked(64, 64), 128, id="beside each other"),
        pytest.param(_asked(64, -1, 64), 64, id="one after the other"),
        # The free 64 and 64 are apart.
        pytest.param(_asked(64, 8, 64, 8, -1, -3, 100), 244, id="in pieces"),
        # They are merged with what is free between them.
        pytest.param(_asked(64, 8, 64, -1, -3, -2, 130), 136, id="neighbours are merged"),
        # The rest of a piece that is smaller than 128 MiB and than the request is not split off.
        pytest.param(_asked(256, 1), 256 + 128, id="a rest is kept"),
        # A rest as large as the request is.
        pytest.param(_asked(100, 100), 200, id="a rest is split off"),
    ],
)
def test_the_smallest_region_is_that_of_the_allocator(wanted: list[tuple[int, int]], least: int) -> None:
    held = max(least // 2, 1) * MIB
    assert smallest_region(wanted, held, held) == pytest.approx(least * MIB, rel=1 / 200)
    assert fits(wanted, least * MIB)
    assert not fits(wanted, int(least * MIB * 0.99))


def test_the_smallest_free_piece_is_taken() -> None:
    # Of 64 and 32 free MiB, 32 are taken for 20: the other piece stays whole.
    assert fits(_asked(64, 4, 32, 32, -1, -3, 20, 64), 132 * MIB)


def _events(*made: tuple[str, int, int]) -> list[Event]:
    return [
        Event(name, time, {"addr": address, "requested_bytes": size, "allocation_bytes": size})
        for time, (name, address, size) in enumerate(made)
    ]


def test_requests_are_read_from_a_recording() -> None:
    recorded = _events(
        ("MemoryDeallocation", 9, 0),  # of before the recording
        ("MemoryAllocation", 1, 100),
        ("MemoryAllocation", 2, 0),
        ("MemoryDeallocation", 1, 0),
        ("MemoryAllocation", 1, 300),
    )
    assert requests(recorded) == [(0, 256), (1, 256), (0, 0), (3, 512)]


def test_a_recording_says_how_much_is_enough() -> None:
    recorded = _events(("MemoryAllocation", 0, 256 * MIB), ("MemoryAllocation", 1 << 30, MIB))
    found = memory(recorded)
    assert found.peak == 257 * MIB
    assert found.report([{}])["smallest"] == pytest.approx((256 + 128) * MIB, rel=1 / 200)


def _tried(least: int | None, low: int, guess: int) -> tuple[Sequence[int], int | None, int | None]:
    tried: list[int] = []

    def attempt(limit: int) -> bool | None:
        tried.append(limit)
        return None if least is None else limit >= least

    found = search_limit(attempt, low, guess)
    assert found.runs == len(tried)
    return tried, found.works, found.fails


def test_a_good_guess_takes_two_runs() -> None:
    assert _tried(1000, 500, 1000) == ([1000, 990], 1000, 990)
    assert _tried(500, 500, 500) == ([500], 500, None)


@pytest.mark.parametrize("guess", [600, 900, 1300])
def test_a_bad_guess_takes_more(guess: int) -> None:
    tried, works, fails = _tried(1000, 500, guess)
    assert len(tried) <= MAX_LIMIT_RUNS
    assert works is not None
    assert fails is not None
    assert fails < 1000 <= works
    assert works - fails <= max(works // 20, 1)


def test_a_run_without_an_answer_ends_the_search() -> None:
    assert _tried(None, 500, 1000) == ([1000], None, None)


@pytest.mark.parametrize(
    ("effective", "env", "tensorflow", "room"),
    [
        ({"allow_growth": True}, {}, "2.21.0", 6092),
        ({"allow_growth": True}, {}, "2.12.1", 6356),
        ({"allow_growth": True}, {"TF_DEVICE_MIN_SYS_MEMORY_IN_MB": "4000"}, "2.21.0", 3892),
        ({"allow_growth": None}, {"TF_PER_DEVICE_MEMORY_LIMIT_MB": "1000"}, "2.21.0", 6092),
        ({"allow_growth": None}, {}, "2.21.0", 914),
    ],
)
def test_what_tensorflow_may_take_is_more_than_its_first_region(
    effective: dict[str, object], env: dict[str, str], tensorflow: str, room: int
) -> None:
    gpu = GpuUsage(index=0, card=0, total=8192 * MIB, others=300 * MIB, regions=[914 * MIB])
    settings = {"per_process_gpu_memory_fraction": 0.0, "visible": [0], "limits": [[]], **effective}
    told: dict[str, object] = {"devices": [{"name": "GPU:0", "peak": 256 * MIB}]}
    result = Result(True, effective=settings, observer=told)
    (device,) = observe(result, Usage(gpus=[gpu]), {}, tensorflow, env).devices
    assert device.room == room * MIB
