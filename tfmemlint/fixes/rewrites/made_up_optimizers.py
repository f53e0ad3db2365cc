"""Take out optimizers with memory options, which never existed, with all that was made for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import walk
from tfmemlint.fixes.withheld import Withheld

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor, Statement

_GETTER = re.compile(r"\.(?:get|create|make|wrap|enable)_\w*optimizer$")


def is_getter(name: str) -> bool:
    """True if a made-up function takes an optimizer, or none, and is supposed to return one with memory options."""
    return _GETTER.search(name) is not None


def goes_with_getter(editor: Editor, call: cst.Call) -> bool:
    """True if the result of a made-up call is used for such a function only: its fix removes both."""
    if any(isinstance(ancestor, cst.Call) and _calls_getter(editor, ancestor) for ancestor in editor.ancestors(call)):
        return True
    name, _ = _variable(editor, call)
    uses = list(_uses(editor, name)) if name else []
    return bool(uses) and all(
        any(isinstance(ancestor, cst.Call) and _calls_getter(editor, ancestor) for ancestor in editor.ancestors(use))
        for use in uses
    )


def take_out(editor: Editor, call: cst.Call) -> None:
    """Replace the call by the optimizer that it is given, and remove what only it needed.

    Raises:
        Withheld: it is given none, and its result is used in other ways than by calls of its methods.
    """
    for options in [argument.value for argument in call.args[1:] if isinstance(argument.value, cst.Name)]:
        _remove_options(editor, options)
    first = next((arg.value for arg in call.args if arg.keyword is None or arg.keyword.value == "optimizer"), None)
    if first is not None:
        inner = editor.code(first)
        assign = editor.parent(call)
        if isinstance(assign, cst.Assign) and [editor.code(target.target) for target in assign.targets] == [inner]:
            editor.remove(editor.statement_of(call))
        else:
            editor.replace(call, inner)
        return
    if isinstance(editor.parent(call), cst.Expr):
        editor.remove(editor.statement_of(call))
        return
    name, statement = _variable(editor, call)
    if statement is None:
        raise Withheld("it is given no optimizer to use in its place")
    calls = [_own_call(editor, use) for use in _uses(editor, name)]
    if any(own is None for own in calls):
        raise Withheld(f"it is given no optimizer to use in its place, and {name} is used")
    for own in calls:
        assert own is not None
        editor.remove(own)
    editor.remove(statement)


def _calls_getter(editor: Editor, call: cst.Call) -> bool:
    return is_getter(f".{editor.code(call.func)}")


def _variable(editor: Editor, call: cst.Call) -> tuple[str, Statement | None]:
    """Return the variable that a statement assigns a call to, with the statement; nothing if it does more."""
    assign = editor.parent(call)
    if not isinstance(assign, cst.Assign) or len(assign.targets) > 1:
        return "", None
    target = assign.targets[0].target
    return (target.value, editor.statement_of(call)) if isinstance(target, cst.Name) else ("", None)


def _uses(editor: Editor, name: str) -> Iterator[cst.Name]:
    """Yield the places that read a variable."""
    for node in walk(editor.module):
        if isinstance(node, cst.Name) and node.value == name:
            parent = editor.parent(node)
            keyword = isinstance(parent, cst.Arg) and parent.keyword is node
            attribute = isinstance(parent, cst.Attribute) and parent.attr is node
            if not isinstance(parent, (cst.AssignTarget, cst.Param)) and not keyword and not attribute:
                yield node


def _own_call(editor: Editor, use: cst.Name) -> Statement | None:
    """Return the statement that consists of a call of a method of the variable; None if it does more."""
    attribute = editor.parent(use)
    call = editor.parent(attribute) if isinstance(attribute, cst.Attribute) else None
    if isinstance(call, cst.Call) and call.func is attribute and isinstance(editor.parent(call), cst.Expr):
        return editor.statement_of(call)
    assign = editor.parent(attribute) if isinstance(attribute, cst.Attribute) else None
    return editor.statement_of(assign) if isinstance(assign, cst.AssignTarget) else None


def _remove_options(editor: Editor, name: cst.Name) -> None:
    """Remove the assignment of options that are used once, and those of their fields."""
    fields = [(use, _own_call(editor, use)) for use in _uses(editor, name.value) if use is not name]
    if any(statement is None for _, statement in fields):
        return
    for node in walk(editor.module):
        if isinstance(node, cst.Assign) and [editor.code(target.target) for target in node.targets] == [name.value]:
            editor.remove(editor.statement_of(node))
    for _, statement in fields:
        assert statement is not None
        editor.remove(statement)


__all__ = ["goes_with_getter", "is_getter", "take_out"]
