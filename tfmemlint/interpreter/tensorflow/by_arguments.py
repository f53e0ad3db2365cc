"""Functions of TensorFlow whose effect depends on what they are given; measured on 2.9, 2.15 and 2.21."""

from __future__ import annotations

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.contents import mark_escaped
from tfmemlint.interpreter.registry import Invocation, models
from tfmemlint.interpreter.values import Value

_NAMES = "Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Lion Nadam RMSprop SGD"
_OPTIMIZERS = tuple(f"tf.keras.optimizers.{name}" for name in _NAMES.split())


@models(*_OPTIMIZERS)
def optimizer(context: Context, call: Invocation) -> Value | None:
    """Keras 3 refuses ``lr`` before it makes a variable: ``ValueError: Argument(s) not recognized: {'lr': 0.1}``."""
    return call.result if "lr" in call.keywords and context.target.keras3 else None


@models("tf.keras.utils.normalize")
def normalize(context: Context, call: Invocation) -> Value | None:
    """Arrays are normalized by NumPy; a tensor has started the runtime before it comes here."""
    for value in call.all_values:
        mark_escaped(context, value)
    return call.result
