"""The methods of Keras callbacks that ``fit``, ``evaluate`` and ``predict`` call."""

from __future__ import annotations

from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.classes import class_member, lineage
from tfmemlint.interpreter.registry import Invocation
from tfmemlint.interpreter.values import UNKNOWN, Function, Instance, Ref, Seq, Value

_OF_FIT = (
    ("on_train_begin", 1),
    ("on_epoch_begin", 2),
    ("on_train_batch_begin", 2),
    ("on_batch_begin", 2),
    ("on_train_batch_end", 2),
    ("on_batch_end", 2),
    ("on_epoch_end", 2),
    ("on_train_end", 1),
)
_OF_EVALUATE = (("on_test_begin", 1), ("on_test_batch_begin", 2), ("on_test_batch_end", 2), ("on_test_end", 1))
_OF_PREDICT = (
    ("on_predict_begin", 1),
    ("on_predict_batch_begin", 2),
    ("on_predict_batch_end", 2),
    ("on_predict_end", 1),
)
_METHODS = {"fit": _OF_FIT, "fit_generator": _OF_FIT, "evaluate": _OF_EVALUATE, "predict": _OF_PREDICT}
"""The methods that are called, in this order, each with the number of its arguments. Seen on TensorFlow 2.21
(Keras 3.15): the runtime has been started by `compile` or `fit` when the first of them is called."""
_PLACES = {"fit": 5, "fit_generator": 4, "evaluate": 6, "predict": 4}
"""The place of ``callbacks`` among the arguments, where it has no keyword."""


def run_callbacks(context: Context, call: Invocation) -> None:
    """Call what a training, an evaluation or a prediction calls of the callbacks that it is given."""
    method = call.name.rpartition(".")[2]
    methods = _METHODS.get(method)
    if methods is None or context.state is None:
        return
    given = context.current(call.argument(_PLACES[method], "callbacks") or UNKNOWN)
    callbacks = [item for item in _items(given) if isinstance(item, Instance) and _is_callback(context, item)]
    for name, count in methods if callbacks else ():
        for callback in callbacks:
            found = class_member(context, callback.cls, name)
            if isinstance(found, Function) and context.state is not None:
                context.call(replace(found, bound=callback), [UNKNOWN] * count, {}, call.node)


def _items(given: Value) -> tuple[Value, ...]:
    return given.items if isinstance(given, Seq) else (given,)


def _is_callback(context: Context, value: Instance) -> bool:
    names = (base.name for base in lineage(context, value.cls) if isinstance(base, Ref))
    return any(name.endswith("callbacks.Callback") for name in names)
