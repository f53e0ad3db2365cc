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
    said: set[str] = set()  # in this line: most events of a line happen under the same conditions
    for step, differing in _with_changes(list(_without_mentions(steps))):
        if (step.path, step.row) != shown or step.kind == "statement":
            shown = step.path, step.row
            said.clear()
            yield _place(run, step)
        for change in differing:
            yield [Segment("    state   ", "label"), Segment(printable(_change(change)))]
        if step.kind != "statement":
            yield [Segment(f"    {step.kind:<8}", _STYLES[step.kind]), Segment(printable(step.words))]
        for detail in step.details:
            if detail not in said:
                yield [Segment(f"            {printable(detail)}", "dim")]
        said.update(step.details)


def _without_mentions(steps: list[Step]) -> Iterator[Step]:
    """Leave out the mention of a function where the next step is its call: the call says all of it."""
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        called = step.words.replace("mention of ", "call of ", 1) + "("
        if following is None or step.kind != "event" or not following.words.startswith(called):
            yield step


def _with_changes(steps: list[Step]) -> Iterator[tuple[Step, list[Change]]]:
    """Yield each step with the changes of the state since just before the previous step."""
    known: State = {}
    for step in steps:
        yield step, changes(known, step.state) if step.state is not None else []
        known = known if step.state is None else step.state


def _place(run: Run, step: Step) -> Line:
    if step.row is None:
        return [Segment(f"{printable(step.path)}", "path")]
    function = run.function_at(step.path, step.row)
    inside = f"  in {printable(function)}" if function else ""
    return [
        Segment(f"{printable(step.path)}:{step.row}", "path"),
        Segment(inside, "dim"),
        Segment(f"  {printable(_source_line(run, step))}"),
    ]


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
    """Yield the places at which the analysis stopped following the program, and the number of steps that are not
    shown."""
    for words in run.gave_up:
        yield [Segment("not followed to its end", "error"), Segment(f": {printable(words)}")]
    hidden = len(run.steps) - len(steps)
    if hidden:
        hint = "" if selection.imports else "; --imports shows those in imported modules"
        yield [Segment(f"{hidden} of {len(run.steps)} steps are not shown{hint}", "dim")]
    yield []


def as_data(runs: list[Run], selection: Selection) -> list[dict[str, Any]]:
    """Return the selected steps of each run as plain data. Rows and columns count from 1; unknown values are null."""
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
        "function": None if step.row is None else run.function_at(step.path, step.row) or None,
        "code": _source_line(run, step),
        "words": step.words,
        "details": step.details,
        "state": [{"name": change.name, "before": change.before, "after": change.after} for change in differing],
    }
