"""Strategy: a tensor at the top level that several functions use becomes a function that makes it.

Only a tensor that is the same each time, and whose name is used in nothing but the bodies of functions of its file.
The tensor is not kept: one that is made within a ``tf.function`` belongs to its graph.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.concrete_tree import comments_in
from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.order.tensors import is_constant_tensor, uses_of
from tfmemlint.fixes.users import other_user
from tfmemlint.fixes.withheld import Withheld


def make_function(problem: OrderProblem) -> Iterator[Candidate]:
    """Replace an assignment at the top level by a function, and the uses of its name by calls."""
    file = problem.file
    tree = file.tree
    statement = tree.statement_at(problem.first)
    node = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
    if tree.block_of(statement) is not tree.module or not isinstance(node, cst.Assign) or len(node.targets) != 1:
        raise Withheld("what leads to the start is not an assignment at the top level")
    target = node.targets[0].target
    if not isinstance(target, cst.Name) or not is_constant_tensor(file, node.value):
        raise Withheld("the tensor may be another one each time")
    name = target.value
    if other_user(file.path, name) or f'"{name}"' in tree.text or f"'{name}'" in tree.text:
        raise Withheld(f"other files may use {name}")
    if name in file.hoist.declared or comments_in(node):
        raise Withheld(f"functions declare {name}")
    uses = list(uses_of(file, name))
    if not uses or any(use.function is None for use in uses):
        raise Withheld(f"{name} is used at the top level")
    function = f"make_{name.lower().strip('_')}"
    if function in file.imports.taken or function in tree.text:
        raise Withheld(f"{function} is a name of {file.path} already")
    editor = problem.editor(file)
    leading = [line.comment.value for line in getattr(statement, "leading_lines", ()) if line.comment is not None]
    value = tree.code(node.value)
    comments = "".join(f"{comment}\n" for comment in leading)
    editor.insert_before(statement, f"{comments}def {function}():\n    return {value}\n", apart=True)
    editor.discard(statement)
    for use in uses:
        editor.replace(use.node, f"{function}()")
    yield Candidate({file.path: editor.finish()}, f"Make {name} by {function}(), when it is used")
