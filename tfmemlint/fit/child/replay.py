"""Replay recorded requests in a model of TensorFlow's allocator, to find the smallest memory in which they all fit.

The model is the allocator of a GPU without growth (``BFCAllocator``): one region; a request gets the smallest free
piece that is large enough, the first of several; the rest of the piece is split off if it is as large as the request,
or 128 MiB; a freed piece is merged with free neighbours.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

from tfmemlint.fit.child.xspace import Event

PIECE_BYTES = 256
"""The allocator rounds every request up to a multiple of this."""
_ALWAYS_SPLIT_BYTES = 128 << 20
"""A rest of this size is split off, however large the request."""
_PRECISION = 256
"""The search ends within this part of the result."""


def rounded(size: int) -> int:
    """Return the bytes that a request of ``size`` bytes takes at least."""
    return -(-size // PIECE_BYTES) * PIECE_BYTES


def requests(recorded: Sequence[Event]) -> list[tuple[int, int]]:
    """Return the requests of one allocator in their order: a number for each and its bytes, with 0 for its release."""
    found: list[tuple[int, int]] = []
    held: dict[int, int] = {}
    for event in recorded:
        address = int(event.values.get("addr", 0))
        if event.name == "MemoryDeallocation":
            number = held.pop(address, None)
            if number is not None:
                found.append((number, 0))
            continue
        held[address] = len(found)
        found.append((len(found), max(rounded(int(event.values.get("requested_bytes", 0))), PIECE_BYTES)))
    return found


def smallest_region(wanted: Sequence[tuple[int, int]], asked_peak: int, peak: int) -> int:
    """Return the smallest region in bytes, within 1/256, in which all of ``wanted`` fit, in this order.

    Args:
        wanted: as `requests` returns them. asked_peak: the most that they ask for at a time, in bytes.
        peak: what they took of an allocator with enough memory, in bytes.
    """
    low, high = rounded(asked_peak), rounded(max(peak, asked_peak))
    if fits(wanted, low):
        return low
    while not fits(wanted, high):
        low, high = high, rounded(high + high // 4 + PIECE_BYTES)
    while high - low > max(high // _PRECISION, PIECE_BYTES):
        middle = (low + high) // (2 * PIECE_BYTES) * PIECE_BYTES
        if fits(wanted, middle):
            high = middle
        else:
            low = middle
    return high


def fits(wanted: Sequence[tuple[int, int]], region: int) -> bool:
    """True if all of ``wanted`` find a place in a region of that many bytes."""
    free = [(region, 0)]
    ends, starts = {region: 0}, {0: region}
    used: dict[int, tuple[int, int]] = {}
    for number, size in wanted:
        if size:
            place = bisect_left(free, (size, 0))
            if place == len(free):
                return False
            whole, start = free.pop(place)
            end = start + whole
            del starts[start], ends[end]
            if whole >= 2 * size or whole - size >= _ALWAYS_SPLIT_BYTES:
                split = start + size
                insort(free, (end - split, split))
                starts[split], ends[end] = end, split
                end = split
            used[number] = start, end
            continue
        start, end = used.pop(number)
        before, after = ends.pop(start, None), starts.pop(end, None)
        if before is not None:
            del free[bisect_left(free, (start - before, before))]
            del starts[before]
            start = before
        if after is not None:
            del free[bisect_left(free, (after - end, end))]
            del ends[after]
            end = after
        insort(free, (end - start, start))
        starts[start], ends[end] = end, start
    return True
