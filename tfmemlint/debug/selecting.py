"""The steps to show: those of a file, of a line, of a function."""

from __future__ import annotations

from collections.abc import Callable

from tfmemlint.debug.events import Run, functions
from tfmemlint.debug.steps import Step
from tfmemlint.model.records import dataclass
from tfmemlint.sources import Source


@dataclass(frozen=True, slots=True)
class Selection:
    """The selection of steps to show.

    Attributes:
        row: only the steps at this line of the file; None for all.
        function: only the steps in the function of this name, or qualified name; "" for all.
        imports: also the steps in imported modules, and how each import was resolved.
    """

    row: int | None = None
    function: str = ""
    imports: bool = False


def select(run: Run, selection: Selection) -> list[Step]:
    """Return the steps of a run to show."""
    is_inside = _function_rows(run, selection.function) if selection.function else None
    return [
        step
        for step in run.steps
        if (selection.imports or (step.path == run.path and step.kind != "import"))
        and (selection.row is None or (step.path == run.path and step.row == selection.row))
        and (is_inside is None or is_inside(step))
    ]


def _function_rows(run: Run, name: str) -> Callable[[Step], bool]:
    """Return a function that is true for the steps in a function of this name."""
    ranges = {path: list(_ranges(source, name)) for path, source in run.sources.items()}

    def is_inside(step: Step) -> bool:
        return step.row is not None and any(first <= step.row <= last for first, last in ranges.get(step.path, ()))

    return is_inside


def _ranges(source: Source, name: str) -> list[tuple[int, int]]:
    """Return the first and last rows of the functions with this name, or qualified name (``Trainer.fit``)."""
    return [rows for qualified, rows in functions(source) if name in (qualified, qualified.rpartition(".")[2])]
