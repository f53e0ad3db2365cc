"""The state of the runtime at one point of a program, and the events that states refer to.

A state names the call that made each setting and what started the runtime, and an event holds the state before it: so
`State`, `Call` and `RuntimeStart` are defined together. All other events are in `tfmemlint.interpreter.program` and
`tfmemlint.interpreter.state.texts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from tfmemlint.interpreter.state.handlers import Arg, Handler
from tfmemlint.interpreter.state.keys import ANY, PART, Guards, Key, Tri
from tfmemlint.interpreter.values import EACH, UNKNOWN, Amount, Const, Device, Devices, Seq, Value
from tfmemlint.model.finding import Span, Step
from tfmemlint.model.records import record

if TYPE_CHECKING:
    import ast


@record(frozen=True, slots=True)
class Phase:
    """The start of one thing: whether it has happened, what caused it, and its conditions (None: not known).

    ``more``: where it may have happened on several ways, each with conditions of its own, those but the first.
    """

    has: Tri = Tri.NO
    by: RuntimeStart | None = None
    guards: Guards | None = ()
    more: tuple[Phase, ...] = ()

    @property
    def ways(self) -> tuple[Phase, ...]:
        """The ways on which it may have happened, each a phase of its own."""
        return (replace(self, more=()), *self.more) if self.more else (self,)

    def under(self, guards: Guards) -> Phase:
        """This phase as it is where ``guards`` hold: conditions that exclude each other rule a start out."""
        if self.has is not Tri.MAYBE or not self.guards:
            return self
        left = [way for way in self.ways if not way.is_ruled_out(guards)]
        if not left:
            return Phase()
        for way in left:
            if all(guard in guards for guard in way.guards or ()):
                return Phase(Tri.YES, way.by)
        return self if len(left) == len(self.ways) else replace(left[0], more=tuple(left[1:]))

    def is_ruled_out(self, guards: Guards) -> bool:
        """True if one of its conditions does not hold where ``guards`` do."""
        return any((text, not outcome) in guards for text, outcome in self.guards or ())


@record(frozen=True, slots=True)
class Setting:
    """One setting in force: its value and the call that made it.

    ``either``: where ways with different settings have met, those of the ways; None for a way without one.
    ``on_where``: the conditions that hold where its value is true, for a value that is a condition itself.
    """

    value: Value
    by: Call | None = None
    either: tuple[Setting | None, ...] = ()
    on_where: Guards = ()

    @property
    def ways(self) -> tuple[Setting | None, ...]:
        """The settings that may be in force, one for each path."""
        return self.either or (self,)


@record(frozen=True, slots=True)
class State:
    """The runtime and its configuration at one point of a program.

    Attributes:
        context, allocator, listed: what has started.
        eager: False after ``disable_eager_execution()`` and kin; None where unknown.
        graphs: how many graph contexts (``tf.Graph().as_default()``, a session, a ``tf.function``) are open here.
        growth: memory growth by GPU. limits: logical devices by GPU (a `Seq` of `Limit`).
        cpu_split: the CPU has a logical device configuration.
        visible: the value of the last ``set_visible_devices`` for GPUs, if any.
        threading: each ``tf.config.threading`` setting, by the name of its function.
        env: what the program itself has put into the environment.
        imported: the project's own modules that were imported: for sure (True), or on some way to here.
        cuda_visible_devices: what the program had put into ``CUDA_VISIBLE_DEVICES`` by the time it was read.
        entry_unknown: the state before the entry point isn't known (a function that nothing in the file calls).
        in_child_process: this runs in a process that the program starts.
        forked: where such a process is made that has all that its parent had; the path, and the call.
        min_gpus, max_gpus: how many GPUs there are, as far as conditions on the way here tell.
    """

    context: Phase = field(default_factory=Phase)
    allocator: Phase = field(default_factory=Phase)
    listed: Phase = field(default_factory=Phase)
    eager: bool | None = True
    graphs: int = 0
    growth: Mapping[Key, Setting] = field(default_factory=dict)
    limits: Mapping[Key, Setting] = field(default_factory=dict)
    cpu_split: Setting | None = None
    visible: Setting | None = None
    threading: Mapping[str, Setting] = field(default_factory=dict)
    env: Mapping[str, Value] = field(default_factory=dict)
    imported: Mapping[str, bool] = field(default_factory=dict)
    cuda_visible_devices: Value | None = None
    entry_unknown: bool = False
    in_child_process: bool = False
    forked: tuple[str, Span] | None = None
    min_gpus: int = 0
    max_gpus: int | None = None

    @property
    def graph_mode(self) -> bool:
        """True if an op made here goes into a graph instead of starting the eager context."""
        return self.graphs > 0 or self.eager is False

    def growth_of(self, key: Key) -> Setting | None:
        """The memory growth in force for a GPU, None where none was set."""
        return self.growth.get(key) or self.growth.get(EACH)

    def limit_of(self, key: Key) -> Setting | None:
        """The logical devices in force for a GPU, None where none were set."""
        return self.limits.get(key) or self.limits.get(EACH)

    @property
    def single_gpu(self) -> bool:
        """True if the program itself saw to it that TensorFlow sees at most one GPU."""
        if self.visible is not None:
            value = self.visible.value
            if isinstance(value, Device) and not value.each:
                return True
            if isinstance(value, Seq) and len(value.items) <= 1:
                return True
        return self.one_gpu

    @property
    def one_gpu(self) -> bool:
        """True if the list of physical devices has at most one GPU, by a condition or by the environment."""
        if self.max_gpus is not None and self.max_gpus <= 1:
            return True
        shown = self.cuda_visible_devices
        if isinstance(shown, Const) and isinstance(shown.value, str):
            return "," not in shown.value
        if isinstance(shown, Amount) and isinstance(shown.default, str):
            return "," not in shown.default
        # Set to something that isn't known: most often one number.
        return shown is not None

    @property
    def visible_gpus(self) -> tuple[Value, ...] | None:
        """The GPUs that the last ``set_visible_devices`` left visible; None if they aren't known one by one."""
        value = self.visible.value if self.visible is not None else None
        return value.items if isinstance(value, Seq) else None

    @property
    def partial_growth(self) -> Mapping[Key, Setting] | None:
        """The growth settings, where some visible GPU may be left without one; None where there is nothing to say.

        Source: ``Memory growth cannot differ between GPU devices``, raised when the runtime starts on several GPUs.
        """
        if not self.growth or ANY in self.growth or self.single_gpu:
            return None
        if self.cpu_split or any(self._goes_with_growth(limit) for limit in self.limits.values()):
            # With any logical device configuration in place growth isn't compared: it is dropped instead.
            return None
        if PART in self.growth:
            return self._left_out_of_a_loop()
        if EACH in self.growth:
            # All of them, and then some otherwise.
            return self._other_than(self.growth[EACH].value) if self.visible is None else None
        if self.visible is not None and all(way is not None and self._covers(way.value) for way in self.visible.ways):
            return None
        if self.visible is not None and not all(isinstance(key, int) for key in self.growth):
            # Some that a slice has named, where a slice has named those that are visible: most often the same one.
            return None
        if len(self.growth) > 1 and not all(isinstance(key, int) for key in self.growth):
            # One by its number, others by a slice: the two may well be all of them.
            return None
        if len(self.growth) > 1 and self.growth.keys() == set(range(len(self.growth))):
            # The first, the second, ...: written for a machine that has just those.
            return self._other_than(Const(False)) if self._other_than(Const(True)) else None
        return self.growth

    def _left_out_of_a_loop(self) -> Mapping[Key, Setting] | None:
        """The setting of a loop over all GPUs that leaves some of them out, None where others may make up for it."""
        others = self.growth.keys() - {0, PART}
        left_out = None in self.growth[PART].ways
        return {PART: self.growth[PART]} if left_out and not others and self.visible is None else None

    @property
    def may_differ(self) -> bool:
        """True if some visible GPU may be left without the growth of another, so that the runtime does not start."""
        if self.partial_growth is not None:
            return True
        every = self.growth.get(EACH)
        some = every is not None and None in every.ways and len(self.growth) > 1
        return (some or ANY in self.growth) and not self.single_gpu

    def _goes_with_growth(self, limit: Setting) -> bool:
        """True if logical devices are there wherever growth is set."""
        if None not in limit.ways or limit.by is None:
            return True
        under = set(limit.by.guards)
        return not under or all(
            setting.by is not None and under <= set(setting.by.guards) for setting in self.growth.values()
        )

    def _other_than(self, value: Value) -> Mapping[Key, Setting] | None:
        """The growth settings of single GPUs that are known to differ from ``value``; None where there are none."""
        return {
            key: setting
            for key, setting in self.growth.items()
            if key != EACH and isinstance(value, Const) and isinstance(setting.value, Const) and setting.value != value
        } or None

    def _covers(self, visible: Value) -> bool:
        """True if growth was set for all that ``visible`` lists, or that can't be told."""
        if isinstance(visible, Devices):
            return not visible.whole
        if isinstance(visible, Seq):
            return all(isinstance(item, Device) and item.index in self.growth for item in visible.items)
        if isinstance(visible, Device):
            return visible.index in self.growth
        return True


@record(frozen=True, slots=True)
class ConfigEffect:
    """The effect that a configuring call has instead of what was asked.

    Attributes:
        kind: ``late`` (the runtime has started), ``lost`` (the GPU devices exist already with their old options:
            nothing raises and nothing happens), ``refused`` (a conflict with a setting in force), ``dropped``
            (accepted, but another setting cancels it), ``drops`` (accepted, and makes an earlier setting void).
        exception: the exception's type, or "" where nothing is raised. message: TensorFlow's words.
        certain: whether that is so on every way to the call.
        cause: what started the runtime. setting: the call whose setting is in the way, or in force.
        several: only with two or more GPUs (the second pass of a loop over devices).
        of_many: only with two or more GPUs (with one it asks for what is in force).
    """

    kind: str
    exception: str = ""
    message: str = ""
    certain: bool = True
    cause: RuntimeStart | None = None
    setting: Call | None = None
    several: bool = False
    of_many: bool = False


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
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
        function: name of the enclosing function or method, without its class; "" at the top level of the module.
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
        """True if this happens in every run in which ``other`` does, as far as the conditions tell."""
        return set(self.ways) <= set(other.ways) and (self.certain or set(self.guards) <= set(other.guards))

    def handler_for(self, exception: str) -> Handler | None:
        """The innermost handler that catches ``exception`` (a builtin name, or ``tf.errors.X``), or None."""
        return next((handler for handler in self.handlers if handler.takes(exception)), None)

    def is_unpacked(self, span: Span) -> bool:
        """True if ``span`` is the place of an ``*args`` or ``**kwargs`` that gives this some known arguments."""
        return False


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Call(Event):
    """A call of something imported, or of a method of what such a call returned.

    Attributes:
        name: canonical (``tf.config.experimental.set_memory_growth``, ``tf.distribute.MirroredStrategy().scope``).
        args: as written, in order. func: the span of what is called. text: the source of what is called.
        effect: for a call that configures: what TensorFlow does instead, according to the model of TensorFlow's own
            checks (`tfmemlint.interpreter.state`); None where the call takes effect or nothing is known.
        result_used: the call's value is used by something.
        unread: a configuration of a logical device, which a name gets that no code of the file reads.
    """

    name: str
    args: tuple[Arg, ...] = ()
    func: Span
    text: str = ""
    effect: ConfigEffect | None = None
    result_used: bool = True
    unread: bool = False
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
        """True if ``*args`` or ``**kwargs`` hide some arguments."""
        return any(found.star for found in self.args)

    def is_unpacked(self, span: Span) -> bool:
        """True if ``span`` is the place of an ``*args`` or ``**kwargs`` that gives this some known arguments."""
        return any(found.unpacked and found.span == span for found in self.args)


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
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
