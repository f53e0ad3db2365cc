"""The state of TensorFlow's runtime at one point of a program, and the model of the checks that depend on it.

The model follows ``tensorflow/python/eager/context.py``; each transition names the check it stands for, and
``tests/truth`` replays them on the installed TensorFlow. Three things start, one by one or together:

* ``listed``: the physical devices are listed (the driver has read ``CUDA_VISIBLE_DEVICES``);
* ``allocator``: the process-wide GPU devices exist, with their allocator (a v1 session or ``device_lib`` makes them);
* ``context``: the eager context is initialised; physical devices can't be configured from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import EACH, UNKNOWN, Const, Device, Devices, Seq, Value, join

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Call, RuntimeStart

Guards = tuple[tuple[str, bool], ...]


class Tri(Enum):
    """Has it happened? ``MAYBE``: on some way to here it has. ``UNKNOWN``: depends on what came before the entry."""

    NO = "no"
    MAYBE = "maybe"
    YES = "yes"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Phase:
    """Whether one thing has started, what started it, and under which conditions (None: not known)."""

    has: Tri = Tri.NO
    by: RuntimeStart | None = None
    guards: Guards | None = ()

    def under(self, guards: Guards) -> Phase:
        """This phase as it is where ``guards`` hold: conditions that exclude each other rule a start out."""
        if self.has is not Tri.MAYBE or not self.guards:
            return self
        if any((text, not outcome) in guards for text, outcome in self.guards):
            return Phase()
        if all(guard in guards for guard in self.guards):
            return replace(self, has=Tri.YES, guards=())
        return self


def join_phases(left: Phase, right: Phase, left_guard: Guards = (), right_guard: Guards = ()) -> Phase:
    """The phase where two ways meet; the guards are the conditions under which each way was taken."""
    if left.has is right.has:
        if left.has is Tri.MAYBE and (left.guards != right.guards or left.by is not right.by):
            return replace(left, guards=None)
        return left
    pair = {left.has, right.has}
    if pair == {Tri.NO, Tri.UNKNOWN}:
        return Phase(Tri.UNKNOWN)
    first, guard = (left, left_guard) if left.has in (Tri.YES, Tri.MAYBE) else (right, right_guard)
    both = Tri.YES in pair and Tri.MAYBE in pair
    known = first.guards is not None and not both and bool(guard)
    return Phase(Tri.MAYBE, first.by, (*guard, *(first.guards or ())) if known else None)


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting in force: its value and the call that made it.

    ``either``: where ways with different settings have met, those of the ways; None for a way without one.
    """

    value: Value
    by: Call | None = None
    either: tuple[Setting | None, ...] = ()

    @property
    def ways(self) -> tuple[Setting | None, ...]:
        """What may be in force, way by way."""
        return self.either or (self,)


Key = int | str
"""A device in a table of settings: its number, the text of an unknown index, ``each`` for all, or ``?``."""

ANY = "?"
MOST_WAYS = 6
"""How many ways a setting is kept of; of more it is not known what is in force."""


@dataclass(frozen=True, slots=True)
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
    min_gpus: int = 0
    max_gpus: int | None = None

    @property
    def graph_mode(self) -> bool:
        """Whether an op made here goes into a graph instead of starting the eager context."""
        return self.graphs > 0 or self.eager is False

    def growth_of(self, key: Key) -> Setting | None:
        """The memory growth in force for a GPU, None where none was set."""
        return self.growth.get(key) or self.growth.get(EACH)

    def limit_of(self, key: Key) -> Setting | None:
        """The logical devices in force for a GPU, None where none were set."""
        return self.limits.get(key) or self.limits.get(EACH)

    @property
    def single_gpu(self) -> bool:
        """Whether the program itself saw to it that TensorFlow sees at most one GPU."""
        if self.visible is not None:
            value = self.visible.value
            if isinstance(value, Device) and not value.each:
                return True
            if isinstance(value, Seq) and len(value.items) <= 1:
                return True
        return self.one_gpu

    @property
    def one_gpu(self) -> bool:
        """Whether the list of physical devices has at most one GPU, by a condition or by the environment."""
        if self.max_gpus is not None and self.max_gpus <= 1:
            return True
        shown = self.cuda_visible_devices
        if isinstance(shown, Const) and isinstance(shown.value, str):
            return "," not in shown.value
        # Set to something that isn't known: most often one number.
        return shown is not None

    @property
    def visible_gpus(self) -> tuple[Value, ...] | None:
        """What the last ``set_visible_devices`` left of the GPUs, where it is known one by one."""
        value = self.visible.value if self.visible is not None else None
        return value.items if isinstance(value, Seq) else None

    @property
    def partial_growth(self) -> Mapping[Key, Setting] | None:
        """The growth settings, where some visible GPU may be left without one; None where there is nothing to say.

        Source: ``Memory growth cannot differ between GPU devices``, raised when the runtime starts on several GPUs.
        """
        if not self.growth or ANY in self.growth or self.single_gpu:
            return None
        if self.cpu_split or any(self._goes_with_growth(one) for one in self.limits.values()):
            # With any logical device configuration in place growth isn't compared: it is dropped instead.
            return None
        if EACH in self.growth:
            # All of them, and then some otherwise.
            return self._other_than(self.growth[EACH].value) if self.visible is None else None
        if self.visible is not None and all(one is not None and self._covers(one.value) for one in self.visible.ways):
            return None
        if len(self.growth) > 1 and not all(isinstance(key, int) for key in self.growth):
            # One by its number, others by a slice: the two may well be all of them.
            return None
        if len(self.growth) > 1 and self.growth.keys() == set(range(len(self.growth))):
            # The first, the second, ...: written for a machine that has just those.
            return self._other_than(Const(False)) if self._other_than(Const(True)) else None
        return self.growth

    @property
    def may_differ(self) -> bool:
        """Whether some visible GPU may be left without the growth of another, so that the runtime does not start."""
        if self.partial_growth is not None:
            return True
        every = self.growth.get(EACH)
        some = every is not None and None in every.ways and len(self.growth) > 1
        return (some or ANY in self.growth) and not self.single_gpu

    def _goes_with_growth(self, limit: Setting) -> bool:
        """Whether logical devices are there wherever growth is set."""
        if None not in limit.ways or limit.by is None:
            return True
        under = set(limit.by.guards)
        return not under or all(one.by is not None and under <= set(one.by.guards) for one in self.growth.values())

    def _other_than(self, value: Value) -> Mapping[Key, Setting] | None:
        """The growth settings of single GPUs that are known to differ from ``value``; None where there are none."""
        return {
            key: setting
            for key, setting in self.growth.items()
            if key != EACH and isinstance(value, Const) and isinstance(setting.value, Const) and setting.value != value
        } or None

    def _covers(self, visible: Value) -> bool:
        """Whether growth was set for all that ``visible`` lists, or that can't be told."""
        if isinstance(visible, Devices):
            return not visible.whole
        if isinstance(visible, Seq):
            return all(isinstance(item, Device) and item.index in self.growth for item in visible.items)
        if isinstance(visible, Device):
            return visible.index in self.growth
        return True


def join_states(left: State, right: State, left_guard: Guards = (), right_guard: Guards = ()) -> State:
    """The state where two ways meet."""
    if left is right:
        return left
    return State(
        context=join_phases(left.context, right.context, left_guard, right_guard),
        allocator=join_phases(left.allocator, right.allocator, left_guard, right_guard),
        listed=join_phases(left.listed, right.listed, left_guard, right_guard),
        eager=left.eager if left.eager is right.eager else None,
        graphs=left.graphs,
        growth=_join_settings(left.growth, right.growth),
        limits=_join_settings(left.limits, right.limits),
        cpu_split=left.cpu_split or right.cpu_split,
        visible=_join_setting(left.visible, right.visible),
        threading=_join_table(left.threading, right.threading),
        env=_join_values(left.env, right.env),
        imported=_join_imported(left.imported, right.imported),
        cuda_visible_devices=left.cuda_visible_devices
        if left.cuda_visible_devices is right.cuda_visible_devices
        else join(left.cuda_visible_devices, right.cuda_visible_devices),
        entry_unknown=left.entry_unknown or right.entry_unknown,
        in_child_process=left.in_child_process or right.in_child_process,
        min_gpus=min(left.min_gpus, right.min_gpus),
        max_gpus=None if left.max_gpus is None or right.max_gpus is None else max(left.max_gpus, right.max_gpus),
    )


def _join_setting(left: Setting | None, right: Setting | None) -> Setting | None:
    if left == right:
        return left
    ways = (left.ways if left is not None else (None,)) + (right.ways if right is not None else (None,))
    either = tuple(dict.fromkeys(ways)) if len(ways) <= MOST_WAYS else ()
    if left is None or right is None:
        return Setting(UNKNOWN, (left or right).by, either)  # type: ignore[union-attr]
    value = join(left.value, right.value)
    return Setting(value, left.by, either if value == UNKNOWN else ())


def _join_settings(left: Mapping[Key, Setting], right: Mapping[Key, Setting]) -> Mapping[Key, Setting]:
    if left == right:
        return left
    joined: dict[Key, Setting] = {}
    for key in [*left, *(key for key in right if key not in left)]:
        # What was set for all of them holds for each.
        one, other = (None if key in (EACH, ANY) else table.get(EACH) for table in (left, right))
        setting = _join_setting(left.get(key, one), right.get(key, other))
        if setting is not None:
            joined[key] = setting
    return joined


def _join_table(left: Mapping[str, Setting], right: Mapping[str, Setting]) -> Mapping[str, Setting]:
    if left == right:
        return left
    joined = {
        key: _join_setting(left.get(key), right.get(key)) for key in [*left, *(one for one in right if one not in left)]
    }
    return {key: setting for key, setting in joined.items() if setting is not None}


def _join_values(left: Mapping[str, Value], right: Mapping[str, Value]) -> Mapping[str, Value]:
    if left == right:
        return left
    return {key: join(left.get(key), right.get(key)) for key in [*left, *(key for key in right if key not in left)]}


def _join_imported(left: Mapping[str, bool], right: Mapping[str, bool]) -> Mapping[str, bool]:
    if left is right or left == right:
        return left
    names = [*left, *(name for name in right if name not in left)]
    return {name: bool(left.get(name) and right.get(name)) for name in names}


@dataclass(frozen=True, slots=True)
class ConfigEffect:
    """What TensorFlow does with a configuring call instead of what was asked.

    Attributes:
        kind: ``late`` (the runtime has started), ``lost`` (the GPU devices exist already with their old options:
            nothing raises and nothing happens), ``refused`` (a conflict with a setting in force), ``dropped``
            (accepted, but another setting makes it void), ``drops`` (accepted, and makes an earlier setting void).
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
