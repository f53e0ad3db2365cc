"""Who gets which string in a shared library for x86-64: read from its bytes, without running it.

A call such as ``getenv("TF_GPU_ALLOCATOR")`` is compiled to an instruction that takes the string's address, and soon
after it the call. Both are found by their bytes; what is called is told by the library's own symbols.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

NEXT_CALL = 96
"""How many bytes after a string's address was taken the call stands at most; larger ones bring noise."""
_STRING = re.compile(rb"(?<=\x00)[A-Z][A-Z0-9_]{3,79}(?=\x00)")
_JUMP = re.compile(rb"\xff\x25(....)", re.DOTALL)
_PIECE = 1 << 26
_SYMBOL = np.dtype([("name", "<u4"), ("kind", "<u4"), ("value", "<u8"), ("size", "<u8")])
_RELOCATION = np.dtype([("place", "<u8"), ("info", "<u8"), ("addend", "<i8")])


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a library: its name, where it will be in memory, where it is in the file, and its size."""

    name: str
    address: int
    offset: int
    size: int


class Library:
    """One shared library.

    Raises:
        ValueError: it is no ELF file for x86-64.
    """

    def __init__(self, data: bytes) -> None:
        if data[:6] != b"\x7fELF\x02\x01" or data[18:20] != b"\x3e\x00":
            raise ValueError("no shared library for x86-64")
        self.data = data
        self.sections = dict(self._sections())

    def _sections(self) -> Iterator[tuple[str, Section]]:
        (table,) = struct.unpack_from("<Q", self.data, 0x28)
        size, count, names = struct.unpack_from("<HHH", self.data, 0x3A)
        heads = [struct.unpack_from("<IIQQQQ", self.data, table + place * size) for place in range(count)]
        for name, kind, _, address, offset, length in heads:
            start = heads[names][4] + name
            text = self.data[start : self.data.index(b"\0", start)].decode()
            if kind not in (0, 8):
                yield text, Section(text, address, offset, length)

    def bytes_of(self, section: Section) -> bytes:
        """The bytes of a section."""
        return self.data[section.offset : section.offset + section.size]

    def strings(self) -> dict[int, str]:
        """The strings that could be names of variables, by their address: upper case, digits and underscores."""
        found = {}
        for name, section in self.sections.items():
            if "rodata" in name:
                for match in _STRING.finditer(b"\0" + self.bytes_of(section)):
                    found[section.address + match.start() - 1] = match[0].decode()
        return found

    def functions(self, pattern: re.Pattern[str]) -> set[int]:
        """The addresses by which functions whose symbol has ``pattern`` in it are called: their own, and those of the
        stubs that lead to them."""
        addresses, slots = set(), set()
        for table, strings in ((".symtab", ".strtab"), (".dynsym", ".dynstr")):
            for value, _ in self._symbols(table, strings, pattern):
                if value:
                    addresses.add(value)
        wanted = [place for _, place in self._symbols(".dynsym", ".dynstr", pattern)]
        for name, section in self.sections.items():
            if name.startswith(".rela"):
                table = np.frombuffer(self.bytes_of(section), dtype=_RELOCATION)
                slots.update(table["place"][np.isin(table["info"] >> 32, wanted)].tolist())
        for name, section in self.sections.items():
            if name.startswith(".plt"):
                for match in _JUMP.finditer(self.bytes_of(section)):
                    at = section.address + match.start()
                    if at + 6 + struct.unpack("<i", match[1])[0] in slots:
                        # The stub begins with the jump, or with what marks it as a target of jumps.
                        addresses.update((at, at - at % 16, at - at % 8))
        return addresses

    def _symbols(self, table: str, strings: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        """Address and number of each symbol with ``pattern`` in its name."""
        if table not in self.sections or strings not in self.sections:
            return
        text = self.bytes_of(self.sections[strings])
        starts: set[int] = set()
        for match in re.finditer(pattern.pattern.encode(), text):
            # A name may begin within another one that ends alike.
            starts.update(range(text.rfind(b"\0", 0, match.start()) + 1, match.start() + 1))
        symbols = np.frombuffer(self.bytes_of(self.sections[table]), dtype=_SYMBOL)
        for place in np.flatnonzero(np.isin(symbols["name"], sorted(starts))).tolist():
            yield int(symbols["value"][place]), place

    def handed_to(self, functions: Iterable[int], strings: dict[int, str]) -> set[str]:
        """The strings whose address is taken shortly before one of ``functions`` is called."""
        section = self.sections.get(".text")
        known = np.array(sorted(strings), dtype=np.int64)
        called = set(functions)
        if section is None or not called or not len(known):
            return set()
        found = set()
        for start in range(0, section.size, _PIECE):
            length = min(_PIECE + NEXT_CALL, section.size - start)
            code = np.frombuffer(self.data, dtype=np.uint8, count=length, offset=section.offset + start)
            # lea REGISTER, [rip + DISTANCE]
            places = np.flatnonzero((code[1:-6] == 0x8D) & ((code[:-7] & 0xFB) == 0x48) & ((code[2:-5] & 0xC7) == 5))
            base = section.address + start
            targets = base + places + 7 + _distances(code, places + 3)
            hits = np.isin(targets, known)
            for place, target in zip(places[hits].tolist(), targets[hits].tolist(), strict=True):
                after = code[place + 7 : place + 7 + NEXT_CALL].tobytes()
                calls = (at for at in range(len(after) - 5) if after[at] in (0xE8, 0xE9))
                for at in calls:
                    to = base + place + 7 + at + 5 + struct.unpack_from("<i", after, at + 1)[0]
                    if to in called:
                        found.add(strings[target])
                        break
        return found


def _distances(code: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The signed 32-bit numbers at ``places``."""
    parts = [code[places + shift].astype(np.uint32) << (8 * shift) for shift in range(4)]
    return (parts[0] | parts[1] | parts[2] | parts[3]).astype(np.int32).astype(np.int64)
