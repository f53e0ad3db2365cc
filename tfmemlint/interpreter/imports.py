"""Imports: the modules of the project's own are gone through where a program first imports them."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import replace

from tfmemlint.facts.names import canonical, is_tensorflow
from tfmemlint.interpreter.catching import Catching
from tfmemlint.interpreter.context import MAX_IMPORTS, Frame, Heap
from tfmemlint.interpreter.loops import Loops
from tfmemlint.interpreter.program import Call, EnvWrite, Event, Handler
from tfmemlint.interpreter.scopes import Scope
from tfmemlint.interpreter.state import State, Tri, join_states
from tfmemlint.interpreter.unit import ModuleInstance, ModuleSummary
from tfmemlint.interpreter.values import UNKNOWN, Cell, Const, Function, Module, Ref, Seq, Value
from tfmemlint.knowledge.environment import Moment, read_at
from tfmemlint.model.finding import Step

_NAMES_ITSELF = re.compile(r"\b(?:globals|vars|exec)\(|sys\.modules|__dict__|\bimport \*")
"""What may give a module names that nothing in it binds."""
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
            self.foreign_import(name, node)
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
        found = self.named_in_module(module, name)
        if found is None:
            # Python asks in this way first, and looks for a module of that name where it gets an AttributeError.
            found = self.asked_of_module(module, name, node, caught=True)
        if self.state is None or (found is not None and (found != UNKNOWN or name in module.scope.names)):
            return found or UNKNOWN
        return self.import_module(f"{module.name}.{name}", node) or UNKNOWN

    def asked_of_module(self, module: Module, name: str, node: ast.AST, *, caught: bool = False) -> Value | None:
        """What the ``__getattr__`` of a module (PEP 562) makes of a name that the module lacks.

        None where it has no such function; or, where an AttributeError is ``caught``, that is what it answers with.
        """
        function, unit = module.scope.names.get("__getattr__"), module.scope.unit
        if not isinstance(function, Function) or unit is None or self.state is None:
            return None
        lines = unit.source.lines
        first, last = getattr(function.node, "lineno", 1) - 1, getattr(function.node, "end_lineno", len(lines))
        vague = bool(unit.stars) or any(_NAMES_ITSELF.search(line) for line in (*lines[:first], *lines[last:]))
        asked = (unit.name, name)
        if asked in self.answered and any("globals" in line for line in lines[first:last]):
            # What it has found once it may have given that name.
            vague = True
        self.answered.add(asked)
        before = self.snapshot()
        described = Handler(("AttributeError",), self.span(node), reraises=False, idle=True, silent=True)
        if caught:
            self.handlers.append(Catching((described,), len(self.frames)))
        with self.doubtful(doubt=vague):
            found: Value | None = self.call_value(function, [Const(name)], {}, node)
        if caught:
            self.handlers.pop()
        refused = self.raised.pop(id(described), [])
        if refused:
            end = self.snapshot()
            self.restore(before, functools.reduce(join_states, refused))
            found = None if end.state is None else UNKNOWN
            self.merge(end)
        if vague:
            self.merge(before)
        return found if not vague or found is None else UNKNOWN

    def _import_all(self, module: Value) -> None:
        if not isinstance(module, Module):
            return
        names = module.scope.names
        if module.scope.unit is not None and module.scope.unit.running:
            self.within.add(module.name)
        listed = self.current(names["__all__"]) if "__all__" in names else None
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
        self.asked.add(name)
        for part in _prefixes(name):
            inner = self._one_module(part, node)
            if inner is None:
                return None if module is None else UNKNOWN
            module = inner
            if self.state is None or not isinstance(module, Module):
                return UNKNOWN
        return module

    def _one_module(self, name: str, node: ast.AST) -> Value | None:
        if name not in self.units and self._take(name):
            return Module(name, self.units[name].scope)
        unit = self.units.get(name) or self._found(name)
        if not isinstance(unit, ModuleInstance):
            return unit
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

    def _found(self, name: str) -> ModuleInstance | Value | None:
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
        return unit

    def _go_through(self, unit: ModuleInstance, node: ast.AST) -> None:
        before, heap, events = self.here, self.heap, len(self.events)
        defaults = set(self.defaults)
        asked, within, read = self.asked, self.within, self.env_read
        self.asked, self.within, self.env_read = set(), set(), {}
        reads, self.reads, begun = self.reads, {}, self.next_serial()
        self.run_module(unit, Step(self.source.path, self.span(node), f"imports {unit.source.path}"))
        circle = self.within - {unit.name}
        contents = {cell: content for cell, content in self.reads.items() if cell.number < begun}
        self.reads = {**contents, **reads}
        if not circle and self._did_nothing(before, events):
            self._keep(unit, before, heap, defaults, self.asked, contents)
        self.asked |= asked
        self.within = within | circle
        self.env_read = self.env_read | read

    def _take(self, name: str) -> bool:
        """Whether an earlier program has gone through a module that did nothing but to give names: they are given
        to this one. What did nothing while nothing had started does nothing afterwards."""
        kept = self.modules.kept(name) if self.modules is not None else None
        if kept is None or self.path_changed:
            return False
        if any(self.here.env.get(variable) != value for variable, value in kept.read.items()):
            return False
        if any(self.units.get(one, unit) is not unit for one, (unit, _) in kept.units.items()):
            return False
        if not self.as_read(kept.contents):
            return False
        for one, unit in kept.needs.items():
            if self.units.get(one) is not unit and (one in self.units or not self._take(one)):
                return False
            if self.units.get(one) is not unit or not self.here.imported.get(one):
                return False
        for one, (unit, names) in kept.units.items():
            if one not in self.units:
                unit.scope.names.clear()
                unit.scope.names.update(names)
                self.units[one] = unit
        self.reads = {**kept.contents, **self.reads}
        self.heap = {**self.heap, **kept.heap}
        self.defaults.update(kept.defaults)
        self.asked.update(kept.places)
        self.env_read = {**kept.read, **self.env_read}
        imported = {**self.here.imported, **dict.fromkeys(kept.units, True)}
        self.state = replace(self.here, imported=imported, env={**self.here.env, **kept.env})
        return True

    def _is_fresh(self, state: State) -> bool:
        """Whether nothing has started, so that it would be seen if something did."""
        phases = state.context, state.allocator, state.listed
        return all(phase.has is Tri.NO for phase in phases) and not state.graph_mode and not self.uncertain

    def _did_nothing(self, before: State, events: int) -> bool:
        """Whether all that has happened since is that names were given, modules imported, and variables of the
        environment set that nothing has read yet."""
        after = self.state
        if after is None or not self._is_fresh(before) or self.path_changed or self.meddled or self.gave_up:
            return False
        if replace(after, imported=before.imported, env=before.env) != before:
            return False
        return all(_leaves_no_trace(one) for one in self.events[events:])

    def _keep(
        self,
        unit: ModuleInstance,
        before: State,
        heap: Heap,
        defaults: set[int],
        asked: set[str],
        contents: dict[Cell, Value | None],
    ) -> None:
        assert self.modules is not None
        own = [name for name in self.here.imported if name not in before.imported or name == unit.name]
        units = {name: self.units[name] for name in own if name in self.units}
        places = {name: self.modules.place(name) for one in asked for name in _prefixes(one)}
        kept = ModuleSummary(
            {name: (one, self._names(name, one)) for name, one in units.items()},
            {name: self.units[name] for name in asked if name in self.units and name not in units},
            {key: value for key, value in self.heap.items() if heap.get(key) is not value},
            {key: value for key, value in self.defaults.items() if key not in defaults},
            {name: value for name, value in self.here.env.items() if before.env.get(name) is not value},
            dict(self.env_read),
            places,
            contents,
        )
        self.modules.keep(unit.name, kept)

    def _names(self, name: str, unit: ModuleInstance) -> dict[str, Value]:
        assert self.modules is not None
        kept = self.modules.kept(name)
        return kept.units[name][1] if kept is not None and kept.units[name][0] is unit else dict(unit.scope.names)

    def run_module(self, unit: ModuleInstance, call: Step | None) -> None:
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

    answered: set[tuple[str, str]]
    """The names that the ``__getattr__`` of a module was asked for."""

    def bind(self, name: str, value: Value) -> None:
        raise NotImplementedError


def _leaves_no_trace(event: Event) -> bool:
    """Whether nothing that comes later can depend on an event: it starts nothing, and configures nothing."""
    if isinstance(event, EnvWrite):
        return read_at(event.name) in (None, Moment.IMPORT)
    return isinstance(event, Call) and event.effect is None and not event.name.startswith("tf.config.")


def _prefixes(name: str) -> Iterator[str]:
    """``a``, ``a.b``, ``a.b.c``."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        yield ".".join(parts[:count])
