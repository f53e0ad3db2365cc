"""Functions that run a program's ``main()``, and threads."""

from __future__ import annotations

from tfmemlint.facts.names import is_tensorflow
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.starting import start_runtime
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import UNKNOWN, Dict, Function, Ref, Seq, Thread, Value

_LISTED_BY_APP = (2, 6)
"""From this release on ``absl.app.run()`` lists the physical devices before it calls the program's ``main()``."""


def _has_imported_tensorflow(context: Context) -> bool:
    """True if the module has imported TensorFlow by now."""
    return any(isinstance(value, Ref) and is_tensorflow(value.name) for value in context.module.names.values())


def _new_thread(values: list[Value], keywords: dict[str, Value], position: int | None) -> Value:
    """Return a thread that has not been started."""
    listed = values[position] if position is not None and position < len(values) else UNKNOWN
    target = keywords.get("target", keywords.get("function", listed))
    args, kwargs = keywords.get("args"), keywords.get("kwargs")
    return Thread(
        target,
        args.items if isinstance(args, Seq) else (),
        {name: value for name, value in kwargs.items.items() if isinstance(name, str)}
        if isinstance(kwargs, Dict)
        else {},
    )


@builtin("absl.app.run", "tf.compat.v1.app.run", "tf.app.run")
def run_main(context: Context, call: Invocation) -> Value | None:
    name = call.name
    listing = name != "tf.app.run"  # tf.app.run left before that release
    release = (context.target.major, context.target.minor)
    if listing and release >= _LISTED_BY_APP and _has_imported_tensorflow(context):
        # TensorFlow has asked absl to call it back, and counts the GPUs then.
        start_runtime(context, call.node, "listed", name, name)
    target = call.values[0] if call.values else context.module.names.get("main", UNKNOWN)
    return context.call(target, [UNKNOWN], {}, call.node) if isinstance(target, Function) else UNKNOWN


@builtin("threading.Thread")
def thread(context: Context, call: Invocation) -> Value | None:
    return _new_thread(call.values, call.keywords, None)


@builtin("threading.Timer")
def timer(context: Context, call: Invocation) -> Value | None:
    return _new_thread(call.values, call.keywords, 1)
