"""Functions that nothing in a file calls: each is interpreted as an entry point of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tfmemlint.facts.misnamed_hooks import misnamed_hooks
from tfmemlint.facts.names import canonical, is_tensorflow
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Frame
from tfmemlint.interpreter.limits import MAX_ENTRIES
from tfmemlint.interpreter.operations.classes import class_member
from tfmemlint.interpreter.operations.contents import mark_escaped
from tfmemlint.interpreter.operations.exceptions import end_entry
from tfmemlint.interpreter.operations.function_bodies import is_graph_function, run_function
from tfmemlint.interpreter.operations.side_effects import is_side_effect_free
from tfmemlint.interpreter.state import Phase, State, Tri
from tfmemlint.interpreter.values import Cell, Function, Instance, Ref, Value
from tfmemlint.knowledge import names as inventory
from tfmemlint.model.patterns import late_pattern

_UNKNOWN_PHASES: dict[str, Any] = dict.fromkeys(("context", "allocator", "listed"), Phase(Tri.UNKNOWN))
"""The phases of the runtime for a function that may be called at any time."""
_CHAIN = late_pattern(r"(?<![\w.])([^\W\d]\w*)((?:\.[^\W\d]\w*)+)")
"""A dotted name: its first part, and the rest."""


def interpret_uncalled(context: Context) -> None:
    """Interpret the functions that nothing here calls, judged on what they do for sure, whatever came before."""
    if context.settling is not None and context.settling.settled:
        return
    base = context.import_state or context.state or State()
    # What was in force when the module itself started the runtime stays in force.
    fixed = base.context.has is Tri.YES
    before = replace(
        base,
        context=_earlier(base.context),
        allocator=_earlier(base.allocator),
        listed=_earlier(base.listed),
        growth=base.growth if fixed else {},
        limits=base.limits if fixed else {},
        visible=base.visible if fixed else None,
        threading=base.threading if fixed else {},
        entry_unknown=True,
        graphs=0,
        min_gpus=0,
        max_gpus=0 if base.max_gpus == 0 else None,
    )
    contents = {key: value for key, value in context.heap.items() if isinstance(key[0], Cell)}
    # Nobody calls these either.
    for hook in misnamed_hooks(context.main.tree, context.main.source.text):
        context.visited.update(map(id, (hook.function, *hook.alone)))
    for number, function in enumerate(_not_visited(context)):
        if number == MAX_ENTRIES:
            context.give_up(f"more than {MAX_ENTRIES} functions that nothing calls")
            return
        context.visited.add(id(function.node))
        if _is_left_out(context, function):
            continue
        state = before if id(function.node) not in context.named_before_start else replace(before, **_UNKNOWN_PHASES)
        context.state = replace(state, in_child_process=True) if id(function.node) in context.run_elsewhere else state
        context.guards, context.ways, context.uncertain, context.statement = (), (), 0, None
        context.frames, context.loops, context.handlers = [Frame("", context.main.scope, context.main.tree)], [], []
        context.unit, context.doubts, context.depth, context.caught = context.main, [], 0, []
        bound = _with_receiver(context, function)
        run_function(context, bound, [], {}, None, graph=is_graph_function(function))
        _mark_objects_kept(context, bound.bound)
        # What one of them puts into a list isn't there when another one is called.
        attributes = {key: value for key, value in context.heap.items() if not isinstance(key[0], Cell)}
        context.heap = {**attributes, **contents} if len(attributes) < len(context.heap) else context.heap
        context.statement = None
        end_entry(context, getattr(function.node, "name", "<lambda>"), function.node)


def _is_left_out(context: Context, function: Function) -> bool:
    """True if nothing in a function could be reported, and it takes no options that the module has made."""
    if context.modules is None:
        return _is_plain(context, function.node)
    taken = context.protos and _may_take_options(context, function.node)
    return not taken and is_side_effect_free(context, function)


def _may_take_options(context: Context, node: ast.AST) -> bool:
    """True if a function may give the options that the module has made to a session."""
    lines = context.main.source.lines[getattr(node, "lineno", 1) - 1 : getattr(node, "end_lineno", None)]
    return any("ession" in line or "config" in line for line in lines)


def _mark_objects_kept(context: Context, receiver: Value | None) -> None:
    """Mark what the objects have that a method keeps in its own: nobody in sight calls their methods."""
    if not context.protos or not isinstance(receiver, Instance):
        return
    for value in [value for (holder, _), value in context.heap.items() if holder is receiver]:
        if isinstance(value, Instance) and value is not receiver:
            mark_escaped(context, value)


def _not_visited(context: Context) -> Iterator[Function]:
    """Yield the functions that were not interpreted, also those that interpreting others defines."""
    while waiting := [key for key in context.functions if key not in context.visited]:
        for key in waiting:
            if key not in context.visited:
                yield context.functions[key]


def _is_plain(context: Context, node: ast.AST) -> bool:
    """True if nothing in a function could be reported.

    Then no word of interest is in it or in what it calls, and each name of TensorFlow's that it spells out exists. Most
    functions of most files are of that kind.
    """
    if isinstance(node, ast.Lambda) or not context.reach.is_inert(node):
        return False
    text = context.reach.text(node)
    if "import " in text or ".tf." in text or context.stars:
        return False
    for match in _CHAIN.finditer(text):
        root = context.module.names.get(match[1])
        if isinstance(root, Ref) and is_tensorflow(root.name):
            name = canonical(root.name + match[2])
            if not inventory.exists(name, context.target) and inventory.missing_part(name, context.target) is not None:
                return False
    return True


def _with_receiver(context: Context, function: Function) -> Function:
    """Bind a method to an object of its class, with the fields that ``__init__`` makes of unknown arguments."""
    owner = next(
        (cls for cls in context.classes if any(_is_function(value, function) for value in cls.members.values())), None
    )
    if owner is None or isinstance(function.node, ast.Lambda):
        return function
    kinds = {getattr(value, "name", "") for value in function.decorators}
    if "staticmethod" in kinds:
        return function
    receiver: Value = owner
    if "classmethod" not in kinds:
        found = context.instances.get(id(owner.node))
        if found is None:
            found = context.instances[id(owner.node)] = Instance(owner)
            init = class_member(context, owner, "__init__")
            if isinstance(init, Function) and init.node is not function.node:
                state = context.state
                context.visited.add(id(init.node))
                run_function(context, replace(init, bound=found), [], {}, None)
                context.state = state
        receiver = found
    return replace(function, bound=receiver)


def _earlier(phase: Phase) -> Phase:
    """Return what has started at the end of the module, for a function that may be called at another time."""
    return Phase(Tri.UNKNOWN) if phase.has is Tri.NO else phase


def _is_function(value: Value, function: Function) -> bool:
    return isinstance(value, Function) and value.node is function.node
