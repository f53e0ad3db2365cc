"""Amounts of GPU memory that a program tells, and the unit that it writes beside them: f-strings, ``%``, ``print``."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tfmemlint.facts.syntax import last_word
from tfmemlint.facts.table_columns import told_part
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import AmountTold
from tfmemlint.interpreter.values import Amount, Const, Value
from tfmemlint.knowledge.units import BYTES, GIB, WORDS, unit_in_heading, unit_in_name, written_unit

_OF_GPUS = frozenset({"get_memory_info()", "nvmlDeviceGetMemoryInfo()", "GPUtil", "nvidia-smi"})
_BEFORE = re.compile(r"[(\[]\s{0,3}([A-Za-z]{1,9})\s{0,3}[)\]]\s{0,3}[:=]?\s{0,9}\Z")
"""A unit in brackets before the amount: ``used (MB): ``."""
_AFTER = re.compile(r"\s{0,3}([A-Za-z]{1,9})(?![\w/])")
_DIRECTIVE = re.compile(r"%[-+ #]{0,4}\d{0,9}(?:\.\d{1,9})?[a-zA-Z%]")
_BY_NAME_OR_WIDTH = re.compile(r"%[-+ #0-9.]{0,20}[(*]")
"""Directives that do not take one value each, in their order."""


def is_memory(value: Value) -> bool:
    """Return True for an amount of GPU memory that a report has returned, in a unit that is known."""
    return isinstance(value, Amount) and value.source in _OF_GPUS and value.unit in WORDS and value.sure


def told_in_f_string(context: Context, node: ast.JoinedStr, values: Sequence[Value]) -> None:
    """Report the amounts in an f-string that has the unit beside them."""
    # A name may stand for the unit: ``f"{used:.0f} {UNIT}"``.
    texts = [value.value if isinstance(value, Const) and isinstance(value.value, str) else None for value in values]
    for number, (part, value) in enumerate(zip(node.values, values, strict=False)):
        if isinstance(part, ast.FormattedValue):
            before = "".join(reversed([*_known(reversed(texts[:number]))]))
            after = "".join(_known(texts[number + 1 :]))
            _report(context, part.value, value, before, after, form=_constant(part.format_spec))


def _known(texts: Iterable[str | None]) -> Iterator[str]:
    """Yield the texts as far as they are known."""
    for text in texts:
        if text is None:
            return
        yield text


def told_in_print(context: Context, node: ast.AST, values: Sequence[Value]) -> None:
    """Report the amounts that ``print`` gets beside their unit."""
    if not isinstance(node, ast.Call) or len(node.args) != len(values):
        return
    for number, (given, value) in enumerate(zip(node.args, values, strict=True)):
        _report(context, given, value, _text(values, number - 1), _text(values, number + 1))


def told_in_log(context: Context, node: ast.AST, values: Sequence[Value]) -> None:
    """Report the amounts that a function of ``logging`` puts into a text."""
    if isinstance(node, ast.Call) and len(node.args) == len(values) and values:
        told_by_percent(context, _text(values, 0), zip(node.args[1:], values[1:], strict=True))


def told_by_percent(context: Context, text: str, given: Iterable[tuple[ast.expr, Value]]) -> None:
    """Report the amounts that ``%`` puts into a text, in their order."""
    if _BY_NAME_OR_WIDTH.search(text):
        return
    found = [match for match in _DIRECTIVE.finditer(text) if match[0] != "%%"]
    edges = [0, *(match.end() for match in found)], [*(match.start() for match in found), len(text)]
    texts = [text[start:end] for start, end in zip(*edges, strict=True)]
    for match, before, after, (node, value) in zip(found, texts, texts[1:], given, strict=False):
        _report(context, node, value, before, after, form=match[0])


def told_by_format(
    context: Context, text: str, given: Sequence[tuple[ast.expr, Value]], named: Mapping[str, tuple[ast.expr, Value]]
) -> None:
    """Report the amounts that ``text.format(*given, **named)`` puts into a text."""
    try:
        parts = [*string.Formatter().parse(text)]
    except ValueError:
        return
    places = {**{str(number): each for number, each in enumerate(given)}, **named}
    texts = [literal for literal, *_ in parts]
    for number, (before, field, spec, _) in enumerate(parts):
        if field is None:
            continue
        place = places.get(field or str(sum(each[1] == "" for each in parts[:number])))
        if place is not None:
            _report(context, *place, before, texts[number + 1] if number + 1 < len(texts) else "", form=spec or "")


def told_in_name(context: Context, node: ast.Assign, value: Value) -> Value:
    """Report an amount that gets a name with another unit, of a variable, an attribute or a key; return it in the unit
    that the name says."""
    if len(node.targets) != 1:
        return value
    target = node.targets[0]
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return told_by_name(context, node.value, value, name)
        case _:
            return value


def told_by_name(context: Context, node: ast.expr, value: Value, name: str) -> Value:
    """Report the amount ``node`` that gets a name with another unit; return it in the unit that the name says."""
    if context.state is None or not isinstance(value, Amount) or not is_memory(value):
        return value
    unit = unit_in_name(name)
    if unit in ("", value.unit) or _is_converted_later(context, name):
        return value
    _tell(context, node, value, name, unit, whole=False)
    return replace(value, unit=unit)


def told_by_divisor(context: Context, node: ast.BinOp, left: Value, result: Value) -> Value:
    """Report an amount that is divided by what is called a unit and makes another one of it: ``used / GIB`` where
    ``GIB`` is ``1024**2``; return the result in the unit that is meant, so that it is reported once."""
    if not isinstance(node.op, ast.Div) or not isinstance(node.right, (ast.Name, ast.Attribute)):
        return result
    name = last_word(node.right)
    unit = written_unit(name)
    if context.state is None or not is_memory(left) or not unit or not isinstance(result, Amount) or not result.unit:
        return result
    if not isinstance(left, Amount) or left.unit != BYTES or result.unit == unit:
        return result
    _tell(context, node, result, name, unit, whole=False)
    return replace(result, unit=unit)


def _is_converted_later(context: Context, name: str) -> bool:
    """Return True if what has a name is made of itself somewhere: ``used_gb /= 1024**3``."""

    def mentions(node: ast.AST) -> bool:
        return any(_is_called(part, name) for part in ast.walk(node))

    return any(
        (isinstance(node, ast.AugAssign) and mentions(node.target))
        or (isinstance(node, ast.Assign) and any(map(mentions, node.targets)) and mentions(node.value))
        for node in ast.walk(context.unit.tree)
    )


def _is_called(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=other) | ast.Attribute(attr=other) | ast.Constant(value=str(other)):
            return other == name
        case _:
            return False


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
    column = None if unit else context.unit.shapes.column_of(context.unit.tree, node)
    if column is not None and not column.listed:
        unit = unit_in_heading(column.heading)
    label = match[1] if match is not None and column is None else column.heading if column is not None else ""
    if not unit or value.unit == unit:
        return
    whole = form.endswith("d") or (not form.endswith(("f", "g", "e", "s")) and unit != GIB)
    whole = whole and (column is None or told_part(node) is node)
    _tell(
        context,
        told_part(node) if column is not None else node,
        value,
        label,
        unit,
        whole=whole,
        headed=column is not None,
    )


def told_in_cell(context: Context, node: ast.expr, value: Value) -> None:
    """Report an amount that is an item of a row of a table, whose heading states another unit."""
    column = context.unit.shapes.column_of(context.unit.tree, node) if isinstance(value, Amount) else None
    if context.state is None or column is None or not isinstance(value, Amount) or not is_memory(value):
        return
    unit = unit_in_heading(column.heading)
    if column.listed and unit not in ("", value.unit) and not _is_converted_later(context, column.heading):
        _tell(context, told_part(node), value, column.heading, unit, whole=False, headed=True)


def _tell(
    context: Context, node: ast.expr, value: Amount, label: str, told: str, *, whole: bool, headed: bool = False
) -> None:
    context.emit(
        AmountTold(
            unit=value.unit,
            source=value.source,
            label=label,
            told=told,
            text=context.text(node),
            place=context.span(node),
            whole=whole,
            headed=headed,
            **event_fields(context, node),
        )
    )
