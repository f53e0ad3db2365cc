"""Find where the way to what starts the runtime and the way to the configuration part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

import libcst as cst

from tfmemlint.fixes.concrete_tree import ConcreteTree
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding, Span, Step


def split_trace(finding: Finding, details: Mapping[str, object] | None = None) -> tuple[Sequence[Step], Sequence[Step]]:
    """Return the steps to what starts the runtime and those to the configuration, from where the two diverge.

    Args:
        finding: the finding. details: where they do, if its own details don't say it.
    """
    details = finding.details if details is None else details
    started, parting = details.get("started"), details.get("parting", 0)
    if not isinstance(started, int):
        spans = [step.span for step in finding.trace]
        start = finding.anchors.get("start")
        started = spans.index(start) if start in spans else len(spans)
    return finding.trace[parting if isinstance(parting, int) else 0 : started + 1], finding.trace[started + 1 :]


def is_outside_file(step: Step, tree: ConcreteTree) -> bool:
    """True if a step happens outside the project's files, as a command's call of a function does.

    Such a step has an empty span, or the span of that function.
    """
    span = step.span
    if (span.row, span.column) == (span.end_row, span.end_column):
        return True
    place = tree.statement_at(span)
    end = tree.span(place)
    return isinstance(place, cst.FunctionDef) and (end.end_row, end.end_column) == (span.end_row, span.end_column)


def places_in_function(finding: Finding, tree: ConcreteTree) -> tuple[Span, Span]:
    """Return the places of the configuration and of the start within one function, or of the calls that lead to them.

    Raises:
        Withheld: nothing in the finding's own file leads to the start, or the two diverge in another file.
    """
    early, late = split_trace(finding)
    if early and late and (early[0].path != finding.path or late[0].path != finding.path):
        first, then = early[0], next((step for step in reversed(late) if step.path != finding.path), late[0])
        raise Withheld(f"{then.path}:{then.span.row} leads to it, and runs after {first.path}:{first.span.row}")
    if "start" not in finding.anchors:
        raise Withheld("what starts the runtime is not known")
    start = finding.anchors["start"]
    if not late:
        return finding.span, start
    if is_outside_file(late[0], tree):
        raise Withheld(f"what {late[0].words} is outside of this file")
    function = tree.function_of(tree.statement_at(late[0].span))
    own = list(takewhile(lambda step: step.path == finding.path, early))
    for step in reversed(own):
        if tree.function_of(tree.statement_at(step.span)) is function:
            return late[0].span, step.span
    return late[0].span, start
