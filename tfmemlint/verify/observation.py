"""The observations of one run: the lines that were reached, their calls, and the configuration in force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tfmemlint.model.finding import Span
from tfmemlint.verify.result import Result


@dataclass(frozen=True, slots=True)
class ConfigCall:
    """One call of TensorFlow's configuration.

    Attributes:
        function: of TensorFlow's context, such as ``set_memory_growth``.
        lines: the program's lines that led to it, innermost first.
        args: its arguments, a device by its name. value: what it returned. error: ``Type: message``, or "".
    """

    function: str
    lines: tuple[int, ...]
    args: tuple[Any, ...]
    value: Any
    error: str

    def within(self, span: Span) -> bool:
        """True if it was made in these rows."""
        return any(span.row <= line <= span.end_row for line in self.lines)


@dataclass(frozen=True, slots=True)
class ObservedStart:
    """An attempt to start the eager context: the lines that led to it, and the error, if it failed."""

    lines: tuple[int, ...]
    error: str


class Observation:
    """A run, with its notes parsed.

    Attributes:
        result: the run. reached: the watched rows that were reached. asked: the calls of TensorFlow, in order.
        starts: the program's attempts to start the runtime. stopped: True if it was ended because all was seen.
    """

    def __init__(self, result: Result) -> None:
        self.result = result
        self.reached: set[int] = set()
        self.asked: list[ConfigCall] = []
        self.starts: list[ObservedStart] = []
        self.stopped = False
        for note in result.notes:
            if "reached" in note:
                self.reached.add(note["reached"])
            elif "call" in note:
                self.asked.append(
                    ConfigCall(
                        note["call"], tuple(note["lines"]), tuple(note["args"]), note.get("value"), note["error"]
                    )
                )
            elif "started" in note:
                self.starts.append(ObservedStart(tuple(note["started"]), note["error"]))
            elif "stopped" in note:
                self.stopped = True

    def calls(self, function: str, span: Span) -> Iterator[ConfigCall]:
        """Return the calls of one function that were made in the rows of ``span``."""
        return (call for call in self.asked if call.function == function and call.within(span))

    @property
    def in_force(self) -> dict[str, Any] | None:
        """Return the configuration in force: that of the first allocators, which no later one changes."""
        return self.result.effective or self.result.config

    @property
    def start_error(self) -> str:
        """Return the error of the last start of the runtime, by the program or after it; "" if it started."""
        if self.result.config is not None and not self.result.init_error:
            return ""
        if self.starts and self.starts[-1].error:
            return self.starts[-1].error
        # The program's sessions work, even if an eager context, which it doesn't have, could not start.
        made = self.result.effective is not None and not self.result.effective["forced"]
        return "" if made and self.result.sessions else self.result.init_error

    @property
    def start_line(self) -> int | None:
        """Return the program's line that started the runtime; None if the harness had to."""
        for start in self.starts:
            if not start.error and start.lines:
                return start.lines[0]
        return None

    def limits_of(self, gpu: int) -> list[float] | None:
        """Return the sizes of a physical GPU's logical devices in MiB; None if it isn't visible."""
        config = self.in_force
        if config is None or gpu not in config["visible"]:
            return None
        found: list[float] = config["limits"][config["visible"].index(gpu)]
        return found

    @property
    def visible(self) -> Sequence[int]:
        """Return the physical GPUs that TensorFlow uses, by their numbers in its list."""
        return self.in_force["visible"] if self.in_force is not None else ()


def gpu_number(name: object) -> int | None:
    """Return the number in the name of a GPU such as ``/physical_device:GPU:1``; None for any other device."""
    if not isinstance(name, str) or ":GPU:" not in name:
        return None
    last = name.rsplit(":", 1)[-1]
    return int(last) if last.isdigit() else None
