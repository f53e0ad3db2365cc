"""The variables of files whose lines a loop behind a pipe exports (`tfmemlint.deployment.shell.piped_loops`)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

from tfmemlint.model.configuration import EXPORT, HERE, Lost, PipedFile, VariableSetting
from tfmemlint.project.roots import project_root
from tfmemlint.sources.regular import read_regular

Keeps = Callable[[str], bool]
_MAX_BYTES = 2**16
"""A larger file of settings is not read: it was not written by hand."""
_LINE = re.compile(r"\s*([A-Za-z_]\w*)=(.*)")
_PLAIN_PATTERN = re.compile(r"\^?(?:\\s\*|\[\[:space:\]\]\*|[ \t]\*)?[#=\w^$-]*\$?")
"""A pattern that means the same to grep, sed and Python, but for ``[[:space:]]``."""
_EXTENDED_PATTERN = re.compile(
    r"\^?(?:\\s\*|\[\[:space:\]\]\*|[ \t]\*)?(?:\((?:[#=\w^$-]*\|)*[#=\w^$-]*\)|[#=\w^$-]*(?:\|\^?[#=\w$-]*)*)\$?"
)
"""One of extended regular expressions, with alternatives."""
_DELETES = re.compile(r"/([^/]*)/d")
_HARMLESS_EXPRESSIONS = re.compile(r"s/(?:\\s\*|[ \t]\*)?#\.\*\$?//g?|s/\\r\$?//g?")
"""Expressions of sed that take comments and ends of lines away."""


def lost_of_files(path: str, files: Sequence[PipedFile]) -> Iterator[Lost]:
    """Yield the variables of these files that the programs of the script at ``path`` do not get."""
    for piped in files:
        read = _read(piped)
        text = _text(path, piped.directory, read[0]) if read is not None else None
        if read is None or text is None:
            continue
        found: dict[str, str] = {}
        for line in text.splitlines():
            assigned = _LINE.fullmatch(line)
            if assigned is not None and all(keeps(line) for keeps in read[1]):
                found[assigned[1]] = assigned[2].strip()
        for name, value in found.items():
            if name not in piped.otherwise:
                setting = VariableSetting(name, value, piped.span, None, piped.span, EXPORT, None, passed=False)
                yield Lost(setting, "pipe", piped.begun, piped.program)


def _read(piped: PipedFile) -> tuple[str, list[Keeps]] | None:
    """Return the file that a pipe begins with, and the tests that each of its lines has to pass; None if these are not
    known."""
    name, tests = None, []
    for number, (words, sources) in enumerate(piped.commands):
        found = _stage([*words])
        if found is None or len(sources) > 1 or None in sources:
            return None
        files, test = found
        named = [*files, *sources]
        if len(named) != (number == 0):
            return None
        name = name or named[0]
        if test is not None:
            tests.append(test)
    return (name, tests) if name else None


def _stage(words: list[str | None]) -> tuple[list[str], Keeps | None] | None:
    """Return the files that a command reads, and the test of each line; None if it may do anything else with lines."""
    texts = [word for word in words if word is not None]
    if len(texts) < len(words):
        return None
    program, rest = texts[0], texts[1:]
    options = [word for word in rest if word.startswith("-") and word != "-"]
    others = [word for word in rest if not word.startswith("-")]
    match program:
        case "cat" | "sort" if not options:
            return others, None
        case "grep" | "egrep":
            return _grep(options, others, extended=program == "egrep")
        case "sed" if set(options) <= {"-e", "-E", "-r"} and others and options.count("-e") <= 1:
            return _sed(others[0], others[1:])
        case "tr" if options == ["-d"] and others in (["\\r"], ['"'], ["'"]):
            return [], None
        case "xargs" if options in (["-n1"], ["-L1"]) and not others:
            return [], None
        case _:
            return None


def _grep(options: list[str], others: list[str], *, extended: bool) -> tuple[list[str], Keeps | None] | None:
    letters = "".join(option.lstrip("-") for option in options)
    if not others or any(option.startswith("--") for option in options) or not set(letters) <= set("vEhe"):
        return None
    pattern = _compiled(others[0], extended=extended or "E" in letters)
    if pattern is None:
        return None
    turned = "v" in letters
    return others[1:], lambda line: (pattern.search(line) is None) == turned


def _sed(expression: str, files: list[str]) -> tuple[list[str], Keeps | None] | None:
    tests: list[re.Pattern[str]] = []
    for part in expression.split(";"):
        deletes = _DELETES.fullmatch(part.strip())
        if deletes is not None:
            pattern = _compiled(deletes[1])
            if pattern is None:
                return None
            tests.append(pattern)
        elif not _HARMLESS_EXPRESSIONS.fullmatch(part.strip()):
            return None
    return files, lambda line: not any(pattern.search(line) for pattern in tests)


def _compiled(pattern: str, *, extended: bool = False) -> re.Pattern[str] | None:
    known = _PLAIN_PATTERN.fullmatch(pattern) or (extended and _EXTENDED_PATTERN.fullmatch(pattern))
    return re.compile(pattern.replace("[[:space:]]", r"\s")) if known else None


def _text(path: str, directory: str | None, name: str) -> str | None:
    """Return the text of a file that a script names; None if it is not known which one that is, or can't be read."""
    if directory is None or os.path.isabs(name) or (directory and not directory.startswith(HERE)):
        return None
    own = os.path.dirname(os.path.abspath(path))
    inside = directory.removeprefix(HERE).lstrip("/")
    root = project_root(path)
    places = [os.path.join(own, inside)] if directory else [own, root]
    files = {os.path.normpath(os.path.join(place, name)) for place in places}
    found = [file for file in files if os.path.isfile(file) and file.startswith(os.path.join(root, ""))]
    if len(found) != 1:
        return None
    try:
        return read_regular(found[0], _MAX_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
