"""Rename a key of the dictionary that a call unpacks into its keywords: ``GPUOptions(**settings)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.call_context import set_applicability
from tfmemlint.fixes.concrete_tree import walk
from tfmemlint.fixes.users import others_that_mention
from tfmemlint.fixes.withheld import Withheld

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.model.finding import Finding


def rename_key(editor: Editor, finding: Finding, meant: str) -> None:
    """Rename a key where it is written, if it is written once and no other code reads it.

    Raises:
        Withheld: it comes from elsewhere, or something else has that name.
    """
    key = str(finding.details["keyword"])
    places = [part for part in walk(editor.module) if _mentions(part, key)]
    written = [part for part in places if _is_written(editor, part, key)]
    if not written:
        raise Withheld(f"{editor.code(editor.expression_at(finding.span))} is set elsewhere")
    if len(places) > 1 or others_that_mention(finding.path, key):
        row = next((editor.span(part).row for part in places if part is not written[0]), editor.span(written[0]).row)
        raise Withheld(f"{key} is used elsewhere (line {row})")
    [place] = written
    if isinstance(place, cst.SimpleString):
        editor.replace(place, cst.SimpleString(f"{place.quote}{meant}{place.quote}"))
    elif isinstance(place, cst.Arg):
        editor.replace(place, place.with_changes(keyword=cst.Name(meant)))
    # What goes through the whole dictionary is not seen here.
    set_applicability(editor, f"Rename it to {meant}", caught=finding.details["caught"], doubtful=True)


def _mentions(part: cst.CSTNode, key: str) -> bool:
    """True for a string with the key in it, and for a keyword, a parameter or an attribute of that name."""
    match part:
        case cst.SimpleString():
            return key in str(part.evaluated_value)
        case cst.FormattedStringText(value=text):
            return key in text
        case cst.Arg(keyword=cst.Name(value=name)) | cst.Param(name=cst.Name(value=name)):
            return name == key
        case cst.Attribute(attr=cst.Name(value=name)):
            return name == key
        case _:
            return False


def _is_written(editor: Editor, part: cst.CSTNode, key: str) -> bool:
    """True for the key of a dictionary that is written out, and for the index of an assignment."""
    around, *outer = editor.ancestors(part)
    match part, around:
        case cst.SimpleString(), cst.DictElement(key=held) if held is part:
            return part.evaluated_value == key
        case cst.SimpleString(), cst.Index():
            # The index is in an element of the subscript, which is what the assignment has for its target.
            return part.evaluated_value == key and len(outer) > 2 and isinstance(outer[2], cst.AssignTarget)
        case cst.Arg(), cst.Call(func=cst.Name(value="dict")):
            return True
        case _:
            return False
