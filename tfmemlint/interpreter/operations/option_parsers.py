"""The options that the parsers of a program declare, and those of a command line that none of them knows."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.command_line import words_in, words_of
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.state.texts import OptionsDropped
from tfmemlint.interpreter.values import Const, Function, Instance, OptionParser, OwnDict, Seq, Value, parts

_HARMLESS = frozenset(
    {"prog", "usage", "description", "epilog", "formatter_class", "add_help", "argument_default", "exit_on_error"}
)
"""Arguments of a parser that change nothing about the options that it knows."""
_WHOLE = "whole"


def made_parser(context: Context, keywords: Mapping[str, Value]) -> OptionParser:
    """Return a new parser, with the options of its parents."""
    parser = OptionParser()
    for name, value in keywords.items():
        now = context.current(value)
        if name == "parents" and isinstance(now, Seq):
            for each in now.items:
                if not isinstance(each, OptionParser):
                    parser.doubts.add(name)
                    continue
                parser.names.extend(each.names)
                parser.doubts.update(each.doubts - {_WHOLE})
        elif name == "allow_abbrev" and isinstance(value, Const):
            if not value.value:
                parser.doubts.add(_WHOLE)
        elif name not in _HARMLESS:
            parser.doubts.add(name)
    context.parsers.append(parser)
    return parser


def doubt_parsers(context: Context, values: Iterable[Value]) -> None:
    """Note that parsers go where options may be added to them: these values, and what is in them."""
    waiting, seen = list(values), set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        match context.current(value):
            case OptionParser() as parser:
                parser.doubts.add("passed on")
            case (Instance() as holder) | OwnDict(owner=Instance() as holder):
                waiting += [held for (owner, _), held in context.heap.items() if owner is holder]
            case Function(bound=Instance() as holder):
                waiting.append(holder)
            case now:
                waiting += parts(now)


def note_names(parser: OptionParser, names: Sequence[str], *, known: bool) -> None:
    """Note the names of an option that is added, and whether these are all that it has."""
    if tuple(names) not in parser.names:
        parser.names.append(tuple(names))
    if not known:
        parser.doubts.add("names")


def report_dropped(context: Context, parser: OptionParser, listed: Value, node: ast.AST) -> None:
    """Report the options of the command line that a parser does not know, where all that it knows is known."""
    words = words_of(context)
    if words is not None and listed != Const(None):
        words = words_in(context.current(listed))
    if words is None or parser.doubts - {_WHOLE} or context.state is None:
        return
    declared = tuple(parser.names)
    given = _unknown(words, [name for names in declared for name in names], whole=_WHOLE in parser.doubts)
    if given:
        context.emit(OptionsDropped(given=given, declared=declared, words=words, **event_fields(context, node)))


def _unknown(words: Sequence[str | None], names: Sequence[str], *, whole: bool) -> tuple[str, ...]:
    """Return the long options among words that no name begins with; ``whole``: that are no name."""
    found: dict[str, None] = {}
    for word in words:
        if word == "--":
            break
        name = (word or "").partition("=")[0]
        known = name in names if whole else any(each.startswith(name) for each in names)
        if name.startswith("--") and not known:
            found[name] = None
    return tuple(found)
