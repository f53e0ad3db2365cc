"""The programs that a Python file starts as processes, in the environment that it gives them.

``subprocess.Popen([sys.executable, "work.py", "--rank", str(rank)], env=dict(os.environ, CUDA_VISIBLE_DEVICES=gpu))``.
"""

from __future__ import annotations

import ast
import itertools
import os
from collections.abc import Iterator
from dataclasses import replace

from tfmemlint.deployment.containers import launches_of_words
from tfmemlint.deployment.python.scopes import File, Given, Scope
from tfmemlint.deployment.python.texts import text_of, value_of
from tfmemlint.deployment.python.variables import Variables, variables_given
from tfmemlint.facts.tree_walk import nodes
from tfmemlint.model.configuration import HERE, ProgramStart, VariableSetting
from tfmemlint.model.finding import Span
from tfmemlint.sources.config_files.shell.lexer import Word
from tfmemlint.sources.config_files.text_places import Places

_LISTS = frozenset({*(f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen"))})
_SHELLS = frozenset(
    {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "asyncio.create_subprocess_shell"}
)
_APART = "asyncio.create_subprocess_exec"


def read_python(text: str, path: str) -> Iterator[ProgramStart]:
    """Yield the programs that a Python file starts. A file that is not valid Python starts none."""
    try:
        file = File(ast.parse(text), os.path.basename(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in nodes(file.tree):
        if isinstance(node, ast.Call):
            name = file.name_of(node.func)
            if name in _LISTS or name in _SHELLS or name == _APART:
                for scope in _scopes(file, node):
                    yield from _started(node, name, scope)


def _scopes(file: File, node: ast.Call) -> Iterator[Scope]:
    """Yield the scope of a call, for each call of the function that holds it."""
    function = file.function_around(node)
    calls: list[Given] = [given for _, given in file.calls_of(function)] if function is not None else []
    yield from (Scope(file, function, given) for given in calls or [{}])


def _started(node: ast.Call, name: str, scope: Scope) -> Iterator[ProgramStart]:
    keywords = {each.arg: each.value for each in node.keywords if each.arg is not None}
    if len(keywords) < len(node.keywords) or not (node.args or "args" in keywords):
        return
    directory: str | None = ""
    if "cwd" in keywords and not (isinstance(keywords["cwd"], ast.Constant) and keywords["cwd"].value is None):
        directory = text_of(keywords["cwd"], scope)
    span = _span(node)
    variables = variables_given(keywords.get("env"), node, scope)
    if variables is None:
        return
    settings = tuple(_settings(variables, span))
    if name == _APART:
        given: object = [value_of(each, scope) for each in node.args]
    else:
        given = _command(node.args[0] if node.args else keywords["args"], node, scope)
    words = _words(given, span)
    if words:
        for start in launches_of_words(words, settings, span, name, directory, Places(""), itertools.count(1)):
            yield _placed(start)


def _command(node: ast.expr, call: ast.Call, scope: Scope) -> object:
    """Return the words of a command, with those that are put behind them later; or the text of one for a shell."""
    value = value_of(node, scope)
    if not isinstance(node, ast.Name) or not isinstance(value, list):
        return value
    for each in scope.own_nodes():
        if (getattr(each, "lineno", 0), getattr(each, "col_offset", 0)) >= (call.lineno, call.col_offset):
            continue
        match each:
            case ast.AugAssign(target=ast.Name(id=node.id), value=added):
                more = value_of(added, scope)
                value = [*value, *(more if isinstance(more, list) else [None])]
            case ast.Call(func=ast.Attribute(value=ast.Name(id=node.id), attr="append"), args=[added]):
                value = [*value, value_of(added, scope)]
            case ast.Call(func=ast.Attribute(value=ast.Name(id=node.id), attr="extend"), args=[added]):
                more = value_of(added, scope)
                value = [*value, *(more if isinstance(more, list) else [None])]
            case _:
                pass
    return value


def _words(given: object, span: Span) -> list[Word]:
    """Return words as a shell has them; for a text, those of the shell that gets it."""
    if isinstance(given, str):
        texts: list[str | None] = ["sh", "-c", given]
    elif isinstance(given, list) and all(isinstance(each, (str, int, type(None))) for each in given):
        texts = [None if each is None else str(each) for each in given]
    else:
        return []
    return [Word(0, 0, text, text or "") for text in texts]


def _settings(variables: Variables, span: Span) -> Iterator[VariableSetting]:
    for name, (value, place) in variables.items():
        where = _span(place) if place is not None else span
        yield VariableSetting(name, value, where, None, where, "mapping", None)


def _placed(start: ProgramStart) -> ProgramStart:
    """Return a start with a program that is named from the file's own directory."""
    if not start.program.startswith(f"{HERE}/"):
        return start
    return replace(start, program=start.program[len(HERE) + 1 :], directory=HERE)


def _span(node: ast.AST) -> Span:
    row, end_row = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
    return Span(row, getattr(node, "col_offset", 0) + 1, end_row, getattr(node, "end_col_offset", 1) + 1)
