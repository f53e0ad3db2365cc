"""Amounts of which the type or the unit is known, the objects that hold them, and parsers of command lines."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts import of_text, option_value, read_as
from tfmemlint.interpreter.operations.command_line import Option, option_of, words_in, words_of
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.operations.option_parsers import note_names, report_dropped
from tfmemlint.interpreter.operations.options import SAYING_YES_OR_NO
from tfmemlint.interpreter.operations.text_truth import option_read_by_bool
from tfmemlint.interpreter.registry import attribute_of, item_of, method
from tfmemlint.interpreter.values import (
    TRUTH,
    UNKNOWN,
    Amount,
    Const,
    Fields,
    FileValue,
    Function,
    OneOf,
    OptionParser,
    Ref,
    Seq,
    Value,
)
from tfmemlint.knowledge import units

_GROUPS = frozenset({"add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser"})
_PARSING = frozenset({"parse_args", "parse_known_args", "parse_intermixed_args"})


@item_of(Amount)
def item_of_amount(
    context: Context, base: Amount, key: Value, node: ast.expr, written: ast.expr | None = None
) -> Value:
    if base.type == "numbers":
        return Amount("number", base.unit, base.source)
    return Amount("str", base.unit, base.source) if base.type in ("list", "str") else UNKNOWN


@method(Amount)
def method_of_amount(context: Context, base: Amount, call: MethodCall) -> Value | None:
    result: Value | None = of_text(base, call.name)
    if result is None and base.type == "str" and call.name in SAYING_YES_OR_NO:
        result = TRUTH
    if result is not None:
        call.drained_arguments(context)
    return result


@attribute_of(Fields)
def attribute_of_fields(context: Context, base: Fields, name: str, node: ast.AST) -> Value:
    if name == "__dict__":
        return base
    found: Value = base.fields.get(name, base.rest)
    # What the program sets itself may be anything.
    return UNKNOWN if name in context.attributes_set else found


@item_of(Fields)
def item_of_fields(
    context: Context, base: Fields, key: Value, node: ast.expr, written: ast.expr | None = None
) -> Value:
    if not isinstance(key, Const) or not isinstance(key.value, str):
        # A list of objects that are alike has no fields of its own.
        return UNKNOWN if base.fields else base.rest
    found: Value = base.fields.get(key.value, base.rest)
    return found


@method(Fields, "get", "getint", "getfloat", "getboolean")
def get_from_fields(context: Context, base: Fields, call: MethodCall) -> Value:
    values, keywords = call.drained_arguments(context)
    names = [value.value for value in values if isinstance(value, Const) and isinstance(value.value, str)]
    found: Value = base
    for name in names[: 2 if isinstance(base.rest, Fields) else 1]:
        if isinstance(found, Fields):
            found = found.fields.get(name, found.rest)
    if isinstance(found, Fields):
        return found
    fallback = keywords.get("fallback", values[1] if len(values) > 1 and not isinstance(base.rest, Fields) else None)
    if call.name != "get":
        return read_as(call.name, found)
    if fallback is not None and not isinstance(fallback, Const):
        return UNKNOWN
    known = fallback is None or isinstance(fallback.value, (str, type(None)))
    return Amount(found.type, found.unit, found.source, found.sure and known) if isinstance(found, Amount) else found


_COMMANDS = ""
"""In the place of an option: the parser has commands. No option has that name."""


@method(OptionParser)
def method_of_parser(context: Context, base: OptionParser, call: MethodCall) -> Value:
    values, keywords = call.drained_arguments(context)
    if call.name in _GROUPS:
        return base
    if call.name in _PARSING:
        for name, reader, text in base.readers:
            _read_default(context, base, name, context.call(reader, [text], {}, call.node))
        given = _given(context, base, values[0] if values else keywords.get("args", Const(None)))
        parsed = Fields({**base.options, **given, **base.code})
        if call.name == "parse_known_args":
            report_dropped(context, base, values[0] if values else keywords.get("args", Const(None)), call.node)
        return Seq((parsed, UNKNOWN), "tuple") if call.name == "parse_known_args" else parsed
    if call.name == "add_argument":
        _add_argument(context, base, values, keywords, call.node)
    elif call.name == "set_defaults":
        for name, value in keywords.items():
            base.options.pop(name, None)
            base.words.pop(name, None)
            if isinstance(value, FileValue) and value.type == "number":
                # A text is read by the option's ``type``.
                base.options[name] = value
            if isinstance(value, Function) and _COMMANDS not in base.options:
                base.code[name] = value
    elif call.name != "add_subparsers":
        base.doubts.add(call.name)
    else:
        # A command may have defaults of its own.
        base.code.clear()
        base.options[_COMMANDS] = UNKNOWN
    return UNKNOWN


def _add_argument(
    context: Context, parser: OptionParser, values: list[Value], keywords: dict[str, Value], node: ast.AST
) -> None:
    """Note what an option is parsed as: a text, if nothing says otherwise."""
    names = [value.value for value in values if isinstance(value, Const) and isinstance(value.value, str)]
    note_names(parser, names, known=len(names) == len(values) and "**" not in keywords)
    given = keywords.get("dest")
    long = [name for name in names if name.startswith("--")]
    name = str(given.value) if isinstance(given, Const) else (long or names or [""])[0].lstrip("-").replace("-", "_")
    reader, default = keywords.get("type"), keywords.get("default")
    if isinstance(reader, Function) and isinstance(default, Const) and isinstance(default.value, str):
        # A default that is a text is read like what is given on the command line.
        parser.readers.append((name, reader, default))
    shown = (long or names or [""])[0]
    type_ = next((each.value for each in getattr(node, "keywords", ()) if each.arg == "type"), None)
    if reader == Ref("bool") and type_ is not None and shown.startswith("-") and context.state is not None:
        parser.options[name] = option_read_by_bool(context, shown, type_)
    else:
        parser.options[name] = _parsed(name, keywords, f"the option {shown}")
        if shown.startswith("-"):
            parser.words[name] = Option(tuple(names), _reader(keywords), _default(keywords))


def _given(context: Context, parser: OptionParser, listed: Value) -> dict[str, Value]:
    """Return the options that are known in a run whose command line is known, which the parser reads if it is not given
    a list of words."""
    words = words_of(context)
    if words is not None and listed != Const(None):
        words = words_in(context.current(listed))
    found = {name: option_of(words, option) for name, option in parser.words.items()} if words is not None else {}
    return {name: value for name, value in found.items() if value is not None}


_PLAIN = tuple(map(Ref, ("str", "int", "float")))


def _default(keywords: dict[str, Value]) -> Value:
    """Return what an option is where it is not given; without one that has to be given, nothing runs. What a function
    makes of a text is not known."""
    default = keywords.get("default")
    read = (
        isinstance(default, Const) and isinstance(default.value, str) and keywords.get("type", Ref("str")) not in _PLAIN
    )
    if read or keywords.get("required", Const(False)) != Const(False):
        return UNKNOWN
    action = keywords.get("action")
    switch = action in (Const("store_true"), Const("store_false"))
    return keywords.get("default", Const(action == Const("store_false") if switch else None))


def _reader(keywords: dict[str, Value]) -> str:
    """Return the type of what an option takes, as `Option` has it."""
    if "action" in keywords:
        known = keywords["action"] in (Const("store_true"), Ref("argparse.BooleanOptionalAction"))
        return "flag" if known else ""
    type_ = keywords.get("type", Ref("str"))
    reader = type_.name if isinstance(type_, Ref) else ""
    return (
        f"list {reader}" if keywords.get("nargs") in (Const("+"), Const("*")) else "" if "nargs" in keywords else reader
    )


def _read_default(context: Context, parser: OptionParser, name: str, value: Value) -> None:
    """Note what a function of the program makes of the default of an option."""
    number = value.value if isinstance(value, Const) else None
    known = parser.options.get(name)
    if isinstance(number, (int, float)) and not isinstance(number, bool) and isinstance(known, Amount):
        parser.options[name] = replace(known, default=number)


def _parsed(name: str, keywords: dict[str, Value], source: str) -> Value:
    if "action" in keywords:
        return _switched(keywords["action"], keywords.get("default"))
    if keywords.keys() & {"nargs", "choices"}:
        return UNKNOWN
    type_ = keywords.get("type", Ref("str"))
    reader = type_.name if isinstance(type_, Ref) else ""
    default = keywords.get("default", Const(None))
    if isinstance(type_, Function) and isinstance(default, Const):
        # It may make anything of a text, in any unit; only the default is known.
        number = default.value if isinstance(default.value, (int, float)) else None
        known = number if not isinstance(number, bool) else None
        return Amount("", "", source, sure=False, default=known)
    told = keywords.get("help")
    unit, metavar = "", keywords.get("metavar")
    if isinstance(metavar, Const) and isinstance(metavar.value, str):
        unit = units.written_unit(metavar.value)
    return option_value(name, reader, default, source, told, unit)


def _switched(action: Value, default: Value | None) -> Value:
    """Return what an option is that takes no argument."""
    if action in (Const("store_true"), Const("store_false")):
        given = action == Const("store_true")
        plain: object = not given
        if default is not None:
            if not isinstance(default, Const):
                return UNKNOWN
            plain = default.value
        return OneOf((given, plain) if plain is not given else (given,)) if isinstance(plain, bool) else UNKNOWN
    # None, which it is where neither form is given and it has no default, is no bool.
    optional = action == Ref("argparse.BooleanOptionalAction") and isinstance(default, Const)
    return TRUTH if optional and default in (Const(True), Const(False)) else UNKNOWN
