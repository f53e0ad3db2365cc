"""Strategy: a tensor at the top level that several functions use becomes a function that makes it.

Only where its name is used in nothing but the bodies of functions of its file. A tensor that is the same each time is
not kept: one that is made within a ``tf.function`` belongs to its graph. What has a state (a variable, an optimizer, a
dataset) is made once, by a cached function, where the file traces no graphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement, comments_in
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.move_starter import check_steady
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
    if not isinstance(target, cst.Name):
        raise Withheld("what leads to the start is not an assignment at the top level")
    constant = is_constant_tensor(file, node.value)
    if not constant:
        _check_once(problem, file, statement)
    name = target.value
    # Its own value may have it as a label.
    elsewhere = tree.text.replace(tree.code(node.value), "", 1)
    if other_user(file.path, name) or f'"{name}"' in elsewhere or f"'{name}'" in elsewhere:
        raise Withheld(f"other files may use {name}")
    if name in file.hoist.declared or comments_in(node):
        raise Withheld(f"functions declare {name}")
    uses = list(uses_of(file, name))
    if not uses or any(use.function is None for use in uses):
        raise Withheld(f"{name} is used at the top level")
    function = f"{'make' if constant else 'get'}_{name.lower().strip('_')}"
    if function in file.imports.taken or function in tree.text:
        raise Withheld(f"{function} is a name of {file.path} already")
    editor = problem.editor(file)
    leading = [line.comment.value for line in getattr(statement, "leading_lines", ()) if line.comment is not None]
    value = tree.code(node.value)
    comments = "".join(f"{comment}\n" for comment in leading)
    decorator = "" if constant else f"@{editor.add_import('functools')}.cache\n"
    editor.insert_before(statement, f"{comments}{decorator}def {function}():\n    return {value}\n", apart=True)
    editor.discard(statement)
    for use in uses:
        editor.replace(use.node, f"{function}()")
    when = "when it is used" if constant else "once, when it is first used"
    yield Candidate({file.path: editor.finish()}, f"Make {name} by {function}(), {when}")


def _check_once(problem: OrderProblem, file: CodeFile, statement: Statement) -> None:
    """Refuse where a value that is made later, and once, may be another one.

    Raises:
        Withheld: it depends on what may change, on random numbers, or may be made within a graph.
    """
    if problem.files.is_seeded(file.path) or problem.files.is_seeded(problem.entry):
        raise Withheld("the order of random operations would be another one, and a seed is set")
    if "list_physical_devices" in file.tree.code(statement):
        raise Withheld("it lists the GPUs")
    check_steady(file, statement)
    if _GRAPHS.search(file.tree.text):
        raise Withheld("it may be made within a graph")


_GRAPHS = re.compile(
    r"@tf\.|\b(?:tf\.function|\w*Graph|map|scope|from_generator|sess\w*\.run|jit_compile|GradientTape)\("
)
"""Code in which what is made belongs to a graph, or to a strategy."""
