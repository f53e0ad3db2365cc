"""Access paths: a name with the attributes and constant items that code reads or changes of it.

``args.growth`` is ``("args", "growth")``, and so is ``args["growth"]``. Code that changes ``args.width`` does not
change ``args.growth``; what changes ``args`` may change both.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tfmemlint.model.records import dataclass

Path = tuple[str, ...]
RECEIVER = -1
"""The position of the object whose method is called."""


@dataclass(frozen=True, slots=True)
class Given:
    """A path that is given to a call.

    Attributes:
        function: the dotted name of what is called, as written.
        key: the position of the argument, its keyword, or `RECEIVER`.
        path: what is given. whole: the path itself is the argument, not an expression around it.
    """

    function: str
    key: int | str
    path: Path
    whole: bool


def path_of(node: ast.AST) -> Path:
    """Return the path that an expression is; () if it is none."""
    rest: list[str] = []
    while True:
        match node:
            case ast.Attribute(value=value, attr=attribute):
                rest.append(attribute)
                node = value
            case ast.Subscript(value=value, slice=ast.Constant(value=str(item))):
                rest.append(item)
                node = value
            case ast.Name(id=name):
                return (name, *reversed(rest))
            case _:
                return ()


def paths_in(node: ast.AST) -> Iterator[Path]:
    """Yield the longest paths in an expression."""
    path = path_of(node)
    if path:
        yield path
        return
    for child in ast.iter_child_nodes(node):
        yield from paths_in(child)


def overlap(first: Iterable[Path], second: Iterable[Path]) -> set[str]:
    """Return the names of which one set of paths has a part that the other has as well."""
    others: dict[str, list[Path]] = {}
    for path in second:
        others.setdefault(path[0], []).append(path)
    return {path[0] for path in first for other in others.get(path[0], ()) if path[: len(other)] == other[: len(path)]}
