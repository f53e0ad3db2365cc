"""Keras's ``Sequential``, and what runs a program's ``main()``."""

from __future__ import annotations

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.call_effects import add_layer, apply_effect
from tfmemlint.interpreter.operations.contents import mark_escaped
from tfmemlint.interpreter.operations.named_calls import call_builtin
from tfmemlint.interpreter.registry import Invocation, models
from tfmemlint.interpreter.values import UNKNOWN, Seq, Value
from tfmemlint.knowledge.functions import SEQUENTIAL


@models(*SEQUENTIAL)
def sequential(context: Context, call: Invocation) -> Value:
    for value in call.all_values:
        mark_escaped(context, value)
    apply_effect(context, call.name, call.node)
    layers = call.values[0] if call.values else UNKNOWN
    for layer in layers.items if isinstance(layers, Seq) else ():
        add_layer(context, call.result, layer, call.node)
    return call.result


@models("tf.app.run", "tf.compat.v1.app.run")
def run_app(context: Context, call: Invocation) -> Value:
    for value in call.all_values:
        mark_escaped(context, value)
    apply_effect(context, call.name, call.node)
    call_builtin(context, call)
    return call.result
