"""The part of a statement that configures: its conditions, loops and handlers around the call, without the rest."""

from __future__ import annotations

from textwrap import indent

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.def_use import def_use_of
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import code_of
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Span


def configuring_part(file: CodeFile, statement: Statement, span: Span) -> tuple[Statement, str]:
    """Return the innermost statement that is nothing but configuration, and its code with what is around it.

    Args:
        file: the file. statement: a statement around the configuration. span: the configuration.

    Raises:
        Withheld: what is around the configuration does more than ask for GPUs.
    """
    if not isinstance(statement, (cst.FunctionDef, cst.ClassDef)) and not file.hoist.unrelated_call(
        file.hoist.read(statement)
    ):
        return statement, code_of(file, statement)
    if isinstance(statement, cst.If):
        head, body = f"if {file.tree.code(statement.test)}:\n", statement.body
        asks = file.tree.code(statement.test)
    elif isinstance(statement, cst.For) and statement.orelse is None:
        asks = file.tree.code(statement.iter)
        head, body = f"for {file.tree.code(statement.target)} in {asks}:\n", statement.body
    elif isinstance(statement, cst.Try):
        asks, head, body = "True", "", statement.body
    else:
        raise Withheld("the statement around it does more than configure")
    if file.hoist.unrelated_call(file.hoist.entry_of(None, def_use_of(asks), 0).names):
        raise Withheld("the statement around it does more than configure")
    lines = file.tree.statements(body) if isinstance(body, cst.IndentedBlock) else []
    inner = next((line for line in lines if file.tree.span(line).contains(span)), None)
    if inner is None:
        raise Withheld("the configuration is in another branch of a statement that does more than configure")
    line, code = configuring_part(file, inner, span)
    names = def_use_of(code)
    for other in lines[: lines.index(inner)]:
        before = file.hoist.read(other)
        if before.leaves or before.binds & names.reads:
            raise Withheld("the statement around it does more than configure")
    return line, f"{head}{indent(code, '    ')}" if head else code
