"""The names that a function can reach: can anything of interest happen in it, or in the functions that it calls?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

_OF_INTEREST = re.compile(
    r"memory|gpu|device|session|config|environ|putenv|eager|v2_behavior|as_default|contrib|experimental|getattr"
    r"|hasattr|setattr|attrgetter|exit|CUDA|version|parallelism",
    re.IGNORECASE,
)
"""Parts of identifiers; code that configures devices, or changes their configuration, contains at least one."""
_WORD = re.compile(r"[^\W\d]\w*")


class Reach:
    """The words in every definition of a module, and the definitions that they lead to.

    Words are searched in the text, which takes a tenth of the time of a walk through the syntax tree. Words in comments
    and strings count as well, so a definition may wrongly count as interesting, but never as uninteresting.
    """

    def __init__(self, tree: ast.Module, lines: Sequence[str]) -> None:
        self._tree = tree
        self._lines = lines
        self._interesting: dict[str, bool] = {}

    @cached_property
    def _of_name(self) -> dict[str, list[ast.stmt]]:
        found: dict[str, list[ast.stmt]] = {}
        for node in definitions(self._tree):
            found.setdefault(node.name, []).append(node)
        return found

    def is_inert(self, node: ast.AST) -> bool:
        """Return True if neither ``node`` nor any definition of the module that it mentions has a word of interest."""
        name = getattr(node, "name", None)
        if name is None:
            return self._is_inert_text(self.text(node))
        known = self._interesting.get(name)
        if known is None:
            known = self._interesting[name] = self._leads_on(name)
        return not known

    def _is_inert_text(self, text: str) -> bool:
        if _OF_INTEREST.search(text):
            return False
        return not any(self._leads_on(name) for name in self._of_name.keys() & set(_WORD.findall(text)))

    def text(self, node: ast.AST) -> str:
        """Return the lines of ``node``."""
        return "\n".join(self._lines[getattr(node, "lineno", 1) - 1 : getattr(node, "end_lineno", None)])

    def defined(self) -> Mapping[str, Sequence[ast.stmt]]:
        """Every function and class by name."""
        return self._of_name

    def _leads_on(self, name: str) -> bool:
        seen = {name}
        pending = [name]
        while pending:
            for node in self._of_name.get(pending.pop(), ()):
                text = self.text(node)
                if _OF_INTEREST.search(text):
                    return True
                mentioned = self._of_name.keys() & set(_WORD.findall(text)) - seen
                seen |= mentioned
                pending.extend(mentioned)
        return False


def definitions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Yield every function and class of a module, nested ones as well; expressions are not searched."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node
        for field in _BLOCKS:
            if field in node._fields:
                pending.extend(child for child in getattr(node, field) if type(child) not in _SIMPLE)


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_SIMPLE = frozenset(
    {
        ast.Return, ast.Delete, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Raise, ast.Assert, ast.Import,
        ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Expr, ast.Pass, ast.Break, ast.Continue,
    }
)  # fmt: skip
"""Statements that contain no other statements."""
