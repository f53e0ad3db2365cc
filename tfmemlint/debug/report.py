"""The steps of an analysis as text, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from tfmemlint.debug.events import Run
from tfmemlint.debug.selecting import Selection, select
from tfmemlint.debug.steps import Change, State, Step, changes
from tfmemlint.reporters.paint import Line, Segment, painter, printable

_STYLES = {
    "statement": "frame",
    "event": "mark",
    "branch": "warning",
    "gave up": "error",
    "import": "dim",
    "end": "good",
}


def show(run: Run, selection: Selection, stream: IO[str], *, color: bool | None = None) -> None:
    """Print the selected steps of a run.

    Args:
        color: True for colour; None for colour on a terminal, NO_COLOR and FORCE_COLOR permitting.
    """
    steps = select(run, selection)
    paint = painter(stream, color)
    paint(_title(run))
    paint(_lines(run, steps))
    paint(_rest(run, steps, selection))


def _title(run: Run) -> Iterator[Line]:
    yield [Segment(printable(run.path), "path"), Segment(f" judged for TensorFlow {run.target}, {run.entry}")]
    if run.launch is not None:
        launch = run.launch
        yield [Segment(f"  started by {printable(launch.path)}:{launch.span.row} ({printable(launch.where)})", "label")]


def _lines(run: Run, steps: list[Step]) -> Iterator[Line]:
    shown: tuple[str, int | None] | None = None
    for step, differing in _with_changes(steps):
        if (step.path, step.row) != shown or step.kind == "statement":
            shown = step.path, step.row
            yield _place(run, step)
        for change in differing:
            yield [Segment("    state   ", "label"), Segment(printable(_change(change)))]
        if step.kind != "statement":
            yield [Segment(f"    {step.kind:<8}", _STYLES[step.kind]), Segment(printable(step.words))]
        for detail in step.details:
            yield [Segment(f"            {printable(detail)}", "dim")]


def _with_changes(steps: list[Step]) -> Iterator[tuple[Step, list[Change]]]:
    """Yield each step, with what differs in the state just before it from the one before the previous step."""
    known: State = {}
    for step in steps:
        yield step, changes(known, step.state) if step.state is not None else []
        known = known if step.state is None else step.state


def _place(run: Run, step: Step) -> Line:
    if step.row is None:
        return [Segment(f"{printable(step.path)}", "path")]
    text = _source_line(run, step)
    return [Segment(f"{printable(step.path)}:{step.row}", "path"), Segment(f"  {printable(text)}")]


def _source_line(run: Run, step: Step) -> str:
    source = run.sources.get(step.path)
    if source is None or step.row is None or step.row > len(source.lines):
        return ""
    return source.lines[step.row - 1].strip()


def _change(change: Change) -> str:
    if change.before is None:
        return f"{change.name}: {change.after}"
    return f"{change.name}: {change.after or 'as at the start'} (before: {change.before})"


def _rest(run: Run, steps: list[Step], selection: Selection) -> Iterator[Line]:
    """Yield where the program was not followed, and how many steps are not shown."""
    for words in run.gave_up:
        yield [Segment("not followed to its end", "error"), Segment(f": {printable(words)}")]
    hidden = len(run.steps) - len(steps)
    if hidden:
        others = "" if selection.imports else "; --imports shows those in imported modules"
        yield [Segment(f"{hidden} of {len(run.steps)} steps are not shown{others}", "dim")]
    yield []


def as_data(runs: list[Run], selection: Selection) -> list[dict[str, Any]]:
    """Return the selected steps of each run as plain data. Rows and columns count from 1; what isn't known is null."""
    return [
        {
            "path": run.path,
            "tensorflow": run.target,
            "entry": run.entry,
            "started_by": None
            if run.launch is None
            else {"path": run.launch.path, "row": run.launch.span.row, "where": run.launch.where},
            "steps": [_step(run, step, differing) for step, differing in _with_changes(select(run, selection))],
            "gave_up": run.gave_up,
        }
        for run in runs
    ]


def _step(run: Run, step: Step, differing: list[Change]) -> dict[str, Any]:
    return {
        "kind": step.kind,
        "path": step.path,
        "row": step.row,
        "column": step.column,
        "code": _source_line(run, step),
        "words": step.words,
        "details": step.details,
        "state": [{"name": change.name, "before": change.before, "after": change.after} for change in differing],
    }
