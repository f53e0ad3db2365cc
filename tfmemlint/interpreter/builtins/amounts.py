"""Functions that return texts, and amounts of memory: of the environment, of options and files, of NVML and psutil."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts import FLAGS, as_number, memory_of, option_value
from tfmemlint.interpreter.operations.classes import lineage, metaclass_of
from tfmemlint.interpreter.operations.command_line import Option, given_option
from tfmemlint.interpreter.operations.config_files import hooked, loaded
from tfmemlint.interpreter.operations.environment import read_variable
from tfmemlint.interpreter.operations.option_parsers import made_parser
from tfmemlint.interpreter.registry import Invocation, builtin, models
from tfmemlint.interpreter.values import (
    TRUTH,
    UNKNOWN,
    Amount,
    Class,
    Const,
    Dict,
    Fields,
    FileContent,
    Instance,
    Ref,
    Seq,
    Value,
)
from tfmemlint.knowledge import units
from tfmemlint.knowledge.functions import TENSORFLOW_FLAGS
from tfmemlint.sources.config_files.values import JSON

_TEXT_KEYWORDS = frozenset({"text", "universal_newlines", "encoding"})
MAX_JSON_CHARACTERS = 10_000


@builtin("os.getenv", "os.environ.get")
def getenv(context: Context, call: Invocation) -> Value | None:
    name = call.argument(0, "key")
    return read_variable(context, name, call.argument(1, "default")) if name is not None else None


@builtin("argparse.ArgumentParser", "configargparse.ArgumentParser")
def argument_parser(context: Context, call: Invocation) -> Value | None:
    return made_parser(context, call.keywords)


@builtin("isinstance")
def is_instance(context: Context, call: Invocation) -> Value | None:
    """Tell that a text is no number; of None, in the place of a text, that holds as well."""
    match call.values:
        case [Amount(type="str", sure=True), kind]:
            kinds = kind.items if isinstance(kind, Seq) else (kind,)
            return Const(False) if all(of in (Ref("int"), Ref("float"), Ref("bool")) for of in kinds) else None
        case [Const() | Dict() as value, kind]:
            return _is_of(context, value, kind.items if isinstance(kind, Seq) else (kind,))
        case [Instance(cls), kind]:
            # An object of a class may well be one of a class that is derived from it.
            kinds = kind.items if isinstance(kind, Seq) else (kind,)
            return Const(True) if any(of in lineage(context, cls) for of in kinds) else None
        case _:
            return None


_PLAIN = {kind.__name__: kind for kind in (str, bytes, int, float, bool, dict, list, tuple, set)}


def _is_of(context: Context, value: Const | Dict, kinds: Sequence[Value]) -> Value | None:
    """Tell whether a constant or a dictionary is of one of these types; None if one is neither built in nor the
    program's own."""
    plain = [kind for kind in kinds if not (isinstance(kind, Class) and metaclass_of(context, kind) is None)]
    names = [kind.name if isinstance(kind, Ref) else "" for kind in plain]
    if not all(name in _PLAIN for name in names):
        return None
    own = dict if isinstance(value, Dict) else type(value.value)
    return Const(any(issubclass(own, _PLAIN[name]) for name in names))


_FLAG_READERS = {"string": "str", "integer": "int", "float": "float"}
_FLAG_LISTS = {
    "list": "list",
    "multi_string": "list str",
    "multi_integer": "list int",
    "multi_float": "list float",
    "enum": "str",
}
"""The readers of other flags, whose values are known only where the command line is."""


@builtin(*(f"absl.flags.DEFINE_{kind}" for kind in _FLAG_READERS))
@models(*(f"{prefix}.DEFINE_{kind}" for prefix in TENSORFLOW_FLAGS for kind in _FLAG_READERS))
def define_flag(context: Context, call: Invocation) -> Value | None:
    name = call.argument(0, "name")
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return None
    reader = _FLAG_READERS[call.name.rpartition("DEFINE_")[2]]
    value = option_value(
        name.value,
        reader,
        call.argument(1, "default") or Const(None),
        f"the flag --{name.value}",
        call.argument(2, "help") or call.keywords.get("docstring"),
    )
    return _defined(context, name.value, reader, call.argument(1, "default") or Const(None), value)


def _defined(context: Context, name: str, reader: str, default: Value, value: Value) -> Value:
    """Return the holder of a flag, which is what the command line says, if that is known."""
    given = given_option(context, Option((f"--{name}", f"-{name}"), reader, default))
    # A second definition of the name is for another program, or for none.
    flag = FLAGS, name
    context.heap = {**context.heap, flag: UNKNOWN if flag in context.heap else value if given is None else given}
    return Fields({"value": context.heap[flag]})


@builtin(*(f"absl.flags.DEFINE_{kind}" for kind in _FLAG_LISTS))
@models(*(f"{prefix}.DEFINE_{kind}" for prefix in TENSORFLOW_FLAGS for kind in _FLAG_LISTS))
def define_other_flag(context: Context, call: Invocation) -> Value | None:
    name, default = call.argument(0, "name"), call.argument(1, "default") or Const(None)
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return None
    reader = _FLAG_LISTS[call.name.rpartition("DEFINE_")[2]]
    if reader == "list":
        # Its words are parts of one word: ``--gpus=0,1``.
        text = default.value if isinstance(default, Const) else None
        default, reader = Seq(tuple(map(Const, text.split(",")))) if isinstance(text, str) else default, ""
    elif reader.startswith("list ") and isinstance(default, Const) and default.value is not None:
        default = Seq((default,))
    return _defined(context, name.value, reader, default, UNKNOWN)


@builtin("absl.flags.DEFINE_bool", "absl.flags.DEFINE_boolean")
@models(*(f"{prefix}.DEFINE_{kind}" for prefix in TENSORFLOW_FLAGS for kind in ("bool", "boolean")))
def define_switch(context: Context, call: Invocation) -> Value | None:
    name, default = call.argument(0, "name"), call.argument(1, "default")
    if not isinstance(name, Const) or not isinstance(name.value, str) or default not in (Const(True), Const(False)):
        return None
    return _defined(context, name.value, "flag", default, TRUTH)


@builtin("input")
def text(context: Context, call: Invocation) -> Value | None:
    return Amount("str", source=f"{call.name}()")


@builtin("json.loads")
def loads(context: Context, call: Invocation) -> Value | None:
    match call.values:
        case [FileContent() | Amount() as content] if call.keywords.keys() <= {"object_hook"}:
            return hooked(context, loaded(context, content, JSON), call)
        case [Const(str() as text)] if len(text) <= MAX_JSON_CHARACTERS:
            try:
                found = json.loads(text)
            except (ValueError, RecursionError):
                return UNKNOWN
            hook = call.keywords.get("object_hook")
            if hook is None:
                return _lifted(found)
            if isinstance(found, dict) or (isinstance(found, list) and any(isinstance(item, dict) for item in found)):
                context.call(hook, [UNKNOWN], {}, call.node)
            return UNKNOWN
        case _:
            return None


def _lifted(value: object) -> Value:
    if isinstance(value, dict):
        return Dict({key: _lifted(item) for key, item in value.items()})
    if isinstance(value, list):
        return Seq(tuple(map(_lifted, value)))
    return Const(value)


@builtin("float", "round", "abs", "math.floor", "math.ceil")
def number(context: Context, call: Invocation) -> Value | None:
    return as_number(call.values[0]) if call.values and isinstance(call.values[0], Amount) else None


@builtin("psutil.virtual_memory", "psutil.swap_memory", "torch.cuda.get_device_properties")
def memory(context: Context, call: Invocation) -> Value | None:
    return memory_of(call.name)


@builtin("torch.cuda.mem_get_info")
def free_and_total(context: Context, call: Invocation) -> Value | None:
    amount = Amount("number", units.BYTES, call.name)
    return Seq((amount, amount), "tuple")
