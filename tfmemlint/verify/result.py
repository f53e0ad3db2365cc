"""The result of running a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


class GroundError(RuntimeError):
    """The ground itself failed: TensorFlow can't be imported, the server died, or the system can't fork."""


@dataclass(frozen=True, slots=True)
class Result:
    """The way one program ended, and how it configured GPU memory.

    A configuration is a dictionary: ``allow_growth`` (True, False, or None where nothing was said), ``visible``
    (indices of the visible GPUs in TensorFlow's list), ``limits`` (for each visible GPU the sizes in MiB of its logical
    devices, empty where it wasn't split), ``per_process_gpu_memory_fraction`` (0.0 where unset) and ``forced``.
    """

    ok: bool
    """True if the program ended without an exception and in time. ``sys.exit`` does not count; see ``exit_code``."""
    exception: str = ""
    """The type's unqualified name, ``''`` if there was none; a signal's name if the process was killed."""
    message: str = ""
    traceback_line: int | None = None
    """The innermost line of the program itself that the exception passed through."""
    exit_code: int | None = None
    """The argument of ``sys.exit``, None if it wasn't called."""
    stdout: str = ""
    stderr: str = ""
    config: dict[str, Any] | None = None
    """The configuration that the eager context passed to the runtime; ``forced`` if the program did not start it."""
    effective: dict[str, Any] | None = None
    """The configuration of the process-wide allocators. The first to make them wins, whatever comes later."""
    allocator: str = ""
    """The maker of the first allocator: ``'the eager context'``, ``'tf.test.is_gpu_available()'`` and so on."""
    init_error: str = ""
    """``Type: message`` if starting the runtime after the end of the program failed."""
    sessions: list[dict[str, Any]] = field(default_factory=list)
    """The configuration of every TensorFlow 1 session, in the order of their creation."""
    environment: dict[str, str] = field(default_factory=dict)
    """The variables about GPU memory, as they were when TensorFlow read them."""
    physical: int = 0
    """The number of physical GPUs that TensorFlow saw."""
    notes: list[dict[str, Any]] = field(default_factory=list)
    """The notes about the program, in order: ``{"reached": row}``, ``{"call": function of the context, "lines": [...],
    "args": [...], "value": ..., "error": "Type: message"}``, ``{"started": lines, "error": ...}``."""
    probe: dict[str, Any] | None = None
    """The memory that was really taken of each GPU, if it was requested."""
    observer: dict[str, Any] | None = None
    """The report of a special observer, if there was one."""
    sandbox: dict[str, Any] | None = None
    """The barriers of the sandbox, and the files that were not kept; None if the program was in no sandbox."""
    timed_out: bool = False
    out_of_memory: bool = False
    """True if it took too much of the machine: memory, processes, or space for output and files."""

    @property
    def error(self) -> str:
        """Return ``Type: message`` of the exception, ``''`` if there was none."""
        return f"{self.exception}: {self.message}" if self.message else self.exception

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """Build a result from its JSON form.

        Raises:
            GroundError: a key is unknown.
        """
        unknown = set(data) - {item.name for item in fields(cls)}
        if unknown:
            raise GroundError(f"the server answered with unknown fields: {', '.join(sorted(unknown))}")
        return cls(**data)
