"""Events about texts: names that are asked for, units that amounts are told in, texts taken for a yes."""

from __future__ import annotations

from tfmemlint.interpreter.state.model import Event
from tfmemlint.interpreter.values import Device
from tfmemlint.model.finding import Span
from tfmemlint.model.records import record


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AmountTold(Event):
    """An amount of GPU memory that is printed, or put into a text, beside another unit than its own.

    ``unit``: its own, as in `tfmemlint.knowledge.units`. ``told``: the one beside it, which is written ``label``.
    ``source``: what returned it. ``text``: the amount as it stands there. ``place``: where that is. ``whole``: it is
    told as a whole number. ``headed``: the unit is in the heading of its column, which is ``label``.
    """

    unit: str
    told: str
    label: str
    source: str
    text: str
    place: Span
    whole: bool
    headed: bool = False


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DeviceTest(Event):
    """A test of a device's name or type that comes out alike for all devices.

    ``attribute``: ``name`` or ``device_type``. ``how``: what is asked: it ``is`` a text, ``contains``, ``starts`` or
    ``ends`` with it; or it is looked up: as a ``key``, an ``item``, or for a ``value``, ``found`` or not. ``given``:
    that text. ``keys``: all of those among which it is looked up. ``literal``: its place, where it is written in the
    test. ``text``: the test.
    """

    device: Device
    attribute: str
    how: str
    given: str
    text: str
    literal: Span | None = None
    keys: tuple[str, ...] = ()


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NameAsked(Event):
    """A name that TensorFlow lacks is asked for, so that nothing is raised: ``hasattr(tf.config, "set_memory_limit")``.

    ``name``: its canonical name. ``how``: ``hasattr`` or ``getattr``. ``text``: the question as written. ``replaced``:
    the default of ``getattr`` is something that is used in place of it: a function that does something, say.
    """

    name: str
    how: str
    text: str
    replaced: bool = False


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OptionsDropped(Event):
    """``parse_known_args`` leaves options of the command line aside that its parser does not declare.

    ``given``: these, as they are written, in order. ``declared``: the names of each option of the parser.
    ``words``: all words of the command line, None in place of one that is not known.
    """

    given: tuple[str, ...]
    declared: tuple[tuple[str, ...], ...]
    words: tuple[str | None, ...]


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TextTaken(Event):
    """A text that may say no is taken for a truth value: it is true, whatever it says.

    ``how``: ``option`` (of a command line, with ``type=bool``), ``bool`` (a call of it) or ``test``. ``said``: a text
    that says no and is true. ``text``: what is taken, as written: an option's name, or an expression. ``place``: what
    would have to be written otherwise. ``negated``: that is ``not`` and the text. ``sure``: it is always a text.
    """

    how: str
    said: str
    text: str
    place: Span
    negated: bool = False
    sure: bool = True


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TextDecides(Event):
    """A test comes out as the truth of a text: ``taken`` tells of which.

    ``held``: the conditions that hold in its branches. ``memory``: a branch has a word about GPU memory in it.
    """

    taken: TextTaken
    held: frozenset[tuple[str, bool]]
    memory: bool
