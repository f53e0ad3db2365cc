"""Hand a function to a new process in place of what a call of it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor

_GIVEN = {"initializer": "initargs", "target": "args"}
"""The parameter that has the arguments of the function."""


def hand(editor: Editor, finding: Finding) -> None:
    """Turn ``initializer=claim(512)`` into ``initializer=claim, initargs=(512,)``.

    Raises:
        Withheld: the process gets arguments for it already.
    """
    call = editor.expression_at(finding.span)
    argument = editor.parent(call)
    around = editor.parent(argument) if isinstance(argument, cst.Arg) else None
    if not isinstance(call, cst.Call) or not isinstance(argument, cst.Arg) or not isinstance(around, cst.Call):
        raise Withheld("the rewriter finds no call there")
    name = str(finding.details["handed"])
    others = {_GIVEN[name], "kwargs"} if name == "target" else {_GIVEN[name]}
    place = around.args.index(argument)
    if any(each.keyword is not None and each.keyword.value in others for each in around.args) or (
        argument.keyword is None and any(each.keyword is None for each in around.args[place + 1 :])
    ):
        raise Withheld("the process gets arguments for it already")
    function = editor.code(call.func)
    plain = [each for each in call.args if each.keyword is None and each.star != "**"]
    named = [each for each in call.args if each not in plain]
    given: list[tuple[str, str]] = []
    if named and name == "initializer":
        function = f"{_partial(editor)}({function}, {', '.join(_text(editor, each) for each in call.args)})"
        plain = []
    if plain:
        listed = ", ".join(_text(editor, each) for each in plain)
        given.append((_GIVEN[name], f"({listed}{',' if len(plain) == 1 else ''})"))
    if named and name == "target":
        given.append(("kwargs", f"dict({', '.join(_text(editor, each) for each in named)})"))
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    added = [
        cst.Arg(keyword=cst.Name(keyword), equal=equal, value=cst.parse_expression(text)) for keyword, text in given
    ]
    first = argument.with_changes(value=cst.parse_expression(function))
    if added:
        added[-1] = added[-1].with_changes(comma=argument.comma)
        first = first.with_changes(comma=cst.Comma(whitespace_after=_after(around, place)))
        added[:-1] = [each.with_changes(comma=first.comma) for each in added[:-1]]
    args = [*around.args[:place], first, *added, *around.args[place + 1 :]]
    editor.replace(around, around.with_changes(args=args))
    editor.unsafe(f"Give {editor.code(call.func)} itself, which the new process calls")


def _after(around: cst.Call, place: int) -> cst.BaseParenthesizableWhitespace:
    """Return what stands between two arguments of a call: a space, or the end of a line."""
    for each in (*around.args[:place], *around.args[place : len(around.args) - 1]):
        if isinstance(each.comma, cst.Comma):
            return each.comma.whitespace_after
    return cst.SimpleWhitespace(" ")


def _text(editor: Editor, argument: cst.Arg) -> str:
    return editor.code(argument.with_changes(comma=cst.MaybeSentinel.DEFAULT))


def _partial(editor: Editor) -> str:
    return f"{editor.add_import('functools')}.partial"
