"""The result of `tfmemlint.plan`: plain data, as in `tfmemlint.api.results`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tfmemlint.api.results import Place, Problem

Prediction = Literal["takes effect", "replaced", "fails", "depends", "not known"]
"""``takes effect``: it happens as it is stated. ``replaced``: the program itself sets something else afterwards, in
time. ``fails``: on every machine with a GPU, if the line is reached. ``depends``: on the number of GPUs, or on the path
that the program takes."""


@dataclass(frozen=True)
class PlannedIntent:
    """One intent, and what becomes of it.

    Attributes:
        purpose: as in `Intent`.
        words: the intent in words.
        place: where it is stated.
        code: the code there, on one line.
        prediction: what becomes of it, in one word.
        outcome: the same as a sentence without a full stop.
        reason: a keyword for the reason if it does not simply take effect (``late``, ``made-up``, ...), or "".
        details: further information, a sentence each.
        condition: under which condition, as it reads after the outcome, or "".
        exception: the type and the text of the exception that is raised; None without one.
        because: the line of the cause: its path and row; None if there is none.
        devices: the devices in words.
        gpu: the number of the GPU, ``each``, or None if it is not known.
        value: as in `Intent`.
        mib: for a limit, the MiB of each logical device; None for those that are not known.
        by: the way it is stated (a call, a variable, an option of a session).
        name: the canonical name of the function, variable or object.
        certain: it is stated under no condition.
        rules: the codes of the rules with a finding here.
    """

    purpose: str
    words: str
    place: Place
    code: str
    prediction: Prediction
    outcome: str
    reason: str = ""
    details: tuple[str, ...] = ()
    condition: str = ""
    exception: tuple[str, str] | None = None
    because: tuple[str, int] | None = None
    devices: str = ""
    gpu: int | str | None = None
    value: float | int | bool | str | None = None
    mib: tuple[float, ...] | None = None
    by: str = ""
    name: str = ""
    certain: bool = True
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Device:
    """The memory that a GPU, or each of several GPUs, gets.

    Attributes:
        name: ``each GPU``, ``GPU 0``, ``other GPUs``.
        number: its number, if it is one GPU.
        visible: True if TensorFlow sees it; None if that is not known.
        memory: how its memory is taken: ``all`` (everything that is free), ``growth``, ``limit``, ``fraction``,
            ``unified``, ``before``, ``none`` or ``unknown``.
        words: the same in words.
        mib: the MiB of each logical device, if they are known.
        fraction: the share of the device, if it is known.
        allocator: the allocator, if the program chooses one, or "".
    """

    name: str
    number: int | None
    visible: bool | None
    memory: str
    words: str
    mib: tuple[float, ...] | None = None
    fraction: float | None = None
    allocator: str = ""


@dataclass(frozen=True)
class RuntimeStart:
    """The line that starts TensorFlow's runtime.

    Attributes:
        what: ``runtime`` (the eager context), or ``devices`` (the GPU devices and their allocator alone).
        place: where it is.
        code: the code there, on one line.
        certain: every run reaches it.
    """

    what: str
    place: Place
    code: str
    certain: bool


@dataclass(frozen=True)
class EntryPoint:
    """One way to run a program: the file from top to bottom, or a function that nothing in it calls.

    Attributes:
        name: ``module``, or the qualified name of the function.
        row: the line of its definition; 1 for the module.
        start: what starts the runtime; None if nothing does.
        devices: what each GPU gets.
        intents: what is wanted, in the order in which the program comes by.
        assumes: what has to be so before a function is called, or "".
        stop: the line, the type and the text of the exception that ends every run; None if there is none.
    """

    name: str
    row: int
    start: RuntimeStart | None
    devices: tuple[Device, ...]
    intents: tuple[PlannedIntent, ...]
    assumes: str = ""
    stop: tuple[int, str, str] | None = None


@dataclass(frozen=True)
class Program:
    """The plan of the program that starts in a file.

    Attributes:
        path: the file.
        tensorflow: the release that it was judged for, such as ``2.21``.
        entries: its entry points that matter.
        started_by: the configuration file that starts it; None for a start by hand.
        incomplete: why the program could not be followed to its end, or "".
    """

    path: str
    tensorflow: str
    entries: tuple[EntryPoint, ...]
    started_by: str | None = None
    incomplete: str = ""


@dataclass(frozen=True)
class PlanResult:
    """The result of `plan`.

    Attributes:
        programs: those that want something of GPU memory.
        differs: some intent and its prediction differ, or may differ, or a program ends in an exception.
        problems: files that could not be read.
    """

    programs: tuple[Program, ...]
    differs: bool
    problems: tuple[Problem, ...] = ()
