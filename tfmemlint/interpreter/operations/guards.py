"""Guards: names of the conditions that hold at a point of a program."""

from __future__ import annotations

import ast
import re

from tfmemlint.facts.alike_answers import METHODS_OF_TEXTS, READS_ENVIRONMENT
from tfmemlint.facts.shapes import ConditionCall, TestFacts
from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import nodes
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.contents import content_of
from tfmemlint.interpreter.operations.flags import never_with, version_of
from tfmemlint.interpreter.state import Guards
from tfmemlint.interpreter.values import Count, Devices, Dict, Function, Instance, Module

_ALIKE = frozenset({"bool", "hasattr", "isinstance"})
_CONVERT = frozenset({"int", "float", "str"})


def guards_of(context: Context, test: ast.expr, outcome: bool) -> Guards:
    """Return the guards that hold where ``test`` came out as ``outcome``, with what follows from them."""
    found = _guards_of(context, test, outcome)
    return (*found, *_excluded(context, found)) if context.conditions.exclusions else found


def _guards_of(context: Context, test: ast.expr, outcome: bool) -> Guards:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _guards_of(context, test.operand, not outcome)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is outcome:
        return tuple(guard for part in test.values for guard in _guards_of(context, part, outcome))
    facts = context.unit.shapes.test(test)
    name = _guard_name(context, facts)
    if isinstance(test, ast.BoolOp):
        # Of `a and b`, which does not hold, one does not hold: who finds all others to hold knows which.
        parts = [_guards_of(context, part, not outcome) for part in test.values]
        if all(len(part) == 1 for part in parts):
            context.conditions.exclusions[name] = tuple(part[0] for part in parts)
        return ((name, outcome is facts.positive),)
    if isinstance(test, ast.Name) and outcome:
        return ((name, True), *never_with(context, test.id))
    if outcome is facts.positive and facts.compared is not None:
        return ((name, outcome is facts.positive), *_other_constants(context, facts, name))
    return ((name, outcome is facts.positive),)


def _other_constants(context: Context, facts: TestFacts, name: str) -> Guards:
    """Return that what is one of these constants is none of the others that it was compared with before."""
    assert facts.compared is not None
    constants, written = facts.compared
    compared = context.conditions.compared.setdefault(name.replace(written, "==", 1), {})
    compared[constants] = name
    return tuple((other, False) for values, other in compared.items() if values.isdisjoint(constants))


def _excluded(context: Context, found: Guards) -> Guards:
    """Return what the guards here rule out by conditions that do not hold together."""
    ruled_out: list[tuple[str, bool]] = []
    holds: set[tuple[str, bool]] = set()
    for name, _ in context.guards:
        atoms = context.conditions.exclusions.get(name)
        if atoms is None:
            continue
        holds = holds or {*context.guards, *found}
        left = [atom for atom in atoms if atom not in holds]
        if len(left) == 1:
            ruled_out.append((left[0][0], not left[0][1]))
    return tuple(ruled_out)


def _guard_name(context: Context, facts: TestFacts) -> str:
    if facts.changes or (facts.calls and not _comes_out_alike(context, facts)):
        return f"{facts.text} @{context.next_serial()}"
    versions = _variables_set(context, facts)
    text = facts.text
    for name in facts.names:
        value = context.scope.lookup(name)
        if isinstance(value, Module):
            # The same module, from wherever it is asked.
            versions.append(f"{name}={value.name}")
            continue
        if isinstance(value, Instance) and facts.attributes:
            # The same object, from whichever method it is asked, and however it is reached.
            for path in set(re.findall(rf"(?<![\w.]){name}((?:\.\w+)*)", text)):
                shown, version = _named_object(context, value, name, path)
                text = re.sub(rf"(?<![\w.]){name}{re.escape(path)}(?![\w.])", shown, text)
                versions.append(version)
            continue
        if isinstance(value, Dict) and value.cell is not None:
            # The same table, as long as nothing is put into it.
            number, first = context.conditions.object_named(content_of(context, value.cell), name)
            text = re.sub(rf"(?<![\w.]){name}(?!\w)", first, text)
            versions.append(f"{first}={number}")
            continue
        owner = context.scope.owner(name)
        number, times = owner.number, context.rebindings.get((owner.number, name), 0)
        same = owner.same_as.get(name)
        if same is not None and same[-1] == times:
            # `train = settings.train`: what is asked of one is asked of the other.
            chain, number, times, _ = same
            text = re.sub(rf"(?<![\w.]){name}\b", chain, text)
            name = chain.partition(".")[0]
            owner = context.scope.owner(name)
        alias = owner.aliases.get(name) if not times else None
        if alias is not None:
            # An argument goes by the name that the caller has for it.
            called, number, times = alias
            if called != name:
                text = re.sub(rf"\b{name}\b", called, text)
            name = called.partition(".")[0]
        versions += version_of(name, number, times)
    # Those of an object that is named by itself are gone.
    asked = set(re.findall(r"\.(\w+)", text))
    for name in facts.attributes:
        if name in asked and name in context.attributes_set:
            versions.append(f".{name}#{context.attributes_set[name]}")
    return " ".join([text, *versions]) if versions else text


def _named_object(context: Context, root: Instance, name: str, path: str) -> tuple[str, str]:
    """Return ``name`` and the attributes behind it as they are called from the last object among them on, and what
    tells that object from all others."""
    reached, called, left = root, name, path.split(".")[1:]
    while left and isinstance(inner := context.heap.get((reached, left[0])), Instance):
        reached, called, left = inner, left[0], left[1:]
    number, first = context.conditions.object_named(reached, called)
    return ".".join([first, *left]), f"{first}={number}"


def note_same(context: Context, name: str, given: ast.Attribute) -> None:
    """Note that a name means a field of another one, as long as neither is bound anew."""
    chain = dotted(given)
    root = chain.partition(".")[0]
    if chain and context.state is not None:
        of_root, own = context.scope.owner(root), context.scope.owner(name)
        times = context.rebindings.get((of_root.number, root), 0)
        own.same_as[name] = chain, of_root.number, times, context.rebindings.get((own.number, name), 0)


def _is_asked_alike(context: Context, asked: ConditionCall) -> bool:
    """True if a function of the program is asked that computes its answer from constants and the environment."""
    plain = not asked.call.keywords and all(isinstance(each, ast.Constant) for each in asked.call.args)
    return plain and _function_asked(context, asked) is not None


def _function_asked(context: Context, asked: ConditionCall) -> Function | None:
    """Return the function of the program that a test asks, if it answers alike each time."""
    called = context.scope.lookup(asked.function) if isinstance(asked.call.func, ast.Name) else None
    alike = isinstance(called, Function) and context.unit.shapes.answers_alike(called.node)
    return called if alike and isinstance(called, Function) else None


def _variables_set(context: Context, facts: TestFacts) -> list[str]:
    """Return what the program itself has set the variables to that a test asks for, by itself or by a function."""
    if not facts.calls or context.state is None or not context.state.env:
        return []
    asked: set[object] = set()
    for each in facts.calls:
        asked |= {part.value for part in each.call.args if isinstance(part, ast.Constant)}
        called = _function_asked(context, each)
        if called is not None:
            # A variable whose name is not among the arguments is named by the function itself.
            asked |= {part.value for part in nodes(called.node) if isinstance(part, ast.Constant)}
    return [f"{name}={context.state.env[name]}" for name in sorted(context.state.env) if name in asked]


def _comes_out_alike(context: Context, facts: TestFacts) -> bool:
    """True if all calls in a test give the same answer throughout a run, as long as its names stay."""
    for asked in facts.calls:
        if asked.function in READS_ENVIRONMENT and isinstance(asked.first, ast.Constant):
            # Until the program itself sets it: see `_variables_set`.
            continue
        if asked.function in _CONVERT or asked.function.rpartition(".")[2] in METHODS_OF_TEXTS:
            # It is as its arguments are, which are asked for as well.
            continue
        if _is_asked_alike(context, asked):
            continue
        if asked.function == "len" and asked.first is not None:
            if asked.written != "sys.argv" and not isinstance(context.last_values.get(id(asked.call)), Count):
                return False
        elif asked.function not in _ALIKE and not isinstance(context.last_values.get(id(asked.call)), Devices):
            return False
    return True
