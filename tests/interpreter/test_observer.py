"""What an observer is told of an analysis."""

from __future__ import annotations

from textwrap import dedent

from tfmemlint.interpreter import analyze
from tfmemlint.interpreter.observer import Decision, ImportOutcome, Origin, Reason, Surrender
from tfmemlint.interpreter.program import Call, Event
from tfmemlint.interpreter.state import State
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Span
from tfmemlint.sources import Source


class Log:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.events: list[Event] = []
        self.branches: list[tuple[int, str, Decision, Reason]] = []
        self.unknowns: list[tuple[str, str]] = []
        self.surrenders: list[tuple[int | None, Surrender, str]] = []
        self.imports: list[tuple[str, ImportOutcome]] = []

    def statement(self, path: str, span: Span, state: State) -> None:
        assert path == "program.py"
        self.rows.append(span.row)

    def event(self, event: Event) -> None:
        self.events.append(event)

    def branch(self, path: str, span: Span, test: str, decision: Decision, reason: Reason) -> None:
        self.branches.append((span.row, test, decision, reason))

    def unknown(self, path: str, span: Span, text: str, origin: Origin) -> None:
        self.unknowns.append((text, f"{origin.span.row}: {origin.text} {origin.why}"))

    def gave_up(self, path: str, span: Span | None, what: Surrender, detail: str) -> None:
        self.surrenders.append((span.row if span is not None else None, what, detail))

    def imported(self, path: str, span: Span, name: str, outcome: ImportOutcome) -> None:
        self.imports.append((name, outcome))


def watched(code: str) -> Log:
    log = Log()
    source = Source("program.py", dedent(code))
    program = analyze(source, Target.newest(), observer=log)
    unwatched = analyze(source, Target.newest())
    assert [type(event) for event in program.events] == [type(event) for event in unwatched.events]
    return log


def test_statements_are_told_in_the_order_in_which_they_run() -> None:
    log = watched("""\
        def grow():
            x = 1
            return x
        y = 2
        grow()
        """)
    assert log.rows == [1, 4, 5, 2, 3]


def test_events_are_told_as_they_happen() -> None:
    log = watched("""\
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        """)
    assert [event.name for event in log.events if isinstance(event, Call)] == ["tf.config.list_physical_devices"]


def test_a_known_test_takes_one_branch() -> None:
    log = watched("""\
        debug = False
        if debug:
            a = 1
        else:
            b = 2
        """)
    assert log.branches == [(2, "debug", Decision.NOT_TAKEN, Reason.KNOWN)]
    assert log.rows == [1, 2, 5]


def test_an_unknown_test_takes_both_branches() -> None:
    log = watched("""\
        import sys
        if sys.argv[1]:
            a = 1
        """)
    assert log.branches == [(2, "sys.argv[1]", Decision.BOTH, Reason.UNKNOWN)]


def test_that_there_are_gpus_is_assumed() -> None:
    log = watched("""\
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        if gpus:
            a = 1
        """)
    assert log.branches == [(3, "gpus", Decision.TAKEN, Reason.ASSUMED)]


def test_second_passes_and_handlers_are_told() -> None:
    log = watched("""\
        for number in whatever():
            a = number
        try:
            b = a
        except ValueError:
            pass
        try:
            raise KeyError
        except KeyError:
            c = 1
        """)
    assert (1, "whatever()", Decision.BOTH, Reason.LOOP_MAY_END) in log.branches
    assert (5, "except ValueError", Decision.NOT_TAKEN, Reason.MAY_RAISE) in log.branches
    assert (9, "except KeyError", Decision.BOTH, Reason.RAISED) in log.branches


def test_what_is_given_up_on_is_told() -> None:
    log = watched("""\
        import tensorflow as tf
        def grow(again):
            tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)
            grow(again)
        UNKNOWN_THING = {}["x"]
        UNKNOWN_THING(grow)
        grow(UNKNOWN_THING)
        """)
    told = {(row, what) for row, what, _ in log.surrenders}
    assert (6, Surrender.UNKNOWN_CALLEE) in told
    assert (6, Surrender.PASSED_ON) in told
    assert (6, Surrender.HAVOC) in told
    assert (4, Surrender.RECURSION) in told


def test_imports_of_a_file_alone_are_not_followed() -> None:
    log = watched("import os, settings")
    assert log.imports == [("os", ImportOutcome.NOT_FOLLOWED), ("settings", ImportOutcome.NOT_FOLLOWED)]


def test_a_value_that_is_not_known_is_told_with_its_origin() -> None:
    log = watched("""\
        import os
        import tensorflow as tf
        def megabytes(gigabytes):
            size = gigabytes * 1024
            return size
        def limit(share):
            tf.config.LogicalDeviceConfiguration(memory_limit=share)
        settings = load()
        name, number = settings
        if number:
            mode = 1
        else:
            mode = 2
        limit(settings.memory)
        tf.config.LogicalDeviceConfiguration(memory_limit=megabytes(settings.memory))
        tf.config.LogicalDeviceConfiguration(memory_limit=mode)
        if mode == 1:
            pass
        """)
    settings = "8: load() is a call whose result is not known"
    assert ("number", settings) in log.unknowns
    assert ("share", "7: share is an argument of limit(), which the call in line 14 gives") in log.unknowns
    assert (
        "megabytes(settings.memory)",
        "4: gigabytes is an argument of megabytes(), which the call in line 15 gives",
    ) in (log.unknowns)
    assert any(
        text == "mode" and why.startswith("16: mode was bound in line 13; since then") for text, why in log.unknowns
    )


def test_a_value_that_is_known_again_has_no_origin() -> None:
    log = watched("""\
        import tensorflow as tf
        limit = load()
        limit = 4096
        tf.config.LogicalDeviceConfiguration(memory_limit=limit)
        """)
    assert log.unknowns == []
