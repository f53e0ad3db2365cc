"""The tables that the interpreter works by: which function handles which syntax, value, name or method.

Each handler is a plain function that is registered by a decorator, so "where is X handled?" is one search:

* ``@visits(ast.Match)``: a statement or an expression. Gets the context and the node; returns the expression's value.
* ``@assigns(ast.Tuple)``: an assignment to that kind of target. Gets the context, the target and the value.
* ``@calls(Class)``: a call of that kind of value. Gets the context, the callee, positional and keyword arguments, and
  the node.
* ``@attribute_of(Device)``, ``@item_of(Seq)``, ``@stores_in(Instance)``: ``base.name``, ``base[key]``,
  ``base.name = value``.
* ``@method(Seq, "append")``: a method of that kind of value; without names, all other methods of it.
* ``@changes(Seq, "append")``: a method that changes a list or a dictionary, by whatever name that goes. Gets the
  context, the container, positional and keyword arguments; returns None where nothing is known of its result.
* ``@builtin("zip")``: a built-in function or one of the standard library, or of a small library, by its canonical name.
  Gets the context and the `Invocation`; returns None where nothing is known of its result.
* ``@consumes("list")``: the same, where the first argument is a generator or the like.
* ``@models("tf.config.set_visible_devices")``: a function of TensorFlow, by its canonical name. Gets the context and
  the `Invocation`, whose ``event`` and ``made`` are set; None as for ``@builtin``.
* ``@outcome_of("tf.config.set_visible_devices")``: what TensorFlow does with a configuring call instead of what was
  asked (a `ConfigEffect`, or None), before it is called. Gets the context and the `Invocation`.

``object`` stands for all kinds of values that have no handler of their own. A function of TensorFlow that has several
names is registered by the constant that `tfmemlint.knowledge.functions` has for it. Functions without a handler, which
are nearly all, do what their row of ``knowledge/data/effects.txt`` says (`operations.call_effects.apply_effect`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tfmemlint.interpreter.state import Arg, Call
from tfmemlint.interpreter.values import Made, Value
from tfmemlint.model.records import dataclass

HandlerT = TypeVar("HandlerT", bound=Callable[..., Any])
KeyT = TypeVar("KeyT")

VISITORS: dict[type[ast.AST], Callable[..., Any]] = {}
TARGETS: dict[type[ast.AST], Callable[..., Any]] = {}
CALLS: dict[type, Callable[..., Any]] = {}
ATTRIBUTES: dict[type, Callable[..., Any]] = {}
ITEMS: dict[type, Callable[..., Any]] = {}
STORES: dict[type, Callable[..., Any]] = {}
METHODS: dict[tuple[type, str], Callable[..., Any]] = {}
CHANGES: dict[tuple[type, str], Callable[..., Any]] = {}
BUILTINS: dict[str, Callable[..., Any]] = {}
CONSUMERS: dict[str, Callable[..., Any]] = {}
MODELS: dict[str, Callable[..., Any]] = {}
OUTCOMES: dict[str, Callable[..., Any]] = {}

ANY_METHOD = "*"
"""The key in ``METHODS`` for all methods of a kind that have no handler of their own."""


@dataclass(slots=True)
class Invocation:
    """A call of something by its canonical name.

    Attributes:
        node: the call; or, where a value is called that has no call of its own, what leads to it.
        values, keywords: the arguments. written: the same as they stand in the source.
        called: the event of the call, for functions of TensorFlow. made: the result of the call, if nothing more is
            known of it.
    """

    name: str
    node: ast.AST
    values: list[Value]
    keywords: dict[str, Value]
    written: list[Arg]
    called: Call | None = None
    made: Made | None = None

    def argument(self, position: int, keyword: str) -> Value | None:
        """The argument at ``position`` or called ``keyword``; None where it is not given."""
        return self.keywords.get(keyword, self.values[position] if position < len(self.values) else None)

    @property
    def all_values(self) -> Sequence[Value]:
        """The positional and the keyword arguments."""
        return (*self.values, *self.keywords.values())

    @property
    def event(self) -> Call:
        """The event of the call, for functions of TensorFlow."""
        assert self.called is not None
        return self.called

    @property
    def result(self) -> Made:
        """The result of a function of TensorFlow, if nothing more is known of it."""
        assert self.made is not None
        return self.made


def _register(table: dict[KeyT, Callable[..., Any]], keys: Sequence[KeyT]) -> Callable[[HandlerT], HandlerT]:
    def decorate(handler: HandlerT) -> HandlerT:
        for key in keys:
            if key in table:
                raise ValueError(f"{key!r} is handled by {table[key].__module__} already")
            table[key] = handler
        return handler

    return decorate


def visits(*nodes: type[ast.AST]) -> Callable[[HandlerT], HandlerT]:
    """Register a handler of these kinds of statements or expressions."""
    return _register(VISITORS, nodes)


def assigns(*nodes: type[ast.AST]) -> Callable[[HandlerT], HandlerT]:
    """Register a handler of assignments to these kinds of targets."""
    return _register(TARGETS, nodes)


def calls(*kinds: type) -> Callable[[HandlerT], HandlerT]:
    """Register a handler of calls of these kinds of values."""
    return _register(CALLS, kinds)


def attribute_of(*kinds: type) -> Callable[[HandlerT], HandlerT]:
    """Register a handler of ``base.name`` for these kinds of values."""
    return _register(ATTRIBUTES, kinds)


def item_of(*kinds: type) -> Callable[[HandlerT], HandlerT]:
    """Register a handler of ``base[key]`` for these kinds of values."""
    return _register(ITEMS, kinds)


def stores_in(*kinds: type) -> Callable[[HandlerT], HandlerT]:
    """Register a handler of ``base.name = value`` for these kinds of values."""
    return _register(STORES, kinds)


def method(kind: type, *names: str) -> Callable[[HandlerT], HandlerT]:
    """Register a handler of methods of a kind of value: of these names, or of all that have no handler."""
    return _register(METHODS, [(kind, name) for name in names or (ANY_METHOD,)])


def changes(kind: type, *names: str) -> Callable[[HandlerT], HandlerT]:
    """Register a handler of methods that change a kind of container."""
    return _register(CHANGES, [(kind, name) for name in names])


def builtin(*names: str) -> Callable[[HandlerT], HandlerT]:
    """Register a handler of functions that are not TensorFlow's, by their canonical names."""
    return _register(BUILTINS, names)


def consumes(*names: str) -> Callable[[HandlerT], HandlerT]:
    """Register a handler of such functions for calls whose first argument is a generator or the like."""
    return _register(CONSUMERS, names)


def models(*names: str) -> Callable[[HandlerT], HandlerT]:
    """Register a handler of functions of TensorFlow, by their canonical names."""
    return _register(MODELS, names)


def outcome_of(*names: str) -> Callable[[HandlerT], HandlerT]:
    """Register a check of configuring functions of TensorFlow, by their canonical names."""
    return _register(OUTCOMES, names)
