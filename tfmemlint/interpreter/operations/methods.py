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
            args += _items(context, inner, value) if star else [_written(context, inner, value)]
    for keyword in node.keywords:
        value = context.evaluate(keyword.value)
        known = held(context, value) if isinstance(value, Instance) else value if isinstance(value, Dict) else None
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif known is not None:
            keywords.update({key: given for key, given in known.items.items() if isinstance(key, str)})
            if known.open:
                context.whole_calls.discard(id(node))
        else:
            context.whole_calls.discard(id(node))
            for method in ("keys", "__getitem__") if isinstance(value, Instance) else ():
                call_special(context, value, method, [UNKNOWN] if method != "keys" else [], keyword.value)
        if written and keyword.arg is None:
            args += _entries(context, keyword.value, value, known)
        elif written:
            args.append(_written(context, keyword.value, value, keyword.arg))
    return values, keywords, args


def _written(context: Context, node: ast.expr, value: Value, keyword: str | None = None) -> Arg:
    return Arg(value, context.span(node), context.text(node), keyword, node=node)


def _items(context: Context, node: ast.expr, value: Value) -> list[Arg]:
    """Return the arguments that ``*node`` gives, or one that hides them where they are not known."""
    if not isinstance(value, Seq):
        return [Arg(value, context.span(node), context.text(node), star=True, node=node)]
    shown = node.elts if isinstance(node, (ast.Tuple, ast.List)) else ()
    if len(shown) == len(value.items) and not any(isinstance(element, ast.Starred) for element in shown):
        return [_written(context, element, item) for element, item in zip(shown, value.items, strict=True)]
    span, text = context.span(node), context.text(node)
    return [Arg(item, span, f"{text}[{place}]", unpacked=True) for place, item in enumerate(value.items)]


def _entries(context: Context, node: ast.expr, value: Value, known: Dict | None) -> list[Arg]:
    """Return the arguments that ``**node`` gives, or one that hides them where they are not known."""
    span, text = context.span(node), context.text(node)
    if known is None or known.open or not all(isinstance(key, str) for key in known.items):
        return [Arg(value, span, text, star=True)]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        shown = {key.value: given for key, given in pairs if isinstance(key, ast.Constant)}
        if len(node.keys) == len(known.items) and shown.keys() == known.items.keys():
            return [_written(context, shown[key], given, key) for key, given in known.items.items()]
    return [Arg(given, span, f'{text}["{key}"]', key, unpacked=True) for key, given in known.items.items()]


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
