"""Functions that ``click``, ``typer`` and ``fire`` make commands of: their arguments come from the command line.

A call of a command of click passes the arguments of a command line, not those of the function. Source:
https://click.palletsprojects.com/en/stable/parameters/: an option without a type has that of its default. Typer takes
the type from the annotation: https://typer.tiangolo.com/tutorial/parameter-types/.
"""

from __future__ import annotations

import ast

from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts import option_value
from tfmemlint.interpreter.operations.command_line import Option, given_option
from tfmemlint.interpreter.values import TRUTH, UNKNOWN, Amount, Const, Function, Ref, Value

_TYPES = {
    "click.STRING": "str",
    "click.INT": "int",
    "click.FLOAT": "float",
    "str": "str",
    "int": "int",
    "float": "float",
    "bool": "bool",
}


def command_arguments(function: Function, context: Context) -> dict[str, Value] | None:
    """Return what the options of a command are, by the names of the parameters; None if a function is no command."""
    if isinstance(function.node, ast.Lambda) or not function.node.decorator_list:
        return None
    calls = [part for part in function.node.decorator_list if isinstance(part, ast.Call)]
    named = [(_name_of(part.func, function), part) for part in calls]
    if not any(name in ("click.command", "click.group") or name.endswith(".command") for name, _ in named):
        return None
    options = [part for name, part in named if name in ("click.option", "click.argument")]
    args = function.node.args
    given: dict[str, Value] = {arg.arg: UNKNOWN for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    for option in options:
        name, value = _option(option, function)
        if name in given:
            given[name] = _given(option, value, context)
    return given if options else None


def _given(node: ast.Call, value: Value, context: Context) -> Value:
    """Return what an option is on the command line of the run, if that is known; ``value`` otherwise."""
    names = [part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    forms = tuple(form for name in names for form in name.split("/")[:1] if form.startswith("-"))
    if not forms:
        return value
    flag = value is TRUTH
    reader = {"number": "float", "str": "str"}.get(value.type, "") if isinstance(value, Amount) else ""
    default = next((keyword.value for keyword in node.keywords if keyword.arg == "default"), None)
    known = Const(default.value) if isinstance(default, ast.Constant) else UNKNOWN
    given = given_option(context, Option(forms, "flag" if flag else reader, known))
    if isinstance(given, Const) and isinstance(given.value, float) and given.value.is_integer():
        return Const(int(given.value))
    return value if given is None else given


def typed_options(function: Function) -> dict[str, Value]:
    """Return what the parameters of a function are that typer or fire calls, by their names."""
    args = function.node.args
    parameters = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(parameters) - len(args.defaults))
    pairs = [*zip(parameters, [*defaults, *args.defaults], strict=True)]
    pairs += zip(args.kwonlyargs, args.kw_defaults, strict=True)
    return {parameter.arg: _typed(parameter, default, function) for parameter, default in pairs}


def _typed(parameter: ast.arg, default: ast.expr | None, function: Function) -> Value:
    if isinstance(default, ast.Call) and _name_of(default.func, function) in ("typer.Option", "typer.Argument"):
        named = {keyword.arg or "**": keyword.value for keyword in default.keywords}
        default = default.args[0] if default.args else named.get("default")
    if not isinstance(default, ast.Constant) or default.value is ...:
        default = None
    kind = parameter.annotation
    if isinstance(kind, ast.Subscript):  # Annotated[int, ...], Optional[int]
        kind = kind.slice.elts[0] if isinstance(kind.slice, ast.Tuple) and kind.slice.elts else kind.slice
    reader = (
        _TYPES.get(_name_of(kind, function), "") if kind is not None else _type_of(default.value if default else ...)
    )
    name = parameter.arg
    if reader == "bool":
        return TRUTH if default is None or isinstance(default.value, bool) else UNKNOWN
    return option_value(
        name, reader, Const(default.value if default else None), f"the option --{name.replace('_', '-')}"
    )


def _name_of(node: ast.expr, function: Function) -> str:
    text = dotted(node)
    root, dot, rest = text.partition(".")
    value = function.scope.lookup(root) if root else None
    return f"{value.name}{dot}{rest}" if isinstance(value, Ref) else text


def _option(node: ast.Call, function: Function) -> tuple[str, Value]:
    """Return the parameter that an option is for, and its value."""
    names = [part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    plain = [name for name in names if not name.startswith("-")]
    long = [name for name in names if name.startswith("--")]
    name = (plain or long or names or [""])[0].lstrip("-").partition("/")[0].replace("-", "_").lower()
    keywords = {keyword.arg or "**": keyword.value for keyword in node.keywords}
    if keywords.keys().isdisjoint(_OTHER_THAN_SWITCH) and _is_switch(keywords, "/" in "".join(names), function):
        return name, TRUTH
    if keywords.keys() & {"**", "is_flag", "flag_value", "multiple", "nargs", "callback", "count", "cls"}:
        return name, UNKNOWN
    default = keywords.get("default", ast.Constant(None))
    if not isinstance(default, ast.Constant):
        return name, UNKNOWN
    reader = _TYPES.get(_name_of(keywords["type"], function), "") if "type" in keywords else _type_of(default.value)
    return name, option_value(name, reader, Const(default.value), f"the option {(long or names or [name])[0]}")


_OTHER_THAN_SWITCH = frozenset({"**", "flag_value", "multiple", "nargs", "callback", "count", "cls"})


def _is_switch(keywords: dict[str, ast.expr], has_two_forms: bool, function: Function) -> bool:
    """True if an option of a command of click is True or False."""
    default = keywords.get("default")
    if default is not None and not (isinstance(default, ast.Constant) and isinstance(default.value, bool)):
        return False
    if "is_flag" in keywords:
        told = keywords["is_flag"]
        return isinstance(told, ast.Constant) and told.value is True and "type" not in keywords
    if "type" in keywords:
        return _name_of(keywords["type"], function) in ("bool", "click.BOOL")
    return has_two_forms or default is not None


def _type_of(default: object) -> str:
    kind = "str" if default is None else type(default).__name__
    return kind if kind in ("str", "int", "float", "bool") else ""
