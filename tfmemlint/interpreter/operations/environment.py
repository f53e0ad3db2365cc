"""The environment of the process, and of processes that it starts."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from tfmemlint.facts.loop_values import given_for, names_in, origins, varies
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.command_line import is_nothing_given
from tfmemlint.interpreter.operations.devices import rank_taken
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import Arg, ChildEnv, EnvLost, EnvWrite
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import UNKNOWN, Amount, Const, Dict, Value
from tfmemlint.knowledge import units
from tfmemlint.knowledge.environment import ABOUT_GPUS, read_at
from tfmemlint.model.finding import Span
from tfmemlint.model.patterns import late_pattern


def env_value(context: Context, key: Value) -> Value:
    """Return the value that the program itself put into the environment under ``key``."""
    if isinstance(key, Const) and isinstance(key.value, str) and context.state is not None:
        found = context.state.env.get(key.value)
        context.env_read.setdefault(key.value, found)
        return found if found is not None else UNKNOWN
    return UNKNOWN


def read_variable(context: Context, name: Value, default: Value | None) -> Value:
    """Return what the environment has under a name: always a text, if it isn't the default."""
    found = env_value(context, name)
    if found != UNKNOWN:
        return found
    if isinstance(default, Const) and is_nothing_given(context) and _is_own(context, name):
        return default
    if default is not None and not isinstance(default, (Const, Amount)):
        return UNKNOWN
    sure = default is None or isinstance(default, Amount) or isinstance(default.value, (str, type(None)))
    shown = f"the environment variable {name.value}" if isinstance(name, Const) else "the environment"
    unit = units.unit_in_name(name.value) if isinstance(name, Const) and isinstance(name.value, str) else ""
    return Amount("str", unit, shown, sure, _as_number(default))


def _is_own(context: Context, name: Value) -> bool:
    """True for a variable that only this program asks for: none of the system, of a scheduler or of TensorFlow."""
    text = name.value if isinstance(name, Const) else None
    return isinstance(text, str) and text not in context.here.env and _OF_OTHERS.match(text) is None


_OF_OTHERS = late_pattern(
    r"TF_|CUDA_|NVIDIA_|SLURM|OMPI_|PMI_|HOROVOD|LOCAL_RANK$|RANK$|WORLD_SIZE$|HOME$|USER$|PATH$|HOSTNAME$|KERAS_|XLA_|SM_"
)
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off"})


def _as_number(default: Value | None) -> float | str | None:
    """Return the number that a default stands for, as a text or as it is; the text where it is a yes or no, or what a
    configuration file has in it; or None."""
    value = default.value if isinstance(default, Const) else None
    if isinstance(value, str) and (value.lower() in _WORDS or value.lstrip()[:1] in ("{", "[")):
        return value
    try:
        return float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None
    except ValueError:
        return None


def entries(context: Context, mapping: ast.expr) -> dict[str, tuple[Span | None, ast.expr]]:
    """Return the entries of a mapping that is written out, or of a call's keywords: the place and value of each."""
    found: dict[str, tuple[Span | None, ast.expr]] = {}
    if isinstance(mapping, ast.Dict):
        for key, value in zip(mapping.keys, mapping.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                found[key.value] = context.span(key), value
    elif isinstance(mapping, ast.Call):
        for part in mapping.args[:1]:
            found |= entries(context, part)
        for keyword in mapping.keywords:
            if keyword.arg is not None:
                found[keyword.arg] = None, keyword.value
    return found


def replace_environment(context: Context, value: Value, node: ast.AST, given: ast.expr | None) -> None:
    """Report the variables of a dictionary that takes the place of ``os.environ``: the process does not get them."""
    known = context.current(value)
    places = entries(context, given) if given is not None else {}
    items: dict[str, Value] = {
        name: Const(written.value) if isinstance(written, ast.Constant) else UNKNOWN
        for name, (_, written) in places.items()
    }
    items |= (
        {name: item for name, item in known.items.items() if isinstance(name, str)} if isinstance(known, Dict) else {}
    )
    fields = event_fields(context, node)
    for name, item in items.items():
        if context.here.env.get(name) == item != UNKNOWN:
            continue
        key, written = places.get(name, (None, None))
        context.emit(
            EnvLost(
                name=name,
                value=item.value if isinstance(item, Const) and isinstance(item.value, str) else None,
                why="replaced",
                begun=context.span(node),
                program="the process",
                text=context.text(written) if written is not None else "",
                key=key,
                given=context.span(written) if written is not None else None,
                **fields | ({"span": key} if key is not None else {}),
            )
        )


_IMPORTS_TENSORFLOW = late_pattern(r"^[ \t]{0,40}(?:import|from)[ \t]{1,9}(?:tensorflow|keras)\b", re.MULTILINE)
_ALL_NAMES = ("globals", "locals", "vars", "eval", "exec", "__all__")


def report_plain_name(context: Context, node: ast.Assign, value: Value) -> None:
    """Report a variable of TensorFlow's that is only a name of Python's, which nothing reads."""
    match node.targets:
        case [ast.Name(id=name) as target] if read_at(name) in ABOUT_GPUS:
            pass
        case _:
            return
    given = value.value if isinstance(value, Const) else None
    own = context.scope is context.module and context.unit is context.main
    text = context.source.text
    # A module of settings has names for others, which need not be those that the environment gets.
    if not isinstance(given, (str, int)) or not own or context.state is None or not _IMPORTS_TENSORFLOW.search(text):
        return
    if f"'{name}'" in text or f'"{name}"' in text:
        return
    uses = [part for part in ast.walk(context.unit.tree) if isinstance(part, ast.Name)]
    if any(part.id in (name, *_ALL_NAMES) and isinstance(part.ctx, ast.Load) for part in uses):
        return
    said = str(int(given) if isinstance(given, bool) else given)
    context.emit(
        EnvLost(
            name=name,
            value=said,
            why="name",
            begun=context.span(node),
            program="the process",
            text=said,
            key=context.span(target),
            given=context.span(node.value),
            **event_fields(context, node) | {"span": context.span(target)},
        )
    )


def child_env(context: Context, node: ast.Call) -> None:
    """Report the environment of a process that is started, as far as it is written out."""
    for keyword in node.keywords:
        for name, (key, value) in entries(context, keyword.value).items() if keyword.arg == "env" else ():
            if isinstance(value, ast.Constant) and context.state is not None:
                given = context.span(value)
                place = event_fields(context, keyword.value)
                context.emit(ChildEnv(name=name, value=Const(value.value), key=key or given, given=given, **place))


def env_write(
    context: Context, values: list[Value], node: ast.AST, written: list[Arg], *, default: bool = False
) -> None:
    if len(values) >= 2 and isinstance(values[0], Const) and isinstance(values[0].value, str):
        text = written[1].text if len(written) > 1 else ""
        key, given = (argument.span for argument in written[:2]) if len(written) > 1 else (None, None)
        how = "setdefault" if default else "putenv"
        whole = (node.args[0], node.args[1]) if isinstance(node, ast.Call) and len(node.args) > 1 else None
        set_env(context, values[0].value, values[1], node, text, how=how, key=key, given=given, written=whole)


def set_env(
    context: Context,
    name: str,
    value: Value,
    node: ast.AST,
    text: str,
    *,
    how: str = "assign",
    key: Span | None = None,
    given: Span | None = None,
    written: tuple[ast.expr | None, ast.expr] | None = None,
) -> None:
    """The program sets an environment variable. ``written``: its name and its value, as code; the rest is as in
    `EnvWrite`."""
    default = how == "setdefault"
    if name == "CUDA_VISIBLE_DEVICES":
        value = rank_taken(context, value, "environment", node, given, text)
    context.emit(
        EnvWrite(
            name=name,
            value=value,
            text=text,
            how=how,
            key=key,
            given=given,
            varies=written is not None and _varies(context, *written),
            **event_fields(context, node),
        )
    )
    context.state = replace(context.here, env={**context.here.env, name: value})
    if name == "CUDA_VISIBLE_DEVICES" and context.here.listed.under(context.guards).has is not Tri.YES:
        context.state = replace(context.here, cuda_visible_devices=value)
        if context.here.listed.has in (Tri.NO, Tri.UNKNOWN):
            hidden = isinstance(value, Const) and value.value in ("", "-1") and not default
            context.state = replace(context.here, min_gpus=0, max_gpus=0 if hidden else None)


def _varies(context: Context, name: ast.expr | None, value: ast.expr) -> bool:
    """True if a variable of one name gets another value in each pass of a loop that is being interpreted."""
    return _differs(context, value) and (name is None or isinstance(name, ast.Constant) or not _differs(context, name))


def _differs(context: Context, written: ast.expr) -> bool:
    expressions = [written]
    frames, depth = context.frames, len(context.frames)
    for loop in reversed(context.loops):
        while depth > loop.depth:
            # The loop is where the function is called, or further out.
            depth -= 1
            frame = frames[depth]
            if varies(expressions, frame.node):
                return True
            site, expressions = frame.site, origins(expressions, frame.node)
            given = given_for(frame.node, site, names_in(expressions)) if isinstance(site, ast.Call) else None
            if given is None:
                return False
            expressions = given
        if varies(expressions, loop.node):
            return True
    return False


def unset_env(context: Context, name: str) -> None:
    """Take a variable out of the environment."""
    context.state = replace(context.here, env={**context.here.env, name: UNKNOWN})
    if name == "CUDA_VISIBLE_DEVICES" and context.here.listed.under(context.guards).has is not Tri.YES:
        context.state = replace(context.here, cuda_visible_devices=None, max_gpus=None)
