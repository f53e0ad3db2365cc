"""``tfmemlint check --show-target``: which release each file is judged for, and what says so."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TextIO

from tfmemlint.knowledge.releases import Target
from tfmemlint.project.targets.find import Finder, FoundTarget
from tfmemlint.project.targets.stated import Stated


@dataclass(slots=True)
class TargetGroup:
    """Files that are judged for one release, for one reason.

    Attributes:
        source: ``command-line``, ``configuration``, ``requirements``, or ``default``: nothing is said, or it can't be
            read. where: what says it, for the first two.
    """

    target: Target
    source: str
    where: str
    found: FoundTarget = field(default_factory=FoundTarget)
    files: list[str] = field(default_factory=list)


def judged(paths: Iterable[str], finder: Finder, given: Target | None, where: str) -> list[TargetGroup]:
    """The files by what they are judged for; those of most files first.

    ``given``: the release that the command line or the configuration says, which ``where`` names.
    """
    if given is not None:
        source = "command-line" if where.startswith("--") else "configuration"
        return [TargetGroup(given, source, where, files=sorted(paths))]
    groups: dict[FoundTarget, TargetGroup] = {}
    for path in paths:
        found = finder.of_file(path)
        group = groups.get(found)
        if group is None:
            source = "requirements" if found.target is not None else "default"
            group = groups[found] = TargetGroup(found.target or Target.newest(), source, "", found)
        group.files.append(path)
    return sorted(groups.values(), key=lambda group: (-len(group.files), group.found.directory, str(group.target)))


def show(groups: Iterable[TargetGroup], notes: Iterable[str], stream: TextIO) -> None:
    """Print for people."""
    for group in groups:
        print(f"TensorFlow {group.target}: {_counted(group.files)}", file=stream)
        for line in _reasons(group):
            print(f"  {line}", file=stream)
    for note in notes:
        print(f"note: {note}", file=stream)


def _counted(files: list[str]) -> str:
    if len(files) == 1:
        return files[0]
    top = os.path.commonpath(files)
    return f"{len(files)} files" + (f" in {top}" if top else "")


def _reasons(group: TargetGroup) -> Iterator[str]:
    found = group.found
    if group.source in ("command-line", "configuration"):
        yield f"{group.where} says so"
        return
    if not found.stated:
        yield "the newest known: the project says nothing of TensorFlow"
        return
    if found.target is None:
        yield "the newest known: what the project says can't be read"
    elif found.first != found.last:
        yield f"the newest of {found.first} to {found.last}"
    for statement in found.stated:
        yield f"{statement.place}: {statement.text} ({_about(statement, used=statement in found.used)})"


def _about(statement: Stated, *, used: bool) -> str:
    words = [f"unknown: {statement.why}" if statement.releases is None else statement.span]
    if statement.constraint:
        words.append("a limit for others")
    if not used:
        words.append("doesn't count: not what runs on Linux, or only for tests or development")
    return "; ".join(words)


def as_data(groups: Iterable[TargetGroup], notes: Iterable[str]) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "targets": [
            {
                "tensorflow": str(group.target),
                "source": group.source,
                "where": group.where or None,
                "directory": group.found.directory or None,
                "first": str(group.found.first) if group.found.first else None,
                "last": str(group.found.last) if group.found.last else None,
                "requirements": [
                    {
                        "path": statement.path,
                        "row": statement.row,
                        "text": statement.text,
                        "releases": statement.span if statement.releases is not None else None,
                        "problem": statement.why or None,
                        "counts": statement in group.found.used,
                    }
                    for statement in group.found.stated
                ],
                "files": sorted(group.files),
            }
            for group in groups
        ],
        "notes": list(notes),
    }


def in_short(found: FoundTarget) -> str:
    """``TensorFlow 2.14 (requirements.txt:30: tensorflow~=2.14.0)``."""
    telling = [statement for statement in found.used if statement.releases is not None]
    # The one that leaves the fewest releases says most.
    first = min(telling, key=lambda statement: len(statement.releases or ()), default=None)
    return f"TensorFlow {found.target}" + (f" ({first.place}: {first.text})" if first is not None else "")
