"""Find the literal that a variable of the environment gets its value from, where it is not written where it is set.

A table of variables goes through functions and loops before ``os.environ[name] = str(value)``. What is set is known by
then, and the file has the name of the variable beside one literal with that value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import walk

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def value_beside(editor: Editor, variable: str, text: object = None) -> cst.BaseExpression | None:
    """Return the only literal beside the name of a variable that has a text, or that is no string if ``text`` is None;
    None if there is none, or there are several."""
    found = [
        value
        for value in _beside(editor.module, variable)
        if (known := _text_of(value)) is not None
        and (known == str(text) if text is not None else not isinstance(value, cst.SimpleString))
    ]
    return found[0] if len(found) == 1 else None


def made_beside(editor: Editor, variable: str) -> cst.BaseExpression | None:
    """Return the only expression beside the name of a variable, if it makes a text of something; otherwise None."""
    found = list(_beside(editor.module, variable))
    return found[0] if len(found) == 1 and _makes_text(found[0]) else None


def number_in(value: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return what digits are made of: ``int(flag)`` in ``str(int(flag))``, ``flag`` in ``"%d" % flag``."""
    match value:
        case cst.Call(func=cst.Name(value="str"), args=[cst.Arg(value=cst.Call(func=cst.Name(value="int")) as number)]):
            return number
        case cst.BinaryOperation(left=cst.SimpleString() as form, operator=cst.Modulo(), right=right) if (
            form.evaluated_value == "%d" and not isinstance(right, (cst.Tuple, cst.Dict))
        ):
            return right
        case _:
            return None


def _makes_text(value: cst.BaseExpression) -> bool:
    """True for ``str(x)``, ``repr(x)``, ``f"{x}"``, ``"{}".format(x)`` and ``"%s" % x``."""
    match value:
        case cst.Call(func=cst.Name(value="str" | "repr")) | cst.FormattedString():
            return True
        case cst.Call(func=cst.Attribute(value=cst.SimpleString(), attr=cst.Name(value="format"))):
            return True
        case cst.BinaryOperation(left=cst.SimpleString(), operator=cst.Modulo()):
            return True
        case _:
            return False


def only_string(editor: Editor, text: str) -> cst.SimpleString | None:
    """Return the only string of a file that is ``text``; None if there is none, or there are several."""
    strings = [part for part in walk(editor.module) if isinstance(part, cst.SimpleString)]
    found = [part for part in strings if part.evaluated_value == text]
    return found[0] if len(found) == 1 else None


def _beside(module: cst.Module, variable: str) -> Iterator[cst.BaseExpression]:
    """Yield what stands beside the name of a variable: in a table, in a pair, as an argument."""
    for part in walk(module):
        match part:
            case cst.DictElement(key=cst.SimpleString() as key, value=value) if key.evaluated_value == variable:
                yield value
            case cst.Tuple() | cst.List() if _first_of_two(part) == variable:
                yield part.elements[1].value
            case cst.Arg(keyword=cst.Name(value=name), value=value) if name == variable:
                yield value
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript() as target)], value=value) if (
                _key_of(target) == variable
            ):
                yield value
            case _:
                pass


def _first_of_two(listed: cst.Tuple | cst.List) -> object:
    first = listed.elements[0].value if len(listed.elements) == 2 else None
    return first.evaluated_value if isinstance(first, cst.SimpleString) else None


def _key_of(target: cst.Subscript) -> object:
    index = target.slice[0].slice
    key = index.value if isinstance(index, cst.Index) else None
    return key.evaluated_value if isinstance(key, cst.SimpleString) else None


def _text_of(value: cst.BaseExpression) -> str | None:
    """Return the text that ``str()`` makes of a literal; None for any other expression."""
    if isinstance(value, cst.SimpleString):
        return str(value.evaluated_value)
    if isinstance(value, cst.Name) and value.value in ("True", "False"):
        return value.value
    return str(value.evaluated_value) if isinstance(value, cst.Integer) else None
