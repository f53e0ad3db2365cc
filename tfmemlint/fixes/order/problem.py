"""An order problem, and a candidate for its repair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from itertools import pairwise, takewhile
from pathlib import Path
from textwrap import dedent

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.editor import Editor
from tfmemlint.fixes.import_sorter_guards import ENVIRONMENT_SET, GPU_MEMORY_CONFIGURED
from tfmemlint.fixes.order.files import CodeFile, Files
from tfmemlint.fixes.trace_places import is_outside_file, split_trace
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Span, Step
from tfmemlint.model.records import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change of a program that may repair the order.

    Attributes:
        texts: the new texts of the files that change, by their names in reports.
        message: what the change does, as a sentence without a full stop.
    """

    texts: Mapping[str, str]
    message: str


Strategy = Callable[["OrderProblem"], Iterator[Candidate]]
"""Proposes candidates, the least intrusive first.

Raises:
    Withheld: it does not apply; the text says why.
"""


@dataclass
class OrderProblem:
    """A configuration that comes too late.

    Attributes:
        finding: what is reported. files: of the program. release: the one that new code is for.
        depth: the step towards the start whose file is looked at; 0 is where the two ways part.
        back: how many steps that both ways share are looked at as if they were two.
    """

    finding: Finding
    files: Files
    release: Target
    depth: int = 0
    back: int = 0
    early: tuple[Step, ...] = field(init=False)
    late: tuple[Step, ...] = field(init=False)

    def __post_init__(self) -> None:
        early, late = split_trace(self.finding)
        place = self.shared
        shared = self.finding.trace[place - self.back : place] if self.back else ()
        self.early, self.late = (*shared, *early), (*shared, *late)
        while len(self.late) > 1 and self._is_outside(self.late[0]):
            # A command that calls a function of the program.
            self.late = self.late[1:]

    def _is_outside(self, step: Step) -> bool:
        try:
            return is_outside_file(step, self.files.get(step.path).tree)
        except Withheld:
            return False

    @property
    def entry(self) -> str:
        """The file in which the program starts. What a file of settings says may be told above it."""
        return next(
            (step.path for step in self.finding.trace if step.path.endswith((".py", ".ipynb"))), self.finding.path
        )

    @property
    def shared(self) -> int:
        """The number of steps that both ways share."""
        found = self.finding.details.get("parting", 0)
        return found if isinstance(found, int) else 0

    def further_up(self, back: int) -> OrderProblem:
        """Return the same problem, to be looked at in the file of a step that both ways share."""
        return OrderProblem(self.finding, self.files, self.release, back=back)

    def at(self, depth: int) -> OrderProblem:
        """Return the same problem, to be looked at in the file of a later step towards the start."""
        return OrderProblem(self.finding, self.files, self.release, depth)

    @cached_property
    def file(self) -> CodeFile:
        """Return the file in which the ways to the start and to the configuration part; or that of `depth`.

        Raises:
            Withheld: they part outside of the program's files.
        """
        if self.depth:
            step = self.early[self.depth]
            if _is_empty(step.span):
                raise Withheld("what starts the runtime is outside of the program's files")
            return self.files.get(step.path)
        if not self.early or not self.late:
            raise Withheld("what starts the runtime is not known")
        if self.early[0].path != self.late[0].path:
            raise Withheld("what starts the runtime and what configures it are reached from outside these files")
        file = self.files.get(self.early[0].path)
        if package := self._own_package(file.path):
            raise Withheld(f"{package} starts the runtime, and is imported before {file.path}, which is in its package")
        # What starts the runtime may be a decorator, whose step is the whole definition.
        if is_outside_file(self.late[0], file.tree) or _is_empty(self.early[0].span):
            raise Withheld(f"what {self.late[0].words} is outside of this file")
        return file

    def _own_package(self, path: str) -> str:
        """Return the ``__init__.py`` of a package around a file, if the way to the start is by its import; or ""."""
        for step, inner in pairwise(self.early):
            init = Path(inner.path)
            is_package = step.words.startswith("imports ") and init.name == "__init__.py" and inner.path != path
            if is_package and init.parent in Path(path).parents:
                return inner.path
        return ""

    @property
    def first(self) -> Span:
        """The place in `file` that leads to the start."""
        return self.early[self.depth].span

    @property
    def then(self) -> Span:
        """The place in `file` that leads to the configuration.

        Raises:
            Withheld: the ways part in another file.
        """
        if self.depth:
            raise Withheld("the configuration is reached from another file")
        return self.late[0].span

    @property
    def steps(self) -> list[Span]:
        """The places in `file`, one after the other, that lead to the configuration, before another file is entered."""
        if self.depth:
            return [step.span for step in self.late if step.path == self.file.path]
        return [step.span for step in takewhile(lambda step: step.path == self.file.path, self.late)]

    @property
    def why(self) -> tuple[str, str, str]:
        """The words of the comment that keeps configuration above imports."""
        return GPU_MEMORY_CONFIGURED if "called" in self.finding.details else ENVIRONMENT_SET

    def editor(self, file: CodeFile) -> Editor:
        """Return a rewrite of a file."""
        length = self.files.line_length_of(file.path)
        return Editor(file.source.text, self.release, line_length=length, tree=file.tree)

    def text_of(self, span: Span, file: CodeFile) -> str:
        """Return the first line of the statement at a place, for a message."""
        return headline(file, file.tree.statement_at(span))


def _is_empty(span: Span) -> bool:
    return (span.row, span.column) == (span.end_row, span.end_column)


def headline(file: CodeFile, statement: Statement, limit: int = 50) -> str:
    """Return the code of a statement as it reads in a message: its first line, shortened."""
    code = file.tree.code(statement)
    lines = [line.strip() for line in code.splitlines() if line.strip() and not line.strip().startswith("#")]
    line = lines[0] if lines else ""
    line = line.split("  #")[0].rstrip()
    return line if len(line) <= limit else f"{line[: limit - 4]} ..."


def describe(file: CodeFile, statement: Statement) -> str:
    """Return what a statement is, for a message: ``the import of nets``, ``main()``, ``the class Net``."""
    node = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
    match node:
        case cst.Import():
            return "the import of " + ", ".join(file.tree.code(alias.name) for alias in node.names)
        case cst.ImportFrom():
            module = "." * len(node.relative) + (file.tree.code(node.module) if node.module is not None else "")
            return f"the import of {module}"
        case cst.ClassDef(name=cst.Name(value=name)):
            return f"the class {name}"
        case cst.FunctionDef(name=cst.Name(value=name)):
            return f"the definition of {name}"
        case cst.Expr(value=cst.Call()):
            return headline(file, statement)
        case _:
            return f"line {file.tree.span(statement).row}"


def code_of(file: CodeFile, statement: Statement) -> str:
    """Return a statement with its comments, at the left margin."""
    return dedent(file.tree.code(statement)).strip("\n") + "\n"
