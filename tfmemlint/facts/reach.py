"""The names that a function can reach: can anything of interest happen in it, or in the functions that it calls?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

_PARTS_OF_INTEREST = (
    "config", "device", "environ", "version", "getattr", "hasattr", "setattr", "memory", "gpu", "session", "putenv",
    "eager", "v2_behavior", "as_default", "contrib", "experimental", "attrgetter", "exit", "cuda", "parallelism",
)  # fmt: skip
"""Parts of identifiers, in lower case; code that configures devices, or changes their configuration, contains at least
one."""
_OF_INTEREST = re.compile("|".join(_PARTS_OF_INTEREST), re.IGNORECASE)
MAX_SEARCHES = 8
"""Names that are searched for one by one. To search all definitions at once takes as long as five such searches in
the files of Keras; in a chain of calls each search is as long as all of them."""
_WORD = re.compile(r"[^\W\d]\w*")


def _is_of_interest(text: str) -> bool:
    """Return True if a text has a part of interest. To look for each takes a fifth of the time of an expression."""
    if not text.isascii():
        return _OF_INTEREST.search(text) is not None
    lower = text.lower()
    return any(part in lower for part in _PARTS_OF_INTEREST)


class Reach:
    """The words in every definition of a module, and the definitions that they lead to.

    Words are searched in the text, which takes a tenth of the time of a walk through the syntax tree. Words in comments
    and strings count as well, so a definition may wrongly count as interesting, but never as uninteresting.
    """

    def __init__(self, tree: ast.Module, lines: Sequence[str]) -> None:
        self._tree = tree
        self._lines = lines
        self._known: dict[str, bool] = {}

    @cached_property
    def _of_name(self) -> dict[str, list[ast.stmt]]:
        found: dict[str, list[ast.stmt]] = {}
        for node in definitions(self._tree):
            found.setdefault(node.name, []).append(node)
        return found

    def is_inert(self, node: ast.AST) -> bool:
        """Return True if neither ``node`` nor any definition of the module that it mentions has a word of interest."""
        name = getattr(node, "name", None)
        if name is not None:
            return not self._leads_on(name)
        text = self.text(node)
        return not _is_of_interest(text) and not any(
            map(self._leads_on, self._of_name.keys() & set(_WORD.findall(text)))
        )

    def text(self, node: ast.AST) -> str:
        """Return the lines of ``node``."""
        return "\n".join(self._lines[getattr(node, "lineno", 1) - 1 : getattr(node, "end_lineno", None)])

    def defined(self) -> Mapping[str, Sequence[ast.stmt]]:
        """Every function and class by name."""
        return self._of_name

    def _leads_on(self, name: str) -> bool:
        """True if a definition has a word of interest, or leads to one that has."""
        if name not in self._known:
            if len(self._known) >= MAX_SEARCHES:
                return name in self._interesting
            self._known[name] = self._search(name)
        return self._known[name]

    def _search(self, name: str) -> bool:
        seen = {name}
        pending = [name]
        while pending:
            for text in map(self.text, self._of_name.get(pending.pop(), ())):
                if _is_of_interest(text):
                    return True
                mentioned = self._of_name.keys() & set(_WORD.findall(text)) - seen
                seen |= mentioned
                pending.extend(mentioned)
        return False

    @cached_property
    def _interesting(self) -> set[str]:
        """The names of the definitions that have a word of interest, or that lead to one that has."""
        found: set[str] = set()
        mentioned_by: dict[str, list[str]] = {}
        for name, nodes in self._of_name.items():
            for text in map(self.text, nodes):
                if _is_of_interest(text):
                    found.add(name)
                    break
                for other in self._of_name.keys() & set(_WORD.findall(text)):
                    mentioned_by.setdefault(other, []).append(name)
        pending = list(found)
        while pending:
            for name in mentioned_by.get(pending.pop(), ()):
                if name not in found:
                    found.add(name)
                    pending.append(name)
        return found


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
