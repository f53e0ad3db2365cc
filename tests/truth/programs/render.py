"""Writing a program down as Python files."""

from __future__ import annotations

import ast
import builtins
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.truth.programs.model import Line, Module, Program, Statement

INDENT = "    "


def text(module: Module) -> str:
    """The module's source."""
    return "".join(f"{line}\n" for line in _lines(module.body, ""))


def _lines(body: tuple[Statement, ...], margin: str) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, Line):
            yield margin + statement.text
            continue
        for clause in statement.clauses:
            yield from (margin + line for line in clause.head.split("\n"))
            yield from _lines(clause.body or (Line("pass"),), margin + INDENT)


def write(program: Program, folder: Path) -> list[Path]:
    """Write the program's files into ``folder``, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    written = []
    for module in program.modules:
        path = folder / module.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(module), encoding="utf-8")
        written.append(path)
    return written


def shown(program: Program) -> str:
    """The whole program as one text for a person."""
    parts = [f"# {module.path}\n{text(module)}" for module in program.modules]
    switches = f", switches {', '.join(program.switches)}" if program.switches else ""
    return f"# {program.gpus} GPU(s){switches}\n" + "\n".join(parts)


def fault(source: str) -> str:
    """What is wrong with a module on the face of it: its syntax, or a name that nothing binds; "" where nothing is.

    A handler in the program might swallow the error, and the program would seem to be a good one.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        return f"SyntaxError: {error.msg}"
    bound: set[str] = {*dir(builtins), "__name__", "__file__"}
    read: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.ExceptHandler(name=str(name)):
                bound.add(name)
            case ast.alias(name="*"):
                return ""
            case ast.alias(name=name, asname=other):
                bound.add(other or name.partition(".")[0])
    return f"NameError: {min(read - bound)}" if read - bound else ""
