"""The plan of a file, as plain data: the report for people and the one for programs are both created from it."""

from __future__ import annotations

from dataclasses import field, replace
from enum import Enum
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass
from tfmemlint.sources.line_map import Rows

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch


class PredictionKind(str, Enum):
    """The kind of a prediction."""

    HAPPENS = "takes effect"
    REPLACED = "replaced"
    """The program itself sets something else afterwards, in time."""
    FAILS = "fails"
    """On every machine with a GPU, if the line is reached."""
    DEPENDS = "depends"
    """On the number of GPUs, or on the path that the program takes."""
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Place:
    """A piece of the file: its span, its text on one line, and the calls down to it, each with its row and words."""

    span: Span
    text: str = ""
    frames: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction for one intent.

    Attributes:
        kind: the prediction in one word.
        reason: the reason if the intent does not simply take effect: ``late``, ``lost``, ``refused``, ``dropped``,
            ``overridden``, ``made-up``, ``unread``, ``unused``, ``value``, ``partial``, ``size``, ``unreached``,
            ``handed-on``, ``rule``; else "".
        words: the prediction as a sentence without a full stop.
        details: further information, a sentence each.
        condition: the condition, as it reads after the words; "" without one.
        exception: the type and the text of the exception; None without one.
        handler: the row of the handler that hides the exception.
        because: the row of the cause.
    """

    kind: PredictionKind
    reason: str = ""
    words: str = ""
    details: tuple[str, ...] = ()
    condition: str = ""
    exception: tuple[str, str] | None = None
    handler: int | None = None
    because: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedIntent:
    """One intent and its prediction.

    Attributes:
        purpose, devices, value, words: the intent (`tfmemlint.model.intent`), and all of it in words.
        gpu: the number of the GPU, ``each``, or None if it is unknown.
        mib: for a limit, the MiB of each logical device, None for unknown ones.
        by: the way it is stated (`tfmemlint.intents`).
        name: the canonical name of the function, variable or object.
        place: the place in the file.
        certain: it has no condition.
        rules: codes of the rules with a finding here.
    """

    purpose: str
    devices: str
    value: float | int | bool | str | None
    words: str
    gpu: int | str | None
    mib: tuple[float, ...] | None
    by: str
    name: str
    place: Place
    certain: bool
    prediction: Prediction
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """The way the memory of a device is taken.

    Attributes:
        kind: ``all`` (everything that is free), ``growth``, ``limit``, ``fraction``, ``unified``, ``before`` (as it was
            set before the function is called), ``none`` (the GPU is hidden), or ``unknown``.
        words: the same in words.
        growth: True if it is taken as it is needed; None if that is unknown.
        mib: the MiB of each logical device, if they are known.
        fraction: the fraction of the device.
        rows: the rows of the settings.
    """

    kind: str
    words: str
    growth: bool | None = None
    mib: tuple[float, ...] | None = None
    fraction: float | None = None
    rows: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Device:
    """The prediction for a GPU, or for several with the same one.

    Attributes:
        name: ``each GPU``, ``GPU 0``, ``other GPUs``, ``GPU args.gpu``.
        number: its number, if it is one GPU.
        visible: True if TensorFlow sees it; None if that is unknown.
        visible_row: the row of the setting.
        allocator: the allocator's name if the program chooses one, and the row that does.
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
    """The event that starts the runtime.

    Attributes:
        what: ``runtime`` (the eager context), or ``devices`` (the GPU devices and their allocator alone).
        place: the place in the file.
        certain: every run reaches it.
        before: the module starts it, before the function is called.
    """

    what: str
    place: Place
    certain: bool
    before: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """The exception that ends every run of an entry point: its row, its type and its text, and the rules that report
    it."""

    row: int
    exception: tuple[str, str]
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable that the program sets; ``in_time`` is True if TensorFlow reads it afterwards."""

    name: str
    value: str | None
    row: int
    read: str
    in_time: bool | None


@dataclass(frozen=True, slots=True)
class PlannedEntry:
    """One entry point: the file from top to bottom (``module``), or a function that nothing in the file calls.

    Attributes:
        name: ``module``, or the function's qualified name.
        row: the row of its definition, 1 for the module.
        assumes: what must hold before a function is called for the plan to be right; "" for the module.
    """

    name: str
    row: int
    start: PlannedStart | None
    devices: tuple[Device, ...]
    variables: tuple[Variable, ...]
    intents: tuple[PlannedIntent, ...]
    stop: Stop | None = None
    assumes: str = ""

    @property
    def is_module(self) -> bool:
        """True if this is the file itself."""
        return self.name == "module"


@dataclass(frozen=True, slots=True)
class FilePlan:
    """The plan of the program that starts in a file: its entry points that matter; none if it has no intents."""

    path: str
    entries: tuple[PlannedEntry, ...] = ()
    incomplete: str = ""
    """The reason why the program could not be followed to its end, or ""."""
    target: str = ""
    """The release that it was judged for."""
    target_is_stated: bool = True
    """True if the user or the file's project states that release."""
    alone: bool = False
    """True if the modules that it imports from its project were ignored."""
    rows: Rows | None = field(default=None, compare=False, repr=False)
    """The file and line of each row, if the program has several files."""
    begun: Launch | None = None
    """The launch of the program by a configuration file, with variables set; None for a start by hand."""

    def line(self, row: int) -> str:
        """Return a row for sentences: ``line 12``, ``core/model.py:12`` in another file, ``line 1 of cell 3``."""
        return self.rows.line(row) if self.rows is not None else f"line {row}"

    def shown(self, row: int) -> str:
        """Return a row as it is shown beside the path of its file: ``12``, ``cell 3:1``."""
        return self.rows.shown(row) if self.rows is not None else str(row)

    def cell(self, row: int) -> tuple[int, int] | None:
        """Return the number of the notebook's cell that a row is in, and the line in it; None in other files."""
        return self.rows.cell(row) if self.rows is not None else None

    def where(self, row: int) -> tuple[str, int]:
        """Return the file that a row is in, and the line there."""
        return self.rows.place(row) if self.rows is not None else (self.path, row)

    def predicts_the_same_as(self, other: FilePlan) -> bool:
        """Return True if the predictions are the same for all the program's own intents, and for each GPU's memory."""
        return self._outcome() == other._outcome()

    def _outcome(self) -> list[object]:
        modules = [entry for entry in self.entries if entry.is_module]
        intents = [planned for entry in modules for planned in entry.intents]
        own = [planned for planned in intents if self.where(planned.place.span.row)[0] not in self._set_by]
        predictions = [
            (self.where(planned.place.span.row), planned.words, planned.prediction.kind, planned.prediction.words)
            for planned in own
        ]
        devices = [(device.name, device.visible, device.allocator) for entry in modules for device in entry.devices]
        memory = [replace(device.memory, rows=()) for entry in modules for device in entry.devices]
        return [predictions, devices, memory, [entry.stop is None for entry in modules]]

    @property
    def _set_by(self) -> set[str]:
        return {write.path for write in self.begun.writes} if self.begun is not None else set()


@dataclass(frozen=True, slots=True)
class Problem:
    """A path that could not be read; ``row`` is None if no line is to blame."""

    path: str
    message: str
    row: int | None = None


@dataclass(slots=True)
class Plan:
    """The plan of a run; ``left_out`` files have no intents. ``target``: the release; the newest if there are
    several. ``empty``: directories without Python files."""

    target: str
    gpus: int | None = None
    gpu_memory_mib: float | None = None
    files: list[FilePlan] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    left_out: int = 0
    empty: list[str] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        """True if some intent and its prediction differ, or may differ, or the program ends in an exception."""
        return any(
            entry.stop is not None
            or any(
                planned.prediction.kind in (PredictionKind.FAILS, PredictionKind.DEPENDS) for planned in entry.intents
            )
            for file in self.files
            for entry in file.entries
        )
