"""Tests of a device's name or type that all devices pass, or none: ``device.device_type == "gpu"``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Hashable, Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import DeviceTest
from tfmemlint.interpreter.values import Const, Device, DeviceName, Dict, Seq, Value
from tfmemlint.knowledge.device_names import BEGINNINGS

_NUMBERS = range(16)
_XLA_GPU = "XLA_GPU"
"""The type of the devices that XLA had beside those of the GPUs in older releases."""
_TESTS: dict[str, Callable[[str], Callable[[str], bool]]] = {
    "is": lambda text: lambda name: name == text,
    "contains": lambda text: lambda name: text in name,
    "starts": lambda text: lambda name: name.startswith(text),
    "ends": lambda text: lambda name: name.endswith(text),
}
_NAMES_ONE = re.compile(r"(?:/?(?:physical_)?device:|/)?gpu:\d", re.IGNORECASE)
_MEANS_GPU = re.compile(r"gpu|cuda", re.IGNORECASE)


def report_compared(context: Context, node: ast.Compare, left: Value, right: Value) -> Value | None:
    """Report a comparison that no device passes, and was meant to pick some; return how one comes out for all."""
    if len(node.ops) != 1:
        return None
    negated = isinstance(node.ops[0], (ast.NotEq, ast.NotIn))
    if _is_never_true(context, node, left, right):
        return Const(negated)
    match left, right:
        case [Const(str() as text), DeviceName() as name] if isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return Const(not negated) if passes_always(name, "contains", text) else None
        case _:
            return None


def _is_never_true(context: Context, node: ast.Compare, left: Value, right: Value) -> bool:
    op, other = node.ops[0], node.comparators[0]
    match left, right:
        case [DeviceName() as name, Const(str() as text)] if isinstance(op, (ast.Eq, ast.NotEq)):
            return report_test(context, node, name, "is", text, other)
        case [Const(str() as text), DeviceName() as name] if isinstance(op, (ast.Eq, ast.NotEq)):
            return report_test(context, node, name, "is", text, node.left)
        case [Const(str() as text), DeviceName() as name] if isinstance(op, (ast.In, ast.NotIn)):
            return report_test(context, node, name, "contains", text, node.left)
        case [DeviceName() as name, Dict(open=False, items=items)] if isinstance(op, (ast.In, ast.NotIn)):
            return report_looked_up(context, node, name, "key", tuple(items))
        case [DeviceName() as name, Seq(items)] if isinstance(op, (ast.In, ast.NotIn)):
            texts = [item.value if isinstance(item, Const) else None for item in items]
            return report_looked_up(context, node, name, "item", texts)
        case _ if isinstance(op, (ast.Eq, ast.NotEq)):
            return _is_of_no_type(context, node, node.left, right, other) or _is_of_no_type(
                context, node, other, left, node.left
            )
        case _:
            return False


def _is_of_no_type(context: Context, node: ast.Compare, tested: ast.expr, text: Value, given: ast.expr) -> bool:
    """Report a comparison of a device's type with a text that is a type in upper case only; return whether it is."""
    device = _device_of_type(context, tested)
    if device is None or not isinstance(text, Const) or text.value not in ("gpu", "Gpu", "cpu", "Cpu"):
        return False
    _report(context, node, device, "device_type", "is", text.value, given)
    return True


def report_test(context: Context, node: ast.expr, name: DeviceName, how: str, text: str, given: ast.expr) -> bool:
    """Report a test of a name if no device of its kind passes it, and return whether that is so.

    ``how``: is, contains, starts or ends.
    """
    if not _MEANS_GPU.search(text):
        return False
    start = BEGINNINGS.get(name.device.kind, "")
    names = _names(start, name.device.type or "GPU", _XLA_GPU)
    # A name in a cluster begins with the job; numbers may be larger than those that are tried.
    if start and not any(map(_TESTS[how](text), names)) and "/job:" not in text and not re.search(r"\d\d", text):
        _report(context, node, name.device, "name", how, text, given)
        return True
    return False


def report_looked_up(context: Context, node: ast.AST, name: DeviceName, how: str, keys: Sequence[Hashable]) -> bool:
    """Report the name of a device that is looked up among other names, if no device has one of these; return whether
    that is so.

    ``how``: key (of a dictionary), value (the value of a key is asked for), found (a missing key raises) or item.
    """
    start, type_ = BEGINNINGS.get(name.device.kind, ""), name.device.type
    texts = [key for key in keys if isinstance(key, str)]
    if not start or type_ != "GPU" or not texts or len(texts) < len(keys) or not isinstance(node, ast.expr):
        return False
    if not all(map(_NAMES_ONE.fullmatch, texts)) or not set(texts).isdisjoint(_names(start, type_)):
        return False
    if isinstance(node, ast.Call) and not all(isinstance(each, (ast.Constant, ast.Name)) for each in node.args[1:]):
        # What is taken by default may look for another name.
        return False
    _report(context, node, name.device, "name", how, texts[0], node, tuple(texts))
    return True


def passes_always(name: DeviceName, how: str, text: str) -> bool:
    """Return True if every device of a name's kind and type passes a test, whatever its number: ``"GPU" in name``."""
    start, type_ = BEGINNINGS.get(name.device.kind, ""), name.device.type
    return bool(start and type_) and all(map(_TESTS[how](text), _names(start, str(type_))))


def _names(start: str, *types: str) -> list[str]:
    return [f"{start}{type_}:{number}" for type_ in types for number in _NUMBERS]


def report_called(context: Context, node: ast.AST, name: DeviceName, how: str, text: str) -> bool:
    """Report such a test by a method, ``name.startswith(text)``, and return whether no device passes it."""
    return isinstance(node, ast.Call) and report_test(context, node, name, how, text, node.args[0])


def _report(
    context: Context,
    node: ast.expr,
    device: Device,
    attribute: str,
    how: str,
    text: str,
    given: ast.expr,
    keys: tuple[str, ...] = (),
) -> None:
    if context.state is None or _is_one_of_several(context.statement, node):
        return
    context.emit(
        DeviceTest(
            device=device,
            attribute=attribute,
            how=how,
            given=text,
            text=context.text(node),
            literal=context.span(given) if isinstance(given, ast.Constant) else None,
            keys=keys,
            **event_fields(context, node),
        )
    )


def _device_of_type(context: Context, node: ast.expr) -> Device | None:
    """Return the device whose ``device_type`` an expression is; None if it is something else."""
    if not isinstance(node, ast.Attribute) or node.attr != "device_type":
        return None
    value = context.last_values.get(id(node.value))
    return value if isinstance(value, Device) else None


def _is_one_of_several(statement: ast.AST | None, node: ast.expr) -> bool:
    """Return True if a test is a part of an ``or``: another part may find what it does not."""
    if statement is None:
        return False
    return any(
        isinstance(whole, ast.BoolOp) and isinstance(whole.op, ast.Or) and any(part is node for part in ast.walk(whole))
        for whole in ast.walk(statement)
    )
