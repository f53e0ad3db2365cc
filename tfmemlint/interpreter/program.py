"""The interpreter's result: the events of a program, in the order in which they happen.

Rules read nothing else. An event is one thing that the program does to TensorFlow, with the state of the runtime just
before it, the way in which it was reached, and what stands around it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, TypeVar, cast

from tfmemlint.interpreter.state import Arg, Call, Event, Handler, RuntimeStart, Tri
from tfmemlint.interpreter.state.given import CallHanded, CopyDropped
from tfmemlint.interpreter.state.never_run import Exhausted, NeverRun
from tfmemlint.interpreter.state.options import OptionsCopied, OptionsEmptied, OptionStored, ProtoMade
from tfmemlint.interpreter.state.texts import AmountTold, DeviceTest, NameAsked, TextDecides, TextTaken
from tfmemlint.interpreter.values import UNKNOWN, ModuleInstance, Value
from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass, record

if TYPE_CHECKING:
    import ast

    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.configuration import ConfigurationRead
    from tfmemlint.sources import Source
    from tfmemlint.sources.config_files.values import Setting

__all__ = [
    "AmountTold",
    "Arg",
    "Call",
    "CallHanded",
    "ChildEnv",
    "ChildStarts",
    "CopyDropped",
    "DeviceAt",
    "DeviceTest",
    "End",
    "EnvLost",
    "EnvWrite",
    "Event",
    "Exhausted",
    "GpusGiven",
    "Handler",
    "ItemLookup",
    "LateOption",
    "MissingMember",
    "NameAsked",
    "NeverRun",
    "OptionGiven",
    "OptionStored",
    "OptionsCopied",
    "OptionsEmptied",
    "Program",
    "ProtoMade",
    "RankTaken",
    "RuntimeStart",
    "SessionMade",
    "Store",
    "TextDecides",
    "TextTaken",
    "Use",
]

EventT = TypeVar("EventT", bound="Event")


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Use(Event):
    """A reference to a TensorFlow name: ``tf.config.experimental.set_memory_limit``, called or not.

    Only the longest chain is reported. ``called``: it is the function of a call (whose own event follows).
    ``origin``: ``attribute``, ``import`` (``from tensorflow.config import x``), or ``getattr``.
    """

    name: str
    text: str
    called: bool = False
    origin: str = "attribute"


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Store(Event):
    """An assignment to an attribute: of a TensorFlow module (``owner`` is its name), or of a device (``owner`` is
    ``device``, and ``device`` that device). Fields of protos are not stores. ``by_name``: by ``setattr``."""

    owner: str
    attribute: str
    value: Value
    text: str
    device: Value = UNKNOWN
    owner_text: str = ""
    value_text: str = ""
    by_name: bool = False


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ItemLookup(Event):
    """A subscript (or ``.get``) with a constant key on what a TensorFlow call returned, or on a list of devices.

    ``of``: the canonical name of that call (``tf.config.experimental.get_device_details``). ``call``: its event.
    ``get``: it is ``.get(key)``, which raises nothing.
    """

    of: str
    key: Value
    base: Span
    call: Call | None = None
    get: bool = False


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MissingMember(Event):
    """An attribute of an object of TensorFlow's, whose type does not have it.

    Attributes:
        of: the type, as `tfmemlint.knowledge.types` calls it. member: the attribute. text: the whole as written.
        base: the object; its place and text are ``base_span`` and ``base_text``.
        method: the type has it, as a method of a tuple, which is taken for a value. called: it is called.
        stored: it is assigned to. key: it is looked up as a key, of a tuple.
    """

    of: str
    member: str
    text: str
    base: Value
    base_span: Span
    base_text: str
    method: bool = False
    called: bool = False
    stored: bool = False
    key: bool = False


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EnvWrite(Event):
    """An environment variable is set: ``os.environ[...] =``, ``setdefault``, ``update``, ``putenv``.

    Attributes:
        value: what it is set to. text: that as written, or "".
        how: ``assign``, ``setdefault``, ``update`` or ``putenv``.
        key, given: where the name and the value stand, separately; None where that can't be told.
        varies: it is set to another value in each pass of a loop.
    """

    name: str
    value: Value
    text: str = ""
    how: str = "assign"
    key: Span | None = None
    given: Span | None = None
    varies: bool = False


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EnvLost(Event):
    """A variable is set where the program that it is for does not get it: in a configuration file, or in a dictionary
    that takes the place of ``os.environ``.

    Attributes:
        why: ``replaced`` (``os.environ``), ``copy`` (of it), or one of `tfmemlint.model.configuration.Lost`.
        begun: the command that starts the program. program: that command, or where it is, in words.
        text, key, given: as in `EnvWrite`. value: the string, where it is known.
    """

    name: str
    value: str | None
    why: str
    begun: Span
    program: str
    text: str = ""
    key: Span | None = None
    given: Span | None = None


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GpusGiven(Event):
    """A configuration file says which GPUs a container gets: how many, their names outside of it ("" where only the
    number is told), and in words where that is said."""

    count: int
    named: str
    words: str


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OptionGiven(Event):
    """A configuration file gives an option to a server of models.

    The attributes are those of `tfmemlint.model.configuration.ServerOption`.
    """

    server: str
    name: str
    value: str | None
    apart: bool = False


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ChildEnv(Event):
    """A variable in the environment that a process started here gets: ``subprocess.run(..., env={...})``.

    The attributes are those of `EnvWrite`.
    """

    name: str
    value: Value
    key: Span
    given: Span


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ChildStarts(Event):
    """A process that is started here takes GPU memory, and nothing in it configures the GPUs; this one did.

    Attributes:
        text: the function that the process runs. start: what takes the memory in it.
        settings: the calls of this process that the new one does not have.
        made: where the process is made, or its pool.
        own: the function's place, where it stands in the file that is run; None elsewhere.
    """

    text: str
    start: RuntimeStart
    settings: tuple[Call, ...]
    made: Span
    own: Span | None = None


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DeviceAt(Event):
    """One GPU is taken out of the whole list of them by a number that is known: ``gpus[2]``; ``key`` is its place.

    Attributes:
        kind: ``physical``, ``logical`` or ``local``, as of the list. text: the list as written.
        beyond: for a number that isn't known, by how much it exceeds the last device's: 1 for ``gpus[len(gpus)]``.
        of: the value of a configuration file that the number is by default; None for a number that is known.
    """

    index: int
    key: Span
    text: str = ""
    kind: str = "physical"
    beyond: int = 0
    of: Value | None = None


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RankTaken(Event):
    """The number of a process among those of all machines picks a GPU of the one that it runs on.

    Attributes:
        rank: the call that asked for it.
        how: ``index`` (``gpus[rank]``), ``list`` (``visible_device_list``) or ``environment``.
        given: where the number stands. text: that as written, or "".
    """

    rank: Call
    how: str
    given: Span | None
    text: str = ""


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SessionMade(Event):
    """A TF1 session comes into being.

    Attributes:
        name: canonical name of what makes it.
        fields: the fields of the ``ConfigProto`` it gets, by dotted name; empty without one; None where unknown.
        graph_mode: eager execution is off here, or a graph is open. field_spans: where the fields were set.
        used: the session is used by something afterwards (known when the program has ended).
        own_config: it gets a ``ConfigProto``, be there fields in it or not.
    """

    name: str
    fields: dict[str, Value] | None
    own_config: bool = False
    graph_mode: bool = False
    field_spans: Mapping[str, Span] = field(default_factory=dict)
    used: bool = True
    serial: int = 0


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LateOption(Event):
    """A GPU option is set on a message that a session has taken already, and that nothing takes afterwards.

    ``field``: its dotted name. ``value``: what it is set to. ``session``: the session, or the copy of the options in
    another message.
    """

    field: str
    value: Value
    session: SessionMade | OptionsCopied


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class End(Event):
    """An entry point ends: ``entry`` is ``module``, or the name of a function that nothing in the file calls."""

    entry: str


@dataclass(slots=True)
class Program:
    """All that is known about one analysed program.

    Attributes:
        source: the file. tree: its syntax tree.
        target: the TensorFlow release that it is judged for. modules: the paths of all files that it is made of.
        events: in the order of execution; one inside a function stands once for every way in which that is reached.
        others: the texts of those of its project's own modules that it imports.
        gpu_memory_mib: the memory of one GPU in MiB, where the user has told it.
        units: its modules, as they were interpreted. missed: names of others (`ProgramModules.is_missed`).
        configuration: what it says, where it is a configuration file (a Dockerfile, ...), which only sets variables.
        put: the statements that put code into lists, or take it out, each with the calls that lead there.
        config_files: the absolute paths of the configuration files that were looked for, whether they are there or not.
        settings: what is in those that were read.
        started: ``launched`` by a configuration file, or without arguments; ``optimized`` if it is so by ``python -O``.
    """

    source: Source
    tree: ast.Module
    target: Target
    events: Sequence[Event]
    gave_up: list[str] = field(default_factory=list)
    modules: frozenset[str] = frozenset()
    others: Sequence[str] = ()
    gpu_memory_mib: float | None = None
    configuration: ConfigurationRead | None = None
    units: Sequence[ModuleInstance] = field(default=(), repr=False)
    put: Sequence[tuple[Span, ...]] = ()
    config_files: frozenset[str] = frozenset()
    settings: Mapping[str, Setting] = field(default_factory=dict, repr=False)
    missed: frozenset[str] = frozenset()
    started: str = ""
    _places: set[object] = field(default_factory=set, init=False, repr=False)
    _accepted: dict[tuple[str, Span], bool] = field(default_factory=dict, init=False, repr=False)
    _kinds: dict[type, list[Event]] = field(default_factory=dict, init=False, repr=False)
    _imported: frozenset[str] | None = field(default=None, init=False, repr=False)
    _writes: dict[tuple[str, tuple[int, ...]], list[EnvWrite]] = field(default_factory=dict, init=False, repr=False)
    _next_other: dict[int, int] = field(default_factory=dict, init=False, repr=False)

    def comes_by(self, event: Event) -> bool:
        """True if the place of ``event`` is reached by the program itself, not only by uncalled functions."""
        if not self._places:
            self._places.update(
                (type(event), event.path, event.span) for event in self.events if not event.state.entry_unknown
            )
        return (type(event), event.path, event.span) in self._places

    def accepts(self, call: Call) -> bool:
        """True if ``call`` is accepted on another path to its place.

        That is one in every run, while this ``call`` is under a condition, or one after the runtime has started.
        """
        if not self._accepted:
            for event in self.events:
                if (
                    isinstance(event, Call)
                    and not event.state.entry_unknown
                    and (event.effect is None or not event.effect.exception)
                ):
                    started = event.state.context.under(event.guards).has in (Tri.YES, Tri.MAYBE)
                    place = (event.path, event.span)
                    self._accepted[place] = self._accepted.get(place, False) or started
        known = self._accepted.get((call.path, call.span))
        return known is not None and (known or not call.certain)

    def calls(self, *names: str) -> Iterator[Call]:
        """The calls of these canonical names (all calls where no name is given)."""
        for event in self.of(Call):
            if not names or event.name in names:
                yield event

    def of(self, kind: type[EventT]) -> Iterator[EventT]:
        """The events of one class."""
        if not self._kinds:
            for event in self.events:
                for parent in type(event).__mro__[:-1]:
                    self._kinds.setdefault(parent, []).append(event)
        return iter(cast("list[EventT]", self._kinds.get(kind, [])))

    @property
    def imported_names(self) -> frozenset[str]:
        """The names of TensorFlow's that imports ask for."""
        if self._imported is None:
            self._imported = frozenset(use.name for use in self.of(Use) if use.origin == "import")
        return self._imported

    def later_writes(self, write: EnvWrite) -> Iterator[EnvWrite]:
        """The events that set the variable of ``write`` again, in order, from the first one with another value on.

        In a configuration file, each service, step or command has variables of its own.
        """
        if not self._writes:
            for event in self.of(EnvWrite):
                ways = event.ways if self.configuration is not None else ()
                self._writes.setdefault((event.name, ways), []).append(event)
            for writes in self._writes.values():
                other = len(writes)
                for number in reversed(range(len(writes))):
                    if number + 1 < len(writes) and writes[number + 1].value != writes[number].value:
                        other = number + 1
                    self._next_other[id(writes[number])] = other
        writes = self._writes.get((write.name, write.ways if self.configuration is not None else ()), [])
        return itertools.islice(writes, self._next_other.get(id(write), len(writes)), None)
