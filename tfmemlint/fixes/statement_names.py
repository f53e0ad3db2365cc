"""The names that the statements of a file define and use, found once for all rewrites of the file."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache

import libcst as cst

from tfmemlint.fixes.concrete_tree import Block, ConcreteTree, Statement
from tfmemlint.fixes.def_use import DefUse, def_use_of


class StatementNames:
    """The definitions and uses of names in the statements of one file."""

    def __init__(self, tree: ConcreteTree) -> None:
        self.tree = tree
        self._names: dict[cst.CSTNode, DefUse] = {}
        self._readers: dict[cst.CSTNode, Counter[str]] = {}

    def read(self, statement: Statement) -> DefUse:
        """Return the definitions and uses of names in a statement, for the caller to change."""
        return self._read(statement).copy()

    def _read(self, statement: Statement) -> DefUse:
        if statement not in self._names:
            alone = statement
            if isinstance(statement, cst.BaseSmallStatement):
                # What follows on its line may begin below a backslash.
                alone = statement.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
            self._names[statement] = def_use_of(self.tree.code(alone))
        return self._names[statement]

    def is_read_in(self, name: str, block: Block) -> bool:
        """True if a statement of a block reads ``name``."""
        if block not in self._readers:
            self._readers[block] = Counter(
                name for statement in self.tree.statements(block) for name in self._read(statement).reads
            )
        return self._readers[block][name] > 0

    @cached_property
    def binds(self) -> frozenset[str]:
        """Return the names that the statements of the module's top level bind: asked of every call in a star import."""
        return frozenset().union(*(self._read(line).binds for line in self.tree.statements(self.tree.module)))

    @cached_property
    def all_bodies(self) -> dict[str, DefUse]:
        """Return what functions and methods do when they are called; methods have the name of their class in front."""
        found: dict[str, DefUse] = {}
        for statement in self.tree.statements(self.tree.module):
            found |= self._read(statement).bodies
        return found

    @cached_property
    def nested(self) -> dict[str, DefUse]:
        """Return what functions within functions do, as far as no other function of the file has the same name."""
        found: dict[str, DefUse] = {}
        often: set[str] = set(self.all_bodies)
        pending = list(self.all_bodies.values())
        while pending:
            for name, body in pending.pop().bodies.items():
                often |= {name} & found.keys()
                found[name] = body
                pending.append(body)
        return {name: body for name, body in found.items() if name not in often}

    @cached_property
    def bodies(self) -> dict[str, DefUse]:
        """Return what the functions of the module's top level do when they are called, by their names."""
        return {name: body for name, body in self.all_bodies.items() if "." not in name}

    @cached_property
    def declared(self) -> frozenset[str]:
        """Return the names that functions of the file declare ``global`` or ``nonlocal``."""
        every = (self._read(statement).declared for statement in self.tree.statements(self.tree.module))
        return frozenset().union(*every)


@lru_cache(maxsize=16)
def names_of(tree: ConcreteTree) -> StatementNames:
    """Return the names in the statements of a file. All rewrites of one text share them."""
    return StatementNames(tree)
