"""Names, constants, f-strings and lambdas."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence

from tfmemlint.facts import folding
from tfmemlint.facts.names import canonical
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts_told import is_memory, told_in_f_string
from tfmemlint.interpreter.operations.config_files import text_of_list
from tfmemlint.interpreter.operations.function_bodies import evaluate_defaults
from tfmemlint.interpreter.operations.numbers_in_loops import as_index
from tfmemlint.interpreter.operations.options import formatted_option
from tfmemlint.interpreter.operations.protocols import call_all, is_own
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Amount,
    Const,
    FilePath,
    Function,
    Index,
    Made,
    NumberedName,
    Ref,
    Value,
)
from tfmemlint.knowledge import names as inventory
from tfmemlint.knowledge.data_model import ASKED
from tfmemlint.knowledge.device_names import logical_gpu
from tfmemlint.knowledge.functions import RANKS


@visits(ast.Constant)
def visit_constant(context: Context, node: ast.Constant) -> Value:
    return UNKNOWN if type(node.value) is int and folding.is_large(node.value) else Const(node.value)


@visits(ast.Name)
def visit_name(context: Context, node: ast.Name) -> Value:
    found = context.frames[-1].scope.lookup(node.id)
    if found is not None:
        if isinstance(found, Function) and context.here.context.has is not Tri.YES:
            context.named_before_start.add(id(found.node))
        return found
    if node.id == "__name__":
        return Const(context.unit.name)
    if node.id == "__package__":
        return Const(context.unit.package or "")
    if node.id == "__file__" and context.source.path.endswith((".py", ".pyw")):
        return FilePath(os.path.abspath(context.source.path), anchored=True)
    for module in context.stars:
        name = f"{module}.{node.id}"
        if inventory.ever_existed(name):
            return Ref(canonical(name))
    # A name that nothing binds: a built-in, or `tf` in a snippet without its import.
    return Ref(node.id)


@visits(ast.JoinedStr)
def visit_joined_str(context: Context, node: ast.JoinedStr) -> Value:
    parts: list[str] | None = []
    anchored = False
    value: Value = UNKNOWN
    values: list[Value] = []
    for part in node.values:
        value = context.evaluate(part.value if isinstance(part, ast.FormattedValue) else part)
        values.append(value)
        if isinstance(part, ast.FormattedValue) and is_own(value):
            _formatted(context, part, value)
        plain = not (isinstance(part, ast.FormattedValue) and (part.format_spec or part.conversion != -1))
        if parts is not None and plain and isinstance(value, Const):
            parts.append(str(value.value))
        elif parts == [] and plain and isinstance(value, FilePath):
            parts.append(value.path)
            anchored = value.anchored
        else:
            parts = None
    if any(map(is_memory, values)):
        told_in_f_string(context, node, values)
    if isinstance(value, Made) and value.name in RANKS and len(node.values) == 1:
        # The text of a number.
        return value
    counted = as_index(value)
    if parts is None and counted is not None:
        return _numbered_name(context, node, counted)
    if len(values) == 1 and (listed := text_of_list(value)) is not None and _is_plain(node.values[0]):
        return listed
    if parts is None and (option := formatted_option(node, values)) is not None:
        return option
    if parts is None:
        return Amount("str", source="an f-string", default=_device_by_default(node, values))
    if sum(map(len, parts)) > folding.MAX_LENGTH:
        return UNKNOWN
    return FilePath("".join(parts), anchored) if anchored else Const("".join(parts))


def _is_plain(part: ast.expr) -> bool:
    return isinstance(part, ast.FormattedValue) and part.format_spec is None and part.conversion == -1


def _device_by_default(node: ast.JoinedStr, values: Sequence[Value]) -> str | None:
    """Return the name of a device that an f-string is by default: ``f"/GPU:{args.gpu}"``; None for any other text."""
    texts = []
    for part, value in zip(node.values, values, strict=True):
        known = value.value if isinstance(value, Const) else value.default if isinstance(value, Amount) else None
        formatted = isinstance(part, ast.FormattedValue) and (part.format_spec or part.conversion != -1)
        if formatted or known is None or isinstance(known, bool):
            return None
        texts.append(str(known))
    name = "".join(texts)
    return name if logical_gpu(name) is not None else None


def _numbered_name(context: Context, node: ast.JoinedStr, index: Index) -> Value:
    """Return the value of an f-string that ends in the number of a device, as far as that is all there is in it."""
    *before, last = node.values
    plain = isinstance(last, ast.FormattedValue) and last.format_spec is None and last.conversion == -1
    texts = [part.value for part in before if isinstance(part, ast.Constant)]
    if not plain or len(texts) != len(before):
        return Amount("str", source="an f-string")
    return NumberedName("".join(map(str, texts)), index)


def _formatted(context: Context, part: ast.FormattedValue, value: Value) -> None:
    """Put an object into an f-string: its class says how, and ``!r`` or ``!s`` whom to ask."""
    asked = {ord("r"): "repr", ord("a"): "repr", ord("s"): "str"}.get(part.conversion, "format")
    call_all(context, [value], ASKED[asked], part)


@visits(ast.Lambda)
def visit_lambda(context: Context, node: ast.Lambda) -> Value:
    evaluate_defaults(context, node.args)
    function = Function(node, context.scope)
    if context.unit is context.main:
        context.functions.setdefault(id(node), function)
    return function
