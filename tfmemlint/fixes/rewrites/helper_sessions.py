"""Let a session that only helps another one make no GPU devices."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import walk

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.model.finding import Finding

_GRAPH_OR_TARGET = frozenset({"graph", "target"})
_NEEDS_MORE = frozenset(
    {"device", "import_meta_graph", "import_graph_def", "minimize", "apply_gradients", "gradients", "compute_gradients"}
)
"""Methods and functions that place operations on a GPU, bring operations from elsewhere, or train."""
_LAYERS = ("conv", "pool", "norm", "rnn", "nccl")
"""Parts of the names of operations that are slow on a CPU, or that it does not have for channels in front."""


def hide_gpus(editor: Editor, finding: Finding) -> bool:
    """Give the first session options that make no GPU devices, if it has none and only its own small graph needs it;
    False if that isn't plain to see.

    The options of the later session hold then, whatever they are: its devices are the first of the process.
    """
    call = editor.expression_at(finding.anchors["first"])
    if not isinstance(call, cst.Call) or editor.code(call.func).rpartition(".")[2] != "Session":
        return False
    if any(each.star or each.keyword is None or each.keyword.value not in _GRAPH_OR_TARGET for each in call.args):
        return False
    block = next((each for each in editor.ancestors(call) if isinstance(each, cst.With) and _has_graph(each)), None)
    if block is None or not all(_is_harmless(part) for part in walk(block) if isinstance(part, cst.Call)):
        return False
    owner = editor.code(call.func).removesuffix("Session")
    proto = f"{owner}ConfigProto" if owner else editor.tf("tf.compat.v1.ConfigProto", call)
    arguments = [editor.code(each.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for each in call.args]
    count = f"device_count={{{editor.quoted('GPU')}: 0}}"
    editor.replace_args(call, *arguments, f"config={proto}({count})")
    editor.unsafe("Hide the GPUs from the first session, which only has a graph of its own")
    return True


def _has_graph(block: cst.With) -> bool:
    """True for ``with tf.Graph().as_default()``: nothing else puts operations into that graph."""
    return any(
        isinstance(item.item, cst.Call)
        and isinstance(item.item.func, cst.Attribute)
        and item.item.func.attr.value == "as_default"
        and isinstance(item.item.func.value, cst.Call)
        and not item.item.func.value.args
        for item in block.items
    )


def _is_harmless(call: cst.Call) -> bool:
    """True for a call of a built-in function, and of a member of a module or an object that takes no code along."""
    match call.func:
        case cst.Name(value=name):
            return hasattr(builtins, name)
        case cst.Attribute(value=owner, attr=cst.Name(value=name)):
            root: cst.BaseExpression = owner
            while isinstance(root, (cst.Attribute, cst.Call, cst.Subscript)):
                root = root.func if isinstance(root, cst.Call) else root.value
            own = isinstance(root, cst.Name) and root.value in ("self", "cls")
            heavy = any(part in name.lower() for part in _LAYERS)
            return name not in _NEEDS_MORE and not heavy and not own
        case _:
            return False
