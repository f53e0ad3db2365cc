"""List the functions of NVIDIA's libraries that a TensorFlow release calls.

TensorFlow links a small trampoline for every function of every library that it opens at run time, thousands in all, and
calls a few hundred. This script reads the trampolines' addresses from the symbol table of the installed package's big
library and searches the machine code and the relocations for references to them. It imports and runs nothing.

    python tools/driver/symbols.py PATH/TO/site-packages/tensorflow [...]

writes the union over the given packages to ``tfmemlint/verify/driver/symbols/<library>.txt``; names that are in those
files already stay. It needs numpy, and x86-64 packages.
"""

from __future__ import annotations

import mmap
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

OUTPUT = Path(__file__).resolve().parents[2] / "tfmemlint" / "verify" / "driver" / "symbols"
BINARIES = ("libtensorflow_cc.so.2", "libtensorflow_framework.so.2", "python/_pywrap_tensorflow_internal.so")
FAMILIES = (
    ("cublasLt", re.compile(rb"cublasLt[A-Z]\w+")),
    ("cublas", re.compile(rb"cublas[A-Z]\w+")),
    ("cudnn", re.compile(rb"cudnn[A-Z]\w+")),
    ("cufft", re.compile(rb"cufft[A-Z]\w+")),
    ("curand", re.compile(rb"curand[A-Z]\w+")),
    ("cusolver", re.compile(rb"cusolver(Dn|Sp|Rf|Get)?[A-Z]\w+")),
    ("cusparse", re.compile(rb"cusparse[A-Z]\w+")),
    ("nvml", re.compile(rb"nvml[A-Z]\w+")),
    ("cudart", re.compile(rb"(cuda[A-Z]|__cuda(?!RegisterLinkedBinary)[A-Z])\w+")),
    ("cuda", re.compile(rb"cu[A-Z]\w+")),
)
CHUNK = 1 << 24


def sections(image: mmap.mmap) -> Iterator[tuple[int, int, int, int, int, int, int]]:
    """Yield (type, flags, address, offset, size, link, entry size) of every section of a 64-bit ELF file."""
    start = struct.unpack_from("<Q", image, 0x28)[0]
    size, count = struct.unpack_from("<HH", image, 0x3A)
    for index in range(count):
        fields = struct.unpack_from("<IIQQQQIIQQ", image, start + index * size)
        yield fields[1], fields[2], fields[3], fields[4], fields[5], fields[6], fields[9]


def family(name: bytes) -> str | None:
    """Return the library that a function belongs to."""
    return next((library for library, pattern in FAMILIES if pattern.fullmatch(name)), None)


def called(path: Path) -> dict[str, set[str]]:
    """Return the trampolines of one binary that something in it refers to, by library."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        listed = list(sections(image))
        names: dict[int, tuple[str, str]] = {}
        found: dict[str, set[str]] = {}
        for kind, _, _, offset, size, link, entry in listed:
            if kind != 2:  # SHT_SYMTAB
                continue
            strings = listed[link]
            table = image[strings[3] : strings[3] + strings[4]]
            for at in range(offset, offset + size, entry):
                name_at, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", image, at)
                # Functions whose name starts with c, n or an underscore; 0 is "no type", as imports may have it.
                if info & 15 in (0, 2) and table[name_at : name_at + 1] in (b"c", b"n", b"_"):
                    name = table[name_at : table.index(b"\0", name_at)]
                    library = family(name)
                    if library and section:
                        names[value] = (library, name.decode())
                    elif library:  # imported from TensorFlow's other library, so called
                        found.setdefault(library, set()).add(name.decode())
        if not names:
            return found
        wanted = np.array(sorted(names), dtype=np.int64)
        for kind, flags, address, offset, size, link, entry in listed:
            if kind == 4:  # SHT_RELA: a pointer in data is a relocation with the address as its addend
                rows = np.frombuffer(image[offset : offset + size], dtype=np.int64).reshape(-1, entry // 8)
                hits = rows[np.isin(rows[:, 2], wanted), 2]
                # A function that the binary also exports is reached by its entry in the dynamic symbol table.
                if listed[link][0] == 11:  # SHT_DYNSYM
                    entries = np.unique(rows[np.isin(rows[:, 1] & 0xFFFFFFFF, (1, 6, 7)), 1] >> 32)
                    symbols = np.frombuffer(image[listed[link][3] : listed[link][3] + listed[link][4]], dtype=np.int64)
                    exported = symbols.reshape(-1, 3)[entries, 1]
                    hits = np.concatenate((hits, exported[np.isin(exported, wanted)]))
            elif kind == 1 and flags & 4:  # executable: every 32-bit displacement from the next instruction
                hits = np.concatenate(list(displacements(image, address, offset, size, wanted)) or [wanted[:0]])
            else:
                continue
            for value in hits.tolist():
                library, name = names[value]
                found.setdefault(library, set()).add(name)
        return found


def displacements(image: mmap.mmap, address: int, offset: int, size: int, wanted: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the wanted addresses that calls, jumps and address loads in one section lead to."""
    for start in range(0, size, CHUNK):
        data = np.frombuffer(image[offset + start : offset + min(start + CHUNK + 8, size)], dtype=np.uint8)
        for shift in range(4):
            words = data[shift : shift + (len(data) - shift) // 4 * 4].view(np.int32).astype(np.int64)
            where = address + start + shift + 4 * np.arange(len(words), dtype=np.int64)
            targets = words + where + 4
            near = np.flatnonzero((targets >= wanted[0]) & (targets <= wanted[-1]))
            near = near[np.isin(targets[near], wanted)]
            at = shift + 4 * near
            before, load = data[at - 1], data[at - 2]  # a wrapped index at the very start does no harm
            yield targets[near[(before == 0xE8) | (before == 0xE9) | ((load == 0x8D) & (before & 0xC7 == 5))]]


def main() -> None:
    """Merge what the given packages call into the lists."""
    OUTPUT.mkdir(exist_ok=True)
    for folder in map(Path, sys.argv[1:]):
        for binary in BINARIES:
            if not (folder / binary).exists():
                continue
            for library, names in called(folder / binary).items():
                path = OUTPUT / f"{library}.txt"
                known = set(path.read_text().split()) if path.exists() else set()
                print(folder, binary, library, len(names), "new:", len(names - known))
                path.write_text("\n".join(sorted(known | names)) + "\n")


if __name__ == "__main__":
    main()
