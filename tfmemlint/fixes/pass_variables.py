"""Move a variable of a script, or of a makefile, to the command that starts the program."""

from __future__ import annotations

import re

from tfmemlint.fixes.text_editor import TextEditor
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.configuration import ConfigurationRead
from tfmemlint.model.finding import Finding, Span

_MOVES = re.compile(r"`|\$\(\(?(?:[a-z]|\w+ )|\$\$\(|PWD")
"""A value may be another one where the directory is."""
_PLAIN = re.compile(r"[\w.,:/@%+-]*")
_PYTHON = re.compile(r"(?<![\w./~-])(?:[\w.~-]*/){0,9}python[0-9.]{0,9}(?=[ \t])")
_ONE_LINE = re.compile(
    r"[ \t]*(?:[@+-]+[ \t]*)?(?:export[ \t]+)?[A-Za-z_]\w*="
    r"(?:[^\s;&|<>#\\\"'`]|\"[^\"`\\]*\"|'[^']*')*[ \t]*(?:;[ \t]*)?"
)


def pass_on(editor: object, finding: Finding) -> None:
    """Change the file so that the program gets the variable of ``finding``.

    Raises:
        Withheld: that can't be done here.
    """
    details = finding.details
    begun, key = details["begun"], details["key"]
    if not isinstance(editor, TextEditor) or not isinstance(begun, Span) or not isinstance(key, Span):
        raise Withheld("the file is not a configuration file")
    match details["why"]:
        case "front":
            _move(editor, finding, begun, key)
        case "line":
            _move_from_line(editor, finding, begun, key)
        case "apart":
            _take_out(editor, finding, key)
        case "ssh":
            row = editor.row(begun.row)
            found = list(_PYTHON.finditer(row, begun.column - 1))
            if len(found) != 1:
                raise Withheld("the command that starts the program isn't known")
            if not _PLAIN.fullmatch(_written(editor, finding, key)[1]):
                raise Withheld("the value would be in quotes there")
            _move(editor, finding, Span(begun.row, found[0].start() + 1, begun.row, found[0].end() + 1), key)
        case _:
            _pass_sudo(editor, finding, begun, key)
    editor.finds_less = str(details["name"])


def _written(editor: TextEditor, finding: Finding, key: Span) -> tuple[Span, str]:
    """Return the place of an assignment, and its value as written."""
    given = finding.details["given"]
    if not isinstance(given, Span) or not key.row == given.row == given.end_row:
        raise Withheld("it is written over several lines")
    value = editor.row(key.row)[given.column - 1 : given.end_column - 1]
    return Span(key.row, key.column, key.row, given.end_column), value


def _move(editor: TextEditor, finding: Finding, begun: Span, key: Span) -> None:
    """Move an assignment from the front of a command to the command at ``begun``."""
    place, value = _written(editor, finding, key)
    if _MOVES.search(value):
        raise Withheld("the value may be another one there")
    row = editor.row(key.row)
    if _several(editor, finding, key):
        rest = row[place.end_column - 1 :]
        if (
            finding.details["why"] != "front"
            or row[: key.column - 1].strip()
            or not re.match(r"[ \t]+(?!\w+=)\w", rest)
        ):
            raise Withheld("several programs lack it")
        editor.insert(key.row, key.column, "export ")
        editor.insert(key.row, place.end_column, " &&")
        editor.unsafe("Export it")
        return
    words = row[place.column - 1 : place.end_column - 1]
    if re.search(r"\benv[ \t]+$", row[: place.column - 1]):
        raise Withheld("env would have nothing to set")
    blanks = re.match(r"[ \t]*", row[place.end_column - 1 :])
    behind = place.end_column + (len(blanks[0]) if blanks is not None else 0)
    if row[behind - 1 :] == "\\" and not row[: place.column - 1].strip() and begun.row > key.row:
        below = re.match(r"[ \t]*", editor.row(key.row + 1))
        editor.delete(Span(key.row, place.column, key.row + 1, len(below[0]) + 1 if below is not None else 1))
    else:
        editor.delete(Span(key.row, place.column, key.row, behind))
    editor.insert(begun.row, begun.column, f"{words} ")
    editor.unsafe("Set it for the command that starts the program")


def _move_from_line(editor: TextEditor, finding: Finding, begun: Span, key: Span) -> None:
    """Move an assignment that has a line of a recipe to itself."""
    place, value = _written(editor, finding, key)
    row = editor.row(key.row)
    if not _ONE_LINE.fullmatch(row) or _MOVES.search(value):
        raise Withheld("the line does more than set the variable")
    if _several(editor, finding, key):
        raise Withheld("several programs lack it")
    editor.delete(Span(key.row, 1, key.row + 1, 1))
    editor.insert(begun.row, begun.column, f"{row[place.column - 1 : place.end_column - 1]} ")
    editor.unsafe("Set it for the command that starts the program")


def _take_out(editor: TextEditor, finding: Finding, key: Span) -> None:
    """Take the parentheses around an export away."""
    place, _ = _written(editor, finding, key)
    row = editor.row(key.row)
    opening = re.search(r"(?:^|[;&])[ \t]*(\([ \t]*)export[ \t]+$", row[: key.column - 1])
    closing = re.match(r"[ \t]*\)", row[place.end_column - 1 :])
    if opening is None or closing is None:
        raise Withheld("more than the export is a process of its own")
    editor.delete(Span(key.row, opening.start(1) + 1, key.row, opening.end(1) + 1))
    editor.delete(Span(key.row, place.end_column, key.row, place.end_column + closing.end()))
    editor.unsafe("Export it in the script itself")


def _pass_sudo(editor: TextEditor, finding: Finding, begun: Span, key: Span) -> None:
    """Set a variable behind ``sudo``, or have ``sudo`` keep what is exported."""
    row = editor.row(begun.row)
    if key.row == begun.row and key.column < begun.column:
        _move(editor, finding, begun, key)
        return
    sudo = re.search(r"\bsudo(?=[ \t])", row[begun.column - 1 :])
    if sudo is None:
        raise Withheld("sudo is on another line")
    column = begun.column + sudo.end()
    editor.insert(begun.row, column, f" --preserve-env={finding.details['name']}")
    editor.unsafe("Have sudo keep it")


def _several(editor: TextEditor, finding: Finding, key: Span) -> bool:
    """True if several programs lack a variable below its place, and the first is not a part of the same line."""
    name, begun = finding.details["name"], finding.details["begun"]
    assert isinstance(begun, Span)
    if all(editor.row(row).endswith("\\") for row in range(key.row, begun.row)):
        return False
    found = editor.found or ConfigurationRead()
    where = {start.where for start in found.starts if start.span == begun}
    lacking = {
        (start.span.row, start.span.column)
        for start in found.starts
        if not start.shell
        and (start.span.row, start.span.column) > (key.row, key.column)
        and all(setting.name != name for setting in start.settings)
        and (not where or start.where in where)
    }
    return len(lacking) > 1
