"""Events about the options of TF1 sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from tfmemlint.interpreter.state.handlers import Arg
from tfmemlint.interpreter.state.model import Event
from tfmemlint.interpreter.values import Const, Value
from tfmemlint.model.finding import Span
from tfmemlint.model.records import record


@record(frozen=True, slots=True)
class KeptOn:
    """An object keeps a message in an attribute: ``self.config``.

    ``classes``: the places of its class and of the bases of that, in the program's own files.
    """

    attribute: str
    classes: tuple[tuple[str, Span], ...]


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ProtoMade(Event):
    """A ``ConfigProto`` or ``GPUOptions`` with GPU options in it, as it stands at the end of the program.

    ``consumed``: some session, estimator, function that isn't known, return value, or container may have got it.
    ``carried``: a session of the program has got some of it. ``in_gib``: names of amounts in MiB, by their GiB.
    ``kept``: the objects that keep it, where nothing got it.
    """

    name: str
    fields: dict[str, Value]
    consumed: bool
    field_spans: dict[str, Span]
    carried: bool = False
    in_gib: dict[float, str] = field(default_factory=dict)
    kept: tuple[KeptOn, ...] = ()


def hides_gpus(fields: Mapping[str, Value] | None) -> bool:
    """Return True if a session with these options makes no GPU devices: ``device_count={"GPU": 0}``."""
    return fields is not None and fields.get("device_count.GPU") == Const(0)


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OptionStored(Event):
    """A field of a ``ConfigProto``, or of a message in it, is assigned to: ``config.gpu_options.allow_growth = True``.

    ``field``: its name, without those of the messages around it. ``value``: what it gets. ``text``, ``target``: the
    field as written, and its place (that of the event is the whole assignment's). ``given``, ``given_text``: the place
    of the value and the value as written; None and "" where it is set by other means than an assignment of its own.
    """

    field: str
    value: Value
    text: str
    target: Span
    given: Span | None
    given_text: str


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OptionsCopied(Event):
    """A message gets a copy of a ``GPUOptions``: ``ConfigProto(gpu_options=options)``.

    ``name``: that of the message.
    """

    name: str


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OptionsEmptied(Event):
    """A call empties a message in which fields are set, before any session has taken it; a session gets it afterwards.

    ``method``: ``CopyFrom``, ``Clear`` or ``ClearField``. ``fields``: those that nothing sets again, by dotted name.
    ``setters``: for each field, the shared fields of the event that set it. ``before``: what their names lack in front
    in a message that is a part of another one. ``replaced``: another message takes the place of what was there, which
    has the fields ``given``. ``merges``: both can be had together. ``whole``: it is a whole ``ConfigProto``.
    ``text``: the message as written.
    """

    method: str
    fields: dict[str, Value]
    setters: Mapping[str, Mapping[str, Any]]
    before: str = ""
    replaced: bool = False
    given: frozenset[str] = frozenset()
    merges: bool = False
    whole: bool = False
    text: str = ""


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RunConfigDropped(Event):
    """A ``RunConfig`` has a ``ConfigProto`` as its ``session_config``, and nothing in the program gets it.

    ``fields``: those of the message. ``given``: where it is given. ``method``: ``replace`` for a copy of another
    ``RunConfig``, "" for a new one. ``dropped``: the copy is not even given a name.
    """

    given: Span
    fields: dict[str, Value] = field(default_factory=dict)
    method: str = ""
    dropped: bool = False
    arguments: tuple[Arg, ...] = ()


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NumberTested(Event):
    """A number is compared with the count of the physical GPUs, before one of that number is asked for.

    ``index``: the number. ``key``: its place. ``text``: what asks for the GPU: ``gpus[number]``.
    """

    index: int
    key: Span
    text: str
