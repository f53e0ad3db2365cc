"""Texts of lists as a whole, for CUDA_VISIBLE_DEVICES: ``str(args.gpus)`` and ``",".join(str(gpus))``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import nodes, scope_nodes
from tfmemlint.knowledge.variables import VISIBLE
from tfmemlint.model.records import dataclass
from tfmemlint.rulekit.option_names import destination_of

_LISTS = frozenset({"list", "List", "Sequence", "Iterable", "tuple", "Tuple", "Collection"})
_MAKERS = frozenset({"list", "tuple", "range", "sorted"})
Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class ListText:
    """A text of a list. ``value``: the text, as the variable gets it; ``items``: the list; ``joined``: its characters
    are joined."""

    value: ast.expr
    items: ast.expr
    joined: bool


def list_texts(tree: ast.Module, is_known: Callable[[ast.expr], bool] = lambda value: False) -> Iterator[ListText]:
    """Yield the texts of lists of which nothing else is made before CUDA_VISIBLE_DEVICES gets them.

    Args:
        tree: the module.
        is_known: tells whether a text is known to be one of a list, whatever is written there.
    """
    everything = nodes(tree)
    options = _list_options(everything)
    scopes: list[Scope] = [tree]
    scopes += [node for node in everything if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for scope in scopes:
        for node in scope_nodes(scope):
            value = _given(node)
            text = _text(value) if value is not None else None
            if value is None or text is None:
                continue
            if _is_list(text[0], scope, tree, options) or is_known(value):
                yield ListText(value, *text)


def _given(node: ast.AST) -> ast.expr | None:
    """Return what the variable is set to by a node."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=owner, slice=ast.Constant(value=name))], value=value):
            return value if name == VISIBLE and dotted(owner).rpartition(".")[2] == "environ" else None
        case ast.Call(func=func, args=[ast.Constant(value=name), value]) if name == VISIBLE:
            return value if dotted(func) in ("os.environ.setdefault", "environ.setdefault", "os.putenv") else None
        case _:
            return None


def _text(node: ast.expr) -> tuple[ast.expr, bool] | None:
    """Return that of which a text is made, and whether the characters of its text are joined."""
    match node:
        case ast.Call(func=ast.Name(id="str" | "repr"), args=[items], keywords=[]):
            return items, False
        case ast.JoinedStr(values=[ast.FormattedValue(value=items, format_spec=None)]):
            return items, False
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=","), attr="join"), args=[inner]):
            found = _text(inner)
            return (found[0], True) if found is not None and isinstance(inner, ast.Call) else None
        case _:
            return None


def _list_options(everything: Sequence[ast.AST]) -> frozenset[str]:
    """Return the options of a command line that are lists, by the names under which they are read."""
    found: set[str] = set()
    others: set[str] = set()
    for node in everything:
        match node:
            case ast.Call(func=ast.Attribute(attr="add_argument"), args=args, keywords=keywords):
                words = [each.value for each in args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
                given = {keyword.arg: keyword.value for keyword in keywords}
                if not words:
                    continue
                (found if _takes_several(given) else others).add(destination_of(words, given))
            case ast.Attribute(attr=name, ctx=ast.Store()):
                others.add(name)
            case _:
                pass
    return frozenset(found - others)


def _takes_several(given: dict[str | None, ast.expr]) -> bool:
    """True for ``nargs="+"`` where the default is a list, too, or None: one that isn't given is tested for."""
    several = given.get("nargs")
    default = given.get("default")
    if not isinstance(several, ast.Constant) or several.value not in ("+", "*", 2, 3, 4, 8) or "action" in given:
        return False
    return default is None or isinstance(default, (ast.List, ast.Tuple))


def _is_list(node: ast.expr, scope: Scope, tree: ast.Module, options: frozenset[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in options and isinstance(node.value, ast.Name) and node.value.id not in ("self", "cls")
    if not isinstance(node, ast.Name):
        return _makes_list(node)
    for where in (scope, tree):
        bound = _bound(where, node.id)
        if bound:
            return all(
                each is not None and (_makes_list(each) or _is_list_type(each) or _is_option(each, options))
                for each in bound
            )
    return False


def _is_option(node: ast.expr, options: frozenset[str]) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in options


def _makes_list(node: ast.expr) -> bool:
    match node:
        case ast.List() | ast.Tuple() | ast.ListComp():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _MAKERS
        case _:
            return False


def _is_list_type(node: ast.expr) -> bool:
    """True for ``list[int]`` and ``List[str]``, the annotation of a parameter."""
    return isinstance(node, ast.Subscript) and dotted(node.value).rpartition(".")[2] in _LISTS


def _bound(scope: Scope, name: str) -> list[ast.expr | None]:
    """Return what a scope binds to a name; None for what is not known."""
    found: list[ast.expr | None] = []
    if not isinstance(scope, ast.Module):
        arguments = scope.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        found += [parameter.annotation for parameter in every if parameter.arg == name]
    said: set[int] = set()
    for node in scope_nodes(scope):
        match node:
            case ast.Assign(targets=[ast.Name(id=target) as place], value=value) if target == name:
                said.add(id(place))
                found.append(None if isinstance(value, ast.Subscript) else value)
            case _:
                pass
    for node in scope_nodes(scope):
        is_bound = isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        if is_bound and id(node) not in said:
            found.append(None)
    return found


__all__ = ["ListText", "list_texts"]
