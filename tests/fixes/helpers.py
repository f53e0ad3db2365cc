"""What the tests of this room share."""

from __future__ import annotations

from textwrap import dedent

from tfmemlint.fixes.editor import Editor, Withheld
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity, Span, Step

GROW = "tf.config.experimental.set_memory_growth(gpu, True)"
START = "tf.distribute.MirroredStrategy()"


def code(text: str) -> str:
    """A piece of code at the left margin."""
    return dedent(text).lstrip("\n")


def span(text: str, part: str) -> Span:
    """Where ``part`` stands for the first time."""
    start = text.index(part)
    end = start + len(part)

    def place(offset: int) -> tuple[int, int]:
        return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)

    return Span(*place(start), *place(end))


def editor(text: str, mib: float | None = None, *, read: bool = False) -> Editor:
    """An editor for the newest release; ``read``: its code may ask NVML for the memory of a GPU."""
    return Editor(text, Target.newest(), mib, read_gpu_memory=read)


def late(text: str, call: str = GROW, start: str = START, *trace: str) -> Finding:
    """A finding of configuration that comes too late."""
    steps = tuple(Step("f.py", span(text, part), "") for part in trace)
    where = span(text, call)
    return Finding(
        "TFM101", "x", Severity.ERROR, "f.py", where, "late", anchors={"start": span(text, start)}, trace=steps
    )


def moved(text: str, *trace: str) -> str:
    """The text with the growth call above the start."""
    one = editor(text)
    one.move_above_start(late(text, GROW, START, *trace))
    return one.finish()


def refusal(text: str, *trace: str) -> str:
    """Why the growth call is not moved."""
    try:
        return f"moved:\n{moved(text, *trace)}"
    except Withheld as reason:
        return str(reason)
