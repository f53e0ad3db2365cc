"""Find which function gets which string in a shared library for x86-64, from its bytes, without running it.

A call such as ``getenv("TF_GPU_ALLOCATOR")`` is compiled to an instruction that takes the string's address, and soon
after it the call. Both are found by their bytes; the library's symbols name the function that is called.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile

NEXT_CALL = 96
"""Bytes between the instruction that takes a string's address and the call, at most; larger ones bring noise."""
_STRING = re.compile(rb"(?<=\x00)[A-Z][A-Z0-9_]{3,79}(?=\x00)")
_JUMP = re.compile(rb"\xff\x25(....)", re.DOTALL)
_PIECE = 1 << 26
_SYMBOL = np.dtype([("name", "<u4"), ("kind", "<u4"), ("value", "<u8"), ("size", "<u8")])
_RELOCATION = np.dtype([("place", "<u8"), ("info", "<u8"), ("addend", "<i8")])


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a library: its name, its address in memory, its offset in the file, and its size in bytes."""

    name: str
    address: int
    offset: int
    size: int


class Library:
    """One shared library. pyelftools finds its sections.

    Symbols, relocations and instructions are searched with numpy: a library has up to a million of each, and one object
    for each of them would take minutes.

    Raises:
        ValueError: it is not an ELF file for x86-64.
    """

    def __init__(self, data: bytes) -> None:
        try:
            file = ELFFile(io.BytesIO(data))
            if (file.elfclass, file.little_endian, file["e_machine"]) != (64, True, "EM_X86_64"):
                raise ValueError("no shared library for x86-64")
            sections = [
                Section(section.name, section["sh_addr"], section["sh_offset"], section["sh_size"])
                for section in file.iter_sections()
                if section["sh_type"] not in ("SHT_NULL", "SHT_NOBITS")
            ]
        except (ELFError, ConstructError, UnicodeDecodeError) as error:
            raise ValueError(f"no shared library for x86-64: {error}") from None
        self.data = data
        self.sections = {section.name: section for section in sections}

    def bytes_of(self, section: Section) -> bytes:
        """Return the bytes of a section."""
        return self.data[section.offset : section.offset + section.size]

    def strings(self) -> dict[int, str]:
        """Return the strings that could be names of variables, by their address: upper case, digits and underscores."""
        found = {}
        for name, section in self.sections.items():
            if "rodata" in name:
                for match in _STRING.finditer(b"\0" + self.bytes_of(section)):
                    found[section.address + match.start() - 1] = match[0].decode()
        return found

    def functions(self, pattern: re.Pattern[str]) -> set[int]:
        """Return the addresses of the functions whose symbol has ``pattern`` in it, and of stubs that lead there."""
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
        """Yield the address and the number of each symbol with ``pattern`` in its name."""
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
        """Return the strings whose address is taken shortly before one of ``functions`` is called."""
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
    """Return the signed 32-bit numbers at ``places``."""
    parts = [code[places + shift].astype(np.uint32) << (8 * shift) for shift in range(4)]
    return (parts[0] | parts[1] | parts[2] | parts[3]).astype(np.int32).astype(np.int64)
