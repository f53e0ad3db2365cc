"""The values that hold no other value: constants, names, devices, results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from tfmemlint.model.records import record


@record(frozen=True, slots=True, eq=False)
class Unknown:
    """Anything at all.

    The kinds of it below, of which something is known, equal it and each other: nothing is concluded from a difference.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unknown)

    def __hash__(self) -> int:
        return hash(Unknown)


UNKNOWN = Unknown()


@record(frozen=True, slots=True, eq=False)
class Amount(Unknown):
    """A number or a text that isn't known, but its type or its unit is.

    Attributes:
        type: ``str``, ``list`` (of texts), ``number`` or ``numbers`` (a list); "" if it isn't known.
        unit: as in `tfmemlint.knowledge.units`; "" if it isn't known.
        source: where it comes from, in words. sure: False if it is so on some path only.
        default: the number or the text that it is where the user gives none; None if there is none, or it isn't known.
        scaled: it was divided by a plain number, or multiplied by a share: it may be no amount any more, but a share.
        whole: it is all of the memory of a GPU, or is meant for all who share it.
    """

    type: str = ""
    unit: str = ""
    source: str = ""
    sure: bool = True
    default: float | str | None = None
    scaled: bool = False
    whole: bool = False


@record(frozen=True, slots=True, eq=False)
class FileValue(Amount):
    """A value that a configuration file of the project has: what it is where nobody gives another file.

    It is as unknown as any other, so that no condition is decided by it. Two of different places are different.

    Attributes:
        path: the file as reports name it. row: where it is there; 0 if that is not known.
        value: what the program gets: a string, a number, a bool, None, or a tuple of file values (a list).
        key: its name there.
        of_list: it is the text of a list that the file has: ``str([0, 1])``.
    """

    path: str = ""
    row: int = 0
    value: Any = None
    key: str = ""
    of_list: bool = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FileValue):
            return isinstance(other, Unknown)
        mine, others = (self.path, self.row, self.type, self.unit), (other.path, other.row, other.type, other.unit)
        return mine == others and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash(Unknown)


@record(frozen=True, slots=True, eq=False)
class Given(Unknown):
    """The content of a file that is not in the project, or of a text that is not known.

    Where it may as well be something that the program has, it is that as long as nobody gives another.
    """


@record(frozen=True, slots=True, eq=False)
class TextTruth(Unknown):
    """The truth of a text, ``bool("False")``, which is True for every text but the empty one.

    ``taken``: the event that tells where it was asked for (`tfmemlint.interpreter.state.texts.TextTaken`).
    """

    taken: Any


@record(frozen=True, slots=True, eq=False)
class FileItems(Unknown):
    """``items()`` of what a configuration file has: the pairs of names and values. Another file may have others."""

    pairs: tuple[Any, ...]


@record(frozen=True, slots=True, eq=False)
class OneOf(Unknown):
    """One of a few plain values, of which nobody knows which: ``str(flag)`` is "True" or "False".

    It is as unknown as any other, so that no condition is decided by it.
    """

    options: tuple[Any, ...]


TRUTH = OneOf((True, False))
"""The result of a test that depends on what is not known."""


@record(frozen=True, slots=True, eq=False)
class FilePath(Unknown):
    """The path of a file or directory, as far as the program states it.

    ``anchored``: it is absolute, made of ``__file__``; all others start from the directory that the program runs in.
    """

    path: str
    anchored: bool = False


@record(frozen=True, slots=True, eq=False)
class FileContent(Unknown):
    """An open file, or the text that was read from it; ``path`` is a `FilePath`."""

    path: FilePath


@record(frozen=True, slots=True, eq=False)
class IniParser(Unknown):
    """A ``ConfigParser``.

    Attributes:
        sections: the options that are known, by section and name. guards: the conditions under which it was made.
    """

    sections: dict[str, dict[str, Any]] = field(default_factory=dict)
    guards: Any = ()


@record(frozen=True, slots=True, eq=False)
class PassNumber(Unknown):
    """The number of a pass of a loop, as ``enumerate`` counts them.

    Attributes:
        first: the number of the first pass. later: this is another pass, whose number is larger.
    """

    first: int
    later: bool


@record(frozen=True, slots=True)
class PassNumbers:
    """The numbers of a loop's passes, as counted by ``enumerate``, from ``first`` on."""

    first: int


@record(frozen=True, slots=True, eq=False)
class Fields(Unknown):
    """An object of which nothing but some attributes or items is known: parsed arguments, what NVML tells.

    ``rest``: what all others are.
    """

    fields: Mapping[str, Any]
    rest: Any = UNKNOWN


@record(frozen=True, slots=True, eq=False)
class Rows(Unknown):
    """A list of tuples that are alike, of which the length is not known: the rows of a table.

    Attributes:
        row: a tuple with the amounts that each has; all else in it is unknown. cell: that of the list.
    """

    row: Any
    cell: Any


@record(frozen=True, slots=True, eq=False)
class OptionParser(Unknown):
    """A parser of command lines.

    Attributes:
        options: what it makes of each option so far. code: the functions that ``set_defaults`` gives options.
        readers: the functions that are given the text of an option when a command line is parsed, with that
            text, and the name of the option.
        words: how each option is given on a command line.
        names: those of each option that is declared, as they are written. doubts: why an option may be known that is
        not among them, each in a word; ``whole`` if the parser takes no part of a name for all of it.
    """

    options: dict[str, Any] = field(default_factory=dict)
    code: dict[str, Any] = field(default_factory=dict)
    readers: list[tuple[str, Any, Any]] = field(default_factory=list)
    words: dict[str, Any] = field(default_factory=dict)
    names: list[tuple[str, ...]] = field(default_factory=list)
    doubts: set[str] = field(default_factory=set)


@record(frozen=True, slots=True, eq=False)
class OwnDict(Unknown):
    """The ``__dict__`` of an object of the program, ``owner``.

    ``complete``: all attributes of the owner were known before it was asked for.
    """

    owner: Any
    complete: bool = False


@record(frozen=True, slots=True)
class Const:
    """A Python constant: int, float, str, bytes, bool, None."""

    value: Any


@record(frozen=True, slots=True, eq=False)
class FileConst(Const):
    """A constant that a configuration file has, in a run that reads the file as it is; it equals any other constant.

    ``path``, ``row``, ``of_list``: as of a `FileValue`.
    """

    path: str = ""
    row: int = 0
    of_list: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self.value == other.value

    def __hash__(self) -> int:
        return hash(Const(self.value))


@record(frozen=True, slots=True)
class Ref:
    """Something imported, by its canonical dotted name (``tf.config.list_physical_devices``, ``os.environ``).

    TensorFlow's names start with ``tf.``; ``tensorflow.compat.v2.x`` and ``tensorflow.x`` are both ``tf.x``. What is
    not TensorFlow's keeps its own name. ``device_lib`` is ``tf.python.client.device_lib``.
    """

    name: str


@record(frozen=True, slots=True)
class Devices:
    """A list of devices that TensorFlow returned.

    Attributes:
        kind: ``physical`` (``list_physical_devices``), ``logical`` (``list_logical_devices``), ``local``
            (``device_lib.list_local_devices``: DeviceAttributes).
        type: ``GPU``, ``CPU``, or None for all types.
        whole: the list holds every device of its type; False after a slice or a filter that isn't understood.
        names: the list holds the devices' names (strings), not the devices.
        first: of a slice of the whole list, how many of the first ones it has (with those that ``skip`` leaves out).
        skip: of a slice of the whole list, how many of the first ones it leaves out.
        last: of a slice of the whole list, how many of the last ones it leaves out: 1 of ``gpus[:-1]``.
        most: of a slice of the whole list, how many it has at most: 1 of ``gpus[-1:]``.
    """

    kind: str
    type: str | None
    whole: bool = True
    names: bool = False
    first: int | None = None
    skip: int = 0
    last: int = 0
    most: int | None = None

    @property
    def leaves_out(self) -> bool:
        """True if the list lacks a device of its type, however many there are."""
        return self.skip > 0 or self.last > 0

    @property
    def numbers(self) -> range | None:
        """The devices' numbers, of a slice for which they are known."""
        return None if self.first is None else range(self.skip, max(self.first, self.skip))


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True)
class Count:
    """The number of devices in a list: ``len(gpus)``."""

    of: Devices


@record(frozen=True, slots=True)
class CountPlus:
    """The number of devices in a list plus another number: ``len(gpus) + 1``."""

    of: Devices
    plus: int


@record(frozen=True, slots=True)
class Indices:
    """The numbers of the devices of a list: ``range(len(gpus))``.

    Attributes:
        offset: how much too large each is: 1 for ``range(1, len(gpus) + 1)`` and ``enumerate(gpus, 1)``.
        skipped: how many of the first devices have none: 1 for ``range(1, len(gpus))``.
        extra: how many there are beyond the last device's: 1 for ``range(len(gpus) + 1)``.
    """

    of: Devices
    offset: int = 0
    skipped: int = 0
    extra: int = 0


@record(frozen=True, slots=True)
class Index:
    """One of those numbers, as the variable of a loop, ``offset`` larger than the device's own."""

    device: Device
    offset: int = 0


@record(frozen=True, slots=True, eq=False)
class NumberedName(Unknown):
    """A text that ends in the number of a device: ``f"GPU:{i}"``."""

    prefix: str
    index: Index


@record(frozen=True, slots=True, eq=False)
class TextMatch:
    """The match of a regular expression in a known text.

    ``groups``: the texts, that of the whole match first; None where a group has no part in it. ``names``: the numbers
    of the groups that have names.
    """

    groups: tuple[str | None, ...]
    names: Mapping[str, int]


@record(frozen=True, slots=True)
class Part:
    """A share of the memory of a GPU.

    ``total``: that memory, in MiB. ``name``: what the program calls it.
    """

    share: float
    total: float
    name: str


@record(frozen=True, slots=True)
class DeviceName:
    """The ``name`` of a device: a string such as ``/physical_device:GPU:0`` or ``/device:GPU:0``."""

    device: Device


@record(frozen=True, slots=True)
class Made:
    """The result of a call of a named thing (``Made('tf.distribute.MirroredStrategy')``).

    A method of it is called ``tf.distribute.MirroredStrategy().scope``. ``serial`` tells two results of one call apart.
    """

    name: str
    serial: int = 0
