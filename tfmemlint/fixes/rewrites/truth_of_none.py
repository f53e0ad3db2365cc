"""Code that asks a call for its truth which returns nothing: ``a() and b()``, ``all(a(gpu) for gpu in gpus)``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers

from tfmemlint.fixes.rewrites.run_lazy_code import loop_over
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding, Span

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor

_STOPS = ("all", "any", "next")
"""Functions that stop at the first item, or at the first that is false, or true."""


def mend(editor: Editor, finding: Finding) -> None:
    """Make statements of ``a() and b()``; where its value is used, compare with ``None``.

    Raises:
        Withheld: a loop depends on it.
    """
    place = finding.details["place"]
    assert isinstance(place, Span)
    test = editor.expression_at(place)
    whole, parts = _chain(editor, test)
    line = editor.parent(whole)
    if isinstance(line, cst.While):
        raise Withheld("a loop that never runs would run without end")
    statement = editor.statement_of(whole)
    if isinstance(line, cst.Expr) and isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        number = parts.index(test)
        if any(not isinstance(part, (cst.Call, cst.ListComp)) for part in parts[number:]):
            raise Withheld("it is not known what is to depend on what")
        condition = " and ".join(editor.code(part) for part in parts[:number])
        indent = "    " if condition else ""
        lines = "".join(f"{indent}{editor.code(part)}\n" for part in parts[number:])
        editor.replace_statement(statement, f"if {condition}:\n{lines}" if condition else lines)
        editor.unsafe("Call each in a statement of its own")
        return
    asked = [part is test or editor.span(part) == finding.span for part in parts]
    texts = [editor.code(part) for part in parts]
    compared = " and ".join(f"{text} is None" if yes else text for text, yes in zip(texts, asked, strict=True))
    editor.replace(whole, compared)
    editor.unsafe("Ask if it returned None, as it always does")


def _chain(editor: Editor, test: cst.BaseExpression) -> tuple[cst.BaseExpression, list[cst.BaseExpression]]:
    """Return the whole ``a and b and c`` around one of its parts, and all parts."""
    whole: cst.BaseExpression = test
    around = editor.parent(whole)
    while isinstance(around, cst.BooleanOperation) and isinstance(around.operator, cst.And):
        whole, around = around, editor.parent(around)
    return whole, list(_parts(whole))


def _parts(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.And) and not node.lpar:
        return [*_parts(node.left), *_parts(node.right)]
    return [node]


def reach_every_item(editor: Editor, finding: Finding) -> bool:
    """Make ``all(grow(gpu) for gpu in gpus)`` reach each of the GPUs; return False where there is no such code.

    A loop takes its place where nothing uses the value.

    Raises:
        Withheld: what ``next(...)`` returns is used, or a name of the loop is another variable's.
    """
    found = _stopping(editor, finding)
    if found is None:
        return False
    call, elt = found
    name = editor.code(call.func)
    inner = call.args[0].value
    line = editor.parent(call)
    statement = editor.statement_of(call)
    if isinstance(line, cst.Expr) and isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        editor.replace_statement(statement, loop_over(editor, inner))
        editor.unsafe("Use a loop, which reaches every GPU")
        return True
    if name == "next":
        raise Withheld("what next() returns is used")
    function = _function_named(editor, elt) if elt is not None else None
    if isinstance(inner, cst.GeneratorExp):
        if name == "all" and (function is None or _returns_nothing(function)):
            editor.replace(call, f"{name}({editor.code(inner.elt)} is None {editor.code(inner.for_in).strip()})")
            editor.unsafe("Ask if it returned None, as it does for every GPU")
        else:
            editor.replace(call, f"{name}([{editor.code(inner.elt)} {editor.code(inner.for_in).strip()}])")
            editor.unsafe("Make a list first, which reaches every GPU")
        return True
    if isinstance(inner, cst.Call) and name == "all" and (function is None or _returns_nothing(function)):
        lines = loop_over(editor, inner)
        loop = re.fullmatch(r"(for [^\n]+):\n    ([^\n]+)\n", lines)
        if loop is not None:
            editor.replace(call, f"{name}({loop[2]} is None {loop[1]})")
            editor.unsafe("Ask if it returned None, as it does for every GPU")
            return True
    editor.replace(inner, f"list({editor.code(inner)})")
    editor.unsafe("Make a list first, which reaches every GPU")
    return True


def _stopping(editor: Editor, finding: Finding) -> tuple[cst.Call, cst.BaseExpression | None] | None:
    """Return ``all(...)`` and the like around the place of a finding, or around the one call of its function; with the
    function that is called for each item, None if that is TensorFlow's."""
    at = editor.expression_at(finding.span)
    direct = editor.nearest(at, cst.GeneratorExp, until=(cst.FunctionDef, cst.Lambda))
    if direct is not None:
        around = _call_of(editor, direct)
        return (around, None) if around is not None and editor.span(direct.elt).contains(finding.span) else None
    anonymous = editor.nearest(at, cst.Lambda, until=(cst.FunctionDef,))
    if anonymous is not None:
        around = _call_of_map(editor, editor.parent(anonymous))
        return (around, None) if around is not None and editor.span(anonymous.body) == finding.span else None
    function = editor.nearest(at, cst.FunctionDef, until=(cst.ClassDef,))
    if function is None:
        return None
    name = function.name.value
    uses = [node for node in matchers.findall(editor.module, matchers.Name(name)) if node is not function.name]
    if len(uses) != 1 or not isinstance(uses[0], cst.Name):
        return None
    use = uses[0]
    outer = editor.parent(use)
    if isinstance(outer, cst.Call) and outer.func is use:
        lazy = editor.parent(outer)
        is_item = isinstance(lazy, cst.GeneratorExp) and lazy.elt is outer
        around = _call_of(editor, lazy) if is_item and isinstance(lazy, cst.GeneratorExp) else None
    else:
        around = _call_of_map(editor, outer)
    return (around, use) if around is not None else None


def _call_of_map(editor: Editor, argument: cst.CSTNode | None) -> cst.Call | None:
    """Return ``all(map(...))`` and the like around the first argument of ``map``."""
    lazy = editor.parent(argument) if isinstance(argument, cst.Arg) else None
    if isinstance(lazy, cst.Call) and editor.code(lazy.func) == "map" and lazy.args[0] is argument:
        return _call_of(editor, lazy)
    return None


def _call_of(editor: Editor, inner: cst.BaseExpression) -> cst.Call | None:
    argument = editor.parent(inner)
    call = editor.parent(argument) if isinstance(argument, cst.Arg) else None
    if isinstance(call, cst.Call) and editor.code(call.func) in _STOPS and call.args[0].value is inner:
        return call
    return None


def _function_named(editor: Editor, name: cst.BaseExpression) -> cst.FunctionDef | None:
    found = matchers.findall(editor.module, matchers.FunctionDef(matchers.Name(editor.code(name))))
    return found[0] if len(found) == 1 and isinstance(found[0], cst.FunctionDef) else None


def _returns_nothing(function: cst.FunctionDef) -> bool:
    returns = matchers.findall(function, matchers.Return())
    return all(isinstance(each, cst.Return) and each.value is None for each in returns)
