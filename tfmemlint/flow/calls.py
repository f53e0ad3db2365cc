"""Calls: of the program's own functions and classes, of methods of what is known, of built-in functions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from tfmemlint.facts import folding
from tfmemlint.facts.names import is_tensorflow
from tfmemlint.facts.syntax import dotted, is_exit
from tfmemlint.finding import Step
from tfmemlint.flow.builtin import Builtins, constants
from tfmemlint.flow.machine import MAX_DEPTH, Frame
from tfmemlint.flow.program import Arg
from tfmemlint.flow.scopes import Scope
from tfmemlint.flow.state import Tri, join_states
from tfmemlint.flow.values import (
    UNKNOWN,
    Class,
    Const,
    Devices,
    Dict,
    Function,
    Instance,
    Made,
    Proto,
    Ref,
    Seq,
    Value,
    join,
)

_MUTATING = frozenset({"append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "add", "update"})


class Caller(Builtins):
    """Calling things."""

    def _Call(self, node: ast.Call) -> Value:
        callee, handled = self._callee(node)
        if handled is not None:
            return handled
        values, keywords, written = self._arguments(node)
        if self.state is None:
            return UNKNOWN
        if isinstance(callee, Ref):
            return self.call_name(callee.name, node, values, keywords, written)
        result = self.call_value(callee, values, keywords, node, self.text(node.func))
        if isinstance(callee, Function) and _changes_arguments(callee.node):
            for part in (*node.args, *(keyword.value for keyword in node.keywords)):
                if isinstance(part, ast.Name) and isinstance(self.scope.lookup(part.id), (Seq, Dict)):
                    self.scope.bind(part.id, UNKNOWN)
        return result

    def _callee(self, node: ast.Call) -> tuple[Value, Value | None]:
        """What is called; or, for a method of a value that is known, what the call returns."""
        func = node.func
        if is_exit(dotted(func)):
            self._arguments(node)
            self.leave(certain=True)
            return UNKNOWN, UNKNOWN
        if not isinstance(func, ast.Attribute):
            return self.evaluate(func), None
        if isinstance(func.value, ast.Call) and isinstance(func.value.func, ast.Name) and func.value.func.id == "super":
            return self._inherited(func.attr), None
        base = self._base(func.value)
        match base:
            case Const() | Seq() | Dict() | Devices() | Proto():
                values, keywords, _ = self._arguments(node)
                return UNKNOWN, self._method(base, func, values, keywords)
            case Ref("os.environ"):
                values, keywords, written = self._arguments(node)
                return UNKNOWN, self.environ_method(func.attr, node, values, keywords, written)
            case Made(_, serial) if func.attr == "get" and node.args:
                values, _, _ = self._arguments(node)
                self.used.add(serial)
                self.look_up(base, values[0], node, func.value, get=True)
                return UNKNOWN, UNKNOWN
            case Made(name) if func.attr == "add" and name.endswith("Sequential"):
                values, keywords, written = self._arguments(node)
                for value in (*values[:1], *keywords.values()):
                    self.add_layer(base, value, node)
                return UNKNOWN, UNKNOWN
            case Ref() | Made():
                value = self.attribute(base, func.attr, func)
                if isinstance(value, Ref):
                    self.use(func, value.name, called=True)
                return value, None
            case _:
                return self.attribute(base, func.attr, func), None

    def _inherited(self, name: str) -> Value:
        """``super().name``: a method of a base class, bound to the object at hand."""
        for frame in reversed(self.frames):
            if isinstance(frame.receiver, Instance) and isinstance(frame.cls, Class):
                for base in frame.cls.bases:
                    if isinstance(base, Class):
                        found = self.class_member(base, name)
                        if isinstance(found, Function):
                            return Function(found.node, found.scope, found.decorators, frame.receiver)
                    elif isinstance(base, Ref) and is_tensorflow(base.name):
                        return Ref(base.name) if name == "__init__" else Ref(f"{base.name}().{name}")
                return UNKNOWN
        return UNKNOWN

    def _arguments(self, node: ast.Call) -> tuple[list[Value], dict[str, Value], list[Arg]]:
        values: list[Value] = []
        keywords: dict[str, Value] = {}
        written: list[Arg] = []
        for part in node.args:
            star = isinstance(part, ast.Starred)
            inner = part.value if isinstance(part, ast.Starred) else part
            value = self.evaluate(inner)
            if star and isinstance(value, Seq):
                values.extend(value.items)
            else:
                values.append(UNKNOWN if star else value)
            written.append(Arg(value, self.span(inner), self.text(inner), star=star, node=inner))
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            span, text = self.span(keyword.value), self.text(keyword.value)
            if keyword.arg is None:
                if isinstance(value, Dict):
                    keywords.update(value.items)
                written.append(Arg(value, span, text, star=True))
            else:
                keywords[keyword.arg] = value
                written.append(Arg(value, span, text, keyword.arg, node=keyword.value))
        return values, keywords, written

    # Methods of values

    def _method(self, base: Value, func: ast.Attribute, values: Sequence[Value], keywords: dict[str, Value]) -> Value:
        if isinstance(base, Const):
            if func.attr == "format" and isinstance(base.value, str):
                if all(isinstance(value, Const) for value in (*values, *keywords.values())):
                    return self._fold(lambda: _format(base.value, values, keywords))
                return UNKNOWN
            plain = None if keywords else constants(values)
            return UNKNOWN if plain is None else self._fold(lambda: folding.method(base.value, func.attr, plain))
        if isinstance(base, Proto):
            return self.proto_method(base, func.attr, values)
        if isinstance(base, Dict) and func.attr == "get" and values:
            return self.item(base, values[0], func)
        if func.attr in _MUTATING:
            for value in values:
                self.escape(value)
            if isinstance(base, Seq) and func.attr == "append" and len(values) == 1 and not self.loops:
                return self._grown(func.value, base, values[0])
            if isinstance(func.value, ast.Name):
                self.scope.bind(func.value.id, UNKNOWN)
        elif isinstance(base, Devices) and func.attr in ("copy", "__iter__"):
            return base
        elif isinstance(base, (Devices, Seq)) and func.attr in ("index", "count", "__len__"):
            return UNKNOWN
        return UNKNOWN

    def _grown(self, target: ast.expr, base: Seq, value: Value) -> Value:
        if isinstance(target, ast.Name):
            self.scope.bind(target.id, Seq((*base.items, value), base.kind))
        return Const(None)

    # Calling values

    def call_value(
        self, callee: Value, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST, text: str = ""
    ) -> Value:
        """Call what is not a name of somebody else's: a function, a class, an object of the program."""
        if self.state is None:
            return UNKNOWN
        match callee:
            case Function():
                return self.call_function(callee, args, keywords, node)
            case Class():
                return self.instantiate(callee, args, keywords, node)
            case Instance():
                method = self.member(callee, "__call__", node)
                if isinstance(method, Function):
                    return self.call_function(method, args, keywords, node)
            case Made(name) if is_tensorflow(name):
                self.call_made(name, node)
            case _:
                pass
        for value in (*args, *keywords.values()):
            self.escape(value)
        return UNKNOWN

    def call_function(
        self, function: Function, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        """Interpret a call of a function of the program."""
        self.step()
        self.visited.add(id(function.node))
        if len(self.frames) >= MAX_DEPTH or any(frame.node is function.node for frame in self.frames):
            return UNKNOWN
        if self._mentions(function.node, "yield") and is_generator(function.node) and not _is_context_manager(function):
            # Nothing runs before it is iterated.
            self.visited.discard(id(function.node))
            return UNKNOWN
        graph = any(isinstance(value, Ref) and value.name == "tf.function" for value in function.decorators) or any(
            isinstance(value, Made) and value.name == "tf.function" for value in function.decorators
        )
        if graph and not self.here.graph_mode:
            self.start(node, "context", "tf.function", f"{function_name(function.node)}(), a tf.function,")
        key = id(function.node)
        if key in self.settled and (not self.settled[key] or self.here.context.has is Tri.YES):
            # It was gone through before and neither configures anything nor would start what has not started yet.
            for value in (*args, *keywords.values()):
                self.escape(value)
            return UNKNOWN
        before = self.here
        result = self.run_function(function, args, keywords, node, graph=graph)
        if self.reach.is_inert(function.node):
            after = self.state
            starts = after is None or (after.context, after.allocator, after.listed) != (
                before.context,
                before.allocator,
                before.listed,
            )
            if after is None:
                # It never came back: what stands behind the call is not reached, and it has to be seen each time.
                self.settled.pop(key, None)
            else:
                self.settled[key] = starts or self.settled.get(key, False)
        return result

    def _mentions(self, node: ast.AST, word: str) -> bool:
        """Whether a keyword stands in the text of ``node``: what lacks it need not be looked through."""
        first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", None)
        return any(word in line for line in self.source.lines[first - 1 : last])

    def _outer_names(self, code: ast.AST, body: Sequence[ast.AST]) -> frozenset[str]:
        """The names that a function declares ``global`` or ``nonlocal``."""
        if not (self._mentions(code, "global") or self._mentions(code, "nonlocal")):
            return frozenset()
        return frozenset(_outer_names(body))

    def run_function(
        self,
        function: Function,
        args: Sequence[Value],
        keywords: dict[str, Value],
        node: ast.AST | None,
        *,
        graph: bool = False,
    ) -> Value:
        """Interpret a function's body with these arguments; ``node`` is the call, None for an entry point."""
        assert self.state is not None
        code = function.node
        name = function_name(code)
        body = code.body if isinstance(code.body, list) else []
        local = self.bound_names(body) | frozenset(_parameters(code.args))
        scope = Scope(function.scope, outer=self._outer_names(code, body), local=local, number=self.next_serial())
        receiver = function.bound
        values = [receiver, *args] if receiver is not None else list(args)
        self._bind_parameters(code.args, scope, values, keywords, entry=node is None)
        call = None
        if node is not None and not isinstance(code, ast.Lambda):
            where = f"{self.frame.function} calls" if self.frame.function else "calls"
            call = Step(self.source.path, self.span(node), f"{where} {name}()")
        cls = self._class_of(receiver, code)
        frame = Frame(name, scope, code, call, receiver=receiver, cls=cls)
        statement, graphs = self.statement, self.state.graphs
        if graph:
            self.state = replace(self.state, graphs=graphs + 1)
        self.frames.append(frame)
        try:
            if isinstance(code, ast.Lambda):
                value = self.evaluate(code.body)
                if self.state is not None:
                    frame.returns.append((self.state, value))
            else:
                self.execute(code.body)
                if self.state is not None:
                    frame.returns.append((self.state, Const(None)))
        finally:
            self.frames.pop()
            self.statement = statement
        self.state, result = _joined(frame.returns)
        if self.state is not None and self.state.graphs != graphs:
            self.state = replace(self.state, graphs=graphs)
        return result

    def _class_of(self, receiver: Value | None, code: ast.AST) -> Value | None:
        """The class in whose body a method stands: where ``super()`` starts from."""
        cls = receiver.cls if isinstance(receiver, Instance) else receiver
        pending = [cls] if isinstance(cls, Class) else []
        while pending:
            one = pending.pop()
            if any(isinstance(value, Function) and value.node is code for value in one.members.values()):
                return one
            pending.extend(base for base in one.bases if isinstance(base, Class))
        return cls

    def _bind_parameters(
        self, args: ast.arguments, scope: Scope, values: list[Value], keywords: dict[str, Value], *, entry: bool
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
                value = self.defaults.get(id(defaults[arg.arg]))
                if entry and not isinstance(value, Ref):
                    # Whoever calls it may well pass something else.
                    value = None
            if value is None or (value == UNKNOWN and arg.arg == "tf"):
                # TensorFlow handed in as a parameter goes by its usual name.
                value = Ref("tf") if arg.arg == "tf" else UNKNOWN
            scope.names[arg.arg] = value
        for rest in (args.vararg, args.kwarg):
            if rest is not None:
                scope.names[rest.arg] = UNKNOWN

    def instantiate(self, cls: Class, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        """Interpret the making of an object of a class of the program."""
        instance = Instance(cls)
        self.instances[id(cls.node)] = instance
        init = self.class_member(cls, "__init__")
        if isinstance(init, Function):
            bound = Function(init.node, init.scope, init.decorators, instance)
            self.call_function(bound, args, keywords, node)
        elif isinstance(init, Ref):
            self.call_name(init.name.removesuffix("().__init__"), node, list(args), keywords, [])
        else:
            for value in (*args, *keywords.values()):
                self.escape(value)
        return instance

    # What the other parts add

    defaults: dict[int, Value]

    def evaluate_defaults(self, args: ast.arguments) -> None:
        """Default values are evaluated once, where the function is defined."""
        for default in (*args.defaults, *(one for one in args.kw_defaults if one is not None)):
            self.defaults[id(default)] = self.evaluate(default)

    def has_attribute(self, owner: str, name: str) -> bool | None:
        raise NotImplementedError

    def add_layer(self, model: Made, layer: Value, node: ast.AST) -> None:
        raise NotImplementedError

    def call_made(self, name: str, node: ast.AST) -> None:
        raise NotImplementedError

    def call_name(
        self, name: str, node: ast.AST, values: list[Value], keywords: dict[str, Value], written: list[Arg]
    ) -> Value:
        raise NotImplementedError

    def environ_method(
        self, name: str, node: ast.Call, values: list[Value], keywords: dict[str, Value], written: list[Arg]
    ) -> Value:
        raise NotImplementedError

    def proto_method(self, base: Proto, name: str, values: Sequence[Value]) -> Value:
        raise NotImplementedError


def function_name(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> str:
    """A function's name, ``<lambda>`` for a lambda."""
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def is_generator(node: ast.AST) -> bool:
    """Whether a function's own body yields."""
    pending: list[ast.AST] = list(getattr(node, "body", [])) if isinstance(getattr(node, "body", None), list) else []
    while pending:
        child = pending.pop()
        if isinstance(child, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            pending.extend(ast.iter_child_nodes(child))
    return False


def _is_context_manager(function: Function) -> bool:
    names = {value.name for value in function.decorators if isinstance(value, Ref)}
    return bool(names & {"contextlib.contextmanager", "contextlib.asynccontextmanager"})


def _parameters(args: ast.arguments) -> list[str]:
    rest = [arg.arg for arg in (args.vararg, args.kwarg) if arg is not None]
    return [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)] + rest


def _outer_names(body: Sequence[ast.AST]) -> set[str]:
    found: set[str] = set()
    for statement in body:
        for child in ast.walk(statement):
            if isinstance(child, (ast.Global, ast.Nonlocal)):
                found.update(child.names)
    return found


def _joined(returns: list[tuple[Any, Value]]) -> tuple[Any, Value]:
    if not returns:
        return None, UNKNOWN
    state, value = returns[0]
    for other_state, other in returns[1:]:
        state, value = join_states(state, other_state), join(value, other)
    return state, value


def _format(text: str, values: Sequence[Value], keywords: dict[str, Value]) -> str:
    try:
        return text.format(
            *(value.value for value in values if isinstance(value, Const)),
            **{name: value.value for name, value in keywords.items() if isinstance(value, Const)},
        )
    except (ValueError, LookupError, AttributeError, TypeError):
        raise folding.NotFolded from None


@lru_cache(maxsize=1024)
def _changes_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Whether a function may change a list or a dictionary that it is given."""
    arguments = function.args
    names = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if attr in _MUTATING:
                pass
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                pass
            case ast.AugAssign(target=ast.Name(id=name)):
                pass
            case _:
                continue
        if name in names:
            return True
    return False
