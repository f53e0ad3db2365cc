"""The run of one entry point: its events, what creates the GPU devices, and the settings in force then."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import takewhile
from typing import TypeVar

from tfmemlint.interpreter.program import Call, End, EnvWrite, Event, Program, RuntimeStart, SessionMade
from tfmemlint.interpreter.state import State, Tri
from tfmemlint.interpreter.values import Const, Device, OneOf, Seq, Value
from tfmemlint.knowledge.environment import ALLOCATORS_MEASURED_FROM
from tfmemlint.knowledge.functions import LIST_LOCAL, SESSION_LOOPS, SESSIONS
from tfmemlint.model.finding import Finding, Span, Step
from tfmemlint.model.records import dataclass
from tfmemlint.plans.model import Place
from tfmemlint.rulekit.explain import plain_options, written
from tfmemlint.sources.line_map import Rows

EventT = TypeVar("EventT", bound=Event)

IGNORING_TF_CONFIG = (LIST_LOCAL, "tf.test.is_gpu_available", "tf.test.gpu_device_name")
"""Functions that create the GPU devices with default options and ignore the settings of ``tf.config``. Seen in
TensorFlow's own allocator over a simulated driver; a session without a ``ConfigProto`` does not ignore them."""

_VERSION = re.compile(r"@\d+|[\w.]+@[\d.]+#[\d.]+|\w+=[\w.]+|\.\w+#\d+")


@dataclass(frozen=True)
class EntryRun:
    """The run of one entry point of a program.

    Attributes:
        name: ``module``, or the function.
        events: the events, in order.
        findings: the findings of the rules in the file.
        gpus: the number of GPUs, if it is given.
        memory: the MiB of each of them, if it is given.
        rows: the rows of the program's files.
    """

    program: Program
    name: str
    events: Sequence[Event]
    findings: Sequence[Finding] = ()
    gpus: int | None = None
    memory: float | None = None
    rows: Rows | None = None

    @cached_property
    def open(self) -> bool:
        """True if it is unknown what happened before: a function that nothing in the file calls."""
        return bool(self.events) and self.events[0].state.entry_unknown

    @cached_property
    def end(self) -> State:
        """The state at the end, or at the last event if the program is left on every path."""
        return self.events[-1].state if self.events else State()

    @property
    def has_gpus(self) -> bool:
        """False if no GPU is left that a setting could be about."""
        return self.end.max_gpus != 0

    @property
    def allocates_asynchronously(self) -> bool:
        """True if ``cuda_malloc_async`` is used on a release on which it was measured: it knows no limits."""
        name, target = "cuda_malloc_async", self.program.target
        return self.env("TF_GPU_ALLOCATOR") == name and ((target.major, target.minor) >= ALLOCATORS_MEASURED_FROM[name])

    @cached_property
    def made(self) -> RuntimeStart | None:
        """The event that creates the GPU devices: the start of the runtime, a session, ``device_lib``."""
        return next(
            (
                start
                for start in self.of(RuntimeStart)
                if start.what in ("context", "allocator") and self._counts(start)
            ),
            None,
        )

    def _counts(self, start: RuntimeStart) -> bool:
        """Return False if this start is only for machines without a GPU, in a program that also supports others."""
        return start.state.max_gpus != 0 or self.end.max_gpus == 0

    @cached_property
    def earlier(self) -> RuntimeStart | None:
        """The start of the runtime by the module, before this function can be called."""
        if not (self.open and self.events):
            return None
        state = self.events[0].state
        for phase in (state.context, state.allocator):
            if phase.has is Tri.YES and phase.by is not None:
                return phase.by
        return None

    @cached_property
    def makers(self) -> list[RuntimeStart]:
        """All events that create the GPU devices on some path, in order, if the first need not happen."""
        makers = [start for start in self.of(RuntimeStart) if start.what in ("context", "allocator")]
        makers = [start for start in makers if not start.repeated and not start.probed and self._counts(start)]
        sure = next((number for number, start in enumerate(makers) if start.certain), len(makers))
        return makers[: sure + 1]

    @cached_property
    def session(self) -> SessionMade | None:
        """The session that creates the GPU devices; if it depends which one does, one of several that are alike."""
        sessions = [self.session_of(start) for start in self.makers]
        options = [
            None if session is None or session.fields is None else plain_options(session.fields) for session in sessions
        ]
        alike = all(session is not None for session in sessions) and all(fields == options[0] for fields in options)
        return sessions[0] if sessions and alike else None

    def session_of(self, start: RuntimeStart) -> SessionMade | None:
        """Return the session that this start creates, or None if something else starts."""
        if (start.name not in SESSIONS and start.name not in SESSION_LOOPS) or start.what == "context":
            # A monitored session starts the eager context before the session itself exists.
            return None
        return next(
            (session for session in self.of(SessionMade) if session.span == start.span and not session.repeated), None
        )

    @cached_property
    def configured(self) -> bool:
        """True if the session that creates the GPU devices has its own ``ConfigProto``."""
        return self.session is not None and self.brings_options(self.session)

    def brings_options(self, session: SessionMade) -> bool:
        """Return True if a session has its own options, and so ignores those of ``tf.config``."""
        return self._is_configured(session) or self.is_bare(session)

    def is_bare(self, session: SessionMade) -> bool:
        """Return True for an ``InteractiveSession`` without a ``ConfigProto``: it creates one that asks for growth."""
        return session.name.endswith("InteractiveSession") and not self._is_configured(session)

    def grants(self, session: SessionMade) -> Value | None:
        """Return whether the options of a session that has its own ask for growth; None if that is unknown."""
        if self.is_bare(session):
            return Const(True)
        return None if session.fields is None else session.fields.get("gpu_options.allow_growth", Const(False))

    @cached_property
    def divided(self) -> RuntimeStart | None:
        """A session with its own ``ConfigProto`` that creates the GPU devices on some paths only."""
        if self.session is not None:
            return None
        for start in self.makers:
            session = self.session_of(start)
            if session is not None and self._is_configured(session) and plain_options(session.fields) != {}:
                return start
        return None

    def _is_configured(self, session: SessionMade) -> bool:
        if session.fields is None or session.fields:
            return True
        call = next((call for call in self.of(Call) if call.span == session.span), None)
        config = call.arg(2, "config") if call is not None else None
        return config is not None and config.value != Const(None)

    @cached_property
    def in_force(self) -> State:
        """The state that counts: the one from which the GPU devices are created if every run creates them, else the one
        at the end."""
        made = self.made
        return made.state if made is not None and (self.sure or not self._ended) else self.end

    @property
    def _ended(self) -> bool:
        return bool(self.events) and isinstance(self.events[-1], End)

    @cached_property
    def sure(self) -> bool:
        """True if every run reaches the event that creates the GPU devices."""
        return self.made is not None and self.made.certain and not self.made.probed

    @cached_property
    def ignores_tf_config(self) -> bool:
        """True if the settings of ``tf.config`` are ignored when the GPU devices are created."""
        return self.made is not None and self.sure and self.made.name in IGNORING_TF_CONFIG

    @cached_property
    def count(self) -> int | None:
        """The number of GPUs that TensorFlow lists, if the number of GPUs is given."""
        if self.gpus is None:
            return None
        if self.in_force.max_gpus == 0:
            return 0
        listed = listed_numbers(self.in_force)
        if listed is None:
            return self.gpus
        # CUDA reads up to the first number that no GPU has, and nothing if a number is there twice.
        gpus = self.gpus
        there = list(takewhile(lambda number: number < gpus, listed))
        return len(there) if len(set(there)) == len(there) else 0

    def of(self, kind: type[EventT]) -> Iterator[EventT]:
        """Yield the events of one class."""
        return (event for event in self.events if isinstance(event, kind))

    def env(self, name: str) -> object:
        """Return the value of a variable that the program sets in time for the GPU devices; None if it is unknown."""
        value: Value | None = self.in_force.env.get(name)
        return value.value if isinstance(value, Const) else None

    def may_be(self, name: str, text: str) -> bool:
        """True if a variable may have this value, or another one, as the program decides when it runs."""
        value: Value | None = self.in_force.env.get(name)
        return isinstance(value, OneOf) and text in value.options

    def env_row(self, name: str) -> int | None:
        """Return the row that sets this variable to the value in force."""
        value = self.in_force.env.get(name)
        rows = [write.span.row for write in self.of(EnvWrite) if write.name == name and write.value == value]
        return rows[0] if rows else None

    def place(self, event: Event, span: Span | None = None) -> Place:
        """Return the place of an event, with the calls that lead to it."""
        where = span or event.span
        text = (self.rows or self.program.source).segment(where)
        return Place(where, written(text), tuple(_frame(frame) for frame in event.frames))


def numbers_of(value: Value, of_type: str = "") -> list[int] | None:
    """Return the numbers of one device, or of a list of them, all ``of_type``; None if some are unknown."""
    items: tuple[Value, ...] = value.items if isinstance(value, Seq) else (value,)
    devices = [item for item in items if isinstance(item, Device) and not item.each]
    found = [
        device.index for device in devices if isinstance(device.index, int) and (not of_type or device.type == of_type)
    ]
    return found if len(found) == len(items) else None


def listed_numbers(state: State) -> list[int] | None:
    """Return the machine's numbers of the GPUs that ``CUDA_VISIBLE_DEVICES``, set in time, leaves; None if it is
    unknown or unset. TensorFlow numbers them from 0."""
    value = state.cuda_visible_devices.value if isinstance(state.cuda_visible_devices, Const) else None
    if not isinstance(value, str) or not re.fullmatch(r"\s*\d+\s*(,\s*\d+\s*)*", value):
        return None
    return [int(number) for number in value.split(",")]


def _frame(step: Step) -> tuple[int, str]:
    return step.span.row, step.words


def conditions(event: Event) -> list[str]:
    """Return the conditions of an event, as they are written."""
    shown = []
    for text, outcome in event.guards:
        words = text.split(" ")
        while len(words) > 1 and _VERSION.fullmatch(words[-1]):
            words.pop()
        plain = " ".join(" ".join(words).split())
        shown.append(plain if outcome else f"not ({plain})" if " " in plain else f"not {plain}")
    return list(dict.fromkeys(shown))
