"""Calls of methods of known values; their arguments are evaluated when a handler asks for them."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.dict_objects import held
from tfmemlint.interpreter.operations.generators import drain
from tfmemlint.interpreter.operations.objects import call_special
from tfmemlint.interpreter.operations.protocols import collected
from tfmemlint.interpreter.program import Arg
from tfmemlint.interpreter.registry import ANY_METHOD, METHODS
from tfmemlint.interpreter.values import UNKNOWN, Dict, Instance, Lazy, Seq, Value
from tfmemlint.model.records import dataclass


def call_method(context: Context, base: Value, call: MethodCall) -> Value | None:
    """Call a method of a value; return its result, or None where no handler takes the call."""
    kind = type(base)
    handler = METHODS.get((kind, call.func.attr)) or METHODS.get((kind, ANY_METHOD))
    result: Value | None = handler(context, base, call) if handler is not None else None
    return result


def arguments(
    context: Context, node: ast.Call, *, written: bool = True
) -> tuple[list[Value], dict[str, Value], list[Arg]]:
    """Evaluate the arguments of a call; return them by position, by keyword, and as they are written, if asked for."""
    values: list[Value] = []
    keywords: dict[str, Value] = {}
    args: list[Arg] = []
    context.whole_calls.add(id(node))
    for part in node.args:
        star = isinstance(part, ast.Starred)
        inner = part.value if isinstance(part, ast.Starred) else part
        value = context.evaluate(inner)
        if star and isinstance(value, Seq):
            values.extend(value.items)
        else:
            if star and context.state is not None:
                collected(context, value, inner)
            values.append(UNKNOWN if star else value)
        if written:
            args.append(Arg(value, context.span(inner), context.text(inner), star=star, node=inner))
    for keyword in node.keywords:
        value = context.evaluate(keyword.value)
        star = keyword.arg is None
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Dict):
            keywords.update({key: given for key, given in value.items.items() if isinstance(key, str)})
            if value.open:
                context.whole_calls.discard(id(node))
        elif isinstance(value, Instance) and (content := held(context, value)) is not None:
            keywords.update({key: given for key, given in content.items.items() if isinstance(key, str)})
            if content.open:
                context.whole_calls.discard(id(node))
        elif isinstance(value, Instance):
            context.whole_calls.discard(id(node))
            for method in ("keys", "__getitem__"):
                call_special(context, value, method, [UNKNOWN] if method != "keys" else [], keyword.value)
        else:
            context.whole_calls.discard(id(node))
        if written:
            of = keyword.value
            args.append(Arg(value, context.span(of), context.text(of), keyword.arg, star, None if star else of))
    return values, keywords, args


@dataclass(slots=True)
class MethodCall:
    """A call of a method, for handlers that are registered by ``@method``.

    A handler that declines, by returning None, must not have asked for the arguments.
    """

    node: ast.AST
    func: ast.Attribute
    evaluated: tuple[list[Value], dict[str, Value], list[Arg]] | None = None

    @property
    def name(self) -> str:
        """The name of the method."""
        return self.func.attr

    def arguments(self, context: Context) -> tuple[list[Value], dict[str, Value], list[Arg]]:
        """Evaluate the arguments, once; return them by position, by keyword, and as they stand in the source."""
        if self.evaluated is None:
            assert isinstance(self.node, ast.Call)
            self.evaluated = arguments(context, self.node)
        return self.evaluated

    def drained_arguments(self, context: Context) -> tuple[list[Value], dict[str, Value]]:
        """Evaluate the arguments; run a generator to its end if the method does."""
        values, keywords, _ = self.arguments(context)
        if self.func.attr in _DRAINING:
            for value in values:
                if isinstance(value, Lazy):
                    drain(context, value)
        return values, keywords


_DRAINING = frozenset({"join", "extend", "update"})
"""Methods that go through an iterator to its end."""
