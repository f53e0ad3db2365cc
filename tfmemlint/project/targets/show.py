"""``tfmemlint check --show-target``: the release that each file is judged for, and what says so."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

from tfmemlint.knowledge.releases import KNOWN, Target
from tfmemlint.model.records import dataclass
from tfmemlint.project.listing import called
from tfmemlint.project.name_uses import NameUse
from tfmemlint.project.targets.find import Finder
from tfmemlint.project.targets.found import Claim, FoundTarget
from tfmemlint.project.targets.stated import Stated


@dataclass(slots=True)
class TargetGroup:
    """Files that are judged for one release, for one reason.

    Attributes:
        source: ``command-line``, ``configuration``, ``requirements``, ``names`` (inferred from those that are used), or
            ``default``: neither tells it. where: what says it, for the first two.
    """

    target: Target
    source: str
    where: str
    found: FoundTarget = field(default_factory=FoundTarget)
    files: list[str] = field(default_factory=list)


def judged(paths: Iterable[str], finder: Finder, given: Target | None, where: str) -> list[TargetGroup]:
    """Return the files by what they are judged for; those of most files first.

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
            source = _SOURCES[found.claim] if found.last is not None or found.deciding else "default"
            group = groups[found] = TargetGroup(found.judged, source, "", found)
        group.files.append(path)
    return sorted(groups.values(), key=lambda group: (-len(group.files), group.found.directory, str(group.target)))


def as_lines(groups: Iterable[TargetGroup], notes: Iterable[str]) -> Iterator[str]:
    """Yield the lines for people; names of files in them are as they are."""
    for group in groups:
        yield f"TensorFlow {group.target}: {_counted(group.files)}"
        for line in _reasons(group):
            yield f"  {line}"
    for note in notes:
        yield f"note: {note}"


_SOURCES = {
    Claim.FOUND: "requirements",
    Claim.INFERRED: "names",
    Claim.NOT_CLAIMED: "default",
    Claim.CONTRADICTORY: "default",
}


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
    floats = bool(found.used) and all(statement.floating for statement in found.used)
    stated = _stated_span(found) if not floats else ""
    match found.claim:
        case Claim.INFERRED if found.last is not None and found.judged > found.last:
            yield f"inferred: the first release after {found.last} that has the names which the program uses"
        case Claim.INFERRED:
            yield f"inferred: the newest release {stated}that has the names which the program uses"
        case Claim.CONTRADICTORY if found.first is not None and found.first == found.last:
            yield f"contradictory: TensorFlow {found.first} lacks names that the file uses"
        case Claim.CONTRADICTORY:
            yield f"contradictory: no release {stated}has all names that the program uses"
        case Claim.NOT_CLAIMED if found.stated and found.last is None:
            yield "the newest known: what the project says can't be read"
        case Claim.NOT_CLAIMED if found.stated:
            yield f"not claimed: the newest release {stated}that has the names which the program uses"
        case Claim.NOT_CLAIMED:
            yield "not claimed: the newest known, as neither a statement nor the names tell TensorFlow 1 from 2"
        case Claim.FOUND if not found.stated:
            yield "not claimed: the newest known, as nothing says which one"
        case Claim.FOUND if found.last is None:
            yield "the newest known: what the project says can't be read"
        case Claim.FOUND if found.first != found.last:
            yield f"found: the newest of {found.first} to {found.last}"
    for use in found.deciding:
        yield f"{called(use.path)}:{use.row}: {use.name} ({_releases_of(use)})"
    for statement in found.stated:
        yield f"{statement.place}: {statement.text} ({_about(statement, used=statement in found.used)})"


def _stated_span(found: FoundTarget) -> str:
    if found.first is None or found.last is None:
        return ""
    return f"of {found.first} to {found.last} "


def _releases_of(use: NameUse) -> str:
    known = [release for place, release in enumerate(KNOWN) if use.mask >> place & 1]
    return known[0] if len(known) == 1 else f"{known[0]} to {known[-1]}"


def _about(statement: Stated, *, used: bool) -> str:
    words = [f"unknown: {statement.why}" if statement.releases is None else statement.span]
    if statement.constraint:
        words.append("a limit for others")
    if not used:
        words.append(
            "doesn't count: another line names a release"
            if statement.prose
            else "doesn't count: not what runs on Linux, or only for tests or development"
        )
    return "; ".join(words)


def as_data(groups: Iterable[TargetGroup], notes: Iterable[str]) -> dict[str, Any]:
    """Return the same as plain data."""
    return {
        "targets": [
            {
                "tensorflow": str(group.target),
                "source": group.source,
                "claim": group.found.claim.value,
                "names": [{"name": use.name, "path": called(use.path), "row": use.row} for use in group.found.deciding],
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
    """Return ``TensorFlow 2.14 (requirements.txt:30: tensorflow~=2.14.0)``, or the name that tells the release."""
    if found.deciding:
        use = found.deciding[0]
        words = "no release has all names" if found.claim is Claim.CONTRADICTORY else "inferred from"
        return f"TensorFlow {found.target} ({words}: {use.name} in {called(use.path)}:{use.row})"
    telling = [statement for statement in found.used if statement.releases is not None]
    # The one that leaves the fewest releases says most.
    first = min(telling, key=lambda statement: len(statement.releases or ()), default=None)
    if found.claim is Claim.NOT_CLAIMED and first is not None:
        return f"TensorFlow {found.target}, the newest of those that {first.place} leaves open: {first.text}"
    return f"TensorFlow {found.target}" + (f" ({first.place}: {first.text})" if first is not None else "")
