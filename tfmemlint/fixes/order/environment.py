"""Strategy of last resort: ask for memory growth by the environment, at the very top of the program.

``TF_FORCE_GPU_ALLOW_GROWTH`` is read when the GPU devices are made, whoever makes them. The calls that come too late
are removed, as they would raise. Growth is then on for every GPU, whatever the code says elsewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from tfmemlint.fixes.callees import Callee, calls_of
from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.editor import Editor
from tfmemlint.fixes.hoist_out_of_function import importers_of, starts_using
from tfmemlint.fixes.imports import is_import
from tfmemlint.fixes.order.entry_place import is_guard, is_unconditional
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.orphans import Remover
from tfmemlint.fixes.users import users_of
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.intent import Purpose

VARIABLE = "TF_FORCE_GPU_ALLOW_GROWTH"


def force_growth(problem: OrderProblem) -> Iterator[Candidate]:
    """Set the variable at the top of the file in which the program starts."""
    finding = problem.finding
    asks_for_growth(problem)
    is_unconditional(problem)
    late = problem.files.get(finding.path)
    statement = late.tree.statement_at(finding.span)
    check_removable(late, statement)
    entry = problem.files.get(finding.trace[0].path)
    # Others that use the late call would be without memory growth.
    users = importers_of(entry.path) | others_that_use(late, entry)
    if users:
        raise Withheld(f"{min(users)} may need the call that comes too late")
    texts: dict[str, str] = {}
    editor = problem.editor(entry)
    remover = editor if late.path == entry.path else problem.editor(late)
    emptied = Remover(remover, late.path).remove(statement, calls=late.path == entry.path)
    if emptied is not None:
        remove_calls(problem, (late, remover), (entry, editor), emptied)
    if remover is not editor:
        texts[late.path] = remover.finish()
    span = finding.trace[0].span
    body = entry.tree.statements(entry.tree.module)
    place = next((line for line in body if entry.tree.span(line).contains(span)), body[0])
    lines = f"os.environ[{editor.quoted(VARIABLE)}] = {editor.quoted('true')}\n"
    if not _has_os(entry, place):
        if any(is_import(line) for line in body[: body.index(place)]):
            editor.add_import("os")
        else:
            lines = f"import os\n\n{lines}"
    editor.put_up(lines, place, ("Memory growth is on before", "TensorFlow's runtime", "start"))
    texts[entry.path] = editor.finish()
    words = f"As a last resort, set {VARIABLE} in {entry.path}, for every GPU, in place of the call that comes too late"
    yield Candidate(texts, words)


def asks_for_growth(problem: OrderProblem) -> None:
    """Refuse where anything but memory growth of every GPU comes too late.

    Raises:
        Withheld: it does.
    """
    intent = problem.finding.intent
    if intent is None or intent.purpose is not Purpose.GROWTH or intent.value is not True:
        raise Withheld("only memory growth can be asked for by the environment")
    if "called" not in problem.finding.details:
        raise Withheld("the environment is set already, too late")


def others_that_use(late: CodeFile, entry: CodeFile) -> frozenset[str]:
    """Return the files besides ``entry`` in which programs start that use a file."""
    return starts_using(late.path) - {os.path.normpath(os.path.relpath(entry.path))}


def remove_calls(
    problem: OrderProblem, late: tuple[CodeFile, Editor], entry: tuple[CodeFile, Editor], function: cst.FunctionDef
) -> bool:
    """Remove a function that does nothing any more, if nothing but statements of the entry file calls it.

    Return True if it is removed.
    """
    name = function.name.value
    users = set(users_of(late[0].path, name)) - {os.path.normpath(os.path.relpath(entry[0].path))}
    here, there = Remover(late[1], late[0].path), Remover(entry[1], entry[0].path)
    callee = Callee.of(late[0].tree, function, late[0].path)
    own, calls = calls_of(late[0].tree, callee), calls_of(entry[0].tree, replace(callee, definition=None))
    if users or own is None or calls is None:
        return False
    tree = entry[0].tree
    for node in tree.ranges:
        if isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
            others = [alias for alias in node.names if tree.code(alias.name) != name]
            if len(others) == len(node.names):
                continue
            statement = tree.statement_of(node)
            if node.lpar is not None or (not others and problem.files.import_does(entry[0].path, statement)):
                return False
            if others:
                names = ", ".join(tree.code(alias).strip().rstrip(",") for alias in others)
                entry[1].replace_statement(statement, f"{tree.code(node).split('import', 1)[0]}import {names}\n")
            else:
                entry[1].remove(statement)
    here.take_function(function, own)
    for call in calls:
        there.remove(call)
    return True


def check_removable(file: CodeFile, statement: Statement) -> None:
    """Refuse where the late call asks for anything but growth of all GPUs, whatever happens.

    Raises:
        Withheld: the value is no constant, or a condition decides.
    """
    node = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
    if not isinstance(node, cst.Expr) or not isinstance(node.value, cst.Call):
        raise Withheld("the late call is part of a larger statement")
    if not any(file.tree.code(argument.value) == "True" for argument in node.value.args):
        raise Withheld("the late call does not say True")
    if _INDEX.search(file.tree.code(node.value.args[0].value)):
        raise Withheld("the late call is for a GPU that is known only then")
    function = file.tree.function_of(statement)
    for around in file.tree.ancestors(statement):
        if around is function:
            return
        if isinstance(around, cst.If) and not is_guard(file, around) and not _asks_for_gpus(file, around.test):
            raise Withheld(f"line {file.tree.span(around).row} decides whether memory growth is on")
        if isinstance(around, cst.For) and not _lists_gpus(file, around.iter):
            raise Withheld(f"line {file.tree.span(around).row} decides for which GPUs memory growth is on")
        if isinstance(around, (cst.While, cst.ExceptHandler, cst.Match, cst.Else)):
            raise Withheld("a condition decides whether memory growth is on")


_INDEX = re.compile(r"\[\s*[A-Za-z_]")
"""An item whose index is no number."""


def _asks_for_gpus(file: CodeFile, test: cst.BaseExpression) -> bool:
    """True if a condition only asks whether there are GPUs."""
    return _GPUS.fullmatch(file.tree.code(test)) is not None


def _lists_gpus(file: CodeFile, listing: cst.BaseExpression) -> bool:
    """True if a loop goes through GPUs that a listing or a variable has."""
    return re.fullmatch(rf"(?:enumerate\()?{_LIST}\)?", file.tree.code(listing)) is not None


_LISTING = r"(?:[\w.]*\.)?list_physical_devices\(['\"]GPU['\"]\)"
_LIST = rf"(?:(?:\w+\.)?\w*(?:gpu|GPU|device)\w*|{_LISTING})"
_GPUS = re.compile(rf"\(?(?:{_LIST}|len\({_LIST}\)\s*(?:>|>=|!=)\s*[01])\)?")


def _has_os(file: CodeFile, place: Statement) -> bool:
    """True if the top level imports ``os`` above a statement."""
    limit = file.tree.span(place)
    return any(
        binding.local == "os" and binding.name == "os" and file.tree.span(binding.node) < limit
        for binding in file.imports.visible(None)
    )
