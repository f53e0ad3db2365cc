"""The TensorFlow that a notebook says it runs on.

It says so by what it installs, by Colab's ``%tensorflow_version``, by the version that it has printed, and by comments
in its code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfmemlint.project.targets.install_commands import Installs
from tfmemlint.project.targets.prose import of_header, of_import
from tfmemlint.project.targets.stated import Stated
from tfmemlint.project.targets.versions import ANY, exactly
from tfmemlint.sources.config_files.text_places import Places

if TYPE_CHECKING:
    from tfmemlint.sources.notebook import Notebook

_MAGIC = re.compile(r"\s*[%!]{1,2}\s*(?P<command>(?:python3?\s+-m\s+|sudo\s+)*pip3?\s.*)")
_COMMAND_LEFT_OUT = re.compile(r"\s*#[\s#]*[%!]")
_VERSION = re.compile(r"\s*%tensorflow_version\s+(?P<version>\d)(?:\.\S*)?\s*")
_OF_SHELL = re.compile(r"\s*(?:[!%]|#)")
"""A row of a cell that is no Python: another program prints, or nothing does."""
_OTHER_LANGUAGE = re.compile(r"\s*%%(?!time|capture|timeit|prun)\w")
_ASKED = re.compile(r"\b(\w+)\.(?:__version__|VERSION\b|version\.VERSION\b)")
_NAMED = re.compile(
    r"\W*(?:tensorflow|tf)(?:[ _-]?gpu)?(?:[ _-]*version)?\W+v?(?P<version>\d+\.\d+)\.\d[\w.+-]*\W*", re.IGNORECASE
)
_BARE = re.compile(r"\W*(?P<version>\d+\.\d+)\.\d[\w.+-]*\W*")


def of_notebook(path: str, data: bytes) -> Iterator[Stated]:
    """The releases that the cells of a notebook ask for, each with its row in the file.

    ``%tensorflow_version 1.x`` leaves open which release of 1.x Colab had (now it has none, and raises): the last,
    1.15, stands for it. Other requirements that leave the release open say nothing.
    """
    source = _decoded(path, data)
    if source is None:
        return
    for cell in source.cells:
        for row, line in enumerate(cell.source.split("\n"), 1):
            version, command = _VERSION.fullmatch(line), _MAGIC.fullmatch(line)
            place = source.raw_row(cell.number, row)
            if version is not None and version["version"] == "1":
                yield Stated(path, place, line.strip(), exactly("1.15"))
            elif command is not None:
                for stated in Installs(path).of_script(command["command"], Places(command["command"])):
                    if stated.releases is not None and stated.releases != ANY:
                        yield replace(stated, row=place)


def of_comments(path: str, data: bytes) -> Iterator[Stated]:
    """Yield the releases that comments of a notebook name: above the code of its first cell, and beside an import of
    TensorFlow."""
    source = _decoded(path, data)
    if source is None:
        return
    for number, cell in enumerate(source.cells):
        stated = (*(of_header(path, cell.source) if number == 0 else ()), *of_import(path, cell.source))
        rows = cell.source.split("\n")
        for statement in dict.fromkeys(stated):
            if _COMMAND_LEFT_OUT.match(rows[statement.row - 1]) is None:
                yield replace(statement, row=source.raw_row(cell.number, statement.row))


def _decoded(path: str, data: bytes) -> Notebook | None:
    from tfmemlint.sources import Unreadable, decode
    from tfmemlint.sources.notebook import Notebook

    try:
        source = decode(path, data)
    except Unreadable:
        return None
    return source if isinstance(source, Notebook) else None


def printed_by_notebook(path: str, data: bytes) -> Iterator[Stated]:
    """Yield the release of TensorFlow that a notebook printed when it ran, for each cell that did.

    A printed line that names TensorFlow says it (``tensorflow 2.3.1``); so does the only version in the output of a
    cell that asks for no version but TensorFlow's. A cell that asks only for versions of other packages, and what a
    command of the shell prints, say nothing of the notebook's own TensorFlow.
    """
    try:
        cells = json.loads(data)["cells"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    for cell in cells if isinstance(cells, list) else ():
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = _python_in(_text(cell.get("source")))
        asked = set(_ASKED.findall(source))
        if not any(_may_be_tensorflow(name, source) for name in asked):
            continue
        lines = [line for output in cell.get("outputs") or () for line in _lines_of(output)]
        found = {match["version"]: line for line in lines if (match := _NAMED.fullmatch(line))}
        if not found and asked <= {"tf", "tensorflow"}:
            found = {match["version"]: line for line in lines if (match := _BARE.fullmatch(line))}
        if len(found) == 1:
            version, line = found.popitem()
            printed = json.dumps(line, ensure_ascii=False)[1:-1].encode()
            row = data.count(b"\n", 0, max(data.find(printed), 0)) + 1
            yield Stated(path, row, line.strip(), exactly(version), prose=True)


def _python_in(source: str) -> str:
    """Return the rows of a cell that are Python, without comments and commands; none of a cell in another language."""
    if _OTHER_LANGUAGE.match(source) is not None:
        return ""
    return "\n".join(line for line in source.split("\n") if _OF_SHELL.match(line) is None)


def _may_be_tensorflow(name: str, source: str) -> bool:
    """Return True if a name is TensorFlow's, by its look, or one that a loop or a function gives to several modules."""
    if name in ("tf", "tensorflow"):
        return True
    word = re.escape(name)
    return re.search(rf"\b(?:for|lambda|tensorflow\s+as)\s+{word}\b|\bdef\s+\w+\(\s*{word}\b", source) is not None


def _lines_of(output: Any) -> list[str]:
    if not isinstance(output, dict) or output.get("name") == "stderr":
        return []  # warnings and logs name other releases, too
    data = output.get("data")
    plain = data.get("text/plain") if isinstance(data, dict) else None
    return [*_text(output.get("text")).splitlines(), *_text(plain).splitlines()]


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""
