"""The TensorFlow that a notebook says it runs on: by what it installs, and by Colab's ``%tensorflow_version``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tfmemlint.project.targets.install_commands import Installs
from tfmemlint.project.targets.stated import Stated
from tfmemlint.project.targets.versions import ANY, exactly
from tfmemlint.sources.config_files.text_places import Places

_MAGIC = re.compile(r"\s*[%!]{1,2}\s*(?P<command>(?:python3?\s+-m\s+|sudo\s+)*pip3?\s.*)")
_VERSION = re.compile(r"\s*%tensorflow_version\s+(?P<version>\d)(?:\.\S*)?\s*")


def of_notebook(path: str, data: bytes) -> Iterator[Stated]:
    """The releases that the cells of a notebook ask for, each with its row in the file.

    ``%tensorflow_version 1.x`` leaves open which release of 1.x Colab had (now it has none, and raises): the last,
    1.15, stands for it. Other requirements that leave the release open say nothing.
    """
    from tfmemlint.sources import Unreadable, decode
    from tfmemlint.sources.notebook import Notebook

    try:
        source = decode(path, data)
    except Unreadable:
        return
    if not isinstance(source, Notebook):
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
