"""A share of a run: the files that one of several machines judges, of those that all of them see.

Each machine reads all files and finds all programs, so that a file is judged as in a run over everything; what is
shared out is the analysis. Files that a program has in common depend on each other's results, and are one group: a
group is judged by one machine, so that all reports together are the report of one run, and no finding is in two of
them.

The shares depend on names, sizes and imports alone: not on the machine, nor on the cache. Groups are put in the order
of their work and go to the machine that the hash of their name prefers, unless that one has its part already
(consistent hashing with bounded loads, https://arxiv.org/abs/1608.01350). A small change of the tree leaves most files
where they were, as the caches of the machines ask for.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING

from tfmemlint.model.records import dataclass
from tfmemlint.project.listing import graph_name
from tfmemlint.project.roots import search_path
from tfmemlint.sources import Unreadable

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.item import Item, Items
    from tfmemlint.engine.shard import Shard
    from tfmemlint.project.entries import Entry

SLACK = 1.05
"""The work of a machine, as a multiple of an equal part, up to which it takes the groups that prefer it."""
FILE_COST, KIB_COST, MODULE_COST = 4.0, 1.0, 2.0
"""The work of a file that is read closely: to begin with, for each KiB of its text, and for each module of a program
that starts there. Relative to each other; measured at 1 ms a unit."""
_BY_NAME = re.compile(rb"import_module|__import__").search
"""Finds imports whose module may be computed."""


@dataclass(slots=True)
class _Groups:
    """Files that depend on each other's results, by their names in the graph (union and find)."""

    parents: dict[str, str] = field(default_factory=dict)

    def root(self, name: str) -> str:
        """Return the name of the group that a file is in: that of its first file."""
        above = self.parents.setdefault(name, name)
        while above != self.parents[above]:
            self.parents[above] = above = self.parents[self.parents[above]]
        self.parents[name] = above
        return above

    def join(self, names: Iterable[str]) -> None:
        """Make one group of several files."""
        roots = sorted({self.root(name) for name in names})
        for other in roots[1:]:
            self.parents[other] = roots[0]


def keep_share(items: Items, shard: Shard, context: RunContext) -> None:
    """Take out of the items what other machines judge; ``items.given`` still has all files."""
    groups = _groups(items, context)
    work: dict[str, float] = {}
    for item in items.wanted:
        name = groups.root(graph_name(item.path))
        work[name] = work.get(name, 0.0) + _work(item, context)
    owners = _owners(work, shard.count)

    def owner(path: str) -> int:
        name = groups.root(graph_name(path))
        known = owners.get(name)
        return 1 + _hash(name, 0) % shard.count if known is None else known

    items.wanted = [item for item in items.wanted if owner(item.path) == shard.number]
    items.left_out = [path for path in items.left_out if owner(path) == shard.number]


def _groups(items: Items, context: RunContext) -> _Groups:
    """Return the groups of files that programs have in common."""
    groups = _Groups()
    names = [graph_name(path) for path in items.given]
    computing: dict[str, bool] = {}
    for item in items.wanted:
        if item.entry is None:
            continue
        # By names alone, more files may be modules of the program than those that its imports are looked for in.
        places = _places(item.entry, context)
        files = [file for file in context.modules.contents.get(item.entry.path, ()) if _is_in(file, places)]
        if any(_computes_imports(file, computing, context) for file in files):
            files += (name for name in names if _is_in(name, places))
        own = (item.path, item.entry.path, *item.entry.conftests)
        groups.join({*map(graph_name, own), *files})
    return groups


def _places(entry: Entry, context: RunContext) -> tuple[str, ...]:
    """Return the directories in which a program's imports are looked for, each with a separator at its end."""
    search = search_path(entry.path, kind=entry.kind, listings=context.modules.listings)
    return tuple(os.path.join(os.path.abspath(place), "") for place in search.directories)


def _is_in(path: str, places: tuple[str, ...]) -> bool:
    return os.path.abspath(path).startswith(places)


def _computes_imports(path: str, known: dict[str, bool], context: RunContext) -> bool:
    """True if a file may import what only its run tells."""
    if path not in known:
        try:
            known[path] = _BY_NAME(context.modules.read(path)) is not None
        except Unreadable:
            known[path] = False
    return known[path]


def _work(item: Item, context: RunContext) -> float:
    files = len(context.modules.contents.get(item.entry.path, ())) if item.entry is not None else 0
    return FILE_COST + KIB_COST * len(item.data or b"") / 1024 + MODULE_COST * files


def _owners(work: dict[str, float], count: int) -> dict[str, int]:
    """Return the machine of each group, by its name."""
    most = SLACK * sum(work.values()) / count
    loads = dict.fromkeys(range(1, count + 1), 0.0)
    owners = {}
    for name in sorted(work, key=lambda name: (-work[name], name)):
        preferred = _preferred(name, count)
        owner = next((number for number in preferred if loads[number] + work[name] <= most), None)
        owners[name] = min(preferred, key=lambda number: loads[number]) if owner is None else owner
        loads[owners[name]] += work[name]
    return owners


def _preferred(name: str, count: int) -> list[int]:
    """Return the machines in the order in which a group prefers them (rendezvous hashing)."""
    return sorted(range(1, count + 1), key=lambda number: _hash(name, number))


def _hash(name: str, salt: int) -> int:
    data = name.replace(os.sep, "/").encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8, salt=salt.to_bytes(8, "big")).digest(), "big")
