"""The memory that was held at a peak, with the values of XLA's plans in place of its blocks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfmemlint.fit.xla_buffers import Block

RESULTS = "results of operations"
XLA = "temporaries of XLA"
COPIED = "copied to the GPU"
MAX_LISTED = 12
"""The number of the largest entries that are listed; a bound for readability, without a deeper reason."""
SPACE = "not in use when most of XLA's plan is"
_NUMBER = re.compile(r"(?<![^\W\d])\d+|(?<=_)\d+")
"""A number in a name that is not a part of a word, as in ``strided_slice_17``."""
Group = dict[str, Any]


def complete(held: dict[str, Any], blocks: Mapping[int, Block]) -> dict[str, Any]:
    """Return what was held with the values in XLA's blocks for the blocks.

    Args:
        held: as the process reports it, with ``groups`` of allocations. blocks: XLA's plans, by size.

    Returns:
        The same with new ``groups`` and ``roles``, the ``largest`` groups, and the bytes that have a name, ``named``.
    """
    pieces: dict[tuple[str, str, str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    named = 0
    for group in held["groups"]:
        number = group["number"]
        block = blocks.get(group["asked"] // number) if group["role"] == RESULTS and not group["what"] else None
        if block is None or group["type"]:
            _add(pieces, (group["role"], group["what"], group["type"], group["shape"]), group)
            named += group["bytes"] if group["what"] or group["type"] or group["role"] == COPIED else 0
            continue
        named += group["bytes"]
        left = group["bytes"]
        for piece in block.pieces:
            size = piece.size * number
            left -= size
            entry = {"number": number, "asked": size, "bytes": size}
            _add(pieces, (XLA, piece.what, piece.kind, piece.shape), entry)
        if left:
            _add(pieces, (XLA, SPACE, "", ""), {"number": number, "asked": left, "bytes": left})
    roles: dict[str, int] = defaultdict(int)
    for (role, *_), (_, _, size) in pieces.items():
        roles[role] += size
    # Groups beyond the number that the process reports.
    rest = sum(held["roles"].values()) - sum(roles.values())
    if rest > 0:
        roles[RESULTS] += rest
    ordered = sorted(pieces.items(), key=lambda item: (-item[1][2], item[0]))
    groups = [
        {"role": role, "what": what, "type": kind, "shape": shape, "number": number, "asked": asked, "bytes": size}
        for (role, what, kind, shape), (number, asked, size) in ordered
    ]
    return {
        **held,
        "groups": groups,
        "roles": dict(sorted(roles.items())),
        "largest": groups[:MAX_LISTED],
        "named": named,
    }


def _add(pieces: dict[tuple[str, str, str, str], list[int]], key: tuple[str, str, str, str], group: Group) -> None:
    total = pieces[key]
    for place, name in enumerate(("number", "asked", "bytes")):
        total[place] += group[name]


def named_share(held: Mapping[str, Any]) -> float:
    """Return the part of what was held that has a name, from 0 to 1."""
    total = sum(held["roles"].values())
    return held["named"] / total if total else 1.0


def shown(held: Mapping[str, Any], role: str) -> Sequence[Group]:
    """Return the groups of a role that are listed, the largest first.

    Groups that are too small by themselves, and differ only by a number in their names, are listed as one.
    """
    large = [group for group in held["largest"] if group["role"] == role and _is_large(group, held)]
    rest = [group for group in held["groups"] if group["role"] == role and group not in large]
    alike = [group for group in merged(rest) if group["number"] > 1 and _is_large(group, held)]
    return sorted([*large, *alike], key=lambda group: -group["bytes"])[:MAX_LISTED]


def merged(groups: Iterable[Mapping[str, Any]]) -> list[Group]:
    """Return groups with those in one that differ only by a number in their names, the largest first."""
    totals: dict[tuple[str, ...], Group] = {}
    for group in groups:
        name = _NUMBER.sub("N", group["what"])
        key = (group["role"], name, group["type"], group["shape"])
        if key not in totals:
            totals[key] = dict(group)
            continue
        total = totals[key]
        total["what"] = name
        for field in {"number", "asked", "bytes"} & group.keys():
            total[field] += group[field]
    return sorted(totals.values(), key=lambda group: -group["bytes"])


def _is_large(group: Group, held: Mapping[str, Any]) -> bool:
    return bool(group["bytes"] * 100 >= held["peak"])
