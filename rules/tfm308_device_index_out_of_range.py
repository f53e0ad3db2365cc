"""TFM308: a GPU is named by a number that TensorFlow does not give it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import function_around
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import Call, DeviceAt, EnvWrite, Event
from tfmemlint.interpreter.state import State
from tfmemlint.interpreter.state.numbering import (
    container_gpus,
    hides_some,
    logical_gpus,
    machine_gpus,
    with_enough_gpus,
)
from tfmemlint.interpreter.state.options import NumberTested
from tfmemlint.interpreter.values import EACH, Const, Devices, NumberedName, Seq
from tfmemlint.knowledge.device_names import logical_gpu
from tfmemlint.knowledge.functions import MEMORY_CALLS
from tfmemlint.knowledge.variables import CONTAINER, VISIBLE
from tfmemlint.model.finding import AT_LAUNCHES, LAUNCHED, Finding, Severity, Span, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.records import dataclass
from tfmemlint.rulekit.explain import file_trace, handler_notes, in_line, line, short
from tfmemlint.rulekit.number_carried import numbers_carried
from tfmemlint.rulekit.number_twice import numbers_used_twice
from tfmemlint.rulekit.numbers_from_one import numbers_from_one
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Arg, Program
    from tfmemlint.interpreter.values import Value

_PLACES = ("tf.device", "tf.distribute.OneDeviceStrategy")
_STRATEGIES = ("tf.distribute.MirroredStrategy",)
_SHOWING = ("tf.config.set_visible_devices", "tf.config.experimental.set_visible_devices")
_KEYWORDS = {"tf.device": "device_name", **dict.fromkeys(_STRATEGIES, "devices")}
"""The names of the parameters for the device; in all other functions it is "device"."""
_PAST = {
    "item": "Python raises IndexError: list index out of range there",
    "slice": "works on the CPU",
    "variable": "works on the CPU",
    "name": "TensorFlow quietly takes another device",
}
_QUIET = "TensorFlow finds no such device, and quietly takes another one; without soft placement it raises"


class DeviceIndexOutOfRange(Rule):
    """A GPU is named by a number that TensorFlow does not give it.

    What it does
    ------------
    Finds ``gpus[2]``, ``tf.device("/GPU:2")`` and the like in programs that set ``CUDA_VISIBLE_DEVICES``, or call
    ``set_visible_devices``, so that fewer GPUs are left; and loops that count GPUs from 1. TensorFlow numbers the GPUs
    that it sees from 0: with ``"2"`` the machine's GPU 2 is TensorFlow's GPU 0, and with ``gpus[1]`` alone visible that
    one is ``GPU:0``. Where the number is not known, the same one in both places is found:
    ``CUDA_VISIBLE_DEVICES = str(args.gpu)`` and ``gpus[args.gpu]``, or ``set_visible_devices(gpus[args.gpu], "GPU")``
    and ``f"GPU:{args.gpu}"``. The variable may also be set where a Dockerfile, script, compose file, workflow, or
    another program (``subprocess.Popen(..., env=...)``) starts this one.

    Finds numbers of worker processes that count from 1, where a worker chooses its GPU by its number:
    ``current_process()._identity[0]``, the end of ``current_process().name``, and ``range(1, workers + 1)`` in the
    program, where there are as many workers as GPUs, or where nothing else of the program uses a GPU.

    Why it matters
    --------------
    ``gpus[2]`` raises an IndexError. ``tf.device("/GPU:2")`` raises nothing: by default, TensorFlow silently places the
    work on another device.

    Example
    -------
    ```python
    import os

    os.environ["CUDA_VISIBLE_DEVICES"] = "2"
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    tf.config.experimental.set_memory_growth(gpus[2], True)
    ```

    Use instead
    -----------
    ```python
    import os

    os.environ["CUDA_VISIBLE_DEVICES"] = "2"
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.experimental.set_memory_growth(gpus[0], True)
    ```

    Seen as
    -------
    ``IndexError: list index out of range``, or ``ValueError: No matching devices found for 'GPU:2'``
    """

    code = "TFM308"
    name = "device-index-out-of-range"
    severity = Severity.ERROR
    triggers = ("VISIBLE_DEVICES", "(?:logical|physical|visible|virtual)_device", "memory_(?:info|usage|stats)")
    launch_triggers = ("(?i:gpu:[1-9])",)
    whole_program = True
    fixable = "sometimes"
    sees_launch_environment = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Numbers of GPUs beyond those that the program itself has left."""
        sets = [write for write in program.of(EnvWrite) if write.name == VISIBLE]
        seen: set[Span] = set()
        by_env = bool(sets) and not any(write.how == "setdefault" for write in sets)
        twice = {finding.span: finding for finding in self._numbers_used_twice(program)}
        if twice and program.started:
            # The number that is known in such a run is one that is wrong whatever it is: that is reported anyhow.
            yield from twice.values()
            return
        found = (*self._found(program, by_env), *self._numbered_as_before(program), *twice.values())
        for finding in (*found, *self._of_workers(program)):
            if finding.span not in seen and not (
                finding.span not in twice and self._is_made_by(program, finding, twice)
            ):
                seen.add(finding.span)
                same = twice.get(finding.span, finding)
                # 0 is right for each number that chooses the only GPU, known or not.
                yield replace(finding, details={**finding.details, **same.details}, fixable=same.fixable)

    def _found(self, program: Program, by_env: bool) -> Iterator[Finding]:
        for event in program.events:
            if isinstance(event, DeviceAt):
                error = "IndexError: list index out of range"
                if event.beyond:
                    text = f"{event.text}[...]"
                    yield from self._beyond(program, event, event.beyond, event.key, error, event.text, text)
                elif event.kind == "visible":
                    yield from self._beyond(program, event, 0, event.key, error, event.text, f"{event.text}[...]")
                elif event.index >= 0 and event.of is not None:
                    found = self._judge(program, event, by_env, event.index, event.key, error, event.kind)
                    trace = file_trace(event.of, event, event.key)
                    for finding in found:
                        yield replace(finding, severity=Severity.WARNING, trace=trace, fixable=False)
                elif event.index >= 0:
                    yield from self._judge(program, event, by_env, event.index, event.key, error, event.kind)
            elif isinstance(event, Call) and event.name in (*_PLACES, *MEMORY_CALLS, *_STRATEGIES):
                yield from self._named(program, event, by_env)
            elif isinstance(event, Call) and event.name in _SHOWING:
                yield from self._sliced(program, event, by_env)
            elif isinstance(event, NumberTested) and by_env:
                yield from self._tested(program, event)

    def _tested(self, program: Program, event: NumberTested) -> Iterator[Finding]:
        """A number of the machine's that is compared with the count of the GPUs that the variable leaves."""
        left = _left(event.state, True, "physical")
        meant = left.numbers.get(event.index) if left is not None else None
        if left is None or meant is None or event.index < left.count:
            return
        yield self.finding(
            program,
            event,
            f"{left.words(event)}: {left.whose} {event.index} is TensorFlow's GPU {meant}",
            span=event.key,
            severity=Severity.WARNING,
            intent=Intent(Purpose.OTHER, text=f"GPU {event.index}"),
            outcome=f"Nothing is raised; the test keeps the program from {event.text}, and nothing is configured",
            advice=f"Make it {meant}",
            fixable=False,
        )

    def _sliced(self, program: Program, call: Call, by_env: bool) -> Iterator[Finding]:
        """A slice of the listing, to be visible, that begins behind the last of the GPUs that are left."""
        place = call.arg(0, "devices")
        if place is not None and isinstance(place.value, Devices) and place.value.skip > 0:
            outcome = f"{place.text} is empty: TensorFlow gets no GPU, and works on the CPU"
            for found in self._judge(program, call, by_env, place.value.skip, place.span, "", "physical", outcome):
                only = found.details[AT_LAUNCHES] == "one GPU"
                yield replace(
                    found,
                    outcome=outcome,
                    severity=Severity.WARNING,
                    advice="Take the first GPU, by [:1]" if only else found.advice,
                    fixable=only and isinstance(place.node, ast.Subscript),
                    details={**found.details, "sliced": True, "only": only},
                )

    def _named(self, program: Program, call: Call, by_env: bool) -> Iterator[Finding]:
        place = call.arg(0, _KEYWORDS.get(call.name, "device"))
        if place is None:
            return
        if isinstance(place.value, NumberedName):
            if call.name in (*MEMORY_CALLS, *_PLACES) and logical_gpu(f"{place.value.prefix}0") is not None:
                yield from self._numbered(program, call, place, place.value)
            return
        names = place.value.items if isinstance(place.value, Seq) else (place.value,)
        for name in names:
            text = name.value if isinstance(name, Const) else None
            number = logical_gpu(text)
            if number is None:
                continue
            error = f"ValueError: No matching devices found for {text!r}" if call.name in MEMORY_CALLS else ""
            found = list(self._judge(program, call, by_env, number, place.span, error, "logical", str(text), names))
            if found:
                yield from found[:1]
                return

    def _numbered(self, program: Program, call: Call, place: Arg, name: NumberedName) -> Iterator[Finding]:
        """A name with the number of a device in a loop: too large by an offset, or for the GPUs that are visible."""
        shown_name, index = f"{name.prefix}<i>", name.index
        error = f"ValueError: No matching devices found for '{shown_name}'" if call.name in MEMORY_CALLS else ""
        if index.offset > 0:
            if index.device.kind == "logical" or not call.state.limits:
                # A GPU that is split has several numbers.
                yield from self._beyond(program, call, index.offset, place.span, error, "the list", place.text)
            return
        logical, shows = logical_gpus(call.state), call.state.visible.by if call.state.visible is not None else None
        every = index.device.kind == "physical" and index.device.index in (EACH, -1)
        fewer = (logical is not None and logical.by is not None) or hides_some(call.state)
        if every and index.offset == 0 and fewer and shows is not None and not call.state.limits:
            left = "fewer visible"
            if logical is not None:
                verb = "is" if logical.count == 1 else "are"
                left = f"{_many(logical.count)} visible: the last of them {verb} 'GPU:{logical.count - 1}'"
            yield self.finding(
                program,
                call,
                f"{place.text} counts all physical GPUs, of which {short(shows.name)} {in_line(shows)} leaves {left}",
                span=place.span,
                severity=Severity.WARNING,
                intent=Intent(Purpose.OTHER, text=f"each GPU for {short(call.name)}"),
                outcome=f"With more GPUs TensorFlow raises {error}" if error else _QUIET,
                advice="Go through tf.config.list_logical_devices('GPU'), and use the name of each",
                notes=handler_notes(call, "ValueError", "the GPU is never used") if error else (),
                fixable=False,
                details={"meant": None},
            )

    def _numbers_used_twice(self, program: Program) -> Iterator[Finding]:
        for write, item, number, place in (*numbers_used_twice(program), *numbers_carried(program)):
            text = program.source.segment(program.source.span(item))
            named = not isinstance(item, ast.Subscript)
            by = short(write.name) if isinstance(write, Call) else VISIBLE
            found = f"{text} names no GPU" if named else f"{text} is past the end"
            yield self.finding(
                program,
                write,
                f"{by} leaves one GPU, numbered from 0: {found} unless {number} is 0",
                span=place,
                severity=Severity.WARNING,
                intent=Intent(Purpose.OTHER, text="the GPU of that number"),
                outcome=_outcome_of(program, item),
                advice="Count the remaining GPUs from 0",
                trace=(Step(write.path, write.span, f"{by} leaves one GPU"),),
                details={"number": number, "named": named},
            )

    def _is_made_by(self, program: Program, finding: Finding, others: Mapping[Span, Finding]) -> bool:
        """True if a call of a function gives a name that is found in the function."""
        text = program.source.segment(finding.span) if finding.path == program.source.path else ""
        name = text.partition("(")[0].rpartition(".")[2]
        if not text.endswith(")") or not name.isidentifier():
            return False
        return any(
            function is not None and function.name == name
            for function in (function_around(program.tree, span.row) for span in others)
        )

    def _of_workers(self, program: Program) -> Iterator[Finding]:
        """Numbers of worker processes, which count from 1."""
        for number in numbers_from_one(program):
            source, choice = program.source, number.choices[0]
            place = source.span(choice.place)
            outcome = "GPU 0 gets no worker"
            if number.past:
                outcome += f"; the last worker gets no GPU, and {_PAST[choice.how]}"
            yield self.finding(
                program,
                Event(path=source.path, span=place, statement=place, state=State()),
                f"GPUs are numbered from 0: {source.segment(source.span(choice.number))} counts the workers from 1",
                span=place,
                severity=Severity.WARNING,
                intent=Intent(Purpose.OTHER, text="a GPU for each worker"),
                outcome=outcome,
                advice="Subtract 1",
                trace=(
                    Step(source.path, source.span(number.counts), "counts from 1"),
                    Step(source.path, place, "chooses a GPU by this number"),
                ),
                anchors={f"number{each}": source.span(chosen.number) for each, chosen in enumerate(number.choices)}
                | {f"end{each}": source.span(chosen.end) for each, chosen in enumerate(number.choices) if chosen.end},
                details={"worker": True},
            )

    def _numbered_as_before(self, program: Program) -> Iterator[Finding]:
        """Names that begin with the number that the first GPU had before, or with 1, of GPUs numbered from 0 anew.

        There may be more GPUs than that, so that the last name is one's; but then the first one is left idle.
        """
        named: dict[Call, list[tuple[int, Call, Arg]]] = {}
        for call in program.calls(*_PLACES, *MEMORY_CALLS, *_STRATEGIES):
            place, setting = call.arg(0, _KEYWORDS.get(call.name, "device")), _numbers_anew(call.state)
            if place is not None and setting is not None:
                for number in _numbers_in(place.value):
                    named.setdefault(setting, []).append((number, call, place))
        for setting, uses in named.items():
            numbers = sorted({number for number, _, _ in uses})
            first, count = _first_and_count(uses[0][1].state)
            if len(numbers) < 2 or numbers != list(range(first, first + (count or len(numbers)))):
                continue
            _, call, place = max(uses, key=lambda use: use[0])
            error = (
                f"ValueError: No matching devices found for 'GPU:{numbers[-1]}'" if call.name in MEMORY_CALLS else ""
            )
            yield self.finding(
                program,
                call,
                f"GPUs are numbered from 0: {short(setting.name)} {in_line(setting)} makes 'GPU:0' of the first one, "
                f"and the names here begin with 'GPU:{first}'",
                span=place.span,
                severity=Severity.WARNING,
                intent=Intent(Purpose.OTHER, text=f"GPU {numbers[-1]}{_purpose(call)}"),
                outcome=f"Where there are no more GPUs, TensorFlow raises {error}" if error else _QUIET,
                advice="Count the remaining GPUs from 0",
                notes=handler_notes(call, "ValueError", "the GPU is never used") if error else (),
                fixable=False,
                details={"meant": None},
            )

    def _beyond(
        self, program: Program, event: Event, beyond: int, span: Span, error: str, listed: str, text: str
    ) -> Iterator[Finding]:
        """A number that is ``beyond`` the last device's, however many there are; 0 where it is a known number."""
        exception = error.partition(":")[0]
        if isinstance(event, DeviceAt) and event.state.max_gpus == 0:
            return
        quiet = not error
        caught = quiet or event.handler_for(exception) is not None
        raises = "TensorFlow" if exception == "ValueError" else "Python"
        yield self.finding(
            program,
            event,
            f"GPUs are numbered from 0: the last number here is past the end of {listed}",
            span=span,
            severity=Severity.WARNING if caught else Severity.ERROR,
            intent=Intent(Purpose.OTHER, text=text),
            outcome=_QUIET if quiet else f"{raises} raises {error}",
            advice="Count from 0: range(len(gpus)), enumerate(gpus)",
            notes=() if quiet else handler_notes(event, exception, "the last GPU is never used"),
            fixable=beyond > 0,
            details={"meant": None, "beyond": beyond, "caught": not quiet and caught, "quiet": quiet},
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write the number that TensorFlow gives the GPU, or count from 0."""
        from tfmemlint.fixes.rewrites import count_from_zero, env_variables

        details = finding.details
        if details.get("worker"):
            count_from_zero.subtract_one(editor, finding)
        elif details.get("number") or (details.get("only") and (details.get(LAUNCHED) or details.get("sliced"))):
            env_variables.write_zero(editor, finding)
        elif details.get("beyond"):
            count_from_zero.count_from_zero(editor, finding)
        else:
            env_variables.renumber_gpu(editor, finding)

    def _judge(
        self,
        program: Program,
        event: Event,
        by_env: bool,
        index: int,
        span: Span,
        error: str,
        kind: str,
        text: str = "",
        names: Sequence[Value] = (),
    ) -> Iterator[Finding]:
        state = with_enough_gpus(event.state)
        left = _left(state, by_env, kind)
        quiet = isinstance(event, Call) and event.name in (*_PLACES, *_STRATEGIES)
        if left is None or index < left.count or (quiet and left.count == 0):
            return
        if kind != "logical" and state.min_gpus > index:
            return
        with_it = left.by.guards if left.by is not None else ()
        if any("len(" in guard[0] and guard not in with_it for guard in event.guards):
            return
        exception = error.partition(":")[0]
        caught = bool(error) and event.handler_for(exception) is not None
        meant = left.numbers.get(index)
        written = program.source.segment(span) if event.path == program.source.path else ""
        now = f"{left.whose} {index} is TensorFlow's GPU {meant}" if meant is not None else f"there is no GPU {index}"
        sure = event.certain and not caught and not quiet and not state.entry_unknown
        literal = str(index) in written
        only = meant == 0 and left.count == 1
        yield self.finding(
            program,
            event,
            f"{left.words(event)}: {now}",
            span=span,
            severity=Severity.ERROR if sure else Severity.WARNING,
            intent=Intent(Purpose.OTHER, text=f"GPU {index}{_purpose(event)}"),
            outcome=_QUIET if quiet else f"{'TensorFlow' if text else 'Python'} raises {error}",
            advice=left.advice(index, meant, literal=literal),
            notes=handler_notes(event, exception, "the GPU is never used") if error else (),
            fixable=len(names) < 2,
            details={
                "index": index,
                "meant": meant,
                "text": text,
                "caught": caught,
                "quiet": quiet,
                "only": only and not literal,
                AT_LAUNCHES: "one GPU" if only else "same GPUs" if literal else "",
            },
        )


@dataclass(frozen=True, slots=True)
class _Left:
    """The GPUs that are left: how many, their numbers by what they were numbered before, whose numbers those are, and
    the call, or the variable, its value and name, that leaves them."""

    count: int
    numbers: Mapping[int, int]
    whose: str
    by: Call | None
    variable: str | None
    name: str

    def words(self, event: Event) -> str:
        """Return the words for the setting that leaves no more GPUs."""
        only = "no GPU" if not self.count else f"{_many(self.count)}, numbered from 0"
        if self.variable is not None:
            return f"{self.name}={self.variable!r} leaves {only}"
        return f"In {line(self.by)} {short(self.by.name)} leaves {only}" if self.by else only

    def advice(self, index: int, meant: int | None, *, literal: bool = True) -> str:
        """Return the advice."""
        if meant is not None:
            return f"Write {meant}" if literal else f"Make it {meant}"
        if self.variable is not None and self.count:
            return f"Name GPU {index} in {self.name} as well"
        return "Check first whether the list has a GPU" if not self.count else "Count the remaining GPUs from 0"


def _outcome_of(program: Program, item: ast.expr) -> str:
    """Return the effect of a number that no GPU has: of an item of a listing, or of a name."""
    if isinstance(item, ast.Subscript):
        return "Python raises IndexError: list index out of range"
    for node in all_nodes(program.tree):
        if isinstance(node, ast.Call) and item in node.args:
            function = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if function in {short(name) for name in MEMORY_CALLS}:
                return "TensorFlow raises ValueError: No matching devices found"
    return _QUIET


def _numbers_anew(state: State) -> Call | None:
    """Return the call that numbers the GPUs anew: it hides the first ones, or it splits the first one."""
    if state.visible is not None:
        shown = state.visible.value
        return state.visible.by if isinstance(shown, Devices) and shown.skip and not state.limits else None
    split = state.limits.get(0)
    whole = split is not None and len(state.limits) == 1 and isinstance(split.value, Seq) and len(split.value.items) > 1
    return split.by if whole and split is not None and not split.either else None


def _first_and_count(state: State) -> tuple[int, int | None]:
    """Return the number that GPUs that are numbered anew may be thought to begin with, and how many these are."""
    if state.visible is not None and isinstance(state.visible.value, Devices):
        return state.visible.value.skip, None
    split = state.limits[0].value
    return 1, len(split.items) if isinstance(split, Seq) else None


def _numbers_in(place: Value) -> Iterator[int]:
    """Yield the numbers of the GPUs that an argument names."""
    for name in place.items if isinstance(place, Seq) else (place,):
        number = logical_gpu(name.value) if isinstance(name, Const) else None
        if number is not None:
            yield number


def _left(state: State, by_env: bool, kind: str) -> _Left | None:
    """The GPUs that are left of those that a number may mean; None where that isn't known."""
    machine, name = machine_gpus(state) if by_env else None, VISIBLE
    variable = state.cuda_visible_devices.value if isinstance(state.cuda_visible_devices, Const) else None
    if state.cuda_visible_devices is None:
        machine, name = container_gpus(state), CONTAINER
    by_machine = {int(number): place for place, number in enumerate(machine or ())}
    if kind == "logical" and state.visible is not None:
        logical = logical_gpus(state)
        if logical is None or logical.by is None:
            return None
        split = logical.count != len(logical.starts)
        return _Left(logical.count, {} if split else logical.starts, "the physical GPU", logical.by, None, "")
    if machine is None or (kind == "logical" and state.limits):
        return None
    return _Left(len(machine), by_machine, "the machine's GPU", None, ",".join(machine) or str(variable), name)


def _purpose(event: Event) -> str:
    return f" for {short(event.name)}" if isinstance(event, Call) else ""


def _many(count: int) -> str:
    return "GPU 0 only" if count == 1 else f"GPUs 0 to {count - 1} only"
