"""Amounts of GPU memory that a program tells, and the unit that it writes beside them: f-strings, ``%``, ``print``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import AmountTold
from tfmemlint.interpreter.values import Amount, Const, Value
from tfmemlint.knowledge.units import GIB, written_unit

_OF_GPUS = frozenset({"get_memory_info()", "nvmlDeviceGetMemoryInfo()"})
_BEFORE = re.compile(r"[(\[]\s{0,3}([A-Za-z]{1,9})\s{0,3}[)\]]\s{0,3}[:=]?\s{0,9}\Z")
"""A unit in brackets before the amount: ``used (MB): ``."""
_AFTER = re.compile(r"\s{0,3}([A-Za-z]{1,9})(?![\w/])")
_DIRECTIVE = re.compile(r"%(?:\(\w{1,40}\))?[-+ #]{0,4}\d{0,9}(?:\.\d{1,9})?[a-zA-Z%]")
_FIELD = re.compile(r"\{[^{}]{0,80}\}")


def is_memory(value: Value) -> bool:
    """Return True for an amount of GPU memory that a report has returned, in a unit that is known."""
    return isinstance(value, Amount) and value.source in _OF_GPUS and bool(value.unit) and value.sure


def told_in_f_string(context: Context, node: ast.JoinedStr, values: Sequence[Value]) -> None:
    """Report the amounts in an f-string that has the unit beside them."""
    texts = [
        part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "" for part in node.values
    ]
    for number, (part, value) in enumerate(zip(node.values, values, strict=False)):
        if isinstance(part, ast.FormattedValue):
            around = (texts[number - 1] if number else "", texts[number + 1] if number + 1 < len(texts) else "")
            _report(context, part.value, value, *around, form=_constant(part.format_spec))


def told_in_print(context: Context, node: ast.AST, values: Sequence[Value]) -> None:
    """Report the amounts that ``print`` gets beside their unit, and those that a logger puts into a text."""
    if not isinstance(node, ast.Call) or len(node.args) != len(values):
        return
    first = _text(values, 0)
    if "%" in first:
        told_in_format(context, first, zip(node.args[1:], values[1:], strict=True), percent=True)
    for number, (given, value) in enumerate(zip(node.args, values, strict=True)):
        _report(context, given, value, _text(values, number - 1), _text(values, number + 1))


def told_in_format(context: Context, text: str, given: Iterable[tuple[ast.expr, Value]], *, percent: bool) -> None:
    """Report the amounts that are put into a text with ``%`` or ``format``."""
    for (before, after, form), (node, value) in zip(_gaps(text, percent=percent), given, strict=False):
        _report(context, node, value, before, after, form=form)


def _gaps(text: str, *, percent: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the texts before and after each place for a value, and how that is formatted."""
    found = [match for match in (_DIRECTIVE if percent else _FIELD).finditer(text) if match[0] != "%%"]
    edges = [0, *(match.end() for match in found)], [*(match.start() for match in found), len(text)]
    texts = [text[start:end] for start, end in zip(*edges, strict=True)]
    yield from zip(texts, texts[1:], (match[0].strip("{}%") or "f" * percent for match in found), strict=False)


def _constant(spec: ast.expr | None) -> str:
    """Return the text of a format such as ``.2f``."""
    parts = spec.values if isinstance(spec, ast.JoinedStr) else []
    return "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))


def _text(values: Sequence[Value], number: int) -> str:
    value = values[number] if 0 <= number < len(values) else None
    return value.value if isinstance(value, Const) and isinstance(value.value, str) else ""


def _report(context: Context, node: ast.expr, value: Value, before: str, after: str, form: str = "") -> None:
    if context.state is None or not isinstance(value, Amount) or not is_memory(value):
        return
    match = _AFTER.match(after) or _BEFORE.search(before)
    unit = written_unit(match[1]) if match is not None else ""
    if match is None or not unit or value.unit == unit:
        return
    context.emit(
        AmountTold(
            unit=value.unit,
            source=value.source,
            label=match[1],
            told=unit,
            text=context.text(node),
            place=context.span(node),
            whole=form.endswith("d") or (not form.endswith(("f", "g", "e", "s")) and unit != GIB),
            **event_fields(context, node),
        )
    )
