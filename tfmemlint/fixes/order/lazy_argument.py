"""Strategy: what a registry's decorator is given is made when it is used, not when its module is imported.

``@register("focal", tf.constant(0.25))`` becomes ``@register("focal", lambda: tf.constant(0.25))``, and the registry
calls what it got. Only where the decorator uses the argument in nothing but functions that it hands out, and where all
that use the decorator give it a constant: then the same tensor is made each time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.order.tensors import is_constant_tensor
from tfmemlint.fixes.users import users_of
from tfmemlint.fixes.withheld import Withheld

_MAKES = 2
"""Functions around a use: the one that decorates, and one that it hands out."""


def make_argument_lazy(problem: OrderProblem) -> Iterator[Candidate]:
    """Put the arguments of a decorator into functions, and call them where the decorator uses them."""
    start = problem.early[-1]
    file = problem.files.get(start.path)
    call = _decorating_call(file, problem)
    dotted = file.tree.code(call.func)
    target = problem.files.resolve(file.path, dotted)
    home = file if target is None else problem.files.get(target.path)
    name = dotted if target is None else target.name
    function = next(
        (
            line
            for line in home.tree.statements(home.tree.module)
            if isinstance(line, cst.FunctionDef) and line.name.value == name and not line.decorators
        ),
        None,
    )
    if function is None:
        raise Withheld(f"{dotted} is not a function of the program")
    parameter = _parameter(file, function, call, problem)
    defined = next(each for each in _parameters(function) if each.name.value == parameter)
    if defined.annotation is not None:
        raise Withheld(f"the annotation of {parameter} would be wrong")
    uses = _uses(home, function, parameter)
    own = {os.path.normpath(os.path.relpath(each.path)) for each in (file, home)}
    if others := set(users_of(home.path, name)) - own:
        raise Withheld(f"{min(others)} uses {name}, too")
    editors = {each.path: problem.editor(each) for each in (home, file)}
    unsteady = Withheld(f"what {name}() is given may be another value each time")
    for each, spelled in {home.path: (home, name), file.path: (file, dotted)}.values():
        for value in _given(each, function, spelled, defined):
            if not is_constant_tensor(each, value):
                raise unsteady
            editors[each.path].replace(value, f"lambda: {each.tree.code(value)}")
    if defined.default is not None:
        if not is_constant_tensor(home, defined.default):
            raise unsteady
        default = cst.Lambda(cst.Parameters(), defined.default)
        editors[home.path].replace(defined, defined.with_changes(default=default))
    for use in uses:
        editors[home.path].replace(use, f"{parameter}()")
    texts = {path: editor.finish() for path, editor in editors.items()}
    yield Candidate(texts, f"Make {parameter} of {name}() when it is used")


def _decorating_call(file: CodeFile, problem: OrderProblem) -> cst.Call:
    """Return the call in a decorator whose argument starts the runtime.

    Raises:
        Withheld: none does.
    """
    nodes = file.tree.at(problem.early[-1].span)
    for around in [*nodes, *(file.tree.ancestors(nodes[0]) if nodes else ())]:
        if isinstance(around, (cst.Lambda, cst.FunctionDef, cst.ClassDef, cst.Module)):
            break
        if isinstance(around, cst.Call) and isinstance(file.tree.parents.get(around), cst.Decorator):
            return around
    raise Withheld("what starts the runtime is in no argument of a decorator")


def _parameter(file: CodeFile, function: cst.FunctionDef, call: cst.Call, problem: OrderProblem) -> str:
    """Return the parameter that gets what starts the runtime.

    Raises:
        Withheld: it is not known.
    """
    place = problem.early[-1].span
    for name, argument in _arguments(function, call).items():
        if file.tree.span(argument.value).contains(place):
            return name
    raise Withheld(f"it is not known what {function.name.value}() does with it")


def _parameters(function: cst.FunctionDef) -> list[cst.Param]:
    """Return the parameters of a function that have names of their own."""
    params = function.params
    return [*params.posonly_params, *params.params, *params.kwonly_params]


def _arguments(function: cst.FunctionDef, call: cst.Call) -> dict[str, cst.Arg]:
    """Return the arguments of a call by the parameters of the function; none where one is unpacked."""
    names = [each.name.value for each in (*function.params.posonly_params, *function.params.params)]
    every = {each.name.value for each in _parameters(function)}
    found: dict[str, cst.Arg] = {}
    for number, argument in enumerate(call.args):
        name = argument.keyword.value if argument.keyword is not None else "".join(names[number : number + 1])
        if argument.star or name not in every:
            return {}
        found[name] = argument
    return found


def _uses(home: CodeFile, function: cst.FunctionDef, parameter: str) -> list[cst.Name]:
    """Return the places where a function uses a parameter, all of them in functions that its decorator hands out.

    Raises:
        Withheld: there is another one, or none.
    """
    tree = home.tree
    found = []
    inside = tree.span(function.body)
    for node in tree.ranges:
        if not isinstance(node, cst.Name) or node.value != parameter or not inside.contains(tree.span(node)):
            continue
        parent = tree.parents.get(node)
        if (isinstance(parent, cst.Attribute) and parent.attr is node) or (
            isinstance(parent, cst.Arg) and parent.keyword is node
        ):
            continue
        if isinstance(parent, (cst.Param, cst.AssignTarget, cst.NameItem, cst.CompFor, cst.Del)):
            raise Withheld(f"{parameter} has another meaning in line {tree.span(node).row}")
        if _depth(home, function, node) < _MAKES:
            raise Withheld(f"{function.name.value}() uses {parameter} when it decorates")
        found.append(node)
    if not found:
        raise Withheld(f"{function.name.value}() uses {parameter} in no function")
    return found


def _depth(home: CodeFile, function: cst.FunctionDef, node: cst.CSTNode) -> int:
    """Return the number of functions within ``function`` whose bodies have a node."""
    count, below = 0, node
    for around in home.tree.ancestors(node):
        if around is function:
            return count
        count += isinstance(around, (cst.FunctionDef, cst.Lambda)) and below is around.body
        below = around
    return count


def _given(file: CodeFile, function: cst.FunctionDef, spelled: str, parameter: cst.Param) -> list[cst.BaseExpression]:
    """Return what the decorators of a file give the parameter.

    Raises:
        Withheld: the function is used in another way, or it is not known what a decorator gives.
    """
    tree = file.tree
    bare = spelled.rpartition(".")[2]
    found = []
    for node in tree.ranges:
        if not isinstance(node, cst.Name) or node.value != bare:
            continue
        parent = tree.parents.get(node)
        if parent is function or isinstance(parent, (cst.ImportAlias, cst.AsName)):
            continue
        func = parent if isinstance(parent, cst.Attribute) and parent.attr is node else node
        call = tree.parents.get(func)
        given = _arguments(function, call) if isinstance(call, cst.Call) else {}
        if (
            not isinstance(call, cst.Call)
            or call.func is not func
            or tree.code(func) != spelled
            or not isinstance(tree.parents.get(call), cst.Decorator)
            or not given
            or (parameter.name.value not in given and parameter.default is None)
        ):
            raise Withheld(f"line {tree.span(node).row} uses {bare} in another way")
        if parameter.name.value in given:
            found.append(given[parameter.name.value].value)
    return found
