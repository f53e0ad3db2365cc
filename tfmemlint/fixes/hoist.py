"""Moving configuration up: what has to come along, and when it must not be moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement, Tree
from tfmemlint.fixes.def_use import HARMLESS, Names, names_of
from tfmemlint.fixes.imports import Imports
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding, Span, Step

_CONFIGURES = ("tf.config.", "tf.compat.v1.config.", "tf.compat.v1.ConfigProto", "tf.compat.v1.GPUOptions", "tf.test.")
_ABOUT_DEVICES = frozenset({"list_physical_devices", "gpu_memory_mib"})
_METHOD_NAMES = """
    append extend format split rsplit strip lower upper join items keys values get startswith endswith index
    info warning error debug exception critical log
"""
_METHODS = frozenset(_METHOD_NAMES.split())
_TAME = ("argparse.", "json.", "math.", "os.path.", "os.environ.", "pathlib.", "sys.", "pynvml.", "yaml.", "logging.")


@dataclass(frozen=True, slots=True)
class HoistEntry:
    """A statement on the way up, or the head of a ``with`` (which has no ``node``: it never moves)."""

    node: Statement | None
    names: Names
    row: int


def ways(finding: Finding) -> tuple[Sequence[Step], Sequence[Step]]:
    """The steps to what starts the runtime, and those to the configuration, from where the two part."""
    started, parting = finding.details.get("started"), finding.details.get("parting", 0)
    if not isinstance(started, int):
        spans = [step.span for step in finding.trace]
        start = finding.anchors.get("start")
        started = spans.index(start) if start in spans else len(spans)
    return finding.trace[parting if isinstance(parting, int) else 0 : started + 1], finding.trace[started + 1 :]


def is_outside(step: Step, tree: Tree) -> bool:
    """Whether a step is done by what no file of the project says, such as the command that calls a function: it is said
    to stand at no place then, or where that function does."""
    span = step.span
    if (span.row, span.column) == (span.end_row, span.end_column):
        return True
    place = tree.statement_at(span)
    end = tree.span(place)
    return isinstance(place, cst.FunctionDef) and (end.end_row, end.end_column) == (span.end_row, span.end_column)


def reached(finding: Finding, tree: Tree) -> tuple[Span, Span]:
    """The places of configuration and start within one function: themselves, or the calls that lead to them.

    Raises:
        Withheld: nothing in the finding's own file leads to the start, or the two part in another file.
    """
    early, late = ways(finding)
    if early and late and (early[0].path != finding.path or late[0].path != finding.path):
        first, then = early[0], next((step for step in reversed(late) if step.path != finding.path), late[0])
        raise Withheld(f"{then.path}:{then.span.row} leads to it, and comes after {first.path}:{first.span.row}")
    if "start" not in finding.anchors:
        raise Withheld("what starts the runtime is not known")
    start = finding.anchors["start"]
    if not late:
        return finding.span, start
    if is_outside(late[0], tree):
        raise Withheld(f"what {late[0].words} stands outside of this file")
    function = tree.function_of(tree.statement_at(late[0].span))
    own = list(takewhile(lambda step: step.path == finding.path, early))
    for step in reversed(own):
        if tree.function_of(tree.statement_at(step.span)) is function:
            return late[0].span, step.span
    return late[0].span, start


class Hoist:
    """Plans moves within one file."""

    def __init__(self, tree: Tree, imports: Imports) -> None:
        self.tree = tree
        self.imports = imports
        self.bodies: dict[str, Names] = {}
        self.declared: set[str] = set()
        for statement in tree.statements(tree.module):
            names = self.read(statement)
            self.bodies |= names.bodies
            self.declared |= names.declared

    def plan(self, statements: Sequence[Statement], above: Statement) -> list[Statement]:
        """What moves above ``above``, in order: ``statements``, and what they need of what stands between.

        Raises:
            Withheld: it can't be moved, or another thing would come out.
        """
        return self.choose(self._way(statements, above), statements)

    def choose(self, row: Sequence[HoistEntry], statements: Sequence[Statement]) -> list[Statement]:
        """What of ``row``, the statements that are run one after another, moves above its first, as `plan` has it."""
        moved = {index for index, entry in enumerate(row) if entry.node is not None and entry.node in statements}
        for index in sorted(moved):
            self._movable(row[index])
        pending = sorted(moved)
        while pending:
            index = pending.pop()
            for other in range(index):
                if other not in moved and self._needs(row[index].names, row[other].names):
                    self._take(row[index], row[other], first=other == 0)
                    moved.add(other)
                    pending.append(other)
        for index in sorted(moved):
            for other in range(index):
                if other not in moved:
                    self._clash(row, index, other)
        return [node for index in sorted(moved) if (node := row[index].node) is not None]

    def places(self, finding: Finding) -> tuple[Statement, Statement]:
        """What to move so that ``finding`` is gone, and above what.

        Raises:
            Withheld: the two don't stand in one block, or more than configuration would move.
        """
        tree = self.tree
        call, start = reached(finding, tree)
        late, early = tree.statement_at(call), tree.statement_at(start)
        if tree.function_of(late) is not tree.function_of(early):
            raise Withheld("the configuration and what starts the runtime stand in different functions")
        chain = [early, *(one for one in tree.ancestors(early) if one in tree.parents)]
        line: Statement | None = None
        above: Statement | None = None
        for one in (late, *tree.ancestors(late)):
            if not isinstance(one, (cst.BaseStatement, cst.BaseSmallStatement)):
                continue
            block = tree.block_of(one)
            above = next((other for other in tree.statements(block) if other in chain), None)
            if above is not None:
                line = next(other for other in tree.statements(block) if tree.span(other).contains(tree.span(one)))
                break
        if line is None or above is None:
            raise Withheld("the configuration and what starts the runtime have no block in common")
        if line is above:
            raise Withheld("the configuration and what starts the runtime stand in one statement")
        if tree.span(above) > tree.span(line):
            raise Withheld("what starts the runtime stands below the configuration")
        if isinstance(above, (cst.FunctionDef, cst.ClassDef)):
            raise Withheld("what starts the runtime stands in a definition")
        return self.innermost(line, call), above

    def innermost(self, line: Statement, call: Span) -> Statement:
        """The outermost statement around ``call`` that holds configuration only."""
        while isinstance(line, (cst.FunctionDef, cst.ClassDef)) or (foreign := self.foreign(self.read(line))):
            if isinstance(line, (cst.FunctionDef, cst.ClassDef)):
                raise Withheld("the configuration stands in a definition")
            inner = line.body if isinstance(line, cst.With) else None
            within = self.tree.statements(inner) if isinstance(inner, cst.IndentedBlock) else []
            child = next((one for one in within if self.tree.span(one).contains(call)), None)
            if child is None:
                raise Withheld(f"the statement around it holds more than configuration: {foreign}")
            line = child
        return line

    def read(self, statement: Statement) -> Names:
        """The names of a statement."""
        return names_of(self.tree.code(statement))

    def entry(self, node: Statement | None, names: Names, row: int) -> HoistEntry:
        """A statement with all that it does by the functions of this file that it calls."""
        pending, seen = list(names.called), set()
        while pending:
            name = pending.pop()
            body = self.bodies.get(name)
            if body is None or name in seen:
                continue
            seen.add(name)
            names.reads |= body.reads
            names.touches |= body.touches
            names.binds |= body.declared
            names.environment |= body.environment
            pending.extend(body.called)
        return HoistEntry(node, names, row)

    def _way(self, statements: Sequence[Statement], above: Statement) -> list[HoistEntry]:
        """What stands between: from ``above`` down to the last of ``statements``."""
        tree = self.tree
        target = tree.block_of(above)
        within = tree.block_of(statements[0])
        if any(tree.block_of(one) is not within for one in statements):
            raise Withheld("what is to be moved stands in several blocks")
        parts: list[list[HoistEntry]] = []
        block, last = within, max(statements, key=tree.span)
        while True:
            before = [one for one in tree.statements(block) if tree.span(one) <= tree.span(last)]
            if block is not within:
                before = [one for one in before if one is not last]
            parts.insert(0, [self.entry(one, self.read(one), tree.span(one).row) for one in before])
            if block is target:
                break
            holder = tree.parents.get(block)
            if not isinstance(holder, cst.With):
                raise Withheld("it would leave the block that it stands in")
            head = cst.With(items=holder.items, body=cst.IndentedBlock([cst.SimpleStatementLine([cst.Pass()])]))
            parts.insert(0, [self.entry(None, names_of(tree.code(head)), tree.span(holder).row)])
            last, block = holder, tree.block_of(holder)
        row = [entry for part in parts for entry in part]
        first = next((index for index, entry in enumerate(row) if entry.node is above), None)
        if first is None:
            raise Withheld("the spot to move it to stands below it")
        return row[first:]

    def _movable(self, entry: HoistEntry) -> None:
        if entry.names.leaves:
            raise Withheld(f"a {entry.names.leaves} stands in it (line {entry.row})")
        foreign = self.foreign(entry.names)
        if foreign:
            raise Withheld(f"it does more than to configure (line {entry.row}): {foreign}")

    def _needs(self, one: Names, other: Names) -> set[str]:
        """The names that ``one`` needs as ``other`` leaves them."""
        steady = self.imports.imported() | set(self.bodies)
        return (one.reads & other.binds) | (one.reads & other.touches - steady)

    def _take(self, entry: HoistEntry, needed: HoistEntry, *, first: bool) -> None:
        name = min(self._needs(entry.names, needed.names))
        if first or needed.node is None:
            raise Withheld(f"it needs {name}, which line {needed.row} gives")
        names = needed.names
        foreign = self.foreign(names, tame=True)
        if names.leaves or foreign or names.star:
            what = foreign or f"line {needed.row}"
            raise Withheld(f"it needs {name}, and moving {what} up might change what comes out")

    def _clash(self, row: Sequence[HoistEntry], index: int, other: int) -> None:
        """Refuse to move ``row[index]`` above ``row[other]`` where either would see another thing."""
        one, passed = row[index].names, row[other].names
        if passed.leaves:
            raise Withheld(f"a {passed.leaves} stands between (line {row[other].row})")
        if passed.star:
            raise Withheld(f"a star import stands between (line {row[other].row})")
        used = one.binds & passed.reads
        both = {name for name in one.binds & passed.binds if self._read_elsewhere(name, row[index], row[other])}
        if used or both:
            raise Withheld(f"{min(used | both)} is used or bound between (line {row[other].row})")
        changed = (one.touches - self.imports.imported() - set(self.bodies)) & passed.reads
        if changed:
            raise Withheld(f"{min(changed)} may be changed by it, and is used between (line {row[other].row})")
        secret = self.declared & (one.reads | one.binds)
        if secret and any(name not in HARMLESS and name in self.bodies for name in passed.called):
            raise Withheld(f"{min(secret)} may be set by a function called between (line {row[other].row})")
        if one.environment and passed.environment and one.keys & passed.keys:
            raise Withheld(f"the environment is used between (line {row[other].row})")

    def _read_elsewhere(self, name: str, one: HoistEntry, other: HoistEntry) -> bool:
        """Whether anything but the loops that bind a name reads it: then the order of the two matters."""
        if name in one.names.reads or name in other.names.reads:
            return True
        anywhere = self.tree.statements(self.tree.block_of(one.node)) if one.node is not None else []
        return any(name in self.read(each).reads for each in anywhere)

    def foreign(self, names: Names, *, tame: bool = False, seen: frozenset[str] = frozenset()) -> str:
        """The first call that is not about configuration, or ""; ``tame``: calls that only compute are let pass."""
        for name in names.called:
            full = self.imports.resolve(name)
            last = name.rpartition(".")[2]
            if full in HARMLESS or full.startswith(_CONFIGURES) or last in _ABOUT_DEVICES:
                continue
            if not name:
                return "the call of what another call returned"
            if "." in name and last in _METHODS:
                continue
            if tame and (full.startswith(_TAME) or ("." in name and name.split(".")[0] not in self.imports.imported())):
                continue
            body = self.bodies.get(name)
            if body is not None and name not in seen:
                inner = self.foreign(body, tame=tame, seen=seen | {name})
                if not inner:
                    continue
                return inner
            return f"{name}(...)"
        return ""
