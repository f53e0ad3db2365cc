"""From a file's text to its plan."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.intents import Wanted, entries, wanted_by
from tfmemlint.interpreter.program import Call
from tfmemlint.interpreter.values import Devices
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.intent import Intent, Wish
from tfmemlint.plan.abort import refused, stopped, unreached
from tfmemlint.plan.devices import devices
from tfmemlint.plan.entry_run import Scene, numbers_of
from tfmemlint.plan.model import Asked, FilePlan, Place, PlannedEntry, PlannedStart, Stop
from tfmemlint.plan.predictions import fate
from tfmemlint.plan.shared_devices import told
from tfmemlint.plan.variables import variables
from tfmemlint.rulekit.explain import written
from tfmemlint.sources import Source

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch


def plan_of(
    source: Source,
    target: Target,
    *,
    gpus: int | None = None,
    memory: float | None = None,
    named: bool = False,
    alone: bool = False,
    begun: Launch | None = None,
) -> FilePlan:
    """The plan of the program that starts in a file.

    Args:
        target: the release to judge for. gpus: how many GPUs there are. memory: the MiB of each of them.
        named: tell of a file that starts the runtime even where it asks for nothing.
        alone: what it imports of its project is left aside. begun: how a configuration file starts the program.

    Raises:
        SyntaxError, ValueError: the text isn't Python 3. RecursionError: it is nested too deeply.
    """
    from tfmemlint.engine.whole_program import findings_of, whole_of

    whole = whole_of(source, target, alone=alone, begun=begun)
    program = whole.program
    program.gpu_memory_mib = memory
    findings = findings_of(whole)
    found = []
    for name, events in entries(program):
        if name != "module" and (begun is not None or all(event.path != source.path for event in events)):
            continue  # a function of another module, which this program never calls; or one that nothing calls
        scene = Scene(program, name, events, findings, gpus, memory, whole.rows)
        asked, stop = _reached(scene)
        if asked or (named and name == "module"):
            entry = _entry(scene, asked, stop)
            if asked or entry.start is not None or entry.stop is not None:
                found.append(told(entry, whole.rows))
    incomplete = whole.rows.words("; ".join(program.gave_up))
    return FilePlan(source.path, tuple(found), incomplete, rows=whole.rows, begun=begun)


def _reached(scene: Scene) -> tuple[list[tuple[Wanted, Asked]], Stop | None]:
    """What is asked for, and where the entry point ends early: what stands behind that changes nothing any more."""
    asked = list(_asked(scene))
    found = stopped(scene, asked)
    if found is None:
        return asked, None
    number, stop = found
    early = {id(event) for event in scene.events[: number + 1]}
    loop = scene.events[number].devices_loop
    while loop is not None and number + 1 < len(scene.events) and scene.events[number + 1].devices_loop == loop:
        # What stands in the way of the loop's second pass is to be found there.
        number += 1
    shorter = _up_to(scene, number)
    before = [one for one in _asked(shorter) if id(one[0].event) in early]
    behind = [(wanted, unreached(one, stop)) for wanted, one in asked if id(wanted.event) not in early]
    return sorted([*before, *behind], key=lambda one: _position(one[0])), stop


def _up_to(scene: Scene, number: int) -> Scene:
    """``scene`` as if it ended behind an event, without the findings that rest on what would come then."""
    events = scene.events[: number + 1]
    rows = {row for event in events for row in (event.span.row, *(step.span.row for step in event.frames))}
    gone = {event.span.row for event in scene.events[number + 1 :]} - rows
    found = [one for one in scene.findings if not any(step.span.row in gone for step in one.trace)]
    return replace(scene, events=events, findings=found)


def _asked(scene: Scene) -> Iterator[tuple[Wanted, Asked]]:
    for one in sorted(wanted_by(scene.name, scene.events), key=_position):
        found, codes = fate(one, scene)
        intent = one.intent
        place = scene.place(one.event, one.span)
        yield (
            one,
            Asked(
                wish=intent.wish.value,
                devices=intent.devices,
                value=intent.value,
                words=_words(one),
                gpu=one.gpu,
                mib=one.sizes,
                by=one.by,
                name=one.name,
                place=place,
                certain=one.certain,
                fate=found,
                rules=codes,
            ),
        )


def _words(one: Wanted) -> str:
    """The intent in words; the devices that are to be visible by their numbers, where these are known."""
    if one.intent.wish is Wish.VISIBLE and isinstance(one.event, Call):
        devices = one.event.value(0, "devices")
        if isinstance(devices, Devices) and devices.whole and devices.type == "GPU":
            return "every GPU visible"
        numbers = numbers_of(devices)
        if numbers == [-1]:
            return "only the last GPU visible"
        if numbers is not None and all(number >= 0 for number in numbers):
            return Intent(Wish.VISIBLE, text=repr(",".join(map(str, numbers)))).describe()
    if isinstance(one.gpu, int) and one.intent.devices.isdigit():
        return replace(one.intent, devices=f"GPU {one.gpu}").describe()
    return one.intent.describe()


def _position(one: Wanted) -> tuple[int, ...]:
    """Where a reader who follows the calls comes by: what a function does stands where it is called."""
    return (*(step.span.row for step in one.frames), one.span.row, one.span.column)


def _entry(scene: Scene, asked: list[tuple[Wanted, Asked]], stop: Stop | None) -> PlannedEntry:
    name, row = _definition(scene)
    reached = tuple(one for _, one in asked)
    assumes = "nothing has started the runtime before" if scene.open and scene.earlier is None else ""
    return PlannedEntry(
        name, row, _start(scene), devices(scene, refused(asked)), tuple(variables(scene)), reached, stop, assumes
    )


def _start(scene: Scene) -> PlannedStart | None:
    if scene.earlier is not None:
        made, before = scene.earlier, True
    elif scene.made is not None:
        made, before = scene.made, False
    else:
        return None
    place = scene.place(made)
    shown = Place(place.span, written(made.text), place.frames)
    return PlannedStart("runtime" if made.what == "context" else "devices", shown, made.certain, before)


def _definition(scene: Scene) -> tuple[str, int]:
    """The qualified name of an entry point, and the row where it is defined."""
    if scene.name == "module":
        return "module", 1
    rows = [event.span.row for event in scene.events if not event.frames and event.function == scene.name]
    best: tuple[str, int] | None = None
    for name, node in _functions(scene.program.tree, ""):
        if node.name != scene.name:
            continue
        inside = any(node.lineno <= row <= (node.end_lineno or node.lineno) for row in rows)
        if best is None or inside:
            best = (name, node.lineno)
            if inside:
                break
    return best or (scene.name, 1)


def _functions(node: ast.AST, owner: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        name = owner
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{owner}.{child.name}" if owner else child.name
            if not isinstance(child, ast.ClassDef):
                yield name, child
        yield from _functions(child, name)
