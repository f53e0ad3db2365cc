"""Planning a piece of code, as the tests of this room do."""

from __future__ import annotations

import textwrap

from tfmemlint.knowledge.releases import Target
from tfmemlint.plans.model import Device, FilePlan, PlannedEntry, PlannedIntent
from tfmemlint.plans.read import plan_of
from tfmemlint.sources import Source

IMPORT = "import os\nimport tensorflow as tf\n"


def plan(code: str, *, target: str = "", gpus: int | None = None, memory: float | None = None) -> FilePlan:
    """The plan of ``code`` behind the two imports: its first line is line 3."""
    source = Source("train.py", IMPORT + textwrap.dedent(code).strip("\n") + "\n")
    release = Target.parse(target) if target else Target.newest()
    return plan_of(source, release, gpus=gpus, memory=memory, named=True)


def entry(code: str, name: str = "module", *, target: str = "", gpus: int | None = None) -> PlannedEntry:
    """One entry point of the plan of ``code``."""
    return next(one for one in plan(code, target=target, gpus=gpus).entries if one.name == name)


def planned(
    code: str, row: int, *, name: str = "module", target: str = "", gpus: int | None = None, memory: float | None = None
) -> PlannedIntent:
    """What is asked for in ``row``."""
    entries = plan(code, target=target, gpus=gpus, memory=memory).entries
    found = [one for each in entries if each.name == name for one in each.intents if one.place.span.row == row]
    assert len(found) == 1, [(one.place.span.row, one.words) for each in entries for one in each.intents]
    return found[0]


def devices(code: str, *, name: str = "module", gpus: int | None = None) -> dict[str, Device]:
    """The devices of an entry point of ``code``, by their names."""
    return {device.name: device for device in entry(code, name, gpus=gpus).devices}
