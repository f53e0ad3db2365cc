"""Imports: the modules of the project's own are gone through where a program first imports them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from tfmemlint.facts.names import canonical, is_tensorflow
from tfmemlint.finding import Step
from tfmemlint.flow.loops import Loops
from tfmemlint.flow.machine import MAX_IMPORTS, Frame
from tfmemlint.flow.scopes import Scope
from tfmemlint.flow.unit import Unit
from tfmemlint.flow.values import UNKNOWN, Const, Module, Ref, Seq, Value

TYPING_ONLY = frozenset({"typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING"})
"""False whenever a program runs."""


class Imports(Loops):
    """Importing."""

    def _Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if self.state is None:
                return
            top = alias.name.split(".")[0]
            own = self.import_module(alias.name, node)
            if own is not None:
                if alias.asname is None and isinstance(own, Module):
                    own = self.import_module(top, node)
                self.bind(alias.asname or top, own or UNKNOWN)
            elif alias.asname:
                self.bind(alias.asname, Ref(canonical(alias.name)))
            else:
                self.bind(top, Ref(canonical(top)))
            if own is None:
                self.foreign_import(alias.name, node)

    def _ImportFrom(self, node: ast.ImportFrom) -> None:
        written = "." * node.level + (node.module or "")
        name = self._absolute(node.module or "", node.level)
        own = self.import_module(name, node) if name is not None else None
        if self.state is None:
            return
        if own is None and not node.level:
            self.foreign_import(written, node)
        for alias in node.names:
            if self.state is None:
                return
            if own is not None:
                if alias.name == "*":
                    self._import_all(own)
                else:
                    self.bind(alias.asname or alias.name, self._taken(own, alias.name, node))
            elif alias.name == "*":
                if not node.level:
                    self.stars.append(canonical(written))
            else:
                self._take_foreign(f"{written}.{alias.name}", alias, node)

    def _take_foreign(self, written: str, alias: ast.alias, node: ast.ImportFrom) -> None:
        name = canonical(written)
        if is_tensorflow(name):
            self.use(alias, name, origin="import")
        elif not node.level:
            self.foreign_import(name, node, member=True)
        self.bind(alias.asname or alias.name, Const(False) if name in TYPING_ONLY else Ref(name))

    def _absolute(self, module: str, level: int) -> str | None:
        """The absolute name of what an import asks for; None where the module isn't in a package (that is known)."""
        if not level:
            return module
        if self.unit.package is None:
            return None
        parts = self.unit.package.split(".")
        if level > len(parts):
            return None
        base = ".".join(parts[: len(parts) - level + 1])
        return f"{base}.{module}" if module else base

    def _taken(self, module: Value, name: str, node: ast.AST) -> Value:
        """What ``from module import name`` gives."""
        if not isinstance(module, Module):
            return UNKNOWN
        found = self.module_member(module, name)
        if found != UNKNOWN or name in module.scope.names:
            return found
        return self.import_module(f"{module.name}.{name}", node) or UNKNOWN

    def _import_all(self, module: Value) -> None:
        if not isinstance(module, Module):
            return
        names = module.scope.names
        listed = names.get("__all__")
        if listed is None:
            chosen = [name for name in names if not name.startswith("_")]
        elif isinstance(listed, Seq):
            chosen = [item.value for item in listed.items if isinstance(item, Const) and isinstance(item.value, str)]
        else:
            chosen = list(names)
        for name in chosen:
            self.bind(name, names.get(name, UNKNOWN))
        if module.scope.unit is not None:
            self.stars.extend(one for one in module.scope.unit.stars if one not in self.stars)

    # The project's own modules

    def import_module(self, name: str, node: ast.AST) -> Value | None:
        """A module of the project's own, gone through where this is its first import; None where it isn't the
        project's own, UNKNOWN where it can't be told."""
        if self.modules is None:
            return None
        module: Value | None = None
        for part in _prefixes(name):
            inner = self._one_module(part, node)
            if inner is None:
                return None if module is None else UNKNOWN
            module = inner
            if self.state is None or not isinstance(module, Module):
                return UNKNOWN
        return module

    def _one_module(self, name: str, node: ast.AST) -> Value | None:
        unit = self.units.get(name) or self._found(name)
        if not isinstance(unit, Unit):
            return unit
        self.leading.link(self.unit.name, name)
        module = Module(name, unit.scope)
        has = self.here.imported.get(name)
        if has or unit.running:
            return module
        self.state = replace(self.here, imported={**self.here.imported, name: True})
        if sum(isinstance(frame.node, ast.Module) for frame in self.frames) > MAX_IMPORTS:
            self.give_up(f"{unit.source.path} is imported through more than {MAX_IMPORTS} other modules")
            return UNKNOWN
        if has is None:
            self._go_through(unit, node)
        else:
            # On some way to here it has been imported: then nothing happens now.
            before = self.snapshot()
            with self.doubtful():
                self._go_through(unit, node)
            self.merge(before)
        return module

    def _found(self, name: str) -> Unit | Value | None:
        assert self.modules is not None
        found = self.modules.find(name)
        if found is None:
            return None
        if self.path_changed or not found.readable:
            # Python may well find another module of that name first.
            return UNKNOWN
        if found.text is None:
            return Module(name, Scope())
        package = name if found.is_package else name.rpartition(".")[0]
        unit = found.text.unit(name, package, self.next_serial())
        self.units[name] = unit
        self.leading.add(name, unit.mentions)
        return unit

    def _go_through(self, unit: Unit, node: ast.AST) -> None:
        call = Step(self.source.path, self.span(node), f"imports {unit.source.path}")
        self.run_module(unit, call)

    def run_module(self, unit: Unit, call: Step | None) -> None:
        """Interpret a module's top level."""
        here, statement, loops = self.unit, self.statement, self.loops
        self.frames.append(Frame("", unit.scope, unit.tree, call))
        self.unit, self.loops, unit.running = unit, [], True
        try:
            self.execute(unit.tree.body)
        finally:
            self.frames.pop()
            self.unit, self.statement, self.loops, unit.running = here, statement, loops, False

    # What the other parts add

    def bind(self, name: str, value: Value) -> None:
        raise NotImplementedError

    def foreign_import(self, name: str, node: ast.AST, *, member: bool = False) -> None:
        """A module of somebody else's is imported (``member``: it is only perhaps a module)."""


def _prefixes(name: str) -> Iterator[str]:
    """``a``, ``a.b``, ``a.b.c``."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        yield ".".join(parts[:count])
