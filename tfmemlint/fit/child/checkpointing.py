"""Compute the layers of Keras 3's functional models again for their gradients, by `tf.recompute_grad`.

The layers are divided into segments, about as many as the square root of their number (Chen et al., "Training Deep Nets
with Sublinear Memory Cost", 2016). What passes from one segment to the next is kept; what a segment makes inside is
computed again. A segment ends where few bytes pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tfmemlint.verify.child.recording import module

MIN_NODES = 4
"""The number of layers below which a model is left alone: there is nothing to gain."""


def checkpoint(function: Any, act: Callable[[], Any]) -> None:
    """Change Keras' class of graphs of layers; ``act`` is called where a model is divided."""
    real = function.Function._run_through_graph
    tensorflow = module("tensorflow")
    inside = False

    def run(own: Any, inputs: Any, operation_fn: Any = None, call_fn: Any = None) -> Any:
        nonlocal inside
        nodes = [] if inside or tensorflow.executing_eagerly() else _nodes(own)
        values = function.tree.flatten(inputs)
        options = {} if operation_fn is None else {"operation_fn": operation_fn}
        if len(nodes) < MIN_NODES or call_fn is not None or not all(map(tensorflow.is_tensor, values)):
            return real(own, inputs, **options, **({} if call_fn is None else {"call_fn": call_fn}))
        inside = True
        try:
            act()
            return _run_in_segments(own, nodes, values, operation_fn or (lambda operation: operation), function.tree)
        finally:
            inside = False

    function.Function._run_through_graph = run


def _nodes(own: Any) -> list[Any]:
    """Return the calls of layers in their order; none if some can't be made from the inputs alone."""
    ready = {id(tensor) for tensor in own.inputs}
    found = []
    for depth in sorted(own._nodes_by_depth, reverse=True):
        for node in own._nodes_by_depth[depth]:
            if not node.operation or node.is_input:
                continue
            if any(id(tensor) not in ready for tensor in node.input_tensors):
                return []
            ready.update(id(tensor) for tensor in node.outputs)
            found.append(node)
    return found


def _run_in_segments(
    own: Any, nodes: Sequence[Any], values: Sequence[Any], operation_fn: Callable[[Any], Any], tree: Any
) -> Any:
    known = {id(tensor): value for tensor, value in zip(own.inputs, values, strict=True)}
    passing = _passing(own, nodes)
    begin = 0
    for end in _ends(passing):
        names = list(passing[begin - 1]) if begin else [id(tensor) for tensor in own.inputs]
        wanted = list(passing[end - 1])
        segment = _segment(own, nodes[begin:end], names, wanted, operation_fn, tree)
        given = [known[name] for name in names]
        # The last segment's gradients come first: to compute it again would save nothing.
        made = segment(*given) if end == len(nodes) else module("tensorflow").recompute_grad(segment)(*given)
        known.update(zip(wanted, made, strict=True))
        begin = end
    return tree.pack_sequence_as(own._outputs_struct, [known[id(tensor)] for tensor in own.outputs])


def _segment(
    own: Any,
    nodes: Sequence[Any],
    names: Sequence[int],
    wanted: Sequence[int],
    operation_fn: Callable[[Any], Any],
    tree: Any,
) -> Callable[..., list[Any]]:
    """Return a function that makes the calls ``nodes``, from the tensors ``names`` to the tensors ``wanted``."""
    find = getattr(own, "_get_operation_for_node", lambda node: node.operation)

    def run(*values: Any) -> list[Any]:
        known = dict(zip(names, values, strict=True))
        for node in nodes:
            args, kwargs = node.arguments.fill_in(known)
            made = operation_fn(find(node))(*args, **kwargs)
            known.update((id(tensor), value) for tensor, value in zip(node.outputs, tree.flatten(made), strict=True))
        return [known[name] for name in wanted]

    return run


def _passing(own: Any, nodes: Sequence[Any]) -> list[dict[int, int]]:
    """Return for each call the tensors that are still needed after it, by id, with their sizes."""
    needed = {id(tensor): _size(tensor) for tensor in own.outputs}
    found: list[dict[int, int]] = []
    for node in reversed(nodes):
        found.append(dict(needed))
        for tensor in node.outputs:
            needed.pop(id(tensor), None)
        needed.update({id(tensor): _size(tensor) for tensor in node.input_tensors})
    return found[::-1]


def _size(tensor: Any) -> int:
    """Return the elements of a tensor for one example."""
    return math.prod(size for size in tensor.shape[1:] if size is not None)


def _ends(passing: Sequence[dict[int, int]]) -> list[int]:
    """Return the places where segments end, each where the least passes among the places near an even division."""
    number = len(passing)
    length = max(round(math.sqrt(number)), 1)
    ends = []
    at = 0
    while number - at > length * 3 // 2:
        nearby = range(at + max(length // 2, 1), min(at + length * 3 // 2, number - 1) + 1)
        at = min(nearby, key=lambda place: (sum(passing[place - 1].values()), abs(place - at - length)))
        ends.append(at)
    return [*ends, number]
