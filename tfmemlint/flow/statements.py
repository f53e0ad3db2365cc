"""Statements: the ways a program takes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tfmemlint.facts.names import canonical, is_tensorflow
from tfmemlint.facts.syntax import assigned_names, dotted, ends_in_exit, handler_types, is_idle, is_silent
from tfmemlint.flow.loops import Loops
from tfmemlint.flow.machine import Frame
from tfmemlint.flow.program import Handler, Store
from tfmemlint.flow.scopes import Scope
from tfmemlint.flow.state import Phase, State, Tri
from tfmemlint.flow.tensorflow import GRAPHS, SESSIONS
from tfmemlint.flow.values import (
    UNKNOWN,
    Class,
    Const,
    Device,
    Devices,
    Dict,
    Function,
    Instance,
    Made,
    Proto,
    Ref,
    Seq,
    Value,
)
from tfmemlint.knowledge.wishes import REAL_KEYS

TYPING_ONLY = frozenset({"typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING"})
"""False whenever a program runs."""


class Statements(Loops):
    """Executing statements."""

    classes: list[Class]
    import_state: State | None

    def execute(self, body: Sequence[ast.stmt]) -> None:
        """Interpret statements one after another, as far as there is a way."""
        guards = self.guards
        for statement in body:
            if self.state is None:
                break
            self.step()
            saved, self.statement = self.statement, statement
            method: Callable[[Any], None] | None = getattr(self, f"_{type(statement).__name__}", None)
            if method is not None:
                method(statement)
            else:
                self._children(statement)
            self.statement = saved
        self.guards = guards

    # Definitions

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = tuple(self.evaluate(decorator) for decorator in node.decorator_list)
        if self._is_skipped(node.decorator_list):
            self._bind(node.name, UNKNOWN)
            return
        self.evaluate_defaults(node.args)
        function = Function(node, self.scope, decorators)
        self.functions.setdefault(id(node), function)
        for decorator in reversed(decorators):
            if isinstance(decorator, (Function, Class, Instance)):
                # It runs here and now. Unless it returns a function of the program's own, what it returns is taken to
                # do what the function itself does.
                result = self.call_value(decorator, [function], {}, node)
                function = result if isinstance(result, Function) else function
        self._bind(node.name, function)

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            self.evaluate(decorator)
        if self._is_skipped(node.decorator_list):
            self._bind(node.name, UNKNOWN)
            return
        bases = tuple(self.evaluate(base) for base in node.bases)
        for keyword in node.keywords:
            self.evaluate(keyword.value)
        scope = Scope(self.scope, is_class=True, number=self.next_serial())
        cls = Class(node, self.scope, bases, scope.names)
        self.classes.append(cls)
        self.frames.append(Frame(self.frame.function, scope, node))
        try:
            self.execute(node.body)
        finally:
            self.frames.pop()
        self._bind(node.name, cls)

    def _is_skipped(self, decorators: Sequence[ast.expr]) -> bool:
        """Whether a test never runs under the targeted release: ``skipif(version.parse(tf.__version__) >= ...)``."""
        for decorator in decorators:
            call = decorator if isinstance(decorator, ast.Call) else None
            kind = dotted(call.func if call is not None else decorator).rpartition(".")[2].lower()
            if kind == "skip":
                return True
            if kind not in ("skipif", "skipunless") or call is None or not call.args:
                continue
            verdict = self.verdict(call.args[0], self._last_values.get(id(call.args[0]), UNKNOWN))
            if verdict.truth is (kind == "skipif") and not verdict.assumed:
                return True
        return False

    def _Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.asname:
                self._bind(alias.asname, Ref(canonical(alias.name)))
            else:
                self._bind(alias.name.split(".")[0], Ref(canonical(alias.name.split(".")[0])))

    def _ImportFrom(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                if not node.level:
                    self.stars.append(canonical(module))
                continue
            name = canonical(f"{module}.{alias.name}")
            if is_tensorflow(name):
                self.use(alias, name, origin="import")
            self._bind(alias.asname or alias.name, Const(False) if name in TYPING_ONLY else Ref(name))

    # Assignments

    def _bind(self, name: str, value: Value) -> None:
        key = (self.scope.number if name not in self.scope.outer else 0, name)
        self.rebindings[key] = self.rebindings.get(key, 0) + 1
        self.scope.bind(name, value)

    def _Assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        if self.state is None:
            return
        for target in node.targets:
            self.assign(target, value)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            value = self.evaluate(node.value)
            if self.state is not None:
                self.assign(node.target, value)

    def _AugAssign(self, node: ast.AugAssign) -> None:
        read = ast.copy_location(ast.BinOp(_as_load(node.target), node.op, node.value), node)
        value = self.evaluate(read)
        if self.state is not None and not isinstance(node.target, ast.Subscript):
            self.assign(node.target, value)

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a target to a value."""
        match target:
            case ast.Name():
                self._bind(target.id, value)
            case ast.Tuple() | ast.List():
                self._unpack(target.elts, value)
            case ast.Starred():
                self.assign(target.value, UNKNOWN)
            case ast.Attribute():
                self._set_attribute(target, value)
            case ast.Subscript():
                self._set_item(target, value)
            case _:
                pass

    def _unpack(self, targets: Sequence[ast.expr], value: Value) -> None:
        items: Sequence[Value] = [UNKNOWN] * len(targets)
        if isinstance(value, Seq) and len(value.items) == len(targets):
            if not any(isinstance(target, ast.Starred) for target in targets):
                items = value.items
        elif isinstance(value, Devices):
            items = [Device(value.kind, value.type, position) for position in range(len(targets))]
        else:
            self.escape(value)
        for target, item in zip(targets, items, strict=True):
            self.assign(target, item)

    def _set_attribute(self, target: ast.Attribute, value: Value) -> None:
        base = self._base(target.value)
        match base:
            case Proto():
                self.set_field(base, target.attr, value, self.span(target))
            case Instance():
                base.fields[target.attr] = value
            case Class():
                base.members[target.attr] = value
            case Ref(owner) if is_tensorflow(owner):
                self._store(target, owner, value)
            case Device():
                self._store(target, "device", value, base)
            case _:
                self.escape(value)

    def _store(self, target: ast.Attribute, owner: str, value: Value, device: Value = UNKNOWN) -> None:
        written = getattr(self.statement, "value", None)
        self.emit(
            Store(
                owner=owner,
                attribute=target.attr,
                value=value,
                text=self.text(target),
                device=device,
                owner_text=self.text(target.value),
                value_text=self.text(written) if isinstance(written, ast.expr) else "",
                **self.around(target),
            )
        )

    def _set_item(self, target: ast.Subscript, value: Value) -> None:
        base = self.evaluate(target.value)
        key = self.evaluate(target.slice)
        if base == Ref("os.environ"):
            if isinstance(key, Const) and isinstance(key.value, str):
                written = getattr(self.statement, "value", None)
                self.set_env(key.value, value, target, self.text(written) if isinstance(written, ast.expr) else "")
            return
        self.escape(value)
        if isinstance(target.value, ast.Name):
            if isinstance(base, Dict) and isinstance(key, Const) and isinstance(key.value, str):
                self.scope.bind(target.value.id, Dict({**base.items, key.value: value}, base.open))
            elif isinstance(base, (Seq, Dict)) or (isinstance(base, Made) and base.name in REAL_KEYS):
                self.scope.bind(target.value.id, UNKNOWN)

    def _Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._bind(target.id, UNKNOWN)
            elif isinstance(target, ast.Subscript) and self.evaluate(target.value) == Ref("os.environ"):
                key = self.evaluate(target.slice)
                if isinstance(key, Const):
                    self.unset_env(str(key.value))

    def escape(self, value: Value) -> None:
        """A value goes where it can't be followed."""
        match value:
            case Proto(_, record):
                record.consumed = True
            case Made(_, serial):
                self.used.add(serial)
            case Seq(items):
                for item in items:
                    self.escape(item)
            case Dict(items):
                for item in items.values():
                    self.escape(item)
            case _:
                pass

    # Ends of ways

    def _Return(self, node: ast.Return) -> None:
        value = self.evaluate(node.value)
        if self.state is not None:
            if len([frame for frame in self.frames if frame.call is not None]) == 0:
                # Nobody in sight gets it.
                self.escape(value)
            self.frame.returns.append((self.state, value))
            self.state = None

    def _Raise(self, node: ast.Raise) -> None:
        self._children(node)
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        self.leave(certain=isinstance(raised, ast.Name) and raised.id == "SystemExit")

    def _Break(self, node: ast.Break) -> None:
        if self.loops and self.state is not None:
            self.loops[-1].breaks.append((self.state, dict(self.scope.names)))
        self.state = None

    def _Continue(self, node: ast.Continue) -> None:
        if self.loops and self.state is not None:
            self.loops[-1].continues.append((self.state, dict(self.scope.names)))
        self.state = None

    def _Assert(self, node: ast.Assert) -> None:
        self.evaluate(node.test)
        if self.state is not None:
            self.state = self.refine(self.state, node.test, True)

    # Branches

    def _If(self, node: ast.If) -> None:
        if _is_main_guard(node.test) and self.import_state is None and len(self.frames) == 1:
            self.import_state = self.state
        value = self.evaluate(node.test)
        if self.state is None:
            return
        verdict = self.verdict(node.test, value)
        if verdict.truth is not None and not verdict.assumed:
            self.execute(node.body if verdict.truth else node.orelse)
            return
        yes, no = self.guards_of(node.test, True), self.guards_of(node.test, False)
        refined = self.refine(self.state, node.test, True), self.refine(self.state, node.test, False)
        before = self.snapshot()
        if verdict.truth is not None:
            # The other branch is for machines that nothing here is about: looked at, and left without a trace.
            likely, unlikely = (node.body, node.orelse) if verdict.truth else (node.orelse, node.body)
            taken, passed = (yes, no) if verdict.truth else (no, yes)
            self.state = refined[1 if verdict.truth else 0]
            with self.doubtful(passed):
                self.execute(unlikely)
            self.restore((refined[0 if verdict.truth else 1], before[1], before[2]))
            with self.doubtful(taken, doubt=False):
                self.execute(likely)
            return
        self.state = refined[0]
        with self.doubtful(yes):
            self.execute(node.body)
        after = self.snapshot()
        self.restore((refined[1], before[1], before[2]))
        with self.doubtful(no):
            self.execute(node.orelse)
        if (after[0] is None) is not (self.state is None):
            # What follows is reached by one of the two alone.
            self.guards = (*self.guards, *(no if after[0] is None else yes))
        self.merge(after, no, yes)

    def _Match(self, node: ast.Match) -> None:
        self.evaluate(node.subject)
        before = self.snapshot()
        ends = []
        for case in node.cases:
            self.restore(before)
            for name in assigned_names([case.pattern]):
                self._bind(name, UNKNOWN)
            with self.doubtful():
                if case.guard is not None:
                    self.evaluate(case.guard)
                self.execute(case.body)
            ends.append(self.snapshot())
        self.restore(before)
        for end in ends:
            self.merge(end)

    def _Try(self, node: ast.Try) -> None:
        group = tuple(
            Handler(
                handler_types(handler),
                self.span(handler) if not handler.body else self.statement_span(handler),
                reraises=ends_in_exit(handler.body),
                idle=is_idle(handler.body),
                silent=is_silent(handler.body),
            )
            for handler in node.handlers
        )
        before = self.snapshot()
        self.handlers.append((group, len(self.frames)))
        self.execute(node.body)
        self.handlers.pop()
        after = self.snapshot()
        if self.state is not None:
            self.execute(node.orelse)
        end = self.snapshot()
        ends = []
        for handler in node.handlers:
            self.restore(before)
            self.merge(after)
            if self.state is not None and before[0] is not None:
                # Whether the body had come as far as what starts the runtime when it failed, nobody knows.
                self.state = _started_or_not(self.state, before[0])
            if handler.name:
                self._bind(handler.name, UNKNOWN)
            with self.doubtful():
                if handler.type is not None:
                    self.evaluate(handler.type)
                self.execute(handler.body)
            ends.append(self.snapshot())
        # The body is taken to go through: a claim that rests on an exception nobody knows of would be a guess.
        self.restore(end)
        if self.state is None:
            for handled in ends:
                self.merge(handled)
        if node.finalbody:
            dead = self.state is None
            if dead:
                self.restore(after if after[0] is not None else before)
            self.execute(node.finalbody)
            if dead:
                self.state = None

    _TryStar = _Try

    def _With(self, node: ast.With | ast.AsyncWith) -> None:
        graphs = 0
        entered: list[Instance] = []
        for item in node.items:
            value = self.evaluate(item.context_expr)
            if self.state is None:
                return
            if isinstance(value, Made):
                self.used.add(value.serial)
                graphs += value.name in GRAPHS or value.name in SESSIONS or value.name.endswith("Session().as_default")
            if isinstance(value, Instance):
                entered.append(value)
                value = self._call_method(value, "__enter__", [], item.context_expr)
                if self.state is None:
                    return
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value)
        before = self.here.graphs
        self.state = replace(self.here, graphs=before + graphs)
        self.execute(node.body)
        for instance in reversed(entered):
            self._call_method(instance, "__exit__", [UNKNOWN] * 3, node)
        if self.state is not None:
            self.state = replace(self.state, graphs=before)

    _AsyncWith = _With

    def _call_method(self, instance: Instance, name: str, args: list[Value], node: ast.AST) -> Value:
        if self.state is None:
            return UNKNOWN
        method = self.member(instance, name, node)
        return self.call_value(method, args, {}, node) if isinstance(method, Function) else UNKNOWN


def _started_or_not(state: State, before: State) -> State:
    """What has started since ``before`` may have, or not."""
    changes = {
        which: Phase(Tri.UNKNOWN)
        for which in ("context", "allocator", "listed")
        if getattr(state, which) != getattr(before, which)
    }
    return replace(state, **changes) if changes else state  # type: ignore[arg-type]


def _as_load(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name():
            return ast.copy_location(ast.Name(target.id, ast.Load()), target)
        case ast.Attribute():
            return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
        case ast.Subscript():
            return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
        case _:
            return target


def _is_main_guard(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
