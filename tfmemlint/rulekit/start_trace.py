"""Two paths through a program, to what starts the runtime and to what comes too late, and the point where they
diverge."""

from __future__ import annotations

from tfmemlint.interpreter.program import Event, RuntimeStart
from tfmemlint.model.finding import Span, Step
from tfmemlint.model.placed_text import place

_STARTED = {
    "context": "starts the runtime",
    "allocator": "makes the GPU devices and their allocator",
    "listed": "lists the GPUs, which reads the environment",
}


def written(text: str, limit: int = 60) -> str:
    """Return a piece of code as it reads in a sentence: on one line, shortened in the middle."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 20]} ... {line[-15:]}"


def start_step(start: RuntimeStart) -> Step:
    """Return the step of a trace in which something starts the runtime."""
    where = f"{start.where} " if start.where else ""
    return Step(start.path, start.span, f"{where}{written(start.text)} {_STARTED[start.what]}")


def start_trace(start: RuntimeStart | None, call: Event, words: str) -> tuple[Step, ...]:
    """Return the steps from the entry point to what starts the runtime, and from there to ``call``, which comes too
    late."""
    last = Step(call.path, call.span, words)
    if start is None:
        return (*call.frames, last)
    return (*start.frames, start_step(start), *call.frames[_shared(start, call) :], last)


def start_anchors(start: RuntimeStart | None, call: Event) -> dict[str, Span]:
    """Return the places that a rewrite which moves ``call`` above ``start`` needs, if they are in one file."""
    if start is None:
        return {"call": call.span}
    if start.path == call.path:
        return {"call": call.span, "start": start.span}
    step = _lead(start, call)
    return {"call": call.span} | ({"start": step.span} if step is not None else {})


def start_details(start: RuntimeStart | None, call: Event) -> dict[str, int]:
    """Return the indices of the steps in a `start_trace` at which the paths diverge, and at which the runtime has
    started."""
    return {} if start is None else {"parting": _shared(start, call), "started": len(start.frames)}


def where_to(start: RuntimeStart, call: Event, what: str = "Move this") -> str:
    """Return an instruction that makes ``call`` run before ``start``: in its own file if a line of that file leads to
    the start, else in the file where the paths diverge."""
    own = call.path
    shared = _shared(start, call)
    first = [*start.frames, start_step(start)][shared]
    then = call.frames[shared].path if shared < len(call.frames) else own
    if first.path == own == then:
        if shared == len(start.frames):
            return f"{what} above {place(start.path, start.span.row)}"
        return f"{what} above {place(first.path, first.span.row)}, which {said(first)}"
    into = next((step for step in reversed(call.frames) if step.path != own), None)
    if into is None:
        return f"{what} to where the program starts, before {place(start.path, start.span.row)} is reached"
    words = said(into)
    order = f"Call {words.removeprefix('calls ')}" if words.startswith("calls ") else f"Import {own}"
    order += f" ({place(into.path, into.span.row)})"
    does = said(first)
    leads = does.startswith(("calls ", "makes ", "imports "))
    if leads and (first.path, first.span.row) == (into.path, into.span.row):
        return f"{order} before the same line {does}"
    inside = [*start.frames, start_step(start)][shared + 1 :]
    if does.startswith("imports ") and any(step.path == own for step in inside):
        # That line imports the function itself, which can't be called before.
        return f"{what} above {place(first.path, first.span.row)}, which {does}"
    if not leads:
        known = first.span.row != into.span.row and not does.startswith("pytest ")
        return f"{order} before {f'{place(first.path, first.span.row)}, where ' if known else ''}{does}"
    above = "above" if first.path == into.path else "before"
    return f"{order} {above} {place(first.path, first.span.row)}, which {does}"


def said(step: Step) -> str:
    """Return what a step does, without the function in which it does so."""
    return step.words[max(step.words.find("calls "), step.words.find("makes "), 0) :]


def _shared(first: Event, second: Event) -> int:
    """Return the number of calls and imports that lead to both events."""
    pairs = zip(first.frames, second.frames, strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), min(len(first.frames), len(second.frames)))


def _lead(start: RuntimeStart, call: Event) -> Step | None:
    """Return the step at which the path to ``start`` leaves that to ``call``: the import or call in the same file that
    leads to the start of the runtime, or None if it is in another file."""
    steps = [*start.frames[_shared(start, call) :], start_step(start)]
    return next((step for step in steps if step.path == call.path), None)
