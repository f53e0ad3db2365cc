"""Events about texts: names that devices are asked for, and units that amounts are told in."""

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
    told as a whole number.
    """

    unit: str
    told: str
    label: str
    source: str
    text: str
    place: Span
    whole: bool


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DeviceTest(Event):
    """A test of a device's name or type that comes out alike for all devices.

    ``attribute``: ``name`` or ``device_type``. ``how``: what is asked: it ``is`` a text, ``contains``, ``starts`` or
    ``ends`` with it. ``given``: that text. ``literal``: its place, where it is written in the test. ``text``: the test.
    """

    device: Device
    attribute: str
    how: str
    given: str
    text: str
    literal: Span | None = None
