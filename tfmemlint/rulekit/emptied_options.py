"""GPU options of a message that a call empties before a session gets it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import OptionsEmptied
from tfmemlint.interpreter.values import Value
from tfmemlint.rulekit.explain import plain_options

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program


def lost_options(program: Program, emptied: OptionsEmptied) -> dict[str, object]:
    """Return the GPU options that a call loses by mistake, with their constants; none where that may be meant."""
    options = plain_options(_full(emptied))
    if emptied.replaced:
        # Where a whole message, or the one that a caller gives, takes the place of another under a condition, that is
        # a choice between the two.
        chosen = _is_under_condition(program, emptied) and (emptied.whole or _is_given(program, emptied))
        return {} if chosen or not emptied.given else options
    # What clears the options that another function has set says so by its name.
    here = (emptied.path, emptied.function)
    return {
        name: value
        for name, value in options.items()
        if (emptied.setters[_own(emptied, name)]["path"], emptied.setters[_own(emptied, name)]["function"]) == here
    }


def _full(emptied: OptionsEmptied) -> dict[str, Value]:
    return {f"{emptied.before}{name}": value for name, value in emptied.fields.items()}


def _own(emptied: OptionsEmptied, name: str) -> str:
    return name.removeprefix(emptied.before)


def _is_under_condition(program: Program, emptied: OptionsEmptied) -> bool:
    """True if a call stands in an ``if`` or a ``try``, or in another file."""
    if emptied.path != program.source.path:
        return True
    around = [
        node
        for node in all_nodes(program.tree)
        if isinstance(node, (ast.If, ast.Try, ast.IfExp)) and program.source.span(node).contains(emptied.span)
    ]
    return not all(isinstance(node, ast.If) and "'__name__'" in ast.dump(node.test) for node in around)


def _is_given(program: Program, emptied: OptionsEmptied) -> bool:
    """True if the message that is copied is a parameter of the function, or of one in another file."""
    parameters: set[str] = set()
    copied: set[str] = set()
    for node in all_nodes(program.tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Call)):
            continue
        span = program.source.span(node)
        if isinstance(node, ast.Call) and span == emptied.span:
            copied |= {part.id for given in node.args for part in ast.walk(given) if isinstance(part, ast.Name)}
        elif not isinstance(node, ast.Call) and span.contains(emptied.span):
            parameters |= {
                argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            }
    return emptied.path != program.source.path or not parameters.isdisjoint(copied)
