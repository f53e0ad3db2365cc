"""Comprehensions and generator expressions."""

from __future__ import annotations

import ast
import re

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.conditions import decide
from tfmemlint.interpreter.operations.config_files import listed
from tfmemlint.interpreter.operations.contents import new_container
from tfmemlint.interpreter.operations.generators import piece_run_later, yield_value
from tfmemlint.interpreter.operations.guards import guards_of
from tfmemlint.interpreter.operations.iteration import iterate
from tfmemlint.interpreter.operations.paths import doubtful, merge, snapshot
from tfmemlint.interpreter.operations.protocols import tested
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.state import Guards
from tfmemlint.interpreter.values import (
    NO_KEY,
    UNKNOWN,
    Amount,
    Device,
    DeviceName,
    Devices,
    Dict,
    Function,
    Seq,
    Value,
    key_of,
)


@visits(ast.ListComp)
def visit_list_comp(context: Context, node: ast.ListComp) -> Value:
    return _comprehension(context, node, node.elt)


@visits(ast.SetComp)
def visit_set_comp(context: Context, node: ast.SetComp) -> Value:
    return _comprehension(context, node, node.elt)


@visits(ast.DictComp)
def visit_dict_comp(context: Context, node: ast.DictComp) -> Value:
    return _comprehension(context, node, node.key, node.value)


def _comprehension(
    context: Context, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, *elements: ast.expr
) -> Value:
    values: list[Value] = []
    generators = node.generators
    filters = False

    def level(depth: int) -> None:
        if depth == len(generators):
            row = [context.evaluate(element) for element in elements]
            values.append(row[-1] if len(row) == 1 else Seq(tuple(row), "pair"))
            if isinstance(node, ast.GeneratorExp):
                yield_value(context, values[-1])
            return
        generator = generators[depth]
        iterable = context.evaluate(generator.iter)

        def body() -> None:
            nonlocal filters
            before = snapshot(context)
            guards: Guards = ()
            doubt = False
            for test in generator.ifs:
                verdict = decide(context, test, tested(context, context.evaluate(test), test))
                filters = filters or verdict.truth is not True or verdict.assumed
                if verdict.truth is False and not verdict.assumed:
                    return
                doubt = doubt or verdict.truth is None
                guards = (*guards, *guards_of(context, test, True))
            with doubtful(context, guards, doubt=doubt):
                level(depth + 1)
            if doubt:
                merge(context, before)

        rebound = context.bound_names([generator.target])
        iterate(context, node, iterable, lambda value: context.assign(generator.target, value), body, rebound)

    saved = {
        name: context.scope.names.get(name)
        for generator in generators
        for name in context.bound_names([generator.target])
    }
    level(0)
    for name, value in saved.items():
        if value is None:
            context.scope.names.pop(name, None)
        else:
            context.scope.names[name] = value
    return _comprehended(context, node, values, filters=filters)


def _comprehended(
    context: Context,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    values: list[Value],
    *,
    filters: bool,
) -> Value:
    """Return the value of a comprehension; a list of devices, filtered or renamed, is still a list of devices.

    ``filters``: a test of it may leave something out.
    """
    filtered = any(generator.ifs for generator in node.generators)
    last = values[-1] if values else UNKNOWN
    device = last.device if isinstance(last, DeviceName) else last
    if isinstance(device, Device) and device.loop:
        type_, all_of_type = _filtered_type(node, device.type)
        whole = not filters or (device.type is None and all_of_type)
        return Devices(device.kind, type_, whole, names=isinstance(last, DeviceName))
    source = listed(context.last_values.get(id(node.generators[0].iter), UNKNOWN))
    if isinstance(source, Devices) and filtered and not values and isinstance(node, ast.ListComp):
        # No device passes the filter.
        return new_container(context, Seq((), "list"))
    if isinstance(node, ast.DictComp):
        count = len(source.items) if isinstance(source, (Seq, Dict)) else -1
        keys = [key_of(pair.items[0]) for pair in values if isinstance(pair, Seq)]
        if filtered or len(node.generators) > 1 or len(values) != count or NO_KEY in keys:
            return UNKNOWN
        found = {key: pair.items[1] for key, pair in zip(keys, values, strict=True) if isinstance(pair, Seq)}
        return new_container(context, Dict(found))
    if isinstance(source, Seq) and not filtered and len(node.generators) == 1 and len(values) == len(source.items):
        return new_container(context, Seq(tuple(values), "list"))
    if isinstance(node, ast.ListComp) and isinstance(source, Amount) and isinstance(last, Amount):
        kind = {"str": "list", "number": "numbers"}.get(last.type) if source.type == "list" else None
        return Amount(kind, last.unit, last.source) if kind is not None else UNKNOWN
    return UNKNOWN


def _filtered_type(node: ast.expr, type_: str | None) -> tuple[str | None, bool]:
    """Return the type of device that a filter such as ``if d.device_type == 'GPU'`` leaves, and whether all of it."""
    if type_ is None:
        texts = [
            child.value.upper()
            for generator in getattr(node, "generators", ())
            for test in generator.ifs
            for child in ast.walk(test)
            if isinstance(child, ast.Constant) and isinstance(child.value, str)
        ]
        for known in ("GPU", "CPU"):
            if any(known in text for text in texts):
                return known, not any(re.search(rf"{known}:\d", text) for text in texts)
    return type_, False


@visits(ast.GeneratorExp)
def visit_generator_exp(context: Context, node: ast.GeneratorExp) -> Value:
    each = Function(ast.Lambda(ast.arguments([], [], None, [], [], None, []), node.elt), context.scope)
    return piece_run_later(context, node, lambda: _comprehension(context, node, node.elt), each)
