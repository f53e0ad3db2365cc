"""Calling the functions and classes of a program: their bodies are gone through with what they are given."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tfmemlint.facts.names import is_tensorflow
from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import MAX_COUNTED, MAX_DEPTH, MAX_NESTED, MAX_RUNS, NEVER, Frame, Settled, Snapshot
from tfmemlint.interpreter.dataclass_init import Records
from tfmemlint.interpreter.program import Arg
from tfmemlint.interpreter.scopes import Scope
from tfmemlint.interpreter.state import State, Tri, join_states
from tfmemlint.interpreter.unit import ModuleInstance
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Cell,
    Choice,
    Class,
    Const,
    Dict,
    Function,
    Instance,
    Lazy,
    Made,
    Partial,
    Proto,
    Ref,
    Seq,
    Value,
    as_made,
    is_called,
    join,
)
from tfmemlint.model.finding import Step


class Functions(Records):
    """Calling functions and making objects."""

    def call_value(self, callee: Value, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
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
                if isinstance(method, Ref) and is_tensorflow(method.name):
                    self.call_built(callee, method.name.removesuffix(".__call__"), args, keywords, node)
            case Partial(function, first, named):
                return self.call_any(function, [*first, *args], {**named, **keywords}, node)
            case Made(name) if is_tensorflow(name):
                self.call_made(name, node)
            case Choice():
                return self.any_of(callee, lambda option: self.call_any(option, args, keywords, node))
            case _:
                pass
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            self.hand_to_a_process(node.func.attr, (*args, *keywords.values()))
        for value in (*args, *keywords.values()):
            self.escape(value)
            self.hand_on(value)
        return UNKNOWN

    def any_of(self, choice: Choice, act: Callable[[Value], Value]) -> Value:
        """Do something with each of the values that may be meant, as if it were the one."""
        if len(choice.options) == 1:
            return act(choice.options[0])
        before = self.snapshot()
        ends: list[Snapshot] = []
        results: list[Value] = []
        for option in choice.options:
            self.restore(before)
            with self.doubtful():
                results.append(act(option))
            ends.append(self.snapshot())
        self.restore(ends[0])
        for end in ends[1:]:
            self.merge(end)
        return functools.reduce(join, results)

    def call_function(
        self, function: Function, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        """Interpret a call of a function of the program."""
        self.step()
        self.visited.add(id(function.node))
        again = sum(frame.node is function.node for frame in self.frames)
        quiet = self.is_quiet(function)
        counted = bool(args) and all(isinstance(value, Const) for value in (*args, *keywords.values()))
        if self.depth >= MAX_DEPTH or again > (MAX_COUNTED if counted else 0 if quiet else MAX_NESTED):
            # What is left of the recursion may do as much again, or nothing.
            if not again:
                self.give_up(f"{self.source.path}:{self.span(node).row}: calls are nested more than {MAX_DEPTH} deep")
            self.unsure(quiet)
            for value in (*args, *keywords.values()):
                self.let_out(value)
            return UNKNOWN
        unit = self.unit_of(function)
        if unit.shapes.is_generator(function.node):
            # Nothing runs before it is iterated over, or entered.
            return self.generator(function, args, keywords, node)
        graph = is_graph_function(function)
        if graph and not self.here.graph_mode:
            self.start(node, "context", "tf.function", f"{function_name(function.node)}(), a tf.function,")
        plain = not any(map(is_called, (*args, *keywords.values()))) and not self._by_name(function)
        if plain and self._gains_nothing(function, quiet, args, keywords):
            for value in (*args, *keywords.values()):
                self.escape(value)
            return UNKNOWN
        if not quiet:
            self.noisy += id(function.node) in self.stored
            return self.run_function(function, args, keywords, node, graph=graph)
        if plain and not self._by_name(function):
            self.runs[id(function.node)] = self.runs.get(id(function.node), 0) + 1
            if self.runs[id(function.node)] > MAX_RUNS:
                return self._leave_out(function, args, keywords)
        before, reads, changed, noisy, given = self.here, self.reads, self.changed, self.noisy, len(self.fields)
        self.reads, self.changed, begun, heap = {}, NEVER, self.next_serial(), self.heap
        result = self.run_function(function, args, keywords, node, graph=graph)
        looked = {cell: content for cell, content in self.reads.items() if cell.number < begun}
        again = self.noisy != noisy and any(is_called(self.content_of(cell)) for cell in looked)
        if self.changed < begun or again or self._by_name(function):
            # What it does depends on what others have put where it looks, or the other way round.
            self.settled.pop(id(function.node), None)
            changed_cells = {cell for cell in looked if self.heap.get((cell, "")) is not heap.get((cell, ""))}
            self.altered.setdefault(id(function.node), set()).update(changed_cells)
        else:
            self._settle(function, before, result, looked, self._fields(function.bound, given, begun), begun)
        self.reads, self.changed = {**looked, **reads}, min(changed, self.changed)
        return result

    def _by_name(self, function: Function) -> bool:
        """Whether a function is asked for any name that a module lacks: what it does for one says nothing of others."""
        return getattr(function.node, "name", "") == "__getattr__"

    def _leave_out(self, function: Function, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """Give up following a function that was gone through many times: what it may do to lists isn't known."""
        self.unsure(not self.stored)
        for value in (*args, *keywords.values()):
            self.escape(value)
            self.let_out(value)
        cells = self.altered.get(id(function.node), ())
        held = [value for (holder, _), value in self.heap.items() if holder is function.bound]
        for value in (*map(as_made, cells), *held):
            self.let_out(value)
        return UNKNOWN

    def _gains_nothing(
        self, function: Function, quiet: bool, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> bool:
        """Whether a call need not be gone through: nothing is left that it could start, and it configures nothing."""
        if quiet and self.modules is not None and self.here.context.has is Tri.YES and not self.stored:
            return True
        known = self.settled.get(id(function.node))
        if known is None or (known.starts and self.here.context.has is not Tri.YES):
            return False
        if known.reads:
            other = known.receiver is not function.bound and self.has_code(function.bound)
            if other or not self.holds_as_much(known.reads):
                return False
            self.reads = {**known.reads, **self.reads}
        given = (*args, *keywords.values())
        listed = any(isinstance(value, (Seq, Dict)) and value.cell is not None for value in given)
        if listed and self.unit_of(function).shapes.changes_arguments(function.node):
            return False
        if isinstance(function.bound, Instance):
            for name, value in known.fields:
                self.keep(function.bound, name, self.fresh(value))
        return True

    def _fields(self, receiver: Value | None, given: int, begun: int) -> tuple[tuple[str, Seq | Dict], ...]:
        """The empty lists and dictionaries that an object was given since."""
        return tuple(
            (name, value)
            for holder, name, value in self.fields[given:]
            if holder is receiver and value.cell is not None and value.cell.number > begun and not is_called(value)
        )

    def _is_of_others(self, value: Value, begun: int) -> bool:
        """Whether a value is a list or a dictionary that was there before."""
        return isinstance(value, (Seq, Dict)) and value.cell is not None and value.cell.number < begun

    def _settle(
        self,
        function: Function,
        before: State,
        result: Value,
        reads: Mapping[Cell, Value | None],
        fields: tuple[tuple[str, Seq | Dict], ...],
        begun: int,
    ) -> None:
        """Note what came of a call of a function that configures nothing, so that the next one need not be followed."""
        key, after = id(function.node), self.state
        if after is None or is_called(result) or isinstance(result, Ref) or self._is_of_others(result, begun):
            # It never came back: what stands behind the call is not reached, and it has to be seen each time. So has
            # what it gives, where that may be called, or changed.
            self.settled.pop(key, None)
            return
        phases = [(one.context, one.allocator, one.listed) for one in (before, after)]
        known = self.settled.get(key)
        starts = phases[0] != phases[1] or (known is not None and known.starts)
        self.settled[key] = Settled(starts, reads, function.bound if reads else None, fields)

    def run_function(
        self,
        function: Function,
        args: Sequence[Value],
        keywords: dict[str, Value],
        node: ast.AST | None,
        *,
        graph: bool = False,
        on_yield: Callable[[Value], None] | None = None,
    ) -> Value:
        """Interpret a function's body with these arguments; ``node`` is the call, None for an entry point."""
        assert self.state is not None
        code = function.node
        name = function_name(code)
        call = None
        if node is not None and not isinstance(code, ast.Lambda):
            where = f"{self.frame.function} calls" if self.frame.function else "calls"
            made = function.bound.cls.node.name if name == "__init__" and isinstance(function.bound, Instance) else ""
            words = f"{where[:-5]}makes {made}()" if made else f"{where} {self._called(function)}()"
            call = Step(self.source.path, self.span(node), words)
        consumer = self.consumer() if on_yield is not None else None
        here, self.unit = self.unit, self.unit_of(function)
        local, outer = self.unit.shapes.local_names(code), self.unit.shapes.outer_names(code)
        scope = Scope(function.scope, outer=outer, local=local, number=self.next_serial())
        receiver = function.bound
        values = [receiver, *args] if receiver is not None else list(args)
        self._bind_parameters(code.args, scope, values, keywords, entry=node is None)
        cls = self._class_of(receiver, code)
        frame = Frame(name, scope, code, call, receiver=receiver, cls=cls, on_yield=on_yield, consumer=consumer)
        statement, graphs = self.statement, self.state.graphs
        if graph:
            self.state = replace(self.state, graphs=graphs + 1)
        self.frames.append(frame)
        self.depth += 1
        where, self.where = self.where, ""
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
            self.unit = here
            self.depth -= 1
            self.where = where
        self.state, result = _joined(frame.returns)
        if self.state is not None and self.state.graphs != graphs:
            self.state = replace(self.state, graphs=graphs)
        return result

    def unit_of(self, function: Function) -> ModuleInstance:
        """The module that a function is written in."""
        return function.scope.module.unit or self.unit

    def _called(self, function: Function) -> str:
        """What a function goes by: a wrapper that ``functools.wraps`` dresses up, by the name of what it wraps."""
        for decorator in getattr(function.node, "decorator_list", ()):
            if (
                isinstance(decorator, ast.Call)
                and dotted(decorator.func).rpartition(".")[2] == "wraps"
                and decorator.args
            ):
                wrapped = function.scope.lookup(dotted(decorator.args[0]))
                if isinstance(wrapped, Function):
                    return function_name(wrapped.node)
        return function_name(function.node)

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
        if args.vararg is not None:
            others = tuple(values[len(positional) :])
            scope.names[args.vararg.arg] = UNKNOWN if entry or UNKNOWN in others else Seq(others, "tuple")
        if args.kwarg is not None:
            scope.names[args.kwarg.arg] = UNKNOWN

    def called_on(self, instance: Instance, name: str, node: ast.AST, args: Sequence[Value] = ()) -> Value:
        """Call a method of an object by its name; UNKNOWN where its class has none of that name."""
        method = self.class_member(instance.cls, name) if self.state is not None else None
        if not isinstance(method, Function):
            return UNKNOWN
        return self.call_function(Function(method.node, method.scope, method.decorators, instance), args, {}, node)

    def instantiate(self, cls: Class, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        """Interpret the making of an object of a class of the program."""
        instance = Instance(cls)
        self.instances[id(cls.node)] = instance
        init = self.class_member(cls, "__init__")
        record = self.written_init(cls)
        if record is not None:
            self.make_record(instance, record, args, keywords, node)
        elif isinstance(init, Function):
            bound = Function(init.node, init.scope, init.decorators, instance)
            self.call_function(bound, args, keywords, node)
        elif isinstance(after := self.class_member(cls, "__post_init__"), Function):
            # A dataclass.
            bound = Function(after.node, after.scope, after.decorators, instance)
            self.call_function(bound, [], {}, node)
        elif self.takes_fields(cls, args, keywords, instance):
            pass
        elif isinstance(init, Ref):
            self.call_name(init.name.removesuffix("().__init__"), node, list(args), keywords, [])
        else:
            for value in (*args, *keywords.values()):
                self.escape(value)
        return instance

    def call_built(
        self, instance: Instance, base: str, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
    ) -> None:
        """Call an object of a class that is derived from one of Keras's: a model or a layer of the program's own."""
        if self.state is None:
            return
        for name in ("build", "call"):
            method = self.class_member(instance.cls, name)
            if isinstance(method, Function) and self.state is not None:
                bound = Function(method.node, method.scope, method.decorators, instance)
                self.tracing += 1
                self.call_function(
                    bound, list(args) if name == "call" else [], keywords if name == "call" else {}, node
                )
                self.tracing -= 1
        if self.state is not None:
            self.call_made(base.removesuffix("()"), node)

    def evaluate_defaults(self, args: ast.arguments) -> None:
        """Default values are evaluated once, where the function is defined."""
        for default in (*args.defaults, *(one for one in args.kw_defaults if one is not None)):
            with self.at("default argument"):
                self.defaults[id(default)] = self.evaluate(default)

    defaults: dict[int, Value]

    def generator(self, function: Function, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        raise NotImplementedError

    def call_any(self, callee: Value, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        raise NotImplementedError

    def in_the_background(
        self, function: Value, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
    ) -> None:
        raise NotImplementedError

    def unsure(self, quiet: bool = False) -> None:
        raise NotImplementedError

    def is_quiet(self, function: Value) -> bool:
        raise NotImplementedError

    def hand_on(self, value: Value) -> None:
        raise NotImplementedError

    def hand_to_a_process(self, called: str, values: Sequence[Value]) -> None:
        raise NotImplementedError

    def drain(self, lazy: Lazy) -> Value:
        raise NotImplementedError

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


def is_graph_function(function: Function) -> bool:
    """Whether a function is a ``tf.function``."""
    return any(isinstance(value, (Ref, Made)) and value.name == "tf.function" for value in function.decorators)


def function_name(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> str:
    """A function's name, ``<lambda>`` for a lambda."""
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _joined(returns: list[tuple[Any, Value]]) -> tuple[Any, Value]:
    if not returns:
        return None, UNKNOWN
    state, value = returns[0]
    for other_state, other in returns[1:]:
        state, value = join_states(state, other_state), join(value, other)
    return state, value
