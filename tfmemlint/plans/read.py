"""Makes the plan of a file from its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.intents import StatedIntent, entries, intents_of
from tfmemlint.interpreter.program import Call
from tfmemlint.interpreter.values import Devices
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.plans.abort import refused, stopped, unreached
from tfmemlint.plans.devices import devices
from tfmemlint.plans.entry_run import EntryRun, numbers_of
from tfmemlint.plans.model import FilePlan, Place, PlannedEntry, PlannedIntent, PlannedStart, Stop
from tfmemlint.plans.predictions import predict
from tfmemlint.plans.shared_devices import with_file_names
from tfmemlint.plans.variables import variables
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
    open_texts: Mapping[str, bytes] | None = None,
) -> FilePlan:
    """Return the plan of the program that starts in a file.

    Args:
        target: the release to judge for.
        gpus: the number of GPUs.
        memory: the MiB of each of them.
        named: report a file that starts the runtime even if it has no intents.
        alone: ignore the modules that it imports from its project.
        begun: the launch of the program by a configuration file.
        open_texts: the contents of files, by their absolute paths, that are read in place of those on disk.

    Raises:
        SyntaxError, ValueError: the text isn't Python 3.
        RecursionError: it is nested too deeply.
    """
    from tfmemlint.engine.whole_program import findings_of, whole_of

    whole = whole_of(source, target, alone=alone, begun=begun, open_texts=open_texts)
    program = whole.program
    program.gpu_memory_mib = memory
    findings = findings_of(whole)
    found = []
    for name, events in entries(program):
        if name != "module" and (begun is not None or all(event.path != source.path for event in events)):
            continue  # a function of another module, which this program never calls; or one that nothing calls
        run = EntryRun(program, name, events, findings, gpus, memory, whole.rows)
        intents, stop, run = _reached(run)
        if intents or (named and name == "module"):
            entry = _entry(run, intents, stop)
            if intents or entry.start is not None or entry.stop is not None:
                found.append(with_file_names(entry, whole.rows))
    incomplete = whole.rows.words("; ".join(program.gave_up))
    return FilePlan(source.path, tuple(found), incomplete, rows=whole.rows, begun=begun)


def _reached(run: EntryRun) -> tuple[list[tuple[StatedIntent, PlannedIntent]], Stop | None, EntryRun]:
    """Return the intents, the early end of the entry point, and the run up to there: what comes after it changes
    nothing."""
    intents = list(_planned(run))
    found = stopped(run, intents)
    if found is None:
        return intents, None, run
    number, stop = found
    early = {id(event) for event in run.events[: number + 1]}
    loop = run.events[number].devices_loop
    while loop is not None and number + 1 < len(run.events) and run.events[number + 1].devices_loop == loop:
        # The events of the loop show what prevents its second iteration.
        number += 1
    shorter = _up_to(run, number)
    before = [pair for pair in _planned(shorter) if id(pair[0].event) in early]
    behind = [(stated, unreached(planned, stop)) for stated, planned in intents if id(stated.event) not in early]
    return sorted([*before, *behind], key=lambda pair: _position(pair[0])), stop, shorter


def _up_to(run: EntryRun, number: int) -> EntryRun:
    """Return ``run`` as if it ended after an event, without the findings that rest on later events."""
    events = run.events[: number + 1]
    rows = {row for event in events for row in (event.span.row, *(step.span.row for step in event.frames))}
    gone = {event.span.row for event in run.events[number + 1 :]} - rows
    found = [finding for finding in run.findings if not any(step.span.row in gone for step in finding.trace)]
    return replace(run, events=events, findings=found)


def _planned(run: EntryRun) -> Iterator[tuple[StatedIntent, PlannedIntent]]:
    for stated in sorted(intents_of(run.name, run.events), key=_position):
        found, codes = predict(stated, run)
        intent = stated.intent
        place = run.place(stated.event, stated.span)
        yield (
            stated,
            PlannedIntent(
                purpose=intent.purpose.value,
                devices=intent.devices,
                value=intent.value,
                words=_words(stated),
                gpu=stated.gpu,
                mib=stated.sizes,
                by=stated.by,
                name=stated.name,
                place=place,
                certain=stated.certain,
                prediction=found,
                rules=codes,
            ),
        )


def _words(stated: StatedIntent) -> str:
    """Return the intent in words, with visible devices by number if these are known."""
    if stated.intent.purpose is Purpose.VISIBLE and isinstance(stated.event, Call):
        devices = stated.event.value(0, "devices")
        if isinstance(devices, Devices) and devices.whole and devices.type == "GPU":
            return "every GPU visible"
        numbers = numbers_of(devices)
        if numbers == [-1]:
            return "only the last GPU visible"
        if numbers is not None and all(number >= 0 for number in numbers):
            return Intent(Purpose.VISIBLE, text=repr(",".join(map(str, numbers)))).describe()
    if isinstance(stated.gpu, int) and stated.intent.devices.isdigit():
        return replace(stated.intent, devices=f"GPU {stated.gpu}").describe()
    return stated.intent.describe()


def _position(stated: StatedIntent) -> tuple[int, ...]:
    """Return the sort key of an intent for a reader who follows the calls: the body of a function comes at its call."""
    return (*(step.span.row for step in stated.frames), stated.span.row, stated.span.column)


def _entry(run: EntryRun, intents: list[tuple[StatedIntent, PlannedIntent]], stop: Stop | None) -> PlannedEntry:
    name, row = _definition(run)
    reached = tuple(planned for _, planned in intents)
    assumes = "nothing has started the runtime before" if run.open and run.earlier is None else ""
    return PlannedEntry(
        name, row, _start(run), devices(run, refused(intents)), tuple(variables(run)), reached, stop, assumes
    )


def _start(run: EntryRun) -> PlannedStart | None:
    if run.earlier is not None:
        made, before = run.earlier, True
    elif run.made is not None:
        made, before = run.made, False
    else:
        return None
    place = run.place(made)
    shown = Place(place.span, written(made.text), place.frames)
    return PlannedStart("runtime" if made.what == "context" else "devices", shown, made.certain, before)


def _definition(run: EntryRun) -> tuple[str, int]:
    """Return the qualified name of an entry point, and the row of its definition."""
    if run.name == "module":
        return "module", 1
    rows = [event.span.row for event in run.events if not event.frames and event.function == run.name]
    best: tuple[str, int] | None = None
    for name, node in _functions(run.program.tree, ""):
        if node.name != run.name:
            continue
        inside = any(node.lineno <= row <= (node.end_lineno or node.lineno) for row in rows)
        if best is None or inside:
            best = (name, node.lineno)
            if inside:
                break
    return best or (run.name, 1)


def _functions(node: ast.AST, owner: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        name = owner
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{owner}.{child.name}" if owner else child.name
            if not isinstance(child, ast.ClassDef):
                yield name, child
        yield from _functions(child, name)
