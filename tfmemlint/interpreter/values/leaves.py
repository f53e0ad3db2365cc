"""The values that hold no other value: constants, names, devices, results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything at all."""


UNKNOWN = Unknown()


@dataclass(frozen=True, slots=True)
class Const:
    """A Python constant: int, float, str, bytes, bool, None."""

    value: Any


@dataclass(frozen=True, slots=True)
class Ref:
    """Something imported, by its canonical dotted name (``tf.config.list_physical_devices``, ``os.environ``).

    TensorFlow's names start with ``tf.``; ``tensorflow.compat.v2.x`` and ``tensorflow.x`` are both ``tf.x``. What is
    not TensorFlow's keeps its own name. ``device_lib`` is ``tf.python.client.device_lib``.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Devices:
    """A list of devices that TensorFlow returned.

    Attributes:
        kind: ``physical`` (``list_physical_devices``), ``logical`` (``list_logical_devices``), ``local``
            (``device_lib.list_local_devices``: DeviceAttributes).
        type: ``GPU``, ``CPU``, or None for all types.
        whole: the list holds every device of its type; False after a slice or a filter that isn't understood.
        names: the list holds the devices' names (strings), not the devices.
        first: of a slice of the whole list, how many of the first ones it has.
    """

    kind: str
    type: str | None
    whole: bool = True
    names: bool = False
    first: int | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """One device out of a list.

    Attributes:
        kind, type: as in `Devices`.
        index: its number; a string that names an index expression (``args.gpu``) whose value isn't known; or ``each``
            for the variable of a loop over the whole list.
        loop: it is the variable of a loop over devices (in the loop's first pass ``index`` is 0, then ``each``).
    """

    kind: str
    type: str | None
    index: int | str | None = None
    loop: bool = False

    @property
    def each(self) -> bool:
        """True if this stands for every device of a loop in turn."""
        return self.loop or self.index == EACH


EACH = "each"


@dataclass(frozen=True, slots=True)
class Count:
    """The number of devices in a list: ``len(gpus)``."""

    of: Devices


@dataclass(frozen=True, slots=True)
class Indices:
    """The numbers of the devices of a list: ``range(len(gpus))``."""

    of: Devices


@dataclass(frozen=True, slots=True)
class Index:
    """One of those numbers, as the variable of a loop."""

    device: Device


@dataclass(frozen=True, slots=True)
class DeviceName:
    """The ``name`` of a device: a string such as ``/physical_device:GPU:0`` or ``/device:GPU:0``."""

    device: Device


@dataclass(frozen=True, slots=True)
class Made:
    """The result of a call of a named thing (``Made('tf.distribute.MirroredStrategy')``).

    A method of it is called ``tf.distribute.MirroredStrategy().scope``. ``serial`` tells two results of one call apart.
    """

    name: str
    serial: int = 0
