"""The measured effects of TensorFlow's calls on the runtime."""

from __future__ import annotations

import ast

from tfmemlint.facts.names import canonical
from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.starting import start_runtime
from tfmemlint.interpreter.values import Const, Made, Ref, Seq, Value
from tfmemlint.knowledge import effects
from tfmemlint.knowledge import names as inventory

_INPUTS = ("tf.keras.Input", "tf.keras.layers.Input", "tf.keras.layers.InputLayer")
_INPUT_SHAPES = ("input_shape", "input_dim", "batch_input_shape")
_VARIABLES = frozenset({"tf.Variable", "tf.compat.v1.Variable"})


def apply_effect(context: Context, name: str, node: ast.AST) -> None:
    """Apply the measured effect of a call."""
    if context.state is None:
        return
    graph = context.here.graph_mode
    effect = effects.effect(name, context.target, graph=graph or context.tracing > 0)
    if context.tracing and not graph and (name in _VARIABLES or name.endswith("().add_weight")):
        # Variables are lifted out of the graph in which a model's operations are recorded.
        effect = effects.Effect.STARTS
    elif context.tracing and not graph and name.endswith("()") and effects.has_weights(name[:-2], context.target):
        effect = effects.Effect.STARTS
    text = context.text(node.func) if isinstance(node, ast.Call) else name
    if effect is effects.Effect.STARTS:
        if context.here.eager is None:
            return
        if effects.takes_keras_tensors(name, context.target) and not _is_given_numbers(context, node):
            return
        start_runtime(context, node, "context", name, text)
    elif effect is effects.Effect.ALLOCATES:
        start_runtime(context, node, "allocator", name, text)
    elif effect is effects.Effect.LISTS:
        start_runtime(context, node, "listed", name, text)


def _is_given_numbers(context: Context, node: ast.AST) -> bool:
    """Return True if all arguments of a call are known to be numbers: none is a tensor of a model that is described."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    return all(
        _are_numbers(context.last_values.get(id(argument))) or _is_of_numpy(context, argument) for argument in node.args
    )


def _is_of_numpy(context: Context, node: ast.expr) -> bool:
    """Return True if an expression calls a function of NumPy: ``np.random.rand(3)``."""
    function = context.evaluate(node.func) if isinstance(node, ast.Call) and dotted(node.func) else None
    return isinstance(function, Ref) and function.name.startswith("numpy.")


def _are_numbers(value: Value | None) -> bool:
    if isinstance(value, Seq):
        return all(map(_are_numbers, value.items))
    return isinstance(value, Const) or (isinstance(value, (Made, Ref)) and value.name.startswith("numpy."))


def add_layer(context: Context, model: Made, layer: Value, node: ast.Call | ast.AST) -> None:
    """Add a layer to a ``Sequential``: it is built at once if the shape of the input is known."""
    if context.state is None or not isinstance(layer, Made):
        return
    made_by = context.made_by.get(layer.serial)
    keywords = {argument.keyword for argument in made_by.args} if made_by is not None else set()
    if layer.name in _INPUTS or keywords.intersection(_INPUT_SHAPES):
        context.shaped.add(model.serial)
    if (
        model.serial in context.shaped
        and not context.here.graph_mode
        and effects.has_weights(layer.name, context.target)
    ):
        start_runtime(
            context, node, "context", model.name, context.text(node.func) if isinstance(node, ast.Call) else model.name
        )


def call_result(context: Context, name: str, node: ast.AST) -> None:
    """Call the result of a call: a layer, for instance, which makes its variables then."""
    apply_effect(context, f"{name}()", node)


def tensorflow_has(context: Context, owner: str, name: str) -> bool | None:
    """Return whether ``hasattr(owner, name)`` holds for the targeted release; None if that isn't known."""
    full = canonical(f"{owner}.{name}")
    if inventory.exists(full, context.target):
        return True
    return False if inventory.is_namespace(owner, context.target) else None
