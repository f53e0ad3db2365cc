"""The intents of a program before its fixes, found again in the program after them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from tfmemlint.intents import StatedIntent
from tfmemlint.model.finding import Span
from tfmemlint.model.intent import Purpose
from tfmemlint.verify.verdict import Verdict, VerdictKind

_ALIKE: tuple[Callable[[StatedIntent], object], ...] = (
    lambda stated: (stated.intent.purpose, stated.gpu, stated.intent.value, stated.sizes, stated.by, stated.name),
    lambda stated: (stated.intent.purpose, stated.gpu, stated.by, stated.name),
    lambda stated: (stated.setting, stated.gpu),
    lambda stated: stated.setting,
)
"""Keys by which two intents are taken to be the same one, the strictest first."""
_EXCLUSIVE = (
    frozenset({Purpose.GROWTH, Purpose.LIMIT, Purpose.FRACTION}),
    frozenset({Purpose.ALLOCATOR, Purpose.LIMIT, Purpose.FRACTION}),
)
"""Purposes of which TensorFlow can't have all: a fix has to give one up for the other."""


def counterparts(before: Sequence[StatedIntent], after: Sequence[StatedIntent]) -> list[StatedIntent | None]:
    """Return for each intent of the old text the one of the new text that takes its place; None if there is none.

    Several old intents may have become one: a loop over all GPUs for a line for each.
    """
    found: list[StatedIntent | None] = [None] * len(before)
    free = list(after)
    for key in _ALIKE:
        for index, stated in enumerate(before):
            if found[index] is None:
                found[index] = next((other for other in free if key(other) == key(stated)), None)
                if found[index] is not None:
                    free = [other for other in free if other is not found[index]]
    for index, stated in enumerate(before):
        if found[index] is None:
            found[index] = next((other for other in after if other.setting is stated.setting), None)
    return found


def without_those_taken_out(
    before: Sequence[Verdict], after: Sequence[Verdict], missing: Collection[int], changed: Collection[int]
) -> list[Verdict]:
    """Return the verdicts after the fixes, with those intents marked that a fix has taken out on purpose.

    That is the way to fix a setting that another one excludes, or that keeps another one from its effect, and options
    that nothing uses.

    Args:
        before, after: the verdicts on the intents of the old text, by the old and by the new run.
        missing: the numbers of the intents that the new text no longer has.
        changed: the rows of the old text that the fixes have rewritten.
    """
    holding = [verdict.stated for verdict in after if verdict.kind is VerdictKind.HOLDS]
    gained = [
        new.stated
        for old, new in zip(before, after, strict=True)
        if old.kind is not VerdictKind.HOLDS and new.kind is VerdictKind.HOLDS
    ]
    found = []
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        own = number in missing and _touches(old.stated.statement, changed) and new.kind is VerdictKind.NOTHING
        lost = old.kind is VerdictKind.HOLDS
        if own and any(_exclude_each_other(old.stated, other) for other in (gained if lost else holding)):
            reason = "it kept another setting from its effect" if lost else "another setting excludes it"
            new = replace(new, kind=VerdictKind.REMOVED, reason=reason)
        elif own and not lost and old.stated.by == "proto":
            new = replace(new, kind=VerdictKind.REMOVED, reason="no session was ever made with these options")
        found.append(new)
    return found


def _touches(span: Span, rows: Collection[int]) -> bool:
    return any(row in rows for row in range(span.row, span.end_row + 1))


def _exclude_each_other(stated: StatedIntent, other: StatedIntent) -> bool:
    purposes = {stated.intent.purpose, other.intent.purpose}
    opposite = len(purposes) == 1 and stated.intent.value != other.intent.value
    return opposite or (len(purposes) == 2 and any(purposes <= exclusive for exclusive in _EXCLUSIVE))
