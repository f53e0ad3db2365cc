"""What the interpreter found: the events of a program, in the order in which they happen.

Rules read nothing else. An event is one thing that the program does to TensorFlow, with the state of the runtime just
before it, the way in which it was reached, and what stands around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import UNKNOWN, Value
from tfmemlint.model.finding import Span, Step

if TYPE_CHECKING:
    import ast

    from tfmemlint.interpreter.state import ConfigEffect, State
    from tfmemlint.interpreter.unit import ModuleInstance
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.configuration import ConfigurationRead
    from tfmemlint.sources import Source


EventT = TypeVar("EventT", bound="Event")


@dataclass(frozen=True, slots=True)
class Arg:
    """An argument as it stands in a call: its value, its place, its text. ``keyword`` is None for a positional one."""

    value: Value
    span: Span
    text: str
    keyword: str | None = None
    star: bool = False
    node: ast.expr | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Handler:
    """An ``except`` clause around an event: the exceptions it catches (``("*",)`` for a bare one) and its place.

    ``reraises``: it ends in ``raise`` or an exit. ``idle``: it does nothing but pass, print, log or warn;
    ``silent``: not even that. ``gives_up``: besides what an idle one does, it only returns a constant.
    ``here``: the ``try`` stands in the same function as the event (otherwise in a caller).
    """

    catches: tuple[str, ...]
    span: Span
    reraises: bool
    idle: bool
    here: bool = True
    silent: bool = False
    gives_up: bool = False

    @property
    def probes(self) -> bool:
        """Whether it does something else where a name is not there."""
        lacks = {"AttributeError", "*", "Exception", "ImportError", "ModuleNotFoundError"}
        return not self.idle and not self.reraises and not lacks.isdisjoint(self.catches)

    def takes(self, exception: str) -> bool:
        """Whether it catches ``exception`` (a builtin name, or ``tf.errors.X``)."""
        names = {exception, *_ANCESTORS.get(exception, ()), "BaseException", "*"}
        if exception not in _NO_EXCEPTIONS:
            names.add("Exception")
        return not names.isdisjoint(self.catches)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Event:
    """One thing that happens.

    Attributes:
        path: the file that it happens in. span: its place. statement: the whole statement that it stands in.
        state: the runtime just before it.
        frames: how it was reached: the calls from the entry point down to it, outermost first (empty at the top level).
        handlers: the ``except`` clauses that an exception would meet, innermost first.
        guards: the conditions that hold here, as ``(text of the test, outcome)``.
        probed: stands behind ``hasattr``/``getattr`` with a default, or under ``except AttributeError``, for this name.
        repeated: this is a second pass of a loop (the first pass is an event of its own).
        devices_loop: it stands in the body of a loop over devices (for ``repeated``: the loop's span).
        function: qualified name of the enclosing function of the program, or "" at the top level of the module.
        certain: it happens in every run of its entry point that gets here; False under a condition, in a handler,
            or in a loop that may not run at all.
        ways: a number for each piece of code that it stands in and that need not be run, but for branches of ``if``;
            and for each ``if`` before it that some runs leave the function in.
    """

    path: str
    span: Span
    statement: Span
    state: State
    frames: tuple[Step, ...] = ()
    handlers: tuple[Handler, ...] = ()
    guards: tuple[tuple[str, bool], ...] = ()
    probed: bool = False
    repeated: bool = False
    devices_loop: Span | None = None
    function: str = ""
    certain: bool = True
    ways: tuple[int, ...] = ()

    def comes_with(self, other: Event) -> bool:
        """Whether this happens in every run in which ``other`` does, as far as the conditions tell."""
        return set(self.ways) <= set(other.ways) and (self.certain or set(self.guards) <= set(other.guards))

    def handler_for(self, exception: str) -> Handler | None:
        """The innermost handler that catches ``exception`` (a builtin name, or ``tf.errors.X``), or None."""
        return next((handler for handler in self.handlers if handler.takes(exception)), None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Call(Event):
    """A call of something imported, or of a method of what such a call returned.

    Attributes:
        name: canonical (``tf.config.experimental.set_memory_growth``, ``tf.distribute.MirroredStrategy().scope``).
        args: as written, in order. func: the span of what is called. text: the source of what is called.
        effect: for a call that configures: what TensorFlow does instead, according to the model of TensorFlow's own
            checks (`flow.state`); None where the call takes effect or nothing is known.
        result_used: the call's value is used by something.
    """

    name: str
    args: tuple[Arg, ...] = ()
    func: Span
    text: str = ""
    effect: ConfigEffect | None = None
    result_used: bool = True
    node: ast.Call | None = field(default=None, compare=False, repr=False)

    def arg(self, position: int | None, keyword: str) -> Arg | None:
        """The argument at ``position`` or called ``keyword``; None where it is not given (or hidden by a star)."""
        for found in self.args:
            if found.keyword == keyword:
                return found
        plain = [found for found in self.args if found.keyword is None]
        if position is not None and position < len(plain) and not any(found.star for found in plain[: position + 1]):
            return plain[position]
        return None

    def value(self, position: int | None, keyword: str) -> Value:
        """The value of that argument, UNKNOWN where it is not given."""
        found = self.arg(position, keyword)
        return found.value if found else UNKNOWN

    @property
    def has_star(self) -> bool:
        """Whether ``*args`` or ``**kwargs`` hide some arguments."""
        return any(found.star for found in self.args)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Use(Event):
    """A reference to a TensorFlow name: ``tf.config.experimental.set_memory_limit``, called or not.

    Only the longest chain is reported. ``called``: it is the function of a call (whose own event follows).
    ``origin``: ``attribute``, ``import`` (``from tensorflow.config import x``), or ``getattr``.
    """

    name: str
    text: str
    called: bool = False
    origin: str = "attribute"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EnvWrite(Event):
    """An environment variable is set: ``os.environ[...] =``, ``setdefault``, ``update``, ``putenv``.

    Attributes:
        value: what it is set to. text: that as written, or "".
        how: ``assign``, ``setdefault``, ``update`` or ``putenv``.
        key, given: where the name and the value stand, each on its own; None where that can't be told.
    """

    name: str
    value: Value
    text: str = ""
    how: str = "assign"
    key: Span | None = None
    given: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EnvLost(Event):
    """A configuration file sets a variable where the program that it is for does not get it.

    Attributes:
        why: ``unexported``, ``late``, ``layer`` or ``step`` (`tfmemlint.model.configuration.Lost`).
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GpusGiven(Event):
    """A configuration file says which GPUs a container gets: how many, their names outside of it ("" where only the
    number is told), and in words where that is said."""

    count: int
    named: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ChildEnv(Event):
    """A variable in the environment that a process started here gets: ``subprocess.run(..., env={...})``.

    The attributes are those of `EnvWrite`.
    """

    name: str
    value: Value
    key: Span
    given: Span


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DeviceAt(Event):
    """One GPU is taken out of the whole list of them by a number that is known: ``gpus[2]``; ``key`` is its place."""

    index: int
    key: Span
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RuntimeStart(Event):
    """Something that starts the runtime: the eager context (``what='context'``), the process-wide GPU devices with
    their allocator (``what='allocator'``) or the first listing of physical devices (``what='listing'``).

    ``first``: nothing had started it for sure before. ``name``: what did it, canonical; ``text`` as written.
    ``where``: what it is part of, where that runs at a moment that is easily overlooked ("default argument").
    """

    what: str
    name: str
    text: str
    first: bool = True
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ProtoMade(Event):
    """A ``ConfigProto`` or ``GPUOptions`` with GPU options in it, as it stands at the end of the program.

    ``consumed``: some session, estimator, function that isn't known, return value, or container may have got it.
    ``carried``: a session of the program has got some of it.
    """

    name: str
    fields: dict[str, Value]
    consumed: bool
    field_spans: dict[str, Span]
    carried: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class End(Event):
    """An entry point ends: ``entry`` is ``module``, or the name of a function that nothing in the file calls."""

    entry: str


@dataclass(slots=True)
class Program:
    """All that is known about one analysed program.

    Attributes:
        source: the file. tree: its syntax tree.
        target: the TensorFlow release that it is judged for.
        events: in the order of execution, entry point after entry point; an event inside a function stands once for
            every way in which the function is reached.
        modules: the paths of all files that it is made of.
        others: the texts of those of its project's own modules that it imports.
        gpu_memory_mib: the memory of one GPU in MiB, where the user has told it.
        units: its modules, as they were interpreted.
        configuration: what it says, where it is a configuration file (a Dockerfile, ...), which only sets variables.
        put: the statements that put code into lists, or take it out, each with the calls that lead there.
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
    _places: set[object] = field(default_factory=set, init=False, repr=False)
    _accepted: dict[tuple[str, Span], bool] = field(default_factory=dict, init=False, repr=False)

    def comes_by(self, event: Event) -> bool:
        """Whether the program as it is run, not only some function that nothing calls, comes by where ``event`` is."""
        if not self._places:
            self._places.update((type(one), one.path, one.span) for one in self.events if not one.state.entry_unknown)
        return (type(event), event.path, event.span) in self._places

    def accepts(self, call: Call) -> bool:
        """Whether ``call`` is accepted where its place is come by in another way: in every run, while this ``call``
        stands under a condition, or after the runtime has started."""
        if not self._accepted:
            for one in self.events:
                if (
                    isinstance(one, Call)
                    and not one.state.entry_unknown
                    and (one.effect is None or not one.effect.exception)
                ):
                    started = one.state.context.under(one.guards).has in (Tri.YES, Tri.MAYBE)
                    place = (one.path, one.span)
                    self._accepted[place] = self._accepted.get(place, False) or started
        known = self._accepted.get((call.path, call.span))
        return known is not None and (known or not call.certain)

    def calls(self, *names: str) -> Iterator[Call]:
        """The calls of these canonical names (all calls where no name is given)."""
        for event in self.events:
            if isinstance(event, Call) and (not names or event.name in names):
                yield event

    def of(self, kind: type[EventT]) -> Iterator[EventT]:
        """The events of one class."""
        for event in self.events:
            if isinstance(event, kind):
                yield event


_NO_EXCEPTIONS = frozenset({"SystemExit", "KeyboardInterrupt", "GeneratorExit", "BaseException"})
"""What ``except Exception`` lets pass."""
_ANCESTORS = {
    "KeyError": ("LookupError",),
    "IndexError": ("LookupError",),
    "NotImplementedError": ("RuntimeError",),
    "tf.errors.NotFoundError": ("tf.errors.OpError",),
    "tf.errors.UnknownError": ("tf.errors.OpError",),
    "tf.errors.InvalidArgumentError": ("tf.errors.OpError",),
    "tf.errors.FailedPreconditionError": ("tf.errors.OpError",),
}
