"""Write the names that devices have as the keys, or the items, among which a program looks for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

import libcst as cst
from libcst import matchers as m

from tfmemlint.fixes.withheld import Withheld

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.model.finding import Finding

_START = re.compile(r"(?:/?(?:physical_)?device:|/)?gpu:", re.IGNORECASE)


def rename_keys(editor: Editor, finding: Finding) -> None:
    """Write the right beginning of each name in the only display, or comprehension, that has these names.

    Raises:
        Withheld: the names are not written in one place, or something else may use them.
    """
    names = cast("tuple[str, ...]", finding.details["keys"])
    start = f"{finding.details['start']}GPU:"
    if m.findall(editor.module, m.Call(func=m.Attribute(attr=m.Name("device")) | m.Name("device"))):
        raise Withheld("another device may be chosen by these names")
    places = [found for node in m.findall(editor.module, _DISPLAYS) if (found := _written_in(node, names))]
    if len(places) == 1:
        for node in places[0]:
            text = str(node.evaluated_value)
            editor.replace(node, f"{node.quote}{start}{text.rpartition(':')[2]}{node.quote}")
    elif not places:
        _rename_made(editor, start)
    else:
        raise Withheld("these names are written in more than one place")
    editor.unsafe("Write the names as TensorFlow does")


_DISPLAYS = m.Dict() | m.Set() | m.List() | m.Tuple()


def _written_in(node: cst.CSTNode, names: tuple[str, ...]) -> list[cst.SimpleString]:
    """Return the texts of a display if they are the names."""
    parts: list[cst.BaseExpression] = []
    if isinstance(node, cst.Dict):
        parts = [each.key for each in node.elements if isinstance(each, cst.DictElement)]
    elif isinstance(node, (cst.Set, cst.List, cst.Tuple)):
        parts = [each.value for each in node.elements]
    texts = [part for part in parts if isinstance(part, cst.SimpleString)]
    return texts if [text.evaluated_value for text in texts] == list(names) and len(texts) == len(parts) else []


def _rename_made(editor: Editor, start: str) -> None:
    """Write the beginning of the names in the only comprehension that makes such: ``f"GPU:{i}"``."""
    made = [
        part
        for node in m.findall(editor.module, m.DictComp() | m.SetComp() | m.ListComp())
        for part in (node.key if isinstance(node, cst.DictComp) else getattr(node, "elt", node),)
        if isinstance(part, cst.FormattedString) and _is_name(part)
    ]
    if len(made) != 1:
        raise Withheld("these names are made elsewhere")
    (text,) = made
    number = text.parts[1]
    editor.replace(text, f"{text.start}{start}{editor.module.code_for_node(number)}{text.end}")


def _is_name(text: cst.FormattedString) -> bool:
    match text.parts:
        case [cst.FormattedStringText(value), cst.FormattedStringExpression()]:
            return _START.fullmatch(value) is not None
        case _:
            return False
