"""Stands for TensorFlow where only the order of calls matters: it writes down what starts the runtime, and what sets
memory growth, as words into the file that the variable ``RECORD`` names. Only the process that is started writes.
It imports next to nothing: hundreds of programs import it, each in a process of its own.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # that of `typing`, without importing it
if TYPE_CHECKING:
    from typing import Any

os.environ.setdefault("RECORDED_PROCESS", str(os.getpid()))


def _note(word: str) -> None:
    if os.environ.get("RECORDED_PROCESS") == str(os.getpid()):
        record = os.open(os.environ["RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(record, f"{word}\n".encode("ascii"))
        os.close(record)


class _Tensor:
    """The result of an operation: it answers whatever it is asked."""

    def __float__(self) -> float:
        return 1.0

    def __int__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return True

    def __add__(self, other: object) -> _Tensor:
        return self

    __radd__ = __add__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Tensor()

    def __call__(self, *args: object, **keywords: object) -> bytes:
        return b"1"

    def __enter__(self) -> _Tensor:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class _Name:
    """A name of TensorFlow's; calling it starts the runtime, unless it is one of ``tf.config`` that does not."""

    def __init__(self, *path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> _Name:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Name(*self._path, name)

    def __call__(self, *args: object, **keywords: object) -> Any:
        if self._path[0] != "config" or self._path[-1] in ("list_logical_devices", "get_memory_info"):
            _note("start")
            return _Tensor()
        if self._path[-1] == "set_memory_growth":
            _note("growth")
        return ["GPU:0"] if self._path[-1] == "list_physical_devices" else None


def __getattr__(name: str) -> _Name:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Name(name)
