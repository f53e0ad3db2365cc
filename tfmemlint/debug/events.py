"""Analyze the program that starts in a file as ``check`` does, and record each step."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from tfmemlint.debug.steps import Step, StepRecorder
from tfmemlint.engine.programs import setup_of
from tfmemlint.interpreter import analyze
from tfmemlint.interpreter.unit import EntrySetup
from tfmemlint.model.records import dataclass
from tfmemlint.sources import Source, decode

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.item import Item


@dataclass(frozen=True, slots=True)
class Run:
    """The analysis of a program that is started in one way.

    Attributes:
        path: the file that it starts in.
        target: the release that it is judged for.
        entry: how it is run, in words.
        launch: the configuration file that starts it; None for a start by hand.
        steps: what the interpreter did, in order.
        gave_up: the places at which the analysis stopped following the program, in words.
        sources: the texts of its files, by their paths in ``steps``.
    """

    path: str
    target: str
    entry: str
    launch: Launch | None
    steps: list[Step]
    gave_up: list[str] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)
    _functions: dict[str, list[tuple[str, tuple[int, int]]]] = field(default_factory=dict)

    def function_at(self, path: str, row: int) -> str:
        """Return the qualified name of the innermost function that a line is in; "" for none."""
        if path not in self._functions:
            self._functions[path] = functions(self.sources[path]) if path in self.sources else []
        around = [(first, name) for name, (first, last) in self._functions[path] if first < row <= last]
        return max(around, default=(0, ""))[1]


def functions(source: Source) -> list[tuple[str, tuple[int, int]]]:
    """Return the functions of a file by their qualified names (``Trainer.fit``), with their first and last rows."""
    found = []
    pending: list[tuple[ast.AST, str]] = [(ast.parse(source.text), "")]
    while pending:
        node, owner = pending.pop()
        for child in ast.iter_child_nodes(node):
            qualified = owner
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                qualified = f"{owner}.{child.name}".lstrip(".")
                if not isinstance(child, ast.ClassDef):
                    found.append((qualified, (child.lineno, child.end_lineno or child.lineno)))
            pending.append((child, qualified))
    return found


def record_runs(item: Item, context: RunContext) -> Iterator[Run]:
    """Yield the analysis of the program that starts in a file: by hand, and by each configuration file that starts it.

    Raises:
        Unreadable: the file is no text.
        SyntaxError, ValueError: it isn't Python 3.
        RecursionError: it is nested too deeply.
    """
    assert item.data is not None
    source = decode(item.path, item.data)
    target = context.target_of(item.path)
    for launch in (None, *context.launches_of(item.path)):
        setup, entry = None, "by itself: its imports are not followed"
        if item.entry is not None:
            module = context.modules.get(item.entry.path)
            if module is not None:
                setup = setup_of(item.entry, module, context)
                entry = f"with the modules of its project, as a {item.entry.kind.value}"
        if launch is not None:
            setup = dataclasses.replace(setup or EntrySetup(None), environment=launch.writes)
        recorder = StepRecorder()
        program = analyze(source, target, setup, recorder)
        sources = {source.path: source}
        for path in {step.path for step in recorder.steps} - {source.path}:
            module = context.modules.get(path)
            if module is not None:
                sources[path] = module.source
        yield Run(item.path, str(target), entry, launch, recorder.steps, list(program.gave_up), sources)
