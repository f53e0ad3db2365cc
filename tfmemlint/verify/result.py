"""What comes back from running a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


class GroundError(RuntimeError):
    """The ground itself failed: TensorFlow can't be imported, the server died, or the system can't fork."""


@dataclass(frozen=True, slots=True)
class Result:
    """How one program ended, and what TensorFlow was told about GPU memory.

    A configuration is a dictionary: ``allow_growth`` (True, False, or None where nothing was said), ``visible``
    (indices of the visible GPUs in TensorFlow's list), ``limits`` (for each visible GPU the sizes in MiB of its logical
    devices, empty where it wasn't split), ``per_process_gpu_memory_fraction`` (0.0 where unset) and ``forced``.
    """

    ok: bool
    """The program ended without an exception and in time. ``sys.exit`` is no exception; see ``exit_code``."""
    exception: str = ""
    """The type's unqualified name, ``''`` if there was none; a signal's name if the process was killed."""
    message: str = ""
    traceback_line: int | None = None
    """The innermost line of the program itself that the exception came through."""
    exit_code: int | None = None
    """What the program passed to ``sys.exit``, None where it didn't."""
    stdout: str = ""
    stderr: str = ""
    config: dict[str, Any] | None = None
    """What the eager context handed to the runtime; ``forced`` where the program itself had not started it."""
    effective: dict[str, Any] | None = None
    """The configuration that the process-wide allocators have. The first to make them wins, whatever comes later."""
    allocator: str = ""
    """What made the first allocator: ``'the eager context'``, ``'tf.test.is_gpu_available()'`` and so on."""
    init_error: str = ""
    """``Type: message`` where starting the runtime after the program had ended failed."""
    sessions: list[dict[str, Any]] = field(default_factory=list)
    """The configuration of every TensorFlow 1 session, in the order of their creation."""
    environment: dict[str, str] = field(default_factory=dict)
    """The variables about GPU memory, as they were when TensorFlow read them."""
    physical: int = 0
    """How many physical GPUs TensorFlow saw."""
    notes: list[dict[str, Any]] = field(default_factory=list)
    """What the program did, in order: ``{"reached": row}``, ``{"call": function of the context, "lines": [...],
    "args": [...], "value": ..., "error": "Type: message"}``, ``{"started": lines, "error": ...}``."""
    probe: dict[str, Any] | None = None
    """What was found to be really taken of each GPU, where that was asked for."""
    observer: dict[str, Any] | None = None
    """What an observer of its own has seen, where there was one."""
    timed_out: bool = False
    out_of_memory: bool = False
    """It took more of the machine's own memory than it may, or printed more."""

    @property
    def error(self) -> str:
        """Return ``Type: message`` of the exception, ``''`` if there was none."""
        return f"{self.exception}: {self.message}" if self.message else self.exception

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """Build a result from its JSON form; unknown keys are an error."""
        unknown = set(data) - {item.name for item in fields(cls)}
        if unknown:
            raise GroundError(f"the server answered with unknown fields: {', '.join(sorted(unknown))}")
        return cls(**data)
