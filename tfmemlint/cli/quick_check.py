"""``tfmemlint check FILE ...`` where a search of bytes tells that there is nothing to report: most runs of a hook.

What takes time in such a run is the import of what is then not needed: argparse, dataclasses, the options, the engine.
So this module imports none of it, and reads the simplest of command lines itself. Whatever else is given, configured or
found is left to `tfmemlint.cli.main`, which begins anew: it is the same run, and prints the same.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

CLEAN, FOUND, FAILED = 0, 1, 2
MAX_FILES = 100
"""Beyond it, programs are searched for in another way (`front_end.MAX_FILES_TO_SEARCH_AROUND`)."""
_FLAGS = {"--no-cache": "no_cache", "-q": "quiet", "--quiet": "quiet", "--force-exclude": "force_exclude"}
_HARMLESS_VARIABLE = "TFMEMLINT_CACHE_DIR"
_MAX_CONFIG_BYTES = 2**20


def quick_check(given: Sequence[str], environment: Mapping[str, str]) -> int | None:
    """Check named files by their bytes; return the exit code, or None if the run needs more than that.

    Nothing was printed and nothing was changed where None is returned.

    Args:
        given: the command line.
        environment: the variables of the environment.
    """
    try:
        options = _options(given)
        if options is None or not _is_usual(environment):
            return None
        files, flags = options
        if not all(map(os.path.isfile, files)) or _is_configured(files):
            return None
        if not _are_clean(files, as_in_directories="force_exclude" in flags):
            return None
    except KeyboardInterrupt:
        from tfmemlint.reporters.say import say

        say("interrupted")
        return FAILED
    except Exception:  # the run as a whole says what is wrong
        return None
    try:
        if "quiet" not in flags:
            sys.stdout.write("All checks passed!\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python must not fail again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    return CLEAN


def _options(given: Sequence[str]) -> tuple[list[str], set[str]] | None:
    """Return the files and the flags of a command line; None if something else is in it, or an error.

    Files are named one after the other: argparse takes those behind a later option for a mistake.
    """
    if not given or given[0] != "check":
        return None
    files: list[str] = []
    flags: set[str] = set()
    ended = False
    for word in given[1:]:
        if not word.startswith("-"):
            if ended or not word:
                return None
            files.append(word)
        elif word in _FLAGS:
            flags.add(_FLAGS[word])
            ended = bool(files)
        else:
            return None
    return (files, flags) if 0 < len(files) <= MAX_FILES else None


def _is_usual(environment: Mapping[str, str]) -> bool:
    """True if nothing in the environment asks for another report, and the report is not for a terminal."""
    if "FORCE_COLOR" in environment or "_ARGCOMPLETE" in environment or environment.get("GITHUB_ACTIONS") == "true":
        return False
    if any(name.startswith("TFMEMLINT_") and name != _HARMLESS_VARIABLE for name in environment):
        return False
    from tfmemlint.reporters.language import language

    return language() == "en" and not sys.stdout.isatty()


def _is_configured(files: Sequence[str]) -> bool:
    """True if a configuration file may say something about one of the files, or about the run."""
    from tfmemlint.sources.regular import read_regular
    from tfmemlint.sources.walking import CONFIGURATIONS

    seen: set[str] = set()
    for start in (os.getcwd(), *(os.path.abspath(os.path.dirname(path)) for path in files)):
        directory = start
        while directory not in seen:
            seen.add(directory)
            for name in CONFIGURATIONS:
                path = os.path.join(directory, name)
                if not os.path.isfile(path):
                    continue
                # Most of these files are about other tools.
                if name != CONFIGURATIONS[-1] or b"tfmemlint" in read_regular(path, _MAX_CONFIG_BYTES):
                    return True
            directory = os.path.dirname(directory)
    return False


def _are_clean(files: Sequence[str], *, as_in_directories: bool) -> bool:
    """True if no rule can find anything in files, or in a program that they are a part of.

    Args:
        files: paths of regular files.
        as_in_directories: files that would not be looked for in a directory do not count.
    """
    from tfmemlint.facts.prefilter import CONFIGURES, MATTERS, NAMES_GPU
    from tfmemlint.project.listing import graph_name
    from tfmemlint.rulekit.triggers import scan, scan_document
    from tfmemlint.sources.kinds import DEFAULT, DOCUMENTS, NOTEBOOK, kind_of
    from tfmemlint.sources.regular import MAX_TEXT_BYTES, read_bytes

    known: dict[str, bool] = {}
    contents: dict[str, bytes] = {}
    for path in files:
        name = os.path.basename(path)
        kind = kind_of(name)
        if as_in_directories and kind not in DEFAULT and (kind is not None or "." in name):
            continue
        if kind is None or kind == NOTEBOOK:
            return False
        data = read_bytes(path)
        words = scan_document(data) if kind in DOCUMENTS else scan(data)
        if words & (MATTERS | NAMES_GPU | CONFIGURES):
            return False
        if kind in DOCUMENTS:
            if b"\0" in data:
                return False
            continue
        if len(data) > MAX_TEXT_BYTES or not _is_plain_python(data):
            return False
        known[graph_name(path)] = False
        contents[graph_name(path)] = data
    if not contents:
        return True
    from tfmemlint.engine.project_files import FileBytes, any_configures, files_around
    from tfmemlint.project.listing import Listings

    read = FileBytes(contents, read_bytes)
    around = files_around(set(contents), read, known, Listings(), search_around=True)
    return not any_configures(around, read, known)


def _is_plain_python(data: bytes) -> bool:
    """True if bytes are UTF-8 and valid Python for sure; False also where another encoding may be declared."""
    if b"\0" in data or data.startswith(b"\xef\xbb\xbf") or b"coding" in b"".join(data.splitlines()[:2]):
        return False
    import warnings
    from _ast import PyCF_ONLY_AST

    try:
        text = data.decode("utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<unknown>", "exec", PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
