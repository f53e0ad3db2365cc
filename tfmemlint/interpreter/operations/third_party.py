"""Libraries that start TensorFlow's runtime, or configure it, when they are imported or called."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.starting import start_runtime
from tfmemlint.interpreter.state import ANY, Setting
from tfmemlint.interpreter.values import UNKNOWN, Const, Value
from tfmemlint.knowledge import libraries
from tfmemlint.knowledge.effects import Effect
from tfmemlint.knowledge.libraries import Doing

_STARTS = {Effect.LISTS: "listed", Effect.ALLOCATES: "allocator", Effect.STARTS: "context"}


def third_party_import(context: Context, name: str, node: ast.AST) -> None:
    """Import a module of another library, or something out of one."""
    if context.state is not None and name.partition(".")[0] in libraries.LIBRARIES:
        _apply_doing(context, libraries.imported(name, context.target), name, node)


def third_party_call(context: Context, name: str, node: ast.AST) -> None:
    """Call something of another library."""
    if context.state is not None and name.partition(".")[0] in libraries.LIBRARIES:
        _apply_doing(context, libraries.called(name, context.target), name, node)


def _apply_doing(context: Context, doing: Doing | None, name: str, node: ast.AST) -> None:
    if doing is None or doing.harmless:
        return
    if doing.eager_off:
        context.state = replace(context.here, eager=False)
    for variable, text in doing.environment.items():
        # One that was set before may stay as it was, or not.
        value: Value = UNKNOWN if text is None or variable in context.here.env else Const(text)
        context.state = replace(context.here, env={**context.here.env, variable: value})
        if variable == "CUDA_VISIBLE_DEVICES":
            context.state = replace(context.here, cuda_visible_devices=value)
    what = _STARTS.get(doing.effect) if doing.effect is not None else None
    started = what is not None and not (what == "context" and context.here.graph_mode)
    if doing.growth:
        # It is set as the library wants it; for which GPUs, only the library knows.
        context.state = replace(context.here, growth={**context.here.growth, ANY: Setting(UNKNOWN)})
    if started and what is not None:
        text = context.text(node.func) if isinstance(node, ast.Call) else context.text(node)
        start_runtime(context, node, what, name, text)
