"""TFM603: A function named like a memory probe has an empty body, and its result is used in a calculation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.reach import definitions
from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_PROBE = re.compile(r"(?:^|_)(?:mem|memory|vram|usage|allocated)(?:_|$)|[a-z]Memory|[a-z]Usage", re.IGNORECASE)
_NAMED = re.compile(r"def \w{0,60}(?:mem|vram|usage|allocated)", re.IGNORECASE)
_ABOUT = re.compile(r"mem|vram|gpu", re.IGNORECASE)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class MemoryProbeReturnsNothing(Rule):
    """A function named like a memory probe has an empty body, and its result is used in a calculation.

    What it does
    ------------
    Finds functions and methods that are named like a query of the memory in use, whose body is ``pass``, and whose
    result is subtracted, added or compared somewhere in the file.

    Why it matters
    --------------
    The result is ``None``: ``None - None`` raises ``TypeError``.

    Example
    -------
    ```python
    import tensorflow as tf


    class MemoryGuard:
        def __enter__(self):
            self.start = self._get_current_usage()

        def __exit__(self, *error):
            print(self._get_current_usage() - self.start)

        def _get_current_usage(self):
            pass
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf


    class MemoryGuard:
        def __enter__(self):
            self.start = self._get_current_usage()

        def __exit__(self, *error):
            print(self._get_current_usage() - self.start)

        def _get_current_usage(self):
            return tf.config.experimental.get_memory_info("GPU:0")["current"]
    ```

    Seen as
    -------
    ``TypeError: unsupported operand type(s) for -: 'NoneType' and 'NoneType'``
    """

    code = "TFM603"
    name = "memory-probe-returns-nothing"
    severity = Severity.ERROR
    triggers = (r"(?i:def \w{0,60}(?:memory|vram|usage))", r"(?i:class \w{0,60}memory)")
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each empty probe whose result is used in a calculation."""
        if not _NAMED.search(program.source.text):
            return
        classes = [node for node in definitions(program.tree) if isinstance(node, ast.ClassDef)]
        for function, owner in _functions(program.tree):
            if not _PROBE.search(function.name) or not _is_empty(function):
                continue
            if owner is not None and (_is_interface(owner) or _is_overridden(function, owner, classes)):
                continue
            if not _ABOUT.search(function.name + (owner.name if owner else "") + (ast.get_docstring(function) or "")):
                continue
            used = _calculated(program.tree, function.name)
            if used is None:
                continue
            span = program.source.span(function)
            head = type(span)(span.row, span.column, span.row, len(program.source.lines[span.row - 1]) + 1)
            place = program.source.span(used)
            yield Finding(
                self.code,
                self.name,
                self.severity,
                program.source.path,
                head,
                f"{function.name} returns nothing, and line {place.row} uses the result in a calculation",
                intent=Intent(Purpose.REPORT, "GPU 0", "current"),
                outcome="Python raises TypeError: an empty function returns None, which is not a number",
                advice="Return tf.config.experimental.get_memory_info('GPU:0')['current']",
                trace=(
                    Step(program.source.path, head, f"{function.name} has an empty body"),
                    Step(program.source.path, place, "its result, None, is used in a calculation"),
                ),
                noqa_row=span.row,
                fixable=True,
                details={"name": function.name},
                anchors={"body": program.source.span(function.body[-1])},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Return the memory in use."""
        from tfmemlint.fixes.rewrites import memory_reports

        memory_reports.fill_probe(editor, finding)


def _functions(tree: ast.Module) -> Iterator[tuple[_Function, ast.ClassDef | None]]:
    for node in (tree, *definitions(tree)):
        if isinstance(node, (ast.Module, ast.ClassDef)):
            for child in node.body:
                if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield child, node if isinstance(node, ast.ClassDef) else None


def _is_empty(function: _Function) -> bool:
    if any("abstract" in dotted(decorator) for decorator in function.decorator_list):
        return False
    return all(
        isinstance(statement, ast.Pass)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        or (isinstance(statement, ast.Return) and statement.value is None)
        for statement in function.body
    )


def _is_interface(owner: ast.ClassDef) -> bool:
    """Return True if the class leaves the bodies of its methods to subclasses."""
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in owner.bases]
    names = [dotted(base) for base in (*bases, *(keyword.value for keyword in owner.keywords))]
    return any(name.rsplit(".", 1)[-1] in ("ABC", "ABCMeta", "Protocol") for name in names)


def _is_overridden(function: _Function, owner: ast.ClassDef, classes: list[ast.ClassDef]) -> bool:
    """Return True if a subclass in the file implements the method: the empty method is then only an interface."""
    return any(
        class_ is not owner
        and any(
            isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and child.name == function.name
            for child in class_.body
        )
        for class_ in classes
    )


def _calculated(tree: ast.Module, name: str) -> ast.AST | None:
    """Return the calculation that uses the function's result, directly or through a variable or attribute."""
    holders = {
        dotted(target)
        for node in all_nodes(tree)
        if isinstance(node, ast.Assign) and _calls(node.value, name)
        for target in node.targets
    } - {""}
    for node in all_nodes(tree):
        match node:
            case ast.BinOp(left=left, right=right):
                sides = [left, right]
            case ast.Compare(left=left, ops=ops, comparators=operands) if not any(
                isinstance(op, (ast.Is, ast.IsNot)) for op in ops
            ):
                sides = [left, *operands]
            case ast.AugAssign(value=value):
                sides = [value]
            case _:
                continue
        if any(_calls(side, name) or (dotted(side) in holders and dotted(side)) for side in sides):
            return node
    return None


def _calls(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).rsplit(".", 1)[-1] == name
