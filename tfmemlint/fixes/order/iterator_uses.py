"""Uses of an iterator: whether a list, or only an iterator over one, can take its place."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from libcst import matchers

from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.withheld import Withheld

_WHOLE = frozenset(
    ["list", "tuple", "set", "frozenset", "sorted", "sum", "min", "max", "dict", "deque", "collections.deque"]
)
"""Functions that go through all of what they are given."""
_LAZY = frozenset(
    ["enumerate", "zip", "map", "filter", "reversed", "itertools.chain", "itertools.starmap", "tqdm", "tqdm.tqdm"]
)
"""Functions whose result goes through all of what they are given when it is gone through."""
_PARTLY = frozenset(["next", "any", "all", "itertools.islice", "itertools.takewhile", "isinstance", "itertools.tee"])
"""Functions that may take a part of it, or ask what it is."""
_MAX_STEPS = 6
"""The number of names and functions that it is followed through."""


def is_gone_through_once(file: CodeFile, node: cst.BaseExpression) -> bool:
    """True if an iterator is gone through from its start, once; False if more may be done with it.

    Raises:
        Withheld: it is gone through where it is made, or only a part of it is, or it is sent values.
    """
    uses = list(_uses(file, node, _MAX_STEPS))
    if not uses or _goes_through(file, node):
        raise Withheld("it is gone through where it is made")
    return uses == [True]


def _goes_through(file: CodeFile, node: cst.BaseExpression) -> bool:
    """True if the code right around an expression goes through it."""
    around = file.tree.parents.get(node)
    if isinstance(around, (cst.For, cst.From, cst.StarredElement)):
        return True
    if isinstance(around, cst.CompFor):
        return not isinstance(file.tree.parents.get(around), cst.GeneratorExp)
    if isinstance(around, cst.Arg):
        call = file.tree.parents.get(around)
        if isinstance(call, cst.Call):
            name = _function(file, call)
            return bool(around.star) or name in _WHOLE | {"next", "any", "all"} or name.endswith(".join")
    return False


def _function(file: CodeFile, call: cst.Call) -> str:
    """Return the full name of what is called; of a method of a text, its name behind a full stop."""
    if isinstance(call.func, cst.Attribute) and isinstance(call.func.value, cst.SimpleString):
        return f".{call.func.attr.value}"
    return file.imports.resolve(file.tree.code(call.func))


def _uses(file: CodeFile, node: cst.BaseExpression, left: int) -> Iterator[bool]:
    """Yield one item for each use: True if all is gone through, False if something else may be done.

    Raises:
        Withheld: only a part is gone through.
    """
    around = file.tree.parents.get(node)
    match around:
        case cst.For():
            if any(matchers.matches(part, _LEAVES) for part in matchers.findall(around.body, _LEAVES)):
                raise Withheld("a loop may go through a part of it")
            yield True
        case cst.CompFor() | cst.From() | cst.StarredElement():
            yield True
        case cst.ComparisonTarget() | cst.Attribute() | cst.Await():
            raise Withheld("more is done with it than to go through it")
        case cst.Assign(targets=[cst.AssignTarget(target=target)]):
            yield from _uses_of_target(file, target, left)
        case cst.AnnAssign(target=target):
            yield False
            yield from _uses_of_target(file, target, left)
        case cst.Return():
            yield from _uses_of_result(file, node, left)
        case cst.Arg():
            yield from _uses_of_argument(file, around, left)
        case cst.Expr():
            return
        case _:
            yield False


_LEAVES = matchers.Break() | matchers.Return()


def _uses_of_target(file: CodeFile, target: cst.BaseExpression, left: int) -> Iterator[bool]:
    if isinstance(target, (cst.Tuple, cst.List)):
        yield True
        return
    if left and isinstance(target, cst.Name):
        yield from _uses_of_name(file, target.value, file.tree.function_of(target), target, left)
        return
    yield False
    if left and isinstance(target, cst.Attribute):
        for node in file.tree.ranges:
            if isinstance(node, cst.Attribute) and node is not target and node.attr.value == target.attr.value:
                if not isinstance(file.tree.parents.get(node), (cst.AssignTarget, cst.Attribute)):
                    yield from _uses(file, node, left - 1)
                elif isinstance(file.tree.parents.get(node), cst.Attribute):
                    raise Withheld("more is done with it than to go through it")


def _uses_of_name(file: CodeFile, name: str, scope: cst.CSTNode, target: cst.CSTNode, left: int) -> Iterator[bool]:
    """Yield the uses of a variable, or a parameter, of a function or the top level."""
    tree = file.tree
    for node in tree.ranges:
        if not isinstance(node, cst.Name) or node.value != name or node is target:
            continue
        parent = tree.parents.get(node)
        if isinstance(parent, (cst.AssignTarget, cst.Param, cst.ImportAlias, cst.NameItem)):
            continue
        if (isinstance(parent, cst.Attribute) and parent.attr is node) or (
            isinstance(parent, cst.Arg) and parent.keyword is node
        ):
            continue
        around = list(tree.ancestors(node))
        if scope is not tree.module and scope not in around:
            continue
        if _may_repeat(tree.function_of(node), scope, around, list(tree.ancestors(target)), node):
            yield False
        yield from _uses(file, node, left - 1)


def _may_repeat(
    function: cst.CSTNode, scope: cst.CSTNode, around: list[cst.CSTNode], made: list[cst.CSTNode], node: cst.CSTNode
) -> bool:
    """True if a use may run more often than what makes the value: in a loop, or in a function of its own."""
    if function is not scope:
        return True
    below = node
    for each in around:
        if each in made:
            return False
        if isinstance(each, cst.While) or (isinstance(each, cst.For) and below is not each.iter):
            return True
        if isinstance(each, cst.CompFor) and below is not each.iter:
            return True
        below = each
    return False


def _uses_of_result(file: CodeFile, node: cst.BaseExpression, left: int) -> Iterator[bool]:
    """Yield the uses of what a function returns."""
    function = file.tree.function_of(node)
    if not left or not isinstance(function, cst.FunctionDef) or function.returns is not None:
        yield False
        if not isinstance(function, cst.FunctionDef):
            return
    for call in file.tree.ranges:
        if isinstance(call, cst.Call) and file.tree.code(call.func).rpartition(".")[2] == function.name.value:
            yield from _uses(file, call, left - 1)


def _uses_of_argument(file: CodeFile, argument: cst.Arg, left: int) -> Iterator[bool]:
    call = file.tree.parents.get(argument)
    if not isinstance(call, cst.Call):
        yield False
        return
    name = _function(file, call)
    if argument.star or name in _WHOLE or name == ".join":
        yield True
    elif name in _PARTLY:
        raise Withheld(f"{name}() may go through a part of it")
    elif name in _LAZY:
        yield True
        list(_uses(file, call, left - 1))  # A part of it may be gone through.
    elif name == "iter":
        yield False
        list(_uses(file, call, left - 1))
    else:
        parameter = _parameter(file, call, argument)
        if parameter is None or not left:
            yield False
            return
        function = file.tree.parents.get(parameter)
        while function is not None and not isinstance(function, cst.FunctionDef):
            function = file.tree.parents.get(function)
        if function is not None:
            yield from _uses_of_name(file, parameter.name.value, function, parameter.name, left)


def _parameter(file: CodeFile, call: cst.Call, argument: cst.Arg) -> cst.Param | None:
    """Return the parameter of a function of this file, or of a class's constructor, that a call gives a value."""
    name = file.tree.code(call.func).rpartition(".")[2]
    found = [
        node
        for node in file.tree.ranges
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)) and node.name.value == name
    ]
    if len(found) != 1:
        return None
    function = found[0]
    if isinstance(function, cst.ClassDef):
        own = (line for line in file.tree.statements_within(function) if isinstance(line, cst.FunctionDef))
        constructor = next((line for line in own if line.name.value == "__init__"), None)
        if constructor is None:
            return None
        function = constructor
    parameters = [*function.params.posonly_params, *function.params.params]
    if argument.keyword is not None:
        named = [*parameters, *function.params.kwonly_params]
        return next((each for each in named if each.name.value == argument.keyword.value), None)
    if any(each.star or each.keyword for each in call.args[: call.args.index(argument)]):
        return None
    method = isinstance(file.tree.parents.get(file.tree.parents.get(function, function)), cst.ClassDef)
    if function.decorators:
        return None
    place = call.args.index(argument) + method
    return parameters[place] if place < len(parameters) else None
