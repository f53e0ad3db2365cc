"""Plan to move configuration up: find what has to move with it, and when it must not move."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence

import libcst as cst

from tfmemlint.fixes.access_paths import Path, overlap
from tfmemlint.fixes.call_effects import CallEffects, Known
from tfmemlint.fixes.concrete_tree import ConcreteTree, Statement
from tfmemlint.fixes.def_use import AS_DICT, COPYING, HARMLESS, DefUse, def_use_of
from tfmemlint.fixes.imports import ImportBindings, imported_module, is_import
from tfmemlint.fixes.statement_names import names_of
from tfmemlint.fixes.trace_places import places_in_function
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding, Span
from tfmemlint.model.records import dataclass
from tfmemlint.project.search import is_installed

_CONFIGURES = ("tf.config.", "tf.compat.v1.config.", "tf.compat.v1.ConfigProto", "tf.compat.v1.GPUOptions", "tf.test.")
_ABOUT_DEVICES = frozenset({"list_physical_devices", "gpu_memory_mib"})
_CONFIGURING = frozenset(
    {
        "set_memory_growth",
        "set_visible_devices",
        "get_visible_devices",
        "set_logical_device_configuration",
        "set_virtual_device_configuration",
        "LogicalDeviceConfiguration",
        "VirtualDeviceConfiguration",
    }
)
"""Names that nothing but TensorFlow's own functions have, as attributes of an object that stands for a module."""
_METHOD_NAMES = """
    append extend format split rsplit strip lower upper join items keys values get startswith endswith index
    info warning error debug exception critical log
"""
_METHODS = frozenset(_METHOD_NAMES.split())
_PURE_MODULES = (
    "argparse.",
    "json.",
    "math.",
    "os.path.",
    "os.environ.",
    "pathlib.",
    "sys.",
    "pynvml.",
    "yaml.",
    "logging.",
)


_CHANGING = frozenset(
    ["append", "extend", "insert", "add", "update", "pop", "remove", "discard", "clear", "setdefault", "appendleft"]
)
"""Methods that change a collection."""
_EXCEPTIONS = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)
_PRINTS = frozenset({"print", "pprint", "info", "warning", "error", "debug", "exception", "critical", "write", "log"})
"""Last names of calls whose output people see, in the order in which they are made."""


@dataclass(frozen=True, slots=True)
class HoistEntry:
    """A statement between the two places of a move, or the head of a ``with`` (it has no ``node``: it never moves).

    Attributes:
        prints: it has output. calls_print: a function that it calls has output.
        changes: names whose collections it changes, itself or in functions that it calls.
        touched: the paths that it may change. parts: those that it reads.
    """

    node: Statement | None
    names: DefUse
    row: int
    prints: bool = False
    calls_print: bool = False
    changes: frozenset[str] = frozenset()
    touched: frozenset[Path] = frozenset()
    parts: frozenset[Path] = frozenset()


@dataclass(frozen=True, slots=True)
class ForeignCall:
    """The effects of a call of a function of another file.

    Attributes:
        unrelated: its first call that is not about configuration, "" if there is none. prints: it has output.
        environment: it uses the environment. keys: the constant strings in it. known: what it does.
    """

    unrelated: str
    environment: bool
    keys: frozenset[str]
    prints: bool = False
    known: Known | None = None


def changed_collections(names: DefUse) -> set[str]:
    """Return the names whose collections statements change by a method."""
    called = (name.rpartition(".") for name in names.called)
    return {owner.split(".")[0] for owner, _, method in called if owner and method in _CHANGING}


def has_output(names: DefUse) -> bool:
    """True if statements print, or write to a log, themselves."""
    return any(name.rpartition(".")[2] in _PRINTS for name in names.called)


def _may_print(statement: Statement) -> bool:
    """True if a statement imports a module that may be the project's own, which may print."""
    return is_import(statement) and not (is_installed(imported_module(statement)))


class Hoist:
    """A planner of moves within one file."""

    def __init__(
        self,
        tree: ConcreteTree,
        imports: ImportBindings,
        foreign: Callable[[str], ForeignCall | None] = lambda _: None,
        import_prints: Callable[[Statement], bool] | None = None,
        *,
        output_may_move: bool = False,
    ) -> None:
        self.tree = tree
        self.imports = imports
        self.foreign = foreign
        self.import_prints = import_prints or _may_print
        self._output_may_move = output_may_move
        self._names = names_of(tree)
        self.bodies = self._names.bodies
        self.effects = CallEffects({**self._names.nested, **self._names.all_bodies}, self._elsewhere, COPYING)
        self.declared = self._names.declared

    def _elsewhere(self, called: str) -> Known | None:
        foreign = self.foreign(called)
        return foreign.known if foreign is not None else None

    def plan(self, statements: Sequence[Statement], above: Statement) -> list[Statement]:
        """Return what moves above ``above``, in order: ``statements``, and the statements in between that they need.

        Raises:
            Withheld: it can't be moved, or the program would behave differently.
        """
        return self.select_moved(self._statements_between(statements, above), statements)

    def select_moved(self, row: Sequence[HoistEntry], statements: Sequence[Statement]) -> list[Statement]:
        """Return the entries of ``row`` that move above its first, as `plan` does; ``row`` is run in order."""
        moved = {index for index, entry in enumerate(row) if entry.node is not None and entry.node in statements}
        for index in sorted(moved):
            self._movable(row[index])
        pending = sorted(moved)
        while pending:
            index = pending.pop()
            for other in range(index):
                if other not in moved and self._needs(row[index], row[other]):
                    self._take(row[index], row[other], first=other == 0)
                    moved.add(other)
                    pending.append(other)
        for index in sorted(moved):
            for other in range(index):
                if other not in moved:
                    self._check_conflict(row, index, other)
        return [node for index in sorted(moved) if (node := row[index].node) is not None]

    def locate(self, finding: Finding) -> tuple[Statement, Statement]:
        """Return the statement to move so that ``finding`` is gone, and the statement to move it above.

        Raises:
            Withheld: the two are in different blocks, or more than configuration would move.
        """
        return self.locate_between(*places_in_function(finding, self.tree))

    def locate_between(
        self, call: Span, start: Span, *, above_definitions: bool = False
    ) -> tuple[Statement, Statement]:
        """Return the statement around ``call`` to move, and the statement around ``start`` to move it above.

        Raises:
            Withheld: as `locate`; unless ``above_definitions``, also if the latter is a definition.
        """
        tree = self.tree
        late, early = tree.statement_at(call), tree.statement_at(start)
        if tree.function_of(late) is not tree.function_of(early):
            raise Withheld("the configuration and what starts the runtime are in different functions")
        chain = [early, *(ancestor for ancestor in tree.ancestors(early) if ancestor in tree.parents)]
        line: Statement | None = None
        above: Statement | None = None
        for around in (late, *tree.ancestors(late)):
            if not isinstance(around, (cst.BaseStatement, cst.BaseSmallStatement)):
                continue
            block = tree.block_of(around)
            above = next((other for other in tree.statements(block) if other in chain), None)
            if above is not None:
                line = next(other for other in tree.statements(block) if tree.span(other).contains(tree.span(around)))
                break
        if line is None or above is None:
            raise Withheld("the configuration and what starts the runtime have no block in common")
        if line is above:
            raise Withheld("the configuration and what starts the runtime are in one statement")
        if tree.span(above) > tree.span(line):
            raise Withheld("what starts the runtime is below the configuration")
        if isinstance(above, (cst.FunctionDef, cst.ClassDef)) and not above_definitions:
            raise Withheld("what starts the runtime is in a definition")
        return self.innermost(line, call), above

    def innermost(self, line: Statement, call: Span) -> Statement:
        """Return the outermost statement around ``call`` that contains configuration only."""
        while isinstance(line, (cst.FunctionDef, cst.ClassDef)) or (foreign := self.unrelated_call(self.read(line))):
            if isinstance(line, (cst.FunctionDef, cst.ClassDef)):
                raise Withheld("the configuration is in a definition")
            inner = line.body if isinstance(line, cst.With) else None
            within = self.tree.statements(inner) if isinstance(inner, cst.IndentedBlock) else []
            child = next((statement for statement in within if self.tree.span(statement).contains(call)), None)
            if child is None:
                raise Withheld(f"the statement around it does more than configure: {foreign}")
            line = child
        return line

    def read(self, statement: Statement) -> DefUse:
        """Return the definitions and uses of names in a statement."""
        return self._names.read(statement)

    @property
    def binds(self) -> frozenset[str]:
        """Return the names that the statements of the module's top level bind."""
        return self._names.binds

    def entry_of(self, node: Statement | None, names: DefUse, row: int) -> HoistEntry:
        """Return a statement with all that it does through the functions of this file that it calls."""
        pending, seen = list(names.called), set()
        prints, calls_print = has_output(names), False
        changes = changed_collections(names)
        while pending:
            name = pending.pop()
            body = self.effects.body_of(name)
            if body is None and name not in seen and (foreign := self.foreign(name)) is not None:
                names.environment |= foreign.environment
                names.keys |= foreign.keys
                calls_print |= foreign.prints
            if body is None or name in seen:
                continue
            seen.add(name)
            calls_print |= has_output(body)
            outside = body.copy()
            outside.forget_paths(set(body.parameters))
            changes |= changed_collections(body) & {path[0] for path in outside.touches}
            names.reads |= body.reads
            names.touches |= outside.touches
            names.given += outside.given
            names.parts |= outside.parts
            names.binds |= body.declared
            names.environment |= body.environment
            names.keys |= body.keys
            pending.extend(body.called)
        touched, parts = self.effects.touched(names), self.effects.parts(names)
        parts = {path for path in parts if path[0] in names.reads}
        return HoistEntry(
            node, names, row, prints, calls_print, frozenset(changes), frozenset(touched), frozenset(parts)
        )

    def _statements_between(self, statements: Sequence[Statement], above: Statement) -> list[HoistEntry]:
        """Return the statements from ``above`` down to the last of ``statements``."""
        tree = self.tree
        target = tree.block_of(above)
        within = tree.block_of(statements[0])
        if any(tree.block_of(statement) is not within for statement in statements):
            raise Withheld("what has to move is in several blocks")
        parts: list[list[HoistEntry]] = []
        block, last = within, max(statements, key=tree.span)
        while True:
            every = tree.statements(block)
            before = every[: every.index(last) + (block is within)]
            parts.insert(
                0, [self.entry_of(statement, self.read(statement), tree.span(statement).row) for statement in before]
            )
            if block is target:
                break
            holder = tree.parents.get(block)
            if not isinstance(holder, cst.With):
                raise Withheld("it would leave its block")
            head = cst.With(items=holder.items, body=cst.IndentedBlock([cst.SimpleStatementLine([cst.Pass()])]))
            parts.insert(0, [self.entry_of(None, def_use_of(tree.code(head)), tree.span(holder).row)])
            last, block = holder, tree.block_of(holder)
        row = [entry for part in parts for entry in part]
        first = next((index for index, entry in enumerate(row) if entry.node is above), None)
        if first is None:
            raise Withheld("the place to move it to is below it")
        return row[first:]

    def _movable(self, entry: HoistEntry) -> None:
        if entry.names.leaves:
            raise Withheld(f"it contains a {entry.names.leaves} (line {entry.row})")
        foreign = self.unrelated_call(entry.names)
        if foreign:
            raise Withheld(f"it does more than configure (line {entry.row}): {foreign}")

    def _needs(self, reader: HoistEntry, other: HoistEntry) -> set[str]:
        """Return the names that ``reader`` needs with the values that ``other`` gives them."""
        steady = self.imports.imported() | set(self.bodies)
        return (reader.names.reads & other.names.binds) | (overlap(reader.parts, other.touched) - steady)

    def _take(self, entry: HoistEntry, needed: HoistEntry, *, first: bool) -> None:
        name = min(self._needs(entry, needed))
        if first or needed.node is None:
            raise Withheld(f"it needs {name}, which line {needed.row} gives")
        names = needed.names
        foreign = self.unrelated_call(names, allow_pure=True)
        if names.leaves or foreign or names.star:
            what = foreign or f"line {needed.row}"
            raise Withheld(f"it needs {name}, and moving {what} up might change the result")

    def _check_conflict(self, row: Sequence[HoistEntry], index: int, other: int) -> None:
        """Refuse to move ``row[index]`` above ``row[other]`` if either would then read another value."""
        own, passed = row[index].names, row[other].names
        if passed.leaves:
            raise Withheld(f"there is a {passed.leaves} in between (line {row[other].row})")
        if passed.star:
            raise Withheld(f"there is a star import in between (line {row[other].row})")
        used = own.binds & passed.reads
        both = {name for name in own.binds & passed.binds if self._read_elsewhere(name, row[index], row[other])}
        if used or both:
            raise Withheld(f"{min(used | both)} is used or bound in between (line {row[other].row})")
        changed = overlap(row[index].touched, row[other].parts) - self.imports.imported() - set(self.bodies)
        if changed:
            raise Withheld(f"{min(changed)} may be changed by it, and is used in between (line {row[other].row})")
        shared = row[index].changes & (passed.reads | row[other].changes)
        if shared:
            raise Withheld(f"{min(shared)} is changed by it, and used in between (line {row[other].row})")
        beside = row[other].node
        printing = row[other].prints or row[other].calls_print or (beside is not None and self.import_prints(beside))
        if row[index].calls_print and printing and not self._output_may_move:
            raise Withheld(f"it would print before line {row[other].row} does")
        secret = self.declared & (own.reads | own.binds)
        if secret and any(name not in HARMLESS and name in self.bodies for name in passed.called):
            raise Withheld(f"{min(secret)} may be set by a function called in between (line {row[other].row})")
        if own.environment and passed.environment and own.keys & passed.keys:
            raise Withheld(f"the environment is used in between (line {row[other].row})")

    def _read_elsewhere(self, name: str, entry: HoistEntry, other: HoistEntry) -> bool:
        """True if anything but the loops that bind a name reads it. Then the order of the two matters."""
        if name in entry.names.reads or name in other.names.reads:
            return True
        return entry.node is not None and self._names.is_read_in(name, self.tree.block_of(entry.node))

    def unrelated_call(self, names: DefUse, *, allow_pure: bool = False, seen: frozenset[str] = frozenset()) -> str:
        """Return the first call that is not about configuration, or "".

        Args:
            allow_pure: ignore calls that only compute.
            seen: functions of the file that are being looked into.
        """
        for name in names.called:
            full = self.imports.resolve(name)
            last = name.rpartition(".")[2]
            if full in HARMLESS or full.startswith(_CONFIGURES) or last in _ABOUT_DEVICES:
                continue
            if full in AS_DICT and name not in self.bodies:
                continue
            if "." in name and last in _CONFIGURING and self.foreign(name) is None:
                continue
            if not name:
                return "the call of what another call returned"
            if name in _EXCEPTIONS:
                continue
            if "." in name and last in _METHODS:
                continue
            if allow_pure and (
                full.startswith(_PURE_MODULES) or ("." in name and name.split(".")[0] not in self.imports.imported())
            ):
                continue
            body = self.effects.body_of(name)
            if body is not None and name not in seen:
                inner = self.unrelated_call(body, allow_pure=allow_pure, seen=seen | {name})
                if not inner:
                    continue
                return inner
            foreign = self.foreign(name) if body is None else None
            if foreign is not None and not foreign.unrelated:
                continue
            return foreign.unrelated if foreign is not None else f"{name}(...)"
        return ""
