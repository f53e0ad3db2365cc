"""Names that the examples of a document use because an earlier example has imported them."""

from __future__ import annotations

import ast
import warnings

_USUAL = {"tf": "import tensorflow as tf", "os": "import os"}
"""The usual meaning of names that a document never imports."""


class Names:
    """The imports of a document, by the names that they bind."""

    def __init__(self) -> None:
        self._imports: dict[str, str] = {}

    def learn(self, code: str) -> None:
        """Add the imports of one example; the first example with a name counts."""
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
        """Return the imports of the names that an example uses and does not bind."""
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
    """Return the syntax tree of a text; None if it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
