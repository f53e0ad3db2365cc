"""One entry point: its events, what makes the GPU devices, and what is in force then."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import TypeVar

from tfmemlint.interpreter.program import Call, End, EnvWrite, Event, Program, RuntimeStart, SessionMade
from tfmemlint.interpreter.state import State, Tri
from tfmemlint.interpreter.values import Const, Device, Seq, Value
from tfmemlint.knowledge.functions import LIST_LOCAL, SESSIONS
from tfmemlint.model.finding import Finding, Span, Step
from tfmemlint.plan.model import Place
from tfmemlint.rulekit.explain import plain_options, written
from tfmemlint.sources.line_map import Rows

EventT = TypeVar("EventT", bound=Event)

BLIND = (LIST_LOCAL, "tf.test.is_gpu_available", "tf.test.gpu_device_name")
"""These make the GPU devices with default options, without a look at the settings of ``tf.config``. Seen in
TensorFlow's own allocator over a simulated driver; a session without a ``ConfigProto`` does look at them."""

_VERSIONS = re.compile(r"(?: @\d+| [\w.]+@[\d.]+#[\d.]+)+$")


@dataclass(frozen=True)
class Scene:
    """One entry point of a program.

    Attributes:
        name: ``module``, or the function. events: what happens, in order. findings: what the rules say of the file.
        gpus: how many GPUs there are, where that is told. memory: the MiB of each of them, where that is told.
        rows: of the program's files.
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
        """Whether it isn't known what came before: a function that nothing in the file calls."""
        return bool(self.events) and self.events[0].state.entry_unknown

    @cached_property
    def end(self) -> State:
        """The state at the end, or at the last event where the program is left on every way."""
        return self.events[-1].state if self.events else State()

    @cached_property
    def made(self) -> RuntimeStart | None:
        """What makes the GPU devices: the start of the runtime, a session, ``device_lib``."""
        return next(
            (one for one in self.of(RuntimeStart) if one.what in ("context", "allocator") and self._counts(one)), None
        )

    def _counts(self, start: RuntimeStart) -> bool:
        """Whether this is not only for machines without a GPU, in a program that is for others too."""
        return start.state.max_gpus != 0 or self.end.max_gpus == 0

    @cached_property
    def earlier(self) -> RuntimeStart | None:
        """What the module starts before this function can be called."""
        if not (self.open and self.events):
            return None
        state = self.events[0].state
        for phase in (state.context, state.allocator):
            if phase.has is Tri.YES and phase.by is not None:
                return phase.by
        return None

    @cached_property
    def makers(self) -> list[RuntimeStart]:
        """All that makes the GPU devices on some way, one behind another where the first need not happen."""
        makers = [one for one in self.of(RuntimeStart) if one.what in ("context", "allocator")]
        makers = [one for one in makers if not one.repeated and not one.probed and self._counts(one)]
        sure = next((number for number, one in enumerate(makers) if one.certain), len(makers))
        return makers[: sure + 1]

    @cached_property
    def session(self) -> SessionMade | None:
        """The session that makes the GPU devices; where it depends which one does, one of several that are alike."""
        sessions = [self.session_of(one) for one in self.makers]
        options = [None if one is None or one.fields is None else plain_options(one.fields) for one in sessions]
        alike = all(one is not None for one in sessions) and all(one == options[0] for one in options)
        return sessions[0] if sessions and alike else None

    def session_of(self, start: RuntimeStart) -> SessionMade | None:
        """The session whose making this is; None where it is something else that starts."""
        if start.name not in SESSIONS or start.what == "context":
            # A monitored session starts the eager context before it comes into being itself.
            return None
        return next((one for one in self.of(SessionMade) if one.span == start.span and not one.repeated), None)

    @cached_property
    def configured(self) -> bool:
        """Whether the session that makes the GPU devices brings a ``ConfigProto`` of its own."""
        return self.session is not None and self.brings_options(self.session)

    def brings_options(self, session: SessionMade) -> bool:
        """Whether a session has options of its own, and so doesn't look at those of ``tf.config``."""
        return self._is_configured(session) or self.is_bare(session)

    def is_bare(self, session: SessionMade) -> bool:
        """Whether this is an ``InteractiveSession`` without a ``ConfigProto``: it makes one that asks for growth."""
        return session.name.endswith("InteractiveSession") and not self._is_configured(session)

    def grants(self, session: SessionMade) -> Value | None:
        """Whether the options of a session that brings its own ask for growth; None where that isn't known."""
        if self.is_bare(session):
            return Const(True)
        return None if session.fields is None else session.fields.get("gpu_options.allow_growth", Const(False))

    @cached_property
    def divided(self) -> RuntimeStart | None:
        """A session with a ``ConfigProto`` of its own that makes the GPU devices on some ways only."""
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
        call = next((one for one in self.of(Call) if one.span == session.span), None)
        config = call.arg(2, "config") if call is not None else None
        return config is not None and config.value != Const(None)

    @cached_property
    def in_force(self) -> State:
        """The state that counts: the one that the GPU devices are made from, where every run comes by there; else the
        one at the end."""
        made = self.made
        return made.state if made is not None and (self.sure or not self._ended) else self.end

    @property
    def _ended(self) -> bool:
        return bool(self.events) and isinstance(self.events[-1], End)

    @cached_property
    def sure(self) -> bool:
        """Whether every run comes by what makes the GPU devices."""
        return self.made is not None and self.made.certain and not self.made.probed

    @cached_property
    def blind(self) -> bool:
        """Whether the GPU devices are made without a look at the settings of ``tf.config``."""
        return self.made is not None and self.sure and self.made.name in BLIND

    @cached_property
    def count(self) -> int | None:
        """How many GPUs TensorFlow lists, where it is told how many there are."""
        if self.gpus is None:
            return None
        if self.in_force.max_gpus == 0:
            return 0
        listed = listed_numbers(self.in_force)
        if listed is None:
            return self.gpus
        # CUDA reads up to the first number that no GPU has, and nothing where one is there twice.
        gpus = self.gpus
        there = list(takewhile(lambda number: number < gpus, listed))
        return len(there) if len(set(there)) == len(there) else 0

    def of(self, kind: type[EventT]) -> Iterator[EventT]:
        """The events of one class."""
        return (one for one in self.events if isinstance(one, kind))

    def env(self, name: str) -> object:
        """The value of a variable that the program sets in time for the GPU devices; None where it isn't known."""
        value: Value | None = self.in_force.env.get(name)
        return value.value if isinstance(value, Const) else None

    def env_row(self, name: str) -> int | None:
        """The row that sets this variable to the value in force."""
        value = self.in_force.env.get(name)
        rows = [one.span.row for one in self.of(EnvWrite) if one.name == name and one.value == value]
        return rows[0] if rows else None

    def place(self, event: Event, span: Span | None = None) -> Place:
        """Where an event happens, and how it is reached."""
        where = span or event.span
        text = (self.rows or self.program.source).segment(where)
        return Place(where, written(text), tuple(_frame(one) for one in event.frames))


def numbers_of(value: Value, of_type: str = "") -> list[int] | None:
    """The numbers of one device, or of a list of them, all ``of_type``; None where they aren't all known."""
    items: tuple[Value, ...] = value.items if isinstance(value, Seq) else (value,)
    devices = [item for item in items if isinstance(item, Device) and not item.each]
    found = [one.index for one in devices if isinstance(one.index, int) and (not of_type or one.type == of_type)]
    return found if len(found) == len(items) else None


def listed_numbers(state: State) -> list[int] | None:
    """The machine's numbers of the GPUs that ``CUDA_VISIBLE_DEVICES``, set in time, leaves; None where it isn't known
    or isn't set. TensorFlow numbers them anew, from 0."""
    value = state.cuda_visible_devices.value if isinstance(state.cuda_visible_devices, Const) else None
    if not isinstance(value, str) or not re.fullmatch(r"\s*\d+\s*(,\s*\d+\s*)*", value):
        return None
    return [int(number) for number in value.split(",")]


def _frame(step: Step) -> tuple[int, str]:
    return step.span.row, step.words


def conditions(event: Event) -> list[str]:
    """The conditions that an event stands under, as they are written."""
    shown = []
    for text, outcome in event.guards:
        plain = " ".join(_VERSIONS.sub("", text).split())
        shown.append(plain if outcome else f"not ({plain})" if " " in plain else f"not {plain}")
    return list(dict.fromkeys(shown))
