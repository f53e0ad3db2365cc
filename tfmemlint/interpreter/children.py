"""Functions that a new process runs: what such a process has of this one depends on how it is started.

Measured with TensorFlow 2.21 on Linux: a process that is spawned imports the program's main module again, without what
stands under ``if __name__ == "__main__"``, and has nothing else of its parent but the environment; one that is forked
has all that its parent had, a runtime that has started included. Linux, where the GPUs are, forks by default before
Python 3.14.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import DEFAULT_METHOD, Child, Frame
from tfmemlint.interpreter.operations.exceptions import end_entry
from tfmemlint.interpreter.operations.function_bodies import function_name, is_graph_function, run_function
from tfmemlint.interpreter.program import Call, ChildStarts, Event, RuntimeStart
from tfmemlint.interpreter.state import State, Tri
from tfmemlint.interpreter.values import Const, Function, ModuleInstance
from tfmemlint.knowledge.functions import GROWTH_VARIABLE

_MOST = 16
"""Processes beyond which no more are looked at."""


def interpret_children(context: Context) -> None:
    """Interpret the functions that new processes run, each with what its process has of this one."""
    seen: set[tuple[int, str]] = set()
    for child in [*context.children.noted][:_MOST]:
        key = id(child.function.node), child.method
        state = _state_of(context, child)
        if key in seen or state is None:
            continue
        seen.add(key)
        _interpret(context, child, state)


def _state_of(context: Context, child: Child) -> State | None:
    """Return the state in which a new process runs its function; None if that is not known."""
    parent: State = child.fields["state"]
    if parent.entry_unknown or parent.in_child_process:
        return None
    started = Tri.YES in (parent.context.has, parent.allocator.has)
    if child.method == "fork" or (child.method == DEFAULT_METHOD and started):
        return replace(parent, in_child_process=True, forked=(child.fields["path"], child.made))
    if child.method == "loky":
        # What is imported, not the program's own modules, is imported there.
        return State(env=parent.env, cuda_visible_devices=parent.cuda_visible_devices, in_child_process=True)
    before = context.import_state
    if before is None or child.method not in ("spawn", "forkserver"):
        return None
    shown = parent.env.get("CUDA_VISIBLE_DEVICES", before.cuda_visible_devices)
    return replace(before, env=parent.env, cuda_visible_devices=shown, in_child_process=True)


def _interpret(context: Context, child: Child, state: State) -> None:
    number, heap = len(context.events), context.heap
    context.state = state
    context.guards, context.ways, context.uncertain, context.statement = (), (), 0, None
    context.frames, context.loops, context.handlers = [Frame("", context.main.scope, context.main.tree)], [], []
    context.unit, context.doubts, context.depth, context.caught = context.main, [], 0, []
    # Another system, or a later Python, does not fork by default.
    context.uncertain = int(child.method == DEFAULT_METHOD)
    if isinstance(child.initializer, Function):
        context.visited.add(id(child.initializer.node))
        run_function(context, child.initializer, [], {}, None)
    if context.state is not None:
        context.visited.add(id(child.function.node))
        graph = is_graph_function(child.function)
        run_function(context, child.function, child.args, {}, None, graph=graph)
    if context.state is not None:
        context.unit = _unit_of(context, child)
        end_entry(context, function_name(child.function.node), child.function.node)
    context.unit, context.heap, context.statement, context.uncertain = context.main, heap, None, 0
    known = child.initializer is None or isinstance(child.initializer, Function)
    if child.method not in ("fork", DEFAULT_METHOD) and known:
        _report_unconfigured(context, child, context.events[number:])


def _unit_of(context: Context, child: Child) -> ModuleInstance:
    """Return the module that defines the function of a new process."""
    return child.function.scope.module.unit or context.main


def _report_unconfigured(context: Context, child: Child, events: Sequence[Event]) -> None:
    """Report a new process that takes GPU memory as if its parent had configured nothing."""
    parent: State = child.fields["state"]
    settings = [*parent.growth.values(), *parent.limits.values()]
    calls = [each.by for each in settings if each.by is not None and each.value != Const(False)]
    start = next(
        (each for each in events if isinstance(each, RuntimeStart) and each.what in ("context", "allocator")), None
    )
    if not calls or start is None or not start.first or start.state.max_gpus == 0 or GROWTH_VARIABLE in parent.env:
        return
    here = start.state
    if here.growth or here.limits or here.visible is not None or GROWTH_VARIABLE in here.env or here.graph_mode:
        return
    if any(isinstance(each, Call) and each.name.startswith("tf.config.") and each.effect for each in events):
        # It configures, and something is wrong with that: another rule says what.
        return
    node = child.function.node
    here_defined = id(node) in context.functions and _unit_of(context, child) is context.main
    context.emit(
        ChildStarts(
            text=function_name(node),
            start=start,
            settings=tuple(dict.fromkeys(calls)),
            made=child.made,
            own=context.span(node) if here_defined else None,
            **child.fields,
        )
    )
