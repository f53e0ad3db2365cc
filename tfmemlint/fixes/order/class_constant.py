"""Strategy: a tensor in the body of a class becomes a property that makes it, or a static method.

Only where the tensor is the same each time. A property, where nothing but instances (``self.NAME``) uses it; where the
class itself is asked (``cls.NAME``, ``Net.NAME``), a static method, which all of them call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.order.tensors import is_constant_tensor, is_fresh_object
from tfmemlint.fixes.users import mentions, other_user
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
    fresh = is_fresh_object(file, node.value) or _is_variable_of_one(file, owner, node.value)
    fresh = fresh and bases <= {"object"}
    if not fresh and not is_constant_tensor(file, node.value):
        raise Withheld("the tensor may be another one each time")
    name = target.value
    if other_user(file.path, name):
        raise Withheld(f"other files may use {owner.name.value}.{name}")
    uses = _uses(file, owner, target)
    if re.search(rf"attr\([^)\n]*['\"]{name}['\"]|__dict__\[['\"]{name}", tree.text):
        raise Withheld(f"{name} is used by its name")
    editor = problem.editor(file)
    block = tree.statements(tree.block_of(statement))
    # A method has a blank line above it and below it, but at the head of the class.
    for beside in block[max(block.index(statement), 1) : block.index(statement) + 2]:
        editor.set_apart(beside)
    value = tree.code(node.value)
    what = f"Make {owner.name.value}.{name} a {{}}, which makes the tensor when it is used"
    of_objects = all(tree.code(use.value) == "self" for use in uses)
    if fresh:
        if not of_objects or "__slots__" in tree.code(owner):
            raise Withheld(f"{owner.name.value}.{name} is one for all objects")
        decorator = f"@{editor.add_import('functools')}.cached_property"
        editor.replace_statement(statement, f"{decorator}\ndef {name}(self):\n    return {value}\n")
        what = f"Make {owner.name.value}.{name} a cached property: each object has its own, made when it is first used"
        yield Candidate({file.path: editor.finish()}, what)
        return
    if of_objects:
        editor.replace_statement(statement, f"@property\ndef {name}(self):\n    return {value}\n")
        yield Candidate({file.path: editor.finish()}, what.format("property"))
        return
    editor.replace_statement(statement, f"@staticmethod\ndef {name}():\n    return {value}\n")
    for use in uses:
        editor.replace(use, f"{tree.code(use)}()")
    yield Candidate({file.path: editor.finish()}, what.format("static method"))


def _is_variable_of_one(file: CodeFile, owner: cst.ClassDef, value: cst.BaseExpression) -> bool:
    """True for a variable of a class of which the program makes one object, outside of all loops and graphs: that
    object may as well have it alone."""
    tree = file.tree
    if not isinstance(value, cst.Call) or file.imports.resolve(tree.code(value.func)) != "tf.Variable":
        return False
    given = [each.value for each in value.args if not each.star]
    if len(given) < len(value.args) or not all(is_constant_tensor(file, each) for each in given):
        return False
    if "tf.function" in tree.text or mentions(file.path, tree.text, owner.name.value) != 2:
        return False
    calls = [node for node in tree.ranges if isinstance(node, cst.Call) and tree.code(node.func) == owner.name.value]
    loops = (cst.For, cst.While, cst.CompFor, cst.BaseComp)
    return len(calls) == 1 and not any(isinstance(around, loops) for around in tree.ancestors(calls[0]))


def _uses(file: CodeFile, owner: cst.ClassDef, target: cst.Name) -> list[cst.Attribute]:
    """Return the places where a class attribute is read.

    Raises:
        Withheld: it is read as that of anything but the class and its instances, or it is written.
    """
    tree = file.tree
    inside = tree.span(owner)
    found: list[cst.Attribute] = []
    for node in tree.ranges:
        if not isinstance(node, cst.Name) or node.value != target.value or node is target:
            continue
        use = tree.parents.get(node)
        holders = {"self", "cls", owner.name.value} if inside.contains(tree.span(node)) else {owner.name.value}
        read = isinstance(use, cst.Attribute) and use.attr is node and tree.code(use.value) in holders
        around = tree.parents.get(use) if use is not None else None
        if not read or isinstance(around, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del)):
            raise Withheld(f"line {tree.span(node).row} uses {target.value} otherwise")
        assert isinstance(use, cst.Attribute)
        if tree.function_of(use) is tree.module and not isinstance(tree.parents.get(use), cst.BaseExpression | cst.Arg):
            raise Withheld(f"line {tree.span(node).row} uses {target.value} otherwise")
        found.append(use)
    return found
