"""Changed copies of settings that nothing gets, by which the GPUs are configured.

What a configuration takes is followed by names: from the arguments of its calls and the conditions around them, through
variables, parameters, attributes and the functions that return them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import dotted, last_word
from tfmemlint.facts.tree_walk import all_nodes, unparsed
from tfmemlint.interpreter.program import CopyDropped
from tfmemlint.knowledge.functions import CONFIGURES_GPUS
from tfmemlint.knowledge.variables import GROWTH, VISIBLE
from tfmemlint.model.records import dataclass

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program

KIND = "copy"
"""The kind of a finding about such a copy."""
_CALLS = {name.rpartition(".")[2]: name for name in sorted(CONFIGURES_GPUS)}
_MADE = frozenset({"LogicalDeviceConfiguration", "VirtualDeviceConfiguration", "GPUOptions"})
_LIMIT = next(name for name in sorted(CONFIGURES_GPUS) if name.endswith("set_logical_device_configuration"))
_OPTIONS = frozenset({"allow_growth", "per_process_gpu_memory_fraction", "visible_device_list"})
_MOST_STEPS = 400
"""Expressions that are followed at most: a program that hands its settings on through more is left alone."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def dropped_copies(program: Program) -> Iterator[tuple[CopyDropped, str, str]]:
    """Yield each changed copy that nothing gets, with the name that is changed and read, and what is configured by it:
    the function of TensorFlow, or the option or variable."""
    events = [event for event in program.of(CopyDropped) if _is_for_nothing(program, event)]
    if not events:
        return
    known = _Known(program)
    seen: set[object] = set()
    for event in events:
        if (event.path, event.span) in seen or known.defines(event.method):
            continue
        if event.path not in (program.source.path, *known.configuring):
            # Such a module is not read where it is checked alone: nothing in it is about a GPU.
            continue
        seen.add((event.path, event.span))
        for name, reads in known.taken():
            key = reads.key_of(event, known)
            if key is not None:
                yield event, key, name
                break


@dataclass(slots=True)
class _Reads:
    """The names that an expression takes: ``words`` are attributes and keys, ``names`` variables and attributes."""

    words: set[str]
    names: set[str]

    def key_of(self, event: CopyDropped, known: _Known) -> str | None:
        """Return the changed name that is read; "" if it is not known which; None if there is none."""
        named = event.receiver.rpartition(".")[2] in self.names
        for key in event.keys:
            if not key and named:
                return ""
            if key and key in self.words and (named or (not event.of_dict and known.fields.get(key) == 1)):
                return key
        return None


class _Known:
    """All that the modules of a program say of names, read once."""

    def __init__(self, program: Program) -> None:
        self.parents: dict[ast.AST, ast.AST] = {}
        self.assigned: dict[str, list[ast.expr]] = {}
        self.attributes: dict[str, list[ast.expr]] = {}
        self.functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        self.calls: dict[str, list[ast.Call]] = {}
        self.fields: dict[str, int] = {}
        self.configuring: set[str] = set()
        self._sinks: list[tuple[str, ast.AST, list[ast.expr]]] = []
        for unit in program.units:
            if unit.library:
                continue
            known = len(self._sinks)
            for node in all_nodes(unit.tree):
                for child in ast.iter_child_nodes(node):
                    self.parents[child] = node
                self._note(node)
            if len(self._sinks) > known:
                self.configuring.add(unit.source.path)

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._note_target(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._note_target(target, value)
            case ast.NamedExpr(target=target, value=value) | ast.For(target=target, iter=value):
                self._note_target(target, value)
            case ast.comprehension(target=target, iter=value):
                self._note_target(target, value)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.functions.setdefault(node.name, []).append(node)
            case ast.Call(func=func, args=args, keywords=keywords):
                name = last_word(func)
                self.calls.setdefault(name, []).append(node)
                given = [*args, *(each.value for each in keywords)]
                if name in _CALLS or name in _MADE:
                    self._sinks.append((_CALLS.get(name, _LIMIT), node, given))
            case ast.ClassDef(body=body):
                for statement in body:
                    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                        self.fields[statement.target.id] = self.fields.get(statement.target.id, 0) + 1
            case _:
                pass

    def _note_target(self, target: ast.expr, value: ast.expr) -> None:
        match target:
            case ast.Name(name):
                self.assigned.setdefault(name, []).append(value)
            case ast.Attribute(attr=name):
                self.attributes.setdefault(name, []).append(value)
                if name in _OPTIONS:
                    self._sinks.append((name, target, [value]))
            case ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(str() as name)):
                if name in (VISIBLE, GROWTH):
                    self._sinks.append((name, target, [value]))
            case ast.Tuple(elts=elts):
                for each in elts:
                    self._note_target(each, value)
            case _:
                pass

    def defines(self, method: str) -> bool:
        """True if a class of the program has a method of this name."""
        return bool(method) and method in self.functions

    def taken(self) -> Iterator[tuple[str, _Reads]]:
        """Yield each configuration with what it takes."""
        for name, node, given in self._sinks:
            reads = _Reads(set(), set())
            self._follow([*given, *self._conditions(node)], reads)
            yield name, reads

    def _conditions(self, node: ast.AST) -> Iterator[ast.expr]:
        """Yield the conditions, and what the loops go over, around a node within its function, or at the top."""
        around = self.parents.get(node)
        while around is not None and not isinstance(around, _FUNCTIONS):
            if isinstance(around, (ast.If, ast.IfExp, ast.While)):
                yield around.test
            elif isinstance(around, ast.For):
                yield around.iter
            around = self.parents.get(around)

    def _follow(self, expressions: list[ast.expr], reads: _Reads) -> None:
        done: set[int] = set()
        steps = 0
        while expressions:
            expression = expressions.pop()
            if id(expression) in done:
                continue
            done.add(id(expression))
            steps += 1
            if steps > _MOST_STEPS:
                reads.words.clear()
                reads.names.clear()
                return
            for node in ast.walk(expression):
                expressions.extend(self._sources(node, reads))

    def _sources(self, node: ast.AST, reads: _Reads) -> Iterator[ast.expr]:
        """Note what a node reads, and yield the expressions that it has its value from."""
        match node:
            case ast.Name(name):
                reads.names.add(name)
                yield from self.assigned.get(name, ())
                yield from self._arguments(node, name)
            case ast.Attribute(attr=name):
                reads.words.add(name)
                reads.names.add(name)
                yield from self.attributes.get(name, ())
                yield from self._returned(name)
            case ast.Subscript(slice=ast.Constant(str() as key)):
                reads.words.add(key)
            case ast.Call(func=func, args=args):
                yield from self._returned(last_word(func))
                named = args[1:2] if dotted(func) == "getattr" else args[:1] if last_word(func) == "get" else []
                reads.words.update(
                    each.value for each in named if isinstance(each, ast.Constant) and isinstance(each.value, str)
                )
            case _:
                pass

    def _returned(self, name: str) -> Iterator[ast.expr]:
        """Yield what a function of the program returns."""
        for function in self.functions.get(name, ()):
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    yield node.value

    def _arguments(self, node: ast.AST, name: str) -> Iterator[ast.expr]:
        """Yield what the program gives for a parameter of the function around a node."""
        function: ast.AST | None = node
        while function is not None and not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = self.parents.get(function)
        if function is None:
            return
        names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        if name not in names and name not in [each.arg for each in function.args.kwonlyargs]:
            return
        called = function.name
        is_method = isinstance(self.parents.get(function), ast.ClassDef)
        if is_method and called == "__init__":
            called = getattr(self.parents[function], "name", called)
        place = names.index(name) - (1 if is_method and names[0] in ("self", "cls") else 0) if name in names else -1
        for call in self.calls.get(called, ()):
            given = next((each.value for each in call.keywords if each.arg == name), None)
            if given is None and 0 <= place < len(call.args):
                given = call.args[place]
            if given is not None:
                yield given


def _is_for_nothing(program: Program, event: CopyDropped) -> bool:
    """False for a copy that is made to see if it can be: in a ``try`` of its own, or where an exception is expected."""
    for unit in program.units:
        if unit.source.path != event.path:
            continue
        for node in all_nodes(unit.tree):
            if not isinstance(node, (ast.Try, ast.With)):
                continue
            inside = [each for each in node.body if isinstance(each, ast.Expr)]
            if not any(unit.source.span(each.value) == event.span for each in inside):
                continue
            if isinstance(node, ast.Try) and node.handlers:
                return False
            if isinstance(node, ast.With) and any("aises" in unparsed(item.context_expr) for item in node.items):
                return False
    return True
