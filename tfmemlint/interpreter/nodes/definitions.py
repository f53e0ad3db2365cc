"""Definitions of functions and classes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.facts.names import is_tensorflow
from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Frame
from tfmemlint.interpreter.operations.bindings import bind
from tfmemlint.interpreter.operations.classes import metaclass_of
from tfmemlint.interpreter.operations.conditions import decide
from tfmemlint.interpreter.operations.dataclass_fields import DATACLASS
from tfmemlint.interpreter.operations.function_bodies import evaluate_defaults
from tfmemlint.interpreter.operations.library import in_library
from tfmemlint.interpreter.operations.making import call_special_of_class, finish_class
from tfmemlint.interpreter.operations.named_calls import standalone_keras_name
from tfmemlint.interpreter.operations.objects import call_special
from tfmemlint.interpreter.operations.paths import evaluating
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.scopes import Scope
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Choice,
    Class,
    Const,
    Function,
    Instance,
    Lazy,
    Made,
    Partial,
    Property,
    Ref,
    Seq,
    Value,
)
from tfmemlint.knowledge.callables import KEEPS_CALLS


@visits(ast.FunctionDef, ast.AsyncFunctionDef)
def visit_function_def(context: Context, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    decorators = _evaluate_decorators(context, node)
    if _is_skipped(context, node.decorator_list):
        bind(context, node.name, UNKNOWN)
        return
    evaluate_defaults(context, node.args)
    _evaluate_annotations(context, node)
    owner = context.frame.cls if isinstance(context.frame.node, ast.ClassDef) else None
    function = Function(node, context.scope, decorators, owner=owner if isinstance(owner, Class) else None)
    if _extends_property(context, node, function):
        return
    if context.unit is context.main:
        context.functions.setdefault(id(node), function)
    bound: Value = function
    for decorator in reversed(decorators):
        bound = _decorated(context, decorator, bound, node)
    bind(context, node.name, bound)


def _extends_property(context: Context, node: ast.FunctionDef | ast.AsyncFunctionDef, function: Function) -> bool:
    """True if a definition is the setter or the deleter of a property of this class; then it is done."""
    for written in node.decorator_list:
        kind = dotted(written).rpartition(".")
        if kind[0] != node.name or kind[2] not in ("setter", "deleter"):
            continue
        getter = context.scope.lookup(node.name)
        if isinstance(getter, Function):
            changed = replace(getter, setter=function) if kind[2] == "setter" else replace(getter, deleter=function)
            bind(context, node.name, changed)
            return True
    return False


def _decorated(context: Context, decorator: Value, bound: Value, node: ast.AST) -> Value:
    """Apply a decorator: it runs here and now."""
    if isinstance(decorator, Ref):
        decorator = in_library(decorator)
    if isinstance(decorator, Lazy):
        # A context manager written as a generator: it is entered around each call.
        decorator = Partial(in_library(Ref("contextlib.decorated")), (decorator,), {})
    if isinstance(decorator, Class) and id(decorator.node) in context.opaque_classes:
        return bound
    if isinstance(decorator, Function) and not _is_plain_function(decorator):
        # What an unknown decorator has made of it is unknown: it is not called.
        return bound
    if not isinstance(decorator, (Function, Class, Instance, Partial, Choice)):
        return bound
    # Unless it returns something of the program's own, what it returns is taken to do what the function itself does.
    result = context.call(decorator, [bound], {}, node)
    return result if isinstance(result, (Function, Instance, Partial, Choice, Class, Property)) else bound


def _is_understood(decorator: Value) -> bool:
    """True if a decorator of a class returns the class, or is the program's own."""
    if isinstance(decorator, (Ref, Made)):
        name = decorator.name
        return is_tensorflow(name) or name in DATACLASS or name in KEEPS_CALLS or name == "functools.total_ordering"
    return isinstance(decorator, (Function, Class, Instance, Partial, Choice))


def _is_plain_function(function: Function) -> bool:
    """True if all decorators of a function keep what it does when it is called."""
    return all(
        isinstance(value, (Function, Class, Instance, Partial, Choice))
        or (isinstance(value, (Ref, Made)) and (is_tensorflow(value.name) or value.name in KEEPS_CALLS))
        for value in function.decorators
    )


@visits(ast.ClassDef)
def visit_class_def(context: Context, node: ast.ClassDef) -> None:
    decorators = _evaluate_decorators(context, node)
    if _is_skipped(context, node.decorator_list):
        bind(context, node.name, UNKNOWN)
        return
    bases: list[Value] = []
    for written in node.bases:
        base = context.evaluate(written)
        entries = (
            call_special(context, base, "__mro_entries__", [UNKNOWN], node) if isinstance(base, Instance) else None
        )
        if entries is not None:
            bases.extend(entries.items if isinstance(entries, Seq) else (UNKNOWN,))
        else:
            bases.append(_base_named(context, base) if isinstance(base, Ref) else base)
    keywords = {keyword.arg or "**": context.evaluate(keyword.value) for keyword in node.keywords}
    explicit = keywords.pop("metaclass", None)
    scope = Scope(context.scope, is_class=True, number=context.next_serial())
    cls = Class(node, context.scope, tuple(bases), scope.names, explicit)
    metaclass = metaclass_of(context, cls)
    if context.unit is context.main:
        context.classes.append(cls)
    if isinstance(metaclass, Class):
        given: list[Value] = [Const(node.name), Seq(cls.bases, "tuple")]
        call_special_of_class(context, metaclass, "__prepare__", given, keywords, node)
    context.frames.append(Frame(context.frame.function, scope, node, cls=cls))
    try:
        context.execute(node.body)
    finally:
        context.frames.pop()
    if context.state is None:
        return
    bound = finish_class(context, cls, metaclass, keywords, node)
    if any(not _is_understood(value) for value in decorators):
        context.opaque_classes.add(id(node))
    for made in reversed(decorators):
        decorator = in_library(made) if isinstance(made, Ref) else made
        if isinstance(decorator, (Class, Instance)) or (
            isinstance(decorator, Function) and _is_plain_function(decorator)
        ):
            result = context.call(decorator, [bound], {}, node)
            bound = result if isinstance(result, (Class, Instance, Function)) else bound
    bind(context, node.name, bound)


def _base_named(context: Context, base: Ref) -> Value:
    """Return a base class by its name: that of a model, that of ``keras`` which is TensorFlow's, or itself."""
    same = standalone_keras_name(context, base.name)
    return Ref(same) if same else in_library(base)


def _evaluate_annotations(context: Context, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Evaluate the annotations in which something is called, unless they stay text."""
    for annotation in context.unit.shapes.annotations_that_call(context.unit.tree, node):
        with evaluating(context, "annotation"):
            context.evaluate(annotation)


def _evaluate_decorators(
    context: Context, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
) -> tuple[Value, ...]:
    if not node.decorator_list:
        return ()
    with evaluating(context, "decorator"):
        return tuple(context.evaluate(decorator) for decorator in node.decorator_list)


def _is_skipped(context: Context, decorators: Sequence[ast.expr]) -> bool:
    """True if a test never runs under the targeted release: ``skipif(version.parse(tf.__version__) >= ...)``."""
    for decorator in decorators:
        call = decorator if isinstance(decorator, ast.Call) else None
        kind = dotted(call.func if call is not None else decorator).rpartition(".")[2].lower()
        if kind == "skip":
            return True
        if kind not in ("skipif", "skipunless") or call is None or not call.args:
            continue
        verdict = decide(context, call.args[0], context.last_values.get(id(call.args[0]), UNKNOWN))
        if verdict.truth is (kind == "skipif") and not verdict.assumed:
            return True
    return False
