"""References by canonical name, and the results of calls: what is called by name, and looked up on names."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.facts.names import canonical, is_tensorflow
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts import FLAGS
from tfmemlint.interpreter.operations.call_effects import call_result
from tfmemlint.interpreter.operations.callbacks import OF_PROCESSES
from tfmemlint.interpreter.operations.command_line import known_argv
from tfmemlint.interpreter.operations.contents import forget_contents, mark_escaped
from tfmemlint.interpreter.operations.devices import report_lookup
from tfmemlint.interpreter.operations.environment import read_variable, replace_environment
from tfmemlint.interpreter.operations.events import emit_store, report_use
from tfmemlint.interpreter.operations.members import report_missing
from tfmemlint.interpreter.operations.named_calls import call_by_name
from tfmemlint.interpreter.operations.run_configs import WITHOUT_SESSION_CONFIG
from tfmemlint.interpreter.operations.unknown_calls import call_not_followed
from tfmemlint.interpreter.program import Arg
from tfmemlint.interpreter.registry import Invocation, attribute_of, calls, item_of, stores_in
from tfmemlint.interpreter.values import UNKNOWN, Amount, Const, Made, Module, Proto, Ref, Value
from tfmemlint.knowledge.functions import SESSIONS, TENSORFLOW_FLAGS
from tfmemlint.knowledge.units import BYTES

_FLAG_VALUES = frozenset(f"{flags}.FLAGS" for flags in ("absl.flags", *TENSORFLOW_FLAGS))
_MEMORY_INFO = "tf.config.experimental.get_memory_info"


@calls(Ref)
def call_reference(
    context: Context, callee: Ref, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    span = context.span(node)
    written = [Arg(value, span, "") for value in args]
    written += [Arg(value, span, "", keyword) for keyword, value in keywords.items()]
    return call_by_name(context, Invocation(callee.name, node, list(args), dict(keywords), written))


@calls(object)
def call_unknown(
    context: Context, callee: Value, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    return call_not_followed(context, args, keywords, node)


@calls(Made)
def call_made(
    context: Context, callee: Made, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    if is_tensorflow(callee.name):
        call_result(context, callee.name, node)
    return call_not_followed(context, args, keywords, node)


@attribute_of(Ref)
def attribute_of_reference(context: Context, base: Ref, name: str, node: ast.AST) -> Value:
    if name == "TYPE_CHECKING" and base.name in ("typing", "typing_extensions"):
        return Const(False)
    if base.name in _FLAG_VALUES and (FLAGS, name) in context.heap and name not in context.attributes_set:
        return context.heap[FLAGS, name]
    if base.name == "sys" and name == "argv" and (words := known_argv(context)) is not None:
        return words
    if base.name.endswith("().extended"):
        report_missing(context, base, name, node)
    return Ref(canonical(f"{base.name}.{name}"))


@attribute_of(Made)
def attribute_of_result(context: Context, base: Made, name: str, node: ast.AST) -> Value:
    if not (base.name.endswith(".RunConfig") and name in WITHOUT_SESSION_CONFIG):
        context.used.add(base.serial)
    report_missing(context, base, name, node)
    known = is_tensorflow(base.name) or base.name.startswith(OF_PROCESSES)
    return Ref(f"{base.name}().{name}") if known else UNKNOWN


@item_of(Ref)
def item_of_reference(
    context: Context, base: Ref, key: Value, node: ast.expr, written: ast.expr | None = None
) -> Value:
    if base.name == "os.environ":
        return read_variable(context, key, None)
    if base.name == "sys.argv" and isinstance(key, Const):
        return Amount("str", source="the command line")
    if not isinstance(key, Const) or not isinstance(key.value, str):
        return UNKNOWN
    if base.name == "sys.modules":
        own = context.main if key.value == context.main.name else context.units.get(key.value)
        if own is not None:
            return Module(own.name, own.scope)
        return Ref(canonical(key.value)) if is_tensorflow(canonical(key.value)) else UNKNOWN
    if base.name.endswith(".__dict__"):
        found = context.attribute(Ref(base.name.removesuffix(".__dict__")), key.value, node)
        if isinstance(found, Ref):
            report_use(context, node, found.name, origin="getattr")
        return found
    return UNKNOWN


@item_of(Made)
def item_of_result(context: Context, base: Made, key: Value, node: ast.expr, written: ast.expr | None = None) -> Value:
    context.used.add(base.serial)
    report_lookup(context, base, key, node, node.value if isinstance(node, ast.Subscript) else node)
    return Amount("number", BYTES, f"{base.name.rpartition('.')[2]}()") if base.name == _MEMORY_INFO else UNKNOWN


@stores_in(Ref)
def store_in_reference(
    context: Context,
    base: Ref,
    name: str,
    value: Value,
    node: ast.AST,
    owner: ast.expr | None = None,
    given: ast.expr | None = None,
) -> None:
    if base.name == "sys" and name == "path":
        context.path_changed = True
    elif base.name == "os" and name == "environ":
        replace_environment(context, value, node, given)
    elif base.name == "device" or is_tensorflow(base.name):
        device = base if base.name == "device" else UNKNOWN
        emit_store(context, base.name, name, value, node, device, owner, given)
    else:
        mark_escaped(context, value)
        forget_contents(context, value)


@stores_in(Made)
def store_in_result(
    context: Context,
    base: Made,
    name: str,
    value: Value,
    node: ast.AST,
    owner: ast.expr | None = None,
    given: ast.expr | None = None,
) -> None:
    if isinstance(value, Proto) and base.name in SESSIONS:
        # A session reads its options when it is made: this one stays as it is.
        return
    store_in_unknown(context, base, name, value, node)


@stores_in(object)
def store_in_unknown(
    context: Context,
    base: Value,
    name: str,
    value: Value,
    node: ast.AST,
    owner: ast.expr | None = None,
    given: ast.expr | None = None,
) -> None:
    mark_escaped(context, value)
    forget_contents(context, value)
