"""The plan of a file: what the report for people and the one for programs are both made from. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Span
from tfmemlint.sources.line_map import Rows

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch


class Prediction(str, Enum):
    """What becomes of an intent."""

    HAPPENS = "takes effect"
    REPLACED = "replaced"
    """The program itself asks for something else afterwards, in time."""
    FAILS = "fails"
    """On every machine with a GPU, as far as the line is reached."""
    DEPENDS = "depends"
    """On the number of GPUs, or on the way that the program takes."""
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Place:
    """A piece of the file: its span, its text on one line, and the calls down to it, each with its row and words."""

    span: Span
    text: str = ""
    frames: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one intent.

    Attributes:
        verdict: in one word. reason: why it does not simply take effect: ``late``, ``lost``, ``refused``, ``dropped``,
            ``overridden``, ``made-up``, ``unread``, ``unused``, ``value``, ``partial``, ``size``, ``unreached``,
            ``handed-on``, ``rule``; else "".
        words: in a sentence without a full stop. details: more to know, a sentence each.
        condition: under which it is so, as it reads behind the words; "" where there is none.
        exception: what is raised, as its type and its text; None where nothing is.
        handler: the row of the handler that hides the exception. because: the row of what is in the way.
    """

    verdict: Prediction
    reason: str = ""
    words: str = ""
    details: tuple[str, ...] = ()
    condition: str = ""
    exception: tuple[str, str] | None = None
    handler: int | None = None
    because: int | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """One intent and its fate.

    Attributes:
        wish, devices, value, words: the intent (`tfmemlint.model.intent`), and all of it in words.
        gpu: the number of the GPU, ``each``, or None where it isn't known.
        mib: for a limit, the MiB of each logical device, as far as they are known.
        by: how it is asked for (`tfmemlint.intents`).
        name: canonical name of what is called, set or made. place: where. certain: it stands under no condition.
        rules: codes of the rules that find something here.
    """

    wish: str
    devices: str
    value: float | int | bool | str | None
    words: str
    gpu: int | str | None
    mib: tuple[float, ...] | None
    by: str
    name: str
    place: Place
    certain: bool
    fate: Fate
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """How the memory of a device is taken.

    Attributes:
        kind: ``all`` (everything that is free), ``growth``, ``limit``, ``fraction``, ``unified``, ``before`` (as it was
            set before the function is called), ``none`` (the GPU is hidden), or ``unknown``.
        words: the same in words. growth: whether it is taken as it is needed; None where that isn't known.
        mib: the MiB of each logical device, where they are known. fraction: the share of the device.
        rows: the rows that say so.
    """

    kind: str
    words: str
    growth: bool | None = None
    mib: tuple[float, ...] | None = None
    fraction: float | None = None
    rows: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Device:
    """What is in store for a GPU, or for several of which the same is known.

    Attributes:
        name: ``each GPU``, ``GPU 0``, ``other GPUs``, ``GPU args.gpu``. number: its number, where it is one GPU.
        visible: whether TensorFlow sees it; None where that isn't known. visible_row: the row that says so.
        allocator: its name where the program chooses one, and the row that does.
    """

    name: str
    number: int | None
    memory: Memory
    visible: bool | None = True
    visible_row: int | None = None
    allocator: str = ""
    allocator_row: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedStart:
    """What starts the runtime.

    Attributes:
        what: ``runtime`` (the eager context), or ``devices`` (the GPU devices and their allocator alone).
        place: where. certain: every run comes by there. before: it is the module that does, before the function is
        called.
    """

    what: str
    place: Place
    certain: bool
    before: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """Where every run of an entry point ends in an exception: its type and its text, and the rules that tell of it."""

    row: int
    exception: tuple[str, str]
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable that the program sets: ``in_time`` says whether TensorFlow reads it afterwards."""

    name: str
    value: str | None
    row: int
    read: str
    in_time: bool | None


@dataclass(frozen=True, slots=True)
class PlannedEntry:
    """One entry point: the file from top to bottom (``module``), or a function that nothing in the file calls.

    Attributes:
        name: ``module``, or the function's qualified name. row: where it is defined, 1 for the module.
        assumes: what has to be so before a function is called for all this to be so; "" for the module.
    """

    name: str
    row: int
    start: PlannedStart | None
    devices: tuple[Device, ...]
    variables: tuple[Variable, ...]
    asked: tuple[Asked, ...]
    stop: Stop | None = None
    assumes: str = ""

    @property
    def is_module(self) -> bool:
        """Whether this is the file itself."""
        return self.name == "module"


@dataclass(frozen=True, slots=True)
class FilePlan:
    """The plan of the program that starts in a file: its entry points that matter; none where it asks for nothing."""

    path: str
    entries: tuple[PlannedEntry, ...] = ()
    incomplete: str = ""
    """Why the program could not be followed to its end, or ""."""
    target: str = ""
    """The release that it was judged for."""
    told: bool = True
    """Whether somebody says that it runs on that one: the user, or the file's project."""
    alone: bool = False
    """Whether what it imports of its project was left aside."""
    rows: Rows | None = field(default=None, compare=False, repr=False)
    """What file and line each row is, where the program has several files."""
    begun: Launch | None = None
    """How a configuration file starts the program, with variables set; None for a start by hand."""

    def line(self, row: int) -> str:
        """A row as it stands in a sentence: ``line 12``, or ``core/model.py:12`` in another file."""
        return self.rows.line(row) if self.rows is not None else f"line {row}"

    def where(self, row: int) -> tuple[str, int]:
        """The file that a row is in, and the line there."""
        return self.rows.place(row) if self.rows is not None else (self.path, row)

    def comes_to_the_same_as(self, other: FilePlan) -> bool:
        """Whether the same becomes of all that the program itself asks for, and of each GPU's memory."""
        return self._outcome() == other._outcome()

    def _outcome(self) -> list[object]:
        modules = [entry for entry in self.entries if entry.is_module]
        asked = [one for entry in modules for one in entry.asked]
        own = [one for one in asked if self.where(one.place.span.row)[0] not in self._set_by]
        fates = [(self.where(one.place.span.row), one.words, one.fate.verdict, one.fate.words) for one in own]
        devices = [(one.name, one.visible, one.allocator) for entry in modules for one in entry.devices]
        memory = [replace(one.memory, rows=()) for entry in modules for one in entry.devices]
        return [fates, devices, memory, [entry.stop is None for entry in modules]]

    @property
    def _set_by(self) -> set[str]:
        return {one.path for one in self.begun.writes} if self.begun is not None else set()


@dataclass(frozen=True, slots=True)
class Problem:
    """A path that could not be read: ``row`` is None where no line is to blame."""

    path: str
    message: str
    row: int | None = None


@dataclass(slots=True)
class Plan:
    """What a run came to: ``left_out`` files ask for nothing. ``target``: the release; the newest where there are
    several."""

    target: str
    gpus: int | None = None
    gpu_memory_mib: float | None = None
    files: list[FilePlan] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    left_out: int = 0

    @property
    def differs(self) -> bool:
        """Whether some wish and what becomes of it differ, or may, or the program ends in an exception."""
        return any(
            entry.stop is not None
            or any(one.fate.verdict in (Prediction.FAILS, Prediction.DEPENDS) for one in entry.asked)
            for file in self.files
            for entry in file.entries
        )
