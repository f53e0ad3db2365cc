"""Analyze the program that starts in a file as ``check`` does, and record each step."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.debug.steps import Step, StepRecorder
from tfmemlint.engine.programs import setup_of
from tfmemlint.interpreter import analyze
from tfmemlint.interpreter.unit import EntrySetup
from tfmemlint.sources import Source, decode

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch
    from tfmemlint.engine.context import Context
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
        gave_up: where the program was not followed, in words.
        sources: the texts of its files, by their paths in ``steps``.
    """

    path: str
    target: str
    entry: str
    launch: Launch | None
    steps: list[Step]
    gave_up: list[str] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)


def record_runs(item: Item, context: Context) -> Iterator[Run]:
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
