"""Read XLA's buffer assignments: which operations share the block of memory that a compiled function asks for.

XLA plans the memory of a function when it compiles it, and asks for the temporaries of all its operations as one block.
With ``--xla_dump_to`` it writes the plan into a text file: the blocks, the values in each with their places, the
operations that these values come from, and the time that each lives. Sources: ``BufferAssignment::ToString``,
``HloDataflowAnalysis::ToString`` and ``HloLiveRange::ToString`` of XLA; the files of TensorFlow 2.21.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

MAX_FILE_BYTES = 512 << 20
"""The size of a plan that is read; a bound without a deeper reason."""
FILES = "*buffer-assignment.txt"
_BLOCK = re.compile(r"allocation (\d+): (?:0x[0-9a-f]+, )?size (\d+)(.*)")
_VALUE = re.compile(r" value: <\d+ (.+?) @\d+> \(size=(\d+),offset=(\d+)\): (.*)")
_ALIVE = re.compile(r"    (\S+?\{[\d,]*\}):(\d+)-(\d+)$")
_ORIGIN = re.compile(r" from instruction: %?(\S+) = .*?metadata=\{[^}]*?op_name=\"([^\"]*)\"")
_ARRAY = re.compile(r"([a-z]\w*)(\[[\d,]*\])")
_TYPES = {"pred": "bool", "f": "float", "bf": "bfloat", "s": "int", "u": "uint", "c": "complex"}
_NOT_ASKED_FOR = ("parameter", "thread-local", "constant")
"""Marks of blocks that a function gets from its caller, or that are part of its code."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A value in a block. ``what`` is the operation, ``kind`` and ``shape`` are as TensorFlow writes them."""

    what: str
    kind: str
    shape: str
    size: int


@dataclass(slots=True)
class Block:
    """A block of memory that a compiled function asks for, in bytes, and what is in it when it is fullest.

    Attributes:
        size: what is asked for. pieces: the values that are alive then, the largest first.
    """

    size: int
    pieces: list[Piece] = field(default_factory=list)

    @property
    def free(self) -> int:
        """Return the bytes that no value uses then."""
        return self.size - sum(piece.size for piece in self.pieces)


@dataclass(slots=True)
class _Value:
    name: str
    size: int
    offset: int
    array: str


def blocks_in(folder: Path) -> dict[int, Block]:
    """Return the blocks of all plans in a folder, by their sizes. Of two blocks of one size, the one with more known
    values stays.
    """
    found: dict[int, Block] = {}
    for path in sorted(folder.glob(FILES)):
        if path.stat().st_size > MAX_FILE_BYTES:
            continue
        with path.open(encoding="utf-8", errors="replace") as lines:
            for block in read_plan(lines):
                if block.size not in found or block.free < found[block.size].free:
                    found[block.size] = block
    return found


def read_plan(lines: Iterable[str]) -> list[Block]:
    """Return the blocks of one plan that its function asks for."""
    sizes: list[tuple[int, list[_Value]]] = []
    values: list[_Value] | None = None
    alive: dict[str, tuple[int, int]] = {}
    origins: dict[str, str] = {}
    for line in lines:
        if line.startswith("allocation "):
            match = _BLOCK.match(line)
            values = None
            if match and not any(mark in match[3].partition("shape is")[0] for mark in _NOT_ASKED_FOR):
                values = []
                sizes.append((int(match[2]), values))
        elif line.startswith(" value: "):
            match = _VALUE.match(line) if values is not None else None
            if match and values is not None:
                values.append(_Value(match[1], int(match[2]), int(match[3]), match[4]))
        elif line.startswith(" from instruction: "):
            match = _ORIGIN.match(line)
            if match:
                origins[match[1]] = match[2]
        elif line.startswith("    ") and line.rstrip()[-1:].isdigit():
            match = _ALIVE.match(line.rstrip())
            if match:
                alive[match[1]] = (int(match[2]), int(match[3]))
    return [Block(size, _fullest(size, members, alive, origins)) for size, members in sizes]


def _fullest(
    size: int, values: list[_Value], alive: dict[str, tuple[int, int]], origins: dict[str, str]
) -> list[Piece]:
    """Return what is in a block of ``size`` bytes when most of it is used."""
    changes: dict[int, int] = defaultdict(int)
    ranges = {}
    for value in values:
        name = value.name if value.name.endswith("}") else f"{value.name}{{}}"
        # Nothing is known of it: it lives as long as the block.
        begin, end = ranges[value.name] = alive.get(name, (0, 1 << 60))
        changes[begin] += value.size
        changes[end + 1] -= value.size
    used = most = fullest = 0
    for time in sorted(changes):
        used += changes[time]
        if used > most:
            most, fullest = used, time
    there = [value for value in values if ranges[value.name][0] <= fullest <= ranges[value.name][1]]
    pieces: list[Piece] = []
    taken: list[tuple[int, int]] = []
    for value in sorted(there, key=lambda value: (-value.size, value.offset)):
        begin, end = value.offset, min(value.offset + value.size, size)
        # Two names of one value have one place.
        if begin >= end or any(begin < other_end and other < end for other, other_end in taken):
            continue
        taken.append((begin, end))
        pieces.append(_piece(value, end - begin, origins))
    return pieces


def _piece(value: _Value, size: int, origins: dict[str, str]) -> Piece:
    instruction = value.name.partition("{")[0]
    match = _ARRAY.match(value.array)
    kind, shape = (_type(match[1]), match[2]) if match else ("", "")
    return Piece(origins.get(instruction) or instruction, kind, shape, size)


def _type(name: str) -> str:
    """Return TensorFlow's name of a type of XLA's."""
    letters = name.rstrip("0123456789")
    return _TYPES[letters] + name[len(letters) :] if letters in _TYPES else name
