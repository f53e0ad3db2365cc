"""Interpreting the body of a function with its arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Frame, Return
from tfmemlint.interpreter.operations.contents import new_container
from tfmemlint.interpreter.operations.paths import either_of, evaluating, join_names, joined_heap
from tfmemlint.interpreter.scopes import Scope
from tfmemlint.interpreter.state import join_states
from tfmemlint.interpreter.unit import ModuleInstance
from tfmemlint.interpreter.values import TRUTH, UNKNOWN, Const, Dict, Function, Instance, Lazy, Made, Ref, Seq, Value
from tfmemlint.model.finding import Step

_ABSTRACT = frozenset({"abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod"})


def run_function(
    context: Context,
    function: Function,
    args: Sequence[Value],
    keywords: dict[str, Value],
    node: ast.AST | None,
    *,
    graph: bool = False,
    on_yield: Callable[[Value], None] | None = None,
) -> Value:
    """Interpret a function's body with these arguments; ``node`` is the call, None for an entry point."""
    assert context.state is not None
    code = function.node
    if _is_left_to_others(code):
        return UNKNOWN
    context.entered.add(id(code))
    name = function_name(code)
    call = None
    unit, site = unit_of(context, function), context.site
    if unit.library:
        if not context.unit.library and node is not None:
            context.site = context.source, node, context.statement
    elif node is not None and not isinstance(code, ast.Lambda):
        where = f"{context.frame.function} calls" if context.frame.function else "calls"
        made = function.bound.cls.node.name if name == "__init__" and isinstance(function.bound, Instance) else ""
        words = f"{where[:-5]}makes {made}()" if made else f"{where} {_called_name_of(function)}()"
        call = Step(context.source.path, context.span(node), words)
    consumer = context.consumer() if on_yield is not None else None
    here, context.unit = context.unit, unit
    local, outer = context.unit.shapes.local_names(code), context.unit.shapes.outer_names(code)
    scope = Scope(function.scope, outer=outer, local=local, number=context.next_serial())
    receiver = function.bound
    values = [receiver, *args] if receiver is not None else list(args)
    whole = node is not None and id(node) in context.whole_calls
    _bind_parameters(context, code.args, scope, values, keywords, entry=node is None, whole=whole)
    if isinstance(node, ast.Call):
        _note_aliases(context, code.args, scope, node, 1 if receiver is not None else 0, here)
    first = next(iter((*code.args.posonlyargs, *code.args.args)), None)
    # The receiver of `__new__` comes as its first argument.
    met = receiver if receiver is not None or first is None else scope.names.get(first.arg)
    frame = Frame(
        name,
        scope,
        code,
        call,
        receiver=met,
        cls=function.owner,
        on_yield=on_yield,
        consumer=consumer,
        guards=context.guards,
        site=node,
    )
    statement, graphs = context.statement, context.state.graphs
    if graph:
        context.state = replace(context.state, graphs=graphs + 1)
    context.frames.append(frame)
    context.depth += 1
    where, context.where = context.where, ""
    try:
        if isinstance(code, ast.Lambda):
            value = context.evaluate(code.body)
            if context.state is not None:
                frame.returns.append(Return(context.state, value, context.heap, context.module.names))
        else:
            context.execute(code.body)
            if context.state is not None:
                guards = frame.conditions_within(context.guards)
                frame.returns.append(Return(context.state, Const(None), context.heap, context.module.names, guards))
    finally:
        context.frames.pop()
        context.statement = statement
        context.unit, context.site = here, site
        context.depth -= 1
        context.where = where
    if len(frame.returns) > 1:
        # One of them holds, whichever it is.
        context.guards = frame.guards
    result = _join_returns(context, frame.returns, unit.scope)
    if context.state is not None and context.state.graphs != graphs:
        context.state = replace(context.state, graphs=graphs)
    return result


def _note_aliases(
    context: Context, args: ast.arguments, scope: Scope, call: ast.Call, bound: int, unit: ModuleInstance
) -> None:
    """Note which parameters are names of the caller's, so that conditions of both can be compared."""
    if unit.library or any(isinstance(part, ast.Starred) for part in call.args):
        return
    names = [arg.arg for arg in (*args.posonlyargs, *args.args)][bound:]
    given = dict(zip(names, call.args, strict=False))
    given.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None})
    for name, written in given.items():
        if isinstance(written, ast.Name) and name in scope.names and scope.names[name] == UNKNOWN:
            owner = context.scope.owner(written.id)
            times = context.rebindings.get((owner.number, written.id), 0)
            alias = owner.aliases.get(written.id) if not times else None
            same = owner.same_as.get(written.id)
            if same is not None and same[-1] == times:
                alias = same[:-1]
            scope.aliases[name] = alias or (written.id, owner.number, times)


def _is_left_to_others(code: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Return True for an abstract method without a body: what is called is that of a class that is derived."""
    if isinstance(code, ast.Lambda) or not any(
        dotted(decorator).rpartition(".")[2] in _ABSTRACT for decorator in code.decorator_list
    ):
        return False
    return all(isinstance(part, (ast.Pass, ast.Raise)) or _is_constant(part) for part in code.body)


def _is_constant(statement: ast.stmt) -> bool:
    """Return True for a docstring or an ellipsis."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def unit_of(context: Context, function: Function) -> ModuleInstance:
    """Return the module that a function is written in."""
    return function.scope.module.unit or context.unit


def _called_name_of(function: Function) -> str:
    """Return the name of a function; of a wrapper made by ``functools.wraps``, that of what it wraps."""
    for decorator in getattr(function.node, "decorator_list", ()):
        if isinstance(decorator, ast.Call) and dotted(decorator.func).rpartition(".")[2] == "wraps" and decorator.args:
            wrapped = function.scope.lookup(dotted(decorator.args[0]))
            if isinstance(wrapped, Function):
                return function_name(wrapped.node)
    return function_name(function.node)


def _bind_parameters(
    context: Context,
    args: ast.arguments,
    scope: Scope,
    values: list[Value],
    keywords: dict[str, Value],
    *,
    entry: bool,
    whole: bool,
) -> None:
    positional = [*args.posonlyargs, *args.args]
    defaults: dict[str, ast.expr] = dict(
        zip([arg.arg for arg in positional[len(positional) - len(args.defaults) :]], args.defaults, strict=True)
    )
    defaults.update(
        {arg.arg: default for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default}
    )
    known = dict(zip([arg.arg for arg in positional], values, strict=False)) | keywords
    for arg in (*positional, *args.kwonlyargs):
        value = known.get(arg.arg)
        if value is None and arg.arg in defaults:
            default = defaults[arg.arg]
            value = context.defaults.get(id(default))
            if value is None and isinstance(default, ast.Constant):
                value = Const(default.value)
            if entry and not isinstance(value, Ref):
                # Whoever calls it may well pass something else.
                value = None
        if value is None or (value == UNKNOWN and arg.arg == "tf"):
            # TensorFlow handed in as a parameter goes by its usual name.
            value = Ref("tf") if arg.arg == "tf" else UNKNOWN
        if value is UNKNOWN and isinstance(arg.annotation, ast.Name) and arg.annotation.id == "bool":
            value = TRUTH
        scope.names[arg.arg] = value
    if args.vararg is not None:
        others = tuple(values[len(positional) :])
        lazy = any(isinstance(value, Lazy) for value in others)
        listed = not entry and (lazy or UNKNOWN not in others)
        scope.names[args.vararg.arg] = Seq(others, "tuple") if listed else UNKNOWN
    if args.kwarg is not None:
        taken = {arg.arg for arg in (*positional, *args.kwonlyargs)}
        others_by_name = {name: value for name, value in keywords.items() if name not in taken}
        given = Dict(others_by_name, open=not whole)
        # A dictionary of its own, which the function may change.
        scope.names[args.kwarg.arg] = UNKNOWN if entry else new_container(context, given) if whole else given


def evaluate_defaults(context: Context, args: ast.arguments) -> None:
    """Evaluate default values, once, where the function is defined."""
    for default in (*args.defaults, *(default for default in args.kw_defaults if default is not None)):
        with evaluating(context, "default argument"):
            context.defaults[id(default)] = context.evaluate(default)


def is_graph_function(function: Function) -> bool:
    """True if a function is a ``tf.function``."""
    return any(isinstance(value, (Ref, Made)) and value.name == "tf.function" for value in function.decorators)


def function_name(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> str:
    """Return a function's name, ``<lambda>`` for a lambda."""
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _join_returns(context: Context, returns: Sequence[Return], module: Scope) -> Value:
    """Let the ways out of a function meet; return its value."""
    if not returns:
        context.state = None
        return UNKNOWN
    # The last one is the one that was interpreted last: names and attributes are as it has left them.
    *others, last = returns
    state, value, heap, guards = last.state, last.value, last.heap, last.guards
    if module.names is not last.module_names:
        names = dict(last.module_names)
        module.names.clear()
        module.names.update(names)
    for other in reversed(others):
        state, value = join_states(state, other.state, guards, other.guards), either_of(context, value, other.value)
        guards = ()  # of several ways, none holds for all
        if other.heap is not heap:
            heap = joined_heap(heap, other.heap, context.used)
        if other.module_names != module.names:
            join_names(module.names, other.module_names, context.used)
    context.state, context.heap = state, heap
    return value
