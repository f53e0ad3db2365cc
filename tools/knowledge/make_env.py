"""Make ``tfmemlint/knowledge/data/env.txt``: the environment variables that each release of TensorFlow names.

Usage:
    python tools/knowledge/make_env.py RELEASE[=PLACE] ... [--python VERSION] [--work FOLDER]

``PLACE`` is a wheel, or a folder with ``tensorflow`` in it (``lib/python3.12/site-packages``); without one the wheel
of that release is downloaded, for the Python told. Nothing of TensorFlow is run. What is found is merged into the
table, so that releases can be added one by one. numpy and pyelftools are needed.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from elf import Library  # noqa: E402

TABLE = HERE.parents[1] / "tfmemlint" / "knowledge" / "data" / "env.txt"

HEADER = """\
# The environment variables that TensorFlow's wheels for Linux (with CUDA) name, made by tools/knowledge/make_env.py:
# NAME letters releases, the releases as first-last, several of them parted by commas. Letters, from sure to unsure:
#   c  a compiled library hands the name, as a string, to getenv or to a function that reads the environment
#   p  a Python file hands it to os.environ, os.getenv or the like (to write it, perhaps)
#   s  it is a whole string of a library; who gets it could not be told
#   t  it stands within another text; macros and names of errors are among these
# A letter holds for some of the releases. What is in no line is named nowhere in them: nothing there reads it.
"""

READERS = re.compile(r"getenv|FromEnvVar|GetEnv")
"""Symbols of the functions that read the environment."""
KEPT = re.compile(r"(?:TF2?|TFDBG|TENSORFLOW|XLA|PJRT|CUDA|CUDNN|NCCL|NVIDIA|KERAS|TPU|DTENSOR)_[A-Z0-9_]*[A-Z0-9]")
"""The variables that are written down."""
_TEXTS = (re.compile(rb"TF_[A-Z0-9_]*[A-Z0-9](?![A-Za-z0-9_])"), re.compile(rb"XLA_[A-Z0-9_]*[A-Z0-9](?![A-Za-z0-9_])"))
_BEFORE = re.compile(rb"[A-Za-z0-9_]")
_LETTERS = "cpst"
BY_ANOTHER_NAME = ("1.15.", "2.0.")
"""Releases whose wheel with CUDA is called tensorflow-gpu."""
_ENVIRON = {"environ", "getenv", "putenv", "get", "setdefault", "pop"}

Found = dict[str, set[str]]


def in_text(data: bytes) -> set[str]:
    """Return the names that stand anywhere in a text."""
    return {
        match[0].decode()
        for pattern in _TEXTS
        for match in pattern.finditer(data)
        if not _BEFORE.match(data[match.start() - 1 : match.start()])
    }


def in_library(data: bytes) -> Found:
    """Return the names in a shared library, each with its letters; empty where it is none."""
    try:
        library = Library(data)
    except ValueError:
        return {}
    found: Found = {}
    for name, section in library.sections.items():
        if "data" in name:
            found.update((text, {"t"}) for text in in_text(library.bytes_of(section)))
    strings = library.strings()
    for name in strings.values():
        if name in found:
            found[name] = {"s"}
    for name in library.handed_to(library.functions(READERS), strings):
        if KEPT.fullmatch(name):
            found[name] = {"c"}
    return found


def in_python(data: bytes) -> Found:
    """Return the names in a Python file, each with its letters."""
    found: Found = {name: {"t"} for name in in_text(data)}
    if b"environ" not in data and b"env" not in data:
        return found
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return found
    for node in ast.walk(tree):
        for name in _named(node):
            if KEPT.fullmatch(name):
                found[name] = {"p"}
    return found


def _named(node: ast.AST) -> Iterator[str]:
    """Yield the variables that one node asks the environment for."""
    match node:
        case ast.Call(func=ast.Attribute(attr=attr) as func, args=[ast.Constant(value=str(name)), *_]):
            if attr in ("getenv", "putenv") or (attr in _ENVIRON and ast.unparse(func.value).endswith("environ")):
                yield name
        case ast.Call(func=ast.Name(id="getenv"), args=[ast.Constant(value=str(name)), *_]):
            yield name
        case ast.Subscript(value=base, slice=ast.Constant(value=str(name))) if ast.unparse(base).endswith("environ"):
            yield name
        case ast.Compare(left=ast.Constant(value=str(name)), comparators=[base]):
            if ast.unparse(base).endswith("environ"):
                yield name


def files(place: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the libraries and Python files of a wheel or a folder: name and bytes."""
    if place.is_file():
        with zipfile.ZipFile(place) as wheel:
            for name in wheel.namelist():
                if _is_code(name):
                    yield name, wheel.read(name)
        return
    packages = [place / name for name in ("tensorflow", "tensorflow_core") if (place / name).is_dir()]
    if not packages:
        raise SystemExit(f"no TensorFlow in {place}")
    for package in packages:
        for path in sorted(package.rglob("*")):
            if path.is_file() and not path.is_symlink() and _is_code(path.name):
                yield str(path), path.read_bytes()


def _is_code(name: str) -> bool:
    return name.endswith(".py") or re.search(r"\.so(\.\d+)*$", name) is not None


def measure(place: Path) -> Found:
    """Return all names of a wheel or a folder, each with its letters."""
    found: Found = {}
    for name, data in files(place):
        for variable, letters in (in_python if name.endswith(".py") else in_library)(data).items():
            found.setdefault(variable, set()).update(letters)
    return found


def download(release: str, python: str, folder: str) -> Path:
    """Return the wheel of a release, for Linux and the Python told.

    Raises:
        subprocess.CalledProcessError: there is none, or it can't be reached.
    """
    platforms = ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64")
    package = "tensorflow-gpu" if release.startswith(BY_ANOTHER_NAME) else "tensorflow"
    command = [sys.executable, "-m", "pip", "download", f"{package}=={release}", "--no-deps", "--quiet"]
    command += ["--only-binary", ":all:", "--python-version", python, "--dest", folder]
    for platform in platforms:
        command += ["--platform", platform]
    subprocess.run(command, check=True)
    return next(Path(folder).glob(f"{package.replace('-', '_')}-{release}-*.whl"))


def read_table() -> tuple[list[str], dict[str, tuple[str, set[str]]]]:
    """Return the table as it is: its releases, and of each name the letters and the releases that have it."""
    releases: list[str] = []
    rows: dict[str, tuple[str, set[str]]] = {}
    if TABLE.exists():
        for line in TABLE.read_text("ascii").splitlines():
            if line.startswith("releases "):
                releases = line.split()[1:]
            elif line and not line.startswith("#"):
                name, letters, ranges = line.split()
                have = set()
                for part in ranges.split(","):
                    first, _, last = part.partition("-")
                    have.update(releases[releases.index(first) : releases.index(last or first) + 1])
                rows[name] = letters, have
    return releases, rows


def write_table(releases: list[str], rows: dict[str, tuple[str, set[str]]]) -> None:
    """Write the table."""
    lines = [HEADER + "releases " + " ".join(releases)]
    for name, (letters, have) in sorted(rows.items()):
        parts, run = [], []
        for release in [*releases, ""]:
            if release in have:
                run.append(release)
            elif run:
                parts.append(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}")
                run = []
        lines.append(f"{name} {letters} {','.join(parts)}")
    TABLE.write_text("\n".join(lines) + "\n", "ascii")


def add(release: str, found: Found) -> None:
    """Put what one release names into the table."""
    minor = ".".join(release.split(".")[:2])
    releases, rows = read_table()
    releases = sorted({*releases, minor}, key=lambda text: [int(part) for part in text.split(".")])
    for name in [*rows, *(name for name in found if name not in rows)]:
        letters, have = rows.get(name, ("", set()))
        have = have - {minor} | ({minor} if name in found else set())
        letters = "".join(letter for letter in _LETTERS if letter in {*letters, *found.get(name, ())})
        rows[name] = letters, have
    write_table(releases, {name: row for name, row in rows.items() if row[1]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="+", metavar="RELEASE[=PLACE]")
    parser.add_argument("--python", default="3.12", help="the Python whose wheels are downloaded (3.12)")
    parser.add_argument("--work", help="where downloaded wheels are kept; nowhere by default")
    given = parser.parse_args()
    for given_release in given.releases:
        release, _, place = given_release.partition("=")
        with tempfile.TemporaryDirectory() as folder:
            wheel = Path(place) if place else download(release, given.python, given.work or folder)
            found = measure(wheel)
        add(release, found)
        sure = sum(bool(letters & {"c", "p"}) for letters in found.values())
        print(f"{release}: {len(found)} names, {sure} of them read for sure", flush=True)


if __name__ == "__main__":
    main()
