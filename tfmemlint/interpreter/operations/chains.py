"""Chains of attributes such as ``tf.config.experimental``."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import report_use
from tfmemlint.interpreter.values import Const, Made, Ref, Value

_VERSIONS = frozenset({"tf.__version__", "tf.version.VERSION", "tf.VERSION", "tf.compat.v1.VERSION"})


def attribute_chain(context: Context, node: ast.Attribute, *, called: bool) -> Value:
    """Evaluate ``a.b.c``; report the use of a TensorFlow name once, for the whole chain."""
    base = evaluate_base(context, node.value)
    value = context.attribute(base, node.attr, node)
    if isinstance(value, Ref) and isinstance(base, (Ref, Made)):
        report_use(context, node, value.name, called=called)
        if value.name in _VERSIONS:
            return Const(context.target.version)
    return value


def evaluate_base(context: Context, node: ast.expr) -> Value:
    """Evaluate the base of an attribute: inner links of a chain aren't uses of their own."""
    if not isinstance(node, ast.Attribute):
        return context.evaluate(node)
    context.step()
    value = context.attribute(evaluate_base(context, node.value), node.attr, node)
    return Const(context.target.version) if isinstance(value, Ref) and value.name in _VERSIONS else value
