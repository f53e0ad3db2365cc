"""What a function can reach by name: whether anything of interest can happen in it, or in what it calls."""

from __future__ import annotations

import ast
import re

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

OF_INTEREST = re.compile(
    r"memory|gpu|device|session|config|environ|putenv|eager|v2_behavior|as_default|contrib|experimental|getattr"
    r"|hasattr|exit|CUDA|version",
    re.IGNORECASE,
)
"""Parts of identifiers without which code neither configures devices nor changes how they are configured."""


class Reach:
    """The identifiers of every definition of a module, and what they lead to."""

    def __init__(self, tree: ast.Module) -> None:
        self._of_name: dict[str, set[str]] = {}
        self._interesting: dict[str, bool] = {}
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._of_name.setdefault(node.name, set()).update(identifiers(node))

    def is_inert(self, node: ast.AST) -> bool:
        """Whether neither ``node`` nor anything of the module that it mentions has an identifier of interest."""
        name = getattr(node, "name", None)
        if name is None:
            return False
        known = self._interesting.get(name)
        if known is None:
            known = self._interesting[name] = self._leads_on(name)
        return not known

    def _leads_on(self, name: str) -> bool:
        seen = {name}
        pending = [name]
        while pending:
            for identifier in self._of_name.get(pending.pop(), ()):
                if OF_INTEREST.search(identifier):
                    return True
                if identifier in self._of_name and identifier not in seen:
                    seen.add(identifier)
                    pending.append(identifier)
        return False


def identifiers(node: ast.AST) -> set[str]:
    """All names and attributes that stand in ``node``, and its strings that could be names."""
    found: set[str] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            found.add(child.id)
        elif isinstance(child, ast.Attribute):
            found.add(child.attr)
        elif isinstance(child, ast.alias):
            found.add(child.name)
        elif isinstance(child, ast.keyword) and child.arg is not None:
            found.add(child.arg)
    return found
