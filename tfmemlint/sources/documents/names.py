"""The names that the examples of a document take for granted, because an example before them has imported them."""

from __future__ import annotations

import ast
import warnings

_USUAL = {"tf": "import tensorflow as tf", "os": "import os"}
"""What nearly every document means by a name that it never imports."""


class Names:
    """What a document imports, by the names that it binds."""

    def __init__(self) -> None:
        self._imports: dict[str, str] = {}

    def learn(self, code: str) -> None:
        """Take in the imports of one example; those of the first one that has them count."""
        tree = parsed(code)
        for node in tree.body if tree is not None else ():
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            for alias in node.names:
                if alias.name == "*" or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
                    continue
                statement = ast.Import([alias]) if isinstance(node, ast.Import) else None
                text = ast.unparse(statement or ast.ImportFrom(node.module, [alias], node.level))  # type: ignore[union-attr]
                self._imports.setdefault(alias.asname or alias.name.split(".")[0], text)

    def imports_for(self, code: str) -> list[str]:
        """The imports of the names that an example uses and does not bind."""
        tree = parsed(code)
        if tree is None:
            return []
        used: dict[str, None] = {}
        bound: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    used[node.id] = None
                else:
                    bound.add(node.id)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                bound.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                bound.add(node.name)
        known = {**_USUAL, **self._imports}
        return [known[name] for name in used if name in known and name not in bound]


def parsed(code: str) -> ast.Module | None:
    """The syntax tree of a text; None where it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
