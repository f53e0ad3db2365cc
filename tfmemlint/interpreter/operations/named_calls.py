"""Calls of functions by their canonical names: of Python's own, of TensorFlow's, and of other libraries'."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.facts import folding
from tfmemlint.facts.names import called_name, is_tensorflow
from tfmemlint.facts.syntax import is_exit
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts import told_by
from tfmemlint.interpreter.operations.amounts_told import is_memory, told_in_log, told_in_print
from tfmemlint.interpreter.operations.call_effects import apply_effect
from tfmemlint.interpreter.operations.callbacks import PROCESS_POOLS, call_sort_key, note_process_functions
from tfmemlint.interpreter.operations.constants import lift, plain_values
from tfmemlint.interpreter.operations.contents import mark_escaped, passed_to_unknown
from tfmemlint.interpreter.operations.environment import child_env, env_write
from tfmemlint.interpreter.operations.environment_copies import report_unpassed
from tfmemlint.interpreter.operations.events import emit_call
from tfmemlint.interpreter.operations.exceptions import leave
from tfmemlint.interpreter.operations.in_force import late_effect
from tfmemlint.interpreter.operations.keras_callbacks import run_callbacks
from tfmemlint.interpreter.operations.library import in_library
from tfmemlint.interpreter.operations.objects import call_first_special
from tfmemlint.interpreter.operations.option_parsers import doubt_parsers
from tfmemlint.interpreter.operations.protocols import as_lazy, call_all, call_all_with, is_own, members_of
from tfmemlint.interpreter.operations.shell_commands import report_exports
from tfmemlint.interpreter.operations.signals import may_be_signalled
from tfmemlint.interpreter.operations.third_party import third_party_call
from tfmemlint.interpreter.operations.worker_processes import note_copies
from tfmemlint.interpreter.registry import BUILTINS, CONSUMERS, MODELS, OUTCOMES, Invocation
from tfmemlint.interpreter.state import ConfigEffect
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Choice,
    Const,
    Function,
    Instance,
    Lazy,
    Made,
    Partial,
    Ref,
    Seq,
    Value,
)
from tfmemlint.knowledge import purposes, standalone_keras
from tfmemlint.knowledge.data_model import ASKED, ITERATES
from tfmemlint.knowledge.functions import PHYSICAL_FIXED, RANKS, VIRTUAL_FIXED
from tfmemlint.model.intent import Purpose

WRAPPING = frozenset(
    {"functools.lru_cache", "functools.cache", "staticmethod", "classmethod", "contextlib.contextmanager"}
)
"""Functions that return one that does the same as the one that they are given."""
KEEPING = WRAPPING | {
    "functools.wraps",
    "functools.update_wrapper",
    "functools.singledispatch",
    "functools.total_ordering",
    "isinstance",
    "callable",
    "id",
    "type",
    "repr",
    "print",
    "typing.cast",
    *("fastapi.FastAPI", "fastapi.APIRouter", "starlette.applications.Starlette"),
    *("len", "bool", "str", "any", "all", "hash", "hasattr", "next", "filter", "itertools.chain", "json.dumps"),
    *("copy.copy", "copy.deepcopy", "dataclasses.dataclass", "dataclasses.replace"),
    *(f"inspect.{name}" for name in ("getdoc", "getsource", "getsourcefile", "getfile", "getmodule", "isfunction")),
    *(f"inspect.{name}" for name in ("ismethod", "isclass", "iscoroutinefunction", "isgeneratorfunction", "isbuiltin")),
    *(f"inspect.{name}" for name in ("isroutine", "isabstract", "isawaitable", "getfullargspec", "getsourcelines")),
    *("typing.get_type_hints", "asyncio.iscoroutinefunction", "warnings.warn"),
}
"""Functions that don't call a function that they are given."""
_BY_KEY = frozenset({"sorted", "min", "max", "heapq.nsmallest", "heapq.nlargest", "heapq.merge"})
_OBSERVED = ("keras.", "horovod.", "pynvml.", "py3nvml.", "nvidia_smi.")
"""Libraries whose calls rules read, though they aren't TensorFlow's."""


def call_by_name(context: Context, call: Invocation) -> Value:
    """Call something by its canonical name; return its result."""
    if is_tensorflow(call.name):
        return _call_tensorflow(context, call)
    result = call_builtin(context, call)
    return _call_third_party(context, call) if result is None else result


def call_builtin(context: Context, call: Invocation) -> Value | None:
    """Call a built-in or standard function; None where ``call.name`` is none that is modelled."""
    name, values, keywords = call.name, call.values, call.keywords
    if (name == "print" or name.startswith("logging.")) and any(map(is_memory, values)):
        (told_in_print if name == "print" else told_in_log)(context, call.node, values)
    if values and any(map(is_own, values)):
        asked = _ask_objects(context, call)
        if asked is not None or context.state is None:
            return asked or UNKNOWN
    if name in _BY_KEY:
        listed = (
            values[1 if name in ("heapq.nsmallest", "heapq.nlargest") and len(values) > 1 else 0] if values else UNKNOWN
        )
        if isinstance(keywords.get("key"), (Function, Partial, Choice, Ref, Instance)):
            call_sort_key(context, keywords["key"], listed, call.node)
        elif isinstance(listed, Seq) and len(listed.items) > 1 and "key" not in keywords:
            call_all_with(context, listed.items[:1], "__lt__", [UNKNOWN], call.node)
    if values and isinstance(values[0], Lazy):
        handler = CONSUMERS.get(name)
        if handler is not None:
            consumed: Value = handler(context, call)
            return consumed
    if is_exit(name):
        leave(context, certain=True)
        return UNKNOWN
    handler = BUILTINS.get(name)
    if handler is None:
        handler = BUILTINS.get(name.partition(".")[0] + ".*")
    result: Value | None = handler(context, call) if handler is not None else None
    if result is not None:
        return result
    if name.startswith("joblib.") and not context.unit.library:
        note_process_functions(context, name, values, keywords, call.node)
    model = in_library(Ref(name))
    if not isinstance(model, Ref):
        return context.call(model, values, keywords, call.node)
    plain = plain_values(values)
    if plain is not None and not keywords:
        try:
            return lift(folding.function(name, plain))
        except folding.NotFolded:
            return None
    return None


def _ask_objects(context: Context, call: Invocation) -> Value | None:
    """Run the special methods by which objects answer a built-in function; return its result, None if not known."""
    name, values = call.name, call.values
    asked = ASKED.get(name)
    if asked is not None:
        if name == "print":
            call_all(context, values, asked, call.node)
            return Const(None)
        if name in ("iter", "list") and members_of(context, values[0]) is not None:
            return None
        result = call_first_special(context, values[0], asked, _RESTS.get(name, ()), call.node)
        if result is not None:
            return result
    if name in ("isinstance", "issubclass") and len(values) > 1:
        kinds = values[1].items if isinstance(values[1], Seq) else (values[1],)
        method = "__instancecheck__" if name == "isinstance" else "__subclasscheck__"
        call_all_with(context, kinds, method, [values[0]], call.node)
        return None
    if name in ITERATES or name in CONSUMERS:
        listed = members_of(context, values[0])
        lazy = as_lazy(context, values[0], call.node) if listed is None else None
        if listed is not None:
            values[0] = listed
        elif lazy is not None:
            values[0] = lazy
    return None


_RESTS: dict[str, tuple[Value, ...]] = {
    "format": (UNKNOWN,),
    "round": (UNKNOWN,),
    "divmod": (UNKNOWN,),
    "pow": (UNKNOWN,),
    "copy.deepcopy": (UNKNOWN,),
}
"""The arguments of a special method besides its object."""


def _call_third_party(context: Context, call: Invocation) -> Value:
    """Call something that is neither modelled nor TensorFlow's."""
    name, node = call.name, call.node
    note_process_functions(context, name, call.values, call.keywords, node)
    if name not in KEEPING:
        may_be_signalled(context, call.all_values)
    for value in call.all_values:
        mark_escaped(context, value)
        if name not in KEEPING:
            passed_to_unknown(context, value)
    if context.parsers and name not in KEEPING:
        doubt_parsers(context, call.all_values)
    if name == "os.putenv":
        env_write(context, call.values, node, call.written)
    if name.startswith("subprocess.") and isinstance(node, ast.Call):
        child_env(context, node)
        note_copies(context, name, node)
    if name.startswith(("subprocess.", "os.system", "os.popen")):
        report_exports(context, name, call.values, call.keywords, node)
        report_unpassed(context, name, call.keywords, node)
    result: Value = told_by(name, call.values)
    if name.startswith("multiprocessing.get_context") or name.rpartition(".")[2] in PROCESS_POOLS:
        result = Made(name.replace("().", "."), context.next_serial())
    if name in RANKS or name.startswith(_OBSERVED):
        event = emit_call(context, name, node, call.written)
        if name in RANKS:
            result = Made(name, context.next_serial())
            context.made_by[result.serial] = event
        same = standalone_keras_name(context, name)
        if same:
            return _make_of_keras(context, replace(call, name=same, called=event))
    third_party_call(context, name, node)
    return result


def standalone_keras_name(context: Context, name: str) -> str:
    """Return the name in TensorFlow of something of the package ``keras``; "" if it is not TensorFlow's."""
    backend = context.here.env.get("KERAS_BACKEND") if context.state is not None else None
    if backend is not None and backend != Const("tensorflow"):
        return ""
    return standalone_keras.name_in_tensorflow(name, context.target)


def _make_of_keras(context: Context, call: Invocation) -> Value:
    """Call something of the package ``keras`` that is TensorFlow's as well."""
    call.made = Made(call.name, context.next_serial())
    context.made_by[call.made.serial] = call.event
    handler = MODELS.get(call.name)
    result: Value | None = handler(context, call) if handler is not None else None
    if result is None:
        apply_effect(context, call.name, call.node)
    return call.made if result is None else result


def _call_tensorflow(context: Context, call: Invocation) -> Value:
    call.name = name = called_name(call.name)
    values, node = call.values, call.node
    if name in ("tf.function", "tf.compat.v1.wrap_function") and values and isinstance(values[0], Function):
        function = values[0]
        return replace(function, decorators=(*function.decorators, Ref("tf.function")))
    call.called = emit_call(context, name, node, call.written, outcome=_outcome(context, call))
    call.made = Made(name, context.next_serial())
    context.made_by[call.made.serial] = call.called
    handler = MODELS.get(name)
    result: Value | None = handler(context, call) if handler is not None else None
    if result is not None:
        return result
    for value in call.all_values:
        mark_escaped(context, value)
    apply_effect(context, name, node)
    run_callbacks(context, call)
    return call.made


def _outcome(context: Context, call: Invocation) -> ConfigEffect | None:
    """Return what TensorFlow does with a configuring call instead of what was asked, if anything."""
    check = OUTCOMES.get(call.name)
    if check is not None:
        outcome: ConfigEffect | None = check(context, call)
        return outcome
    made_up = purposes.purpose_of(call.name)
    if made_up is not None and made_up.purpose in (Purpose.GROWTH, Purpose.LIMIT, Purpose.FRACTION):
        return late_effect(
            context, PHYSICAL_FIXED if made_up.purpose is Purpose.GROWTH else VIRTUAL_FIXED, None, UNKNOWN
        )
    return None
