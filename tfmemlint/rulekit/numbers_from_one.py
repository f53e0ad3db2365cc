"""Numbers of worker processes, which count from 1, by which the workers choose a GPU: these count from 0.

``multiprocessing`` numbers the processes that a program starts from 1: ``current_process()._identity[0]``, and the end
of ``current_process().name``, such as ``SpawnPoolWorker-1`` (seen on Python 3.10 to 3.13). A program may do so itself:
``for i in range(1, workers + 1)``. As the number of a GPU, GPU 0 gets no worker, and the last worker no GPU.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import AnyFunction, dotted, last_word
from tfmemlint.facts.tree_walk import all_nodes, nodes, parents_of, unparsed
from tfmemlint.model.records import dataclass
from tfmemlint.rulekit.chosen_gpus import Choice, choices_in, device_arguments
from tfmemlint.rulekit.gpu_listings import listings_of
from tfmemlint.rulekit.worker_counts import (
    MAPPING,
    SUBMITTING,
    are_as_many_as_gpus,
    counted_from_one,
    is_first_gpu_idle,
    is_process_class,
    number_of_processes,
)

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program

_STARTING = frozenset({"Process", "Popen", *SUBMITTING})
_OF_SUBPROCESS = frozenset({"subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output"})
_COUNTING = re.compile(r"current_process|range\(1,|start=1\b|, 1\)")
_PROCESSES = re.compile(r"current_process|Process|Pool|Popen|Executor|subprocess")
_LIBRARY = re.compile(r"\b(?:tensorflow|keras|tf_keras)\b")
_MOST_ROUNDS = 4
"""The names that are followed for a number, each of which gets it of the next: variables, parameters, attributes."""


@dataclass(frozen=True, slots=True)
class FromOne:
    """GPUs that are chosen by a number that counts from 1.

    ``counts``: what makes the number. ``own``: the program counts itself. ``past``: there are as many as GPUs.
    """

    counts: ast.expr
    choices: tuple[Choice, ...]
    own: bool
    past: bool


def numbers_from_one(program: Program) -> Iterator[FromOne]:
    """Yield each number of a worker that counts from 1, with the GPUs that are chosen by it."""
    text, tree = program.source.text, program.tree
    if program.configuration is not None or not all(words.search(text) for words in (_COUNTING, _PROCESSES, _LIBRARY)):
        return
    workers = _Numbers(tree)
    chosen = workers.chosen(listings_of(program))
    for counts, choices in chosen.values():
        own = id(counts) in workers.own
        total = counted_from_one(counts) if own else number_of_processes(tree, workers.parents)
        if total is None or workers.is_tested(choices):
            continue
        past = are_as_many_as_gpus(tree, total)
        if past or is_first_gpu_idle(tree, text, total):
            yield FromOne(counts, tuple(choices), own, past)


class _Numbers:
    """The numbers of workers in a module: expressions, and the variables, parameters and attributes that hold them."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.parents = parents_of(tree)
        self.nodes = list(all_nodes(tree))
        self.functions = {node.name: node for node in self.nodes if isinstance(node, AnyFunction)}
        self.classes = {node.name: node for node in self.nodes if isinstance(node, ast.ClassDef)}
        self.stores: dict[tuple[ast.AST, str], int] = {}
        self.held: dict[tuple[ast.AST, str], ast.expr] = {}
        """The code that counts, by the function, or the loop, and the name that has the number in it."""
        self.attributes: dict[str, ast.expr] = {}
        self.returned: dict[str, ast.expr] = {}
        self.processes: dict[tuple[ast.AST, str], str] = {}
        """The variables for the current process, its name or its identity."""
        self.loops: set[ast.AST] = set()
        """The loops that count from 1 and start a process in each pass."""
        self.own: set[int] = set()
        """The ids of what counts where the program counts itself."""
        self._collect()

    def chosen(self, listings: frozenset[str]) -> dict[int, tuple[ast.expr, list[Choice]]]:
        """Return the GPUs that are chosen by each number."""
        found: dict[int, tuple[ast.expr, list[Choice]]] = {}
        for choice in choices_in(self.nodes, listings, device_arguments(self.tree)):
            counts = self._counts(choice.number)
            if counts is None or (choice.how != "variable" and not self.loops.isdisjoint(self._around(choice.place))):
                # What the starting process does itself is no worker's.
                continue
            found.setdefault(id(counts), (counts, []))[1].append(choice)
        return found

    def is_tested(self, choices: list[Choice]) -> bool:
        """True if a number, by which a GPU is chosen, is compared with what may be 0, or the number of GPUs."""
        texts = {unparsed(choice.number) for choice in choices}
        for node in self.nodes:
            if isinstance(node, ast.Compare):
                parts = [node.left, *node.comparators]
                if any(unparsed(part) in texts for part in parts):
                    return True
        return False

    def _collect(self) -> None:
        for node in self.nodes:
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                key = self._scope(node), node.id
                self.stores[key] = self.stores.get(key, 0) + 1
        for node in self.nodes:
            match node:
                case ast.Assign([ast.Name(name)], value) if self._is_bound_once(node, name):
                    kind = self._kind(value)
                    if kind:
                        self.processes[self._scope(node), name] = kind
                case ast.For(target, counted, body):
                    self._collect_loop(node, target, counted, list(body))
                case ast.ListComp(elt, [ast.comprehension(target, counted)]):
                    self._collect_loop(node, target, counted, [elt])
        for _ in range(_MOST_ROUNDS):
            before = len(self.held) + len(self.attributes) + len(self.returned)
            for node in self.nodes:
                self._collect_name(node)
            self._collect_parameters()
            if before == len(self.held) + len(self.attributes) + len(self.returned):
                break

    def _collect_loop(self, loop: ast.AST, target: ast.expr, counted: ast.expr, body: list[ast.AST]) -> None:
        """Add the variable of a loop that counts from 1 and starts a process in each pass."""
        if (
            isinstance(target, ast.Tuple)
            and target.elts
            and last_word(getattr(counted, "func", counted)) == "enumerate"
        ):
            target = target.elts[0]
        if not isinstance(target, ast.Name) or counted_from_one(counted) is None:
            return
        inner = [node for part in body for node in nodes(part)]
        if any(isinstance(node, ast.Name) and node.id == target.id and _is_store(node) for node in inner):
            return
        if any(isinstance(node, ast.Call) and self._starts_process(node) for node in inner):
            self.own.add(id(counted))
            self.loops.add(loop)
            self.held[loop, target.id] = counted

    def _starts_process(self, call: ast.Call) -> bool:
        name = last_word(call.func)
        return name in _STARTING or dotted(call.func) in _OF_SUBPROCESS or is_process_class(self.classes.get(name))

    def _collect_name(self, node: ast.AST) -> None:
        match node:
            case ast.Assign([ast.Name(name)], value) if self._is_bound_once(node, name):
                if (counts := self._counts(value)) is not None:
                    self.held[self._scope(node), name] = counts
            case ast.Assign([ast.Attribute(ast.Name("self"), attr)], value):
                counts = self._counts(value)
                if counts is not None and sum(_stores_attribute(each, attr) for each in self.nodes) == 1:
                    self.attributes[attr] = counts
            case ast.Return(ast.expr() as value):
                function = self._scope(node)
                returns = sum(isinstance(each, ast.Return) for each in nodes(function))
                counts = self._counts(value)
                if isinstance(function, AnyFunction) and counts is not None and returns == 1:
                    self.returned[function.name] = counts

    def _collect_parameters(self) -> None:
        """Add the parameters that get one number by each call, or start of a process."""
        given: dict[tuple[AnyFunction, str], list[ast.expr | None]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Call):
                for function, name, counts in self._parameters(node):
                    given.setdefault((function, name), []).append(counts)
        for (function, name), numbers in given.items():
            first = numbers[0]
            if first is not None and all(counts is first for counts in numbers) and (function, name) not in self.stores:
                self.held[function, name] = first

    def _parameters(self, call: ast.Call) -> Iterator[tuple[AnyFunction, str, ast.expr | None]]:
        """Yield the parameters that a call gives values, with what counts where that is the number of a worker."""
        function, arguments, keywords, skip = self._called(call)
        if function is None or any(isinstance(value, ast.Starred) for value in arguments):
            return
        names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)][skip:]
        for name, value in (*zip(names, arguments, strict=False), *keywords):
            counts = self._counts(value)
            if counts is None and last_word(call.func) in MAPPING and last_word(value) != "enumerate":
                counts = value if counted_from_one(value) is not None else None
                self.own.update([id(value)] if counts is not None else [])
            yield function, name, counts

    def _called(self, call: ast.Call) -> tuple[AnyFunction | None, list[ast.expr], list[tuple[str, ast.expr]], int]:
        """Return the function that a call runs, here or in a process, its arguments, and how many are set."""
        name = last_word(call.func)
        keywords = {each.arg: each.value for each in call.keywords if each.arg}
        if name == "Process" and "target" in keywords:
            named = keywords.get("kwargs")
            pairs = zip(named.keys, named.values, strict=True) if isinstance(named, ast.Dict) else ()
            texts = [(str(key.value), value) for key, value in pairs if isinstance(key, ast.Constant)]
            return self.functions.get(last_word(keywords["target"])), _items(keywords.get("args")), texts, 0
        if name in {*SUBMITTING, *MAPPING} and call.args and isinstance(call.func, ast.Attribute):
            function = self.functions.get(last_word(call.args[0]))
            if name.startswith("apply"):
                return function, _items(call.args[1] if len(call.args) > 1 else keywords.get("args")), [], 0
            return function, list(call.args[1:]), list(keywords.items()) if name == "submit" else [], 0
        found = self.classes.get(name)
        if is_process_class(found) and isinstance(found, ast.ClassDef):
            made = [part for part in found.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
            return made[0] if made else None, list(call.args), list(keywords.items()), 1
        skip = int(isinstance(call.func, ast.Attribute))
        return self.functions.get(name), list(call.args), list(keywords.items()), skip

    def _counts(self, number: ast.expr) -> ast.expr | None:
        """Return what counts from 1 where an expression is the number of a worker, as it is."""
        match number:
            case ast.Name(name):
                return next(
                    (self.held[around, name] for around in self._around(number) if (around, name) in self.held), None
                )
            case ast.Attribute(ast.Name("self"), attr):
                return self.attributes.get(attr)
            case ast.Subscript(identity, ast.Constant(0)) if self._kind(identity) == "_identity":
                return number
            case ast.Call(ast.Name("int"), [inner]):
                if isinstance(inner, (ast.Name, ast.Attribute)):
                    return self._counts(inner)
                return number if self._is_of_name(inner) else None
            case ast.Call(func, []):
                return self.returned.get(last_word(func))
            case _:
                return None

    def _is_of_name(self, text: ast.expr) -> bool:
        """True for what is cut out of the name of the process."""
        inner = list(nodes(text))
        return any(isinstance(part, ast.expr) and self._kind(part) == "name" for part in inner) and not any(
            isinstance(part, ast.BinOp) for part in inner
        )

    def _kind(self, node: ast.expr) -> str:
        """Return ``process`` for the current process, and ``name`` or ``_identity`` for those of it; else ""."""
        match node:
            case ast.Call(func, []) if last_word(func) == "current_process":
                return "process"
            case ast.Attribute(inner, "name" | "_identity" as attr):
                return attr if self._kind(inner) == "process" else ""
            case ast.Name(name):
                return next(
                    (self.processes[each, name] for each in self._around(node) if (each, name) in self.processes), ""
                )
            case _:
                return ""

    def _scope(self, node: ast.AST) -> ast.AST:
        """Return the function, or the module, around a node."""
        return next(each for each in self._around(node) if isinstance(each, (AnyFunction, ast.Module)))

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        around = self.parents.get(node)
        while around is not None:
            yield around
            around = self.parents.get(around)

    def _is_bound_once(self, node: ast.AST, name: str) -> bool:
        return self.stores.get((self._scope(node), name)) == 1


def _items(node: ast.expr | None) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, (ast.Tuple, ast.List)) else []


def _is_store(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _stores_attribute(node: ast.AST, attr: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == attr and not isinstance(node.ctx, ast.Load)
