"""Conditions on the operating system that never hold: ``platform.system() == "linux"``, which is ``"Linux"``.

Read off the syntax. Sources of the names: Python's documentation of ``platform.system``, ``sys.platform`` and
``os.name``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import NeverRun
from tfmemlint.rulekit.turned_guards import configuring_calls, never_run

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program

KIND = "another system"
_WRONG: Mapping[str, Mapping[str, str]] = {
    "platform.system": {"linux": "Linux", "LINUX": "Linux", "windows": "Windows", "darwin": "Darwin"},
    "sys.platform": {"Linux": "linux", "LINUX": "linux", "Windows": "win32", "windows": "win32", "Darwin": "darwin"},
    "os.name": {"linux": "posix", "Linux": "posix", "windows": "nt", "Windows": "nt", "darwin": "posix"},
}
"""Names that none of them has, each with the name that it has then."""


def impossible_systems(program: Program) -> Iterator[tuple[NeverRun, ast.Constant, str, str]]:
    """Yield each call that configures GPUs under such a condition, with the name there, what is asked, and the right
    name."""
    if program.configuration is not None:
        return
    text = program.source.text
    if not any(name in text for name in ("platform", "os.name")):
        return
    names = _names_of(program.tree)
    for node in all_nodes(program.tree):
        if not isinstance(node, ast.If):
            continue
        for constant, asked in _asked(node.test, names):
            right = _WRONG[asked].get(str(constant.value))
            if right is not None:
                for call in configuring_calls(node.body):
                    yield never_run(program, call, KIND), constant, asked, right


def _names_of(tree: ast.Module) -> dict[str, str]:
    """Return the names that are bound once, to what one of these gives."""
    found: dict[str, list[str]] = {}
    for node in all_nodes(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(_source(node.value, {}))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, [])
    return {name: sources[0] for name, sources in found.items() if len(sources) == 1 and sources[0]}


def _source(node: ast.expr, names: Mapping[str, str]) -> str:
    """Return which of them an expression is; "" if none."""
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        return name if name == "platform.system" and not node.args else ""
    name = dotted(node)
    return name if name in ("sys.platform", "os.name") else ""


def _asked(test: ast.expr, names: Mapping[str, str]) -> Iterator[tuple[ast.Constant, str]]:
    """Yield the constants with which a test must agree, each with what it is compared with."""
    match test:
        case ast.BoolOp(ast.And(), values):
            for value in values:
                yield from _asked(value, names)
        case ast.Compare(left, [ast.Eq()], [ast.Constant(str()) as constant]):
            if source := _source(left, names):
                yield constant, source
        case ast.Compare(ast.Constant(str()) as constant, [ast.Eq()], [right]):
            if source := _source(right, names):
                yield constant, source
        case ast.Call(ast.Attribute(value, "startswith"), [ast.Constant(str()) as constant], []):
            if source := _source(value, names):
                yield constant, source
        case _:
            return


__all__ = ["KIND", "impossible_systems"]
