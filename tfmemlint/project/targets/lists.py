"""Requirements as pip, conda and Docker have them: a line each."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from tfmemlint.project.targets.stated import CONCERNS, Stated, of_package, of_requirement, package
from tfmemlint.project.targets.versions import ANY, Unreadable, exactly

Reader = Callable[[str], bytes | None]
"""Gives the bytes of a file, or None; each file is read once in a run."""

_DEEPEST = 5
_INCLUDES = re.compile(r"(?:-(?P<short>[rc])\s*|--(?P<long>requirement|constraint)(?:\s+|\s*=\s*))(?P<path>[^\s#]+)")
_OPTION = re.compile(r"\s+--?[a-z].*$")


def of_pip(path: str, text: str, read: Reader, *, weak: bool = False, constraint: bool = False) -> Iterator[Stated]:
    """What a ``requirements.txt`` says, with the files that it includes."""
    yield from _of_pip(path, text, read, weak, constraint, (os.path.normpath(path),))


def _of_pip(
    path: str, text: str, read: Reader, weak: bool, constraint: bool, inside: tuple[str, ...]
) -> Iterator[Stated]:
    for row, line in joined(text, "\\"):
        line = re.sub(r"(?:^|\s)#.*", "", line).strip()
        include = _INCLUDES.match(line)
        if include is not None:
            other = os.path.normpath(os.path.join(os.path.dirname(path), include["path"]))
            data = read(other) if other not in inside and len(inside) < _DEEPEST else None
            if data is not None:
                limits = constraint or include["short"] == "c" or include["long"] == "constraint"
                yield from _of_pip(other, decoded(data), read, weak, limits, (*inside, other))
            continue
        line = line.removeprefix("--editable").removeprefix("-e").strip()
        if line and not line.startswith("-"):
            found = of_requirement(_OPTION.sub("", line), path, row, weak=weak, constraint=constraint)
            if found is not None:
                yield found


def of_conda(path: str, text: str, *, weak: bool = False) -> Iterator[Stated]:
    """What the dependencies of an ``environment.yml`` say, those of its ``pip`` section among them."""
    section, pip_indent = "", -1
    for row, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"(?:^|\s)#.*", "", line).rstrip()
        key = re.match(r"([A-Za-z_-]+)\s*:", line)
        if key is not None:
            section = key[1]
        item = re.match(r"(\s*)-\s+(.+)$", line)
        if item is None or section != "dependencies":
            continue
        indent, value = len(item[1]), item[2].strip().strip("\"'")
        if re.fullmatch(r"pip\s*:", value):
            pip_indent = indent
            continue
        if indent <= pip_indent:
            pip_indent = -1
        if pip_indent >= 0:
            found = of_requirement(value, path, row, weak=weak)
        else:
            found = _of_conda(value, path, row, weak=weak)
        if found is not None:
            yield found


_CONDA = re.compile(r"(?:(?P<channel>[^\s=<>]+)::)?(?P<name>[A-Za-z0-9_.-]+?)\s*(?P<rest>(?:[=<>!~\s\[].*)?)")


def _of_conda(spec: str, path: str, row: int, *, weak: bool) -> Stated | None:
    """``conda-forge::tensorflow=2.4.1=gpu_py38h8a7d6ce_0``, ``tensorflow >=2.6,<2.9``, ``tensorflow-gpu 2.4``."""
    match = _CONDA.fullmatch(spec)
    name = package(match["name"]) if match is not None else None
    if match is None or name is None:
        return None
    rest = re.sub(r"\[.*\]$", "", match["rest"]).strip()
    # What stands behind the version is the build.
    build = re.match(r"(=?\s*[0-9][^\s=]*)[\s=]+(?![<>=!~])\S+$", rest)
    if build is not None:
        rest = build[1]
    try:
        return Stated(path, row, spec, of_package(name, rest, "conda"), weak=weak)
    except Unreadable as error:
        return Stated(path, row, spec, None, str(error), weak=weak)


_PIP = re.compile(r"\b(?:pip3?(?:\.\d+)?|uv\s+pip)\s+(?:--?\S+\s+)*install\s+(?P<rest>.*)", re.DOTALL)
_CONDAS = re.compile(r"\b(?:conda|mamba|micromamba)\s+(?:--?\S+\s+)*install\s+(?P<rest>.*)", re.DOTALL)
_VALUED = frozenset({"-i", "-f", "-t", "-n", "-p", "-c", "-r", "--index-url", "--extra-index-url", "--find-links"})
_IMAGE = re.compile(r"(?P<name>[^\s:@]+(?::\d+/[^\s:@]+)?)(?::(?P<tag>[^\s@]+))?(?:@\S+)?")


def of_docker(path: str, text: str, *, weak: bool = False) -> Iterator[Stated]:
    """What the images that a Dockerfile builds on, and what it installs, say. Of several, what comes last holds."""
    variables: dict[str, str] = {}
    last: list[Stated] = []
    rows = text.splitlines()
    for row, line in joined(text, "\\", comments=True):
        word, _, rest = line.strip().partition(" ")
        rest = _with(variables, rest.strip())
        if word.upper() in ("ARG", "ENV"):
            for name, value in re.findall(r"([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|\S+)", rest):
                variables[name] = value.strip("\"'")
        found: list[Stated] = []
        if word.upper() == "FROM":
            image = re.sub(r"^(?:--\S+\s+)+", "", rest).partition(" ")[0]
            found = [one for one in [_of_image(image, path, row)] if one is not None]
        elif word.upper() == "RUN":
            found = [replace(one, row=_row_of(one, rows)) for one in of_command(rest, path, row)]
        last = found or last
    yield from (replace(one, weak=weak or one.weak) for one in last)


def _row_of(stated: Stated, lines: list[str]) -> int:
    """The row of a long command in which a requirement stands."""
    for row in range(stated.row, min(stated.row + 200, len(lines)) + 1):
        line = lines[row - 1]
        if stated.text in line and not line.lstrip().startswith("#"):
            return row
        if not line.rstrip().endswith("\\") and not line.lstrip().startswith("#"):
            break
    return stated.row


def _of_image(image: str, path: str, row: int) -> Stated | None:
    match = _IMAGE.fullmatch(image)
    if match is None:
        return None
    tag = match["tag"] or "latest"
    if re.search(r"(?:^|/)nvidia/tensorflow$", match["name"]):
        if "-tf1-" in tag:
            # NVIDIA's release notes: the images with tf1 in their tag have 1.15.
            return Stated(path, row, image, exactly("1.15"))
        return Stated(path, row, image, None, "which TensorFlow is in this image is not known here")
    if not re.search(r"(?:^|/)tensorflow/tensorflow$", match["name"]):
        return None
    try:
        return Stated(path, row, image, exactly(tag))
    except Unreadable:
        if tag.startswith("nightly"):
            return Stated(path, row, image, exactly("3.20"))
        if tag.startswith("latest") and "py3" not in tag:
            return Stated(path, row, image, ANY)
        return Stated(path, row, image, None, f"the tag {tag!r} names no release")


def of_command(command: str, path: str, row: int) -> Iterator[Stated]:
    """What a command of a shell installs."""
    for part in re.split(r"&&|\|\||;(?!\s*(?:python|sys|platform|os|implementation)_)|\n", command):
        pip, conda = _PIP.search(part), _CONDAS.search(part)
        match = pip or conda
        if match is None or not CONCERNS.search(part.encode()):
            continue
        skip = False
        for word in _words(match["rest"]):
            if skip or word.startswith("-"):
                skip = not skip and word in _VALUED
                continue
            found = of_requirement(word, path, row) if pip else _of_conda(word, path, row, weak=False)
            if found is not None:
                yield found


def _words(text: str) -> list[str]:
    import shlex

    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


def _with(variables: dict[str, str], text: str) -> str:
    """A line with the defaults of its build arguments in it."""

    def value(match: re.Match[str]) -> str:
        known = variables.get(match["name"] or match["bare"])
        return known if known is not None else (match["default"] or match[0])

    return re.sub(r"\$(?:\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\}|(?P<bare>[A-Za-z_]\w*))", value, text)


def joined(text: str, sign: str, *, comments: bool = False) -> Iterator[tuple[int, str]]:
    """The lines of a text, each with the ones that it is continued in, and the row of the first; ``comments``: lines
    of comments stand between them, and are left out."""
    first = 0
    parts: list[str] = []
    for row, line in enumerate(text.splitlines(), 1):
        if comments and line.lstrip().startswith("#"):
            continue
        first = first if parts else row
        if line.rstrip().endswith(sign) and not (not comments and line.lstrip().startswith("#")):
            parts.append(line.rstrip()[: -len(sign)])
            continue
        yield (first if parts else row), " ".join([*parts, line])
        parts.clear()
    if parts:
        yield first, " ".join(parts)


def decoded(data: bytes) -> str:
    """The text of a file that may not be UTF-8."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")
