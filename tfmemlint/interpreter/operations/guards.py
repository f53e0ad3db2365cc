"""Guards: names of the conditions that hold at a point of a program."""

from __future__ import annotations

import ast

from tfmemlint.facts.shapes import TestFacts
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.state import Guards
from tfmemlint.interpreter.values import Count, Devices, Module

_ALIKE = frozenset({"bool", "hasattr", "isinstance"})
_READS_ENVIRONMENT = frozenset({"os.environ.get", "environ.get", "os.getenv", "getenv"})


def guards_of(context: Context, test: ast.expr, outcome: bool) -> Guards:
    """Return the guards that hold where ``test`` came out as ``outcome``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return guards_of(context, test.operand, not outcome)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is outcome:
        return tuple(guard for part in test.values for guard in guards_of(context, part, outcome))
    facts = context.unit.shapes.test(test)
    return ((_guard_name(context, facts), outcome is facts.positive),)


def _guard_name(context: Context, facts: TestFacts) -> str:
    if facts.changes or (facts.calls and not _comes_out_alike(context, facts)):
        return f"{facts.text} @{context.next_serial()}"
    versions = []
    for name in facts.names:
        value = context.scope.lookup(name)
        if isinstance(value, Module):
            # The same module, from wherever it is asked.
            versions.append(f"{name}={value.name}")
            continue
        number = context.scope.owner(name).number
        times = context.rebindings.get((number, name), 0)
        if number or times > 1:
            versions.append(f"{name}@{number}#{times}")
    for name in facts.attributes:
        if name in context.attributes_set:
            versions.append(f".{name}#{context.attributes_set[name]}")
    return " ".join([facts.text, *versions]) if versions else facts.text


def _comes_out_alike(context: Context, facts: TestFacts) -> bool:
    """True if all calls in a test give the same answer throughout a run, as long as its names stay."""
    for asked in facts.calls:
        if asked.function in _READS_ENVIRONMENT and isinstance(asked.first, ast.Constant):
            # Until the program itself sets it.
            if context.state is not None and asked.first.value in context.state.env:
                return False
        elif asked.function == "len" and asked.first is not None:
            if asked.written != "sys.argv" and not isinstance(context.last_values.get(id(asked.call)), Count):
                return False
        elif asked.function not in _ALIKE and not isinstance(context.last_values.get(id(asked.call)), Devices):
            return False
    return True
