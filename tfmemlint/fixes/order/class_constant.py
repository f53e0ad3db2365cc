"""Strategy: a tensor in the body of a class becomes a property that makes it.

Only where the tensor is the same each time, and nothing but instances (``self.NAME``) uses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.hoist_out_of_function import importer_of
from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.order.tensors import is_constant_tensor
from tfmemlint.fixes.withheld import Withheld

_PLAIN_BASES = frozenset({"object", "tf.Module", "tf.keras.Model", "tf.keras.layers.Layer", "keras.Model"})


def make_property(problem: OrderProblem) -> Iterator[Candidate]:
    """Replace an assignment in a class body by a property."""
    start = problem.early[-1]
    file = problem.files.get(start.path)
    tree = file.tree
    statement = tree.statement_at(start.span)
    node = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
    owner = tree.parents.get(tree.block_of(statement))
    if not isinstance(owner, cst.ClassDef) or not isinstance(node, cst.Assign) or len(node.targets) != 1:
        raise Withheld("what starts the runtime is no assignment in a class")
    target = node.targets[0].target
    bases = {tree.code(base.value) for base in owner.bases}
    if not isinstance(target, cst.Name) or owner.decorators or bases - _PLAIN_BASES:
        raise Withheld(f"{owner.name.value} is not a plain class")
    if not is_constant_tensor(file, node.value):
        raise Withheld("the tensor may be another one each time")
    name = target.value
    if importer_of(file.path):
        raise Withheld(f"other files may use {owner.name.value}.{name}")
    inside = tree.span(owner)
    for use in tree.ranges:
        if not isinstance(use, cst.Name) or use.value != name or use is target:
            continue
        attribute = tree.parents.get(use)
        plain = isinstance(attribute, cst.Attribute) and attribute.attr is use and tree.code(attribute.value) == "self"
        parent = tree.parents.get(attribute) if attribute is not None else None
        if not plain or not inside.contains(tree.span(use)) or isinstance(parent, (cst.AssignTarget, cst.AugAssign)):
            raise Withheld(f"line {tree.span(use).row} uses {name} otherwise")
    if re.search(rf"['\"]{name}['\"]", tree.text):
        raise Withheld(f"{name} is used by its name")
    editor = problem.editor(file)
    code = f"@property\ndef {name}(self):\n    return {tree.code(node.value)}\n"
    editor.replace_statement(statement, code)
    text = editor.finish()
    yield Candidate(
        {file.path: text}, f"Make {owner.name.value}.{name} a property, which makes the tensor when it is used"
    )
