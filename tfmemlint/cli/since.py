"""The findings that a branch brings: those that its base did not have (``--since``).

The base is judged as a whole, in a folder of its own, as it is in git: a module that the branch has changed is judged
in the programs that import it, on both sides. Findings are compared by the fingerprints that baselines use.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import io
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tfmemlint.engine.context import reset_project_caches
from tfmemlint.history.errors import LIMIT_BYTES
from tfmemlint.history.objects import History, HistoryError, is_read
from tfmemlint.history.scratch import scratch_folder
from tfmemlint.reporters.fingerprints import fingerprints
from tfmemlint.reporters.say import say
from tfmemlint.sources import Source, walk
from tfmemlint.sources.kinds import NOTEBOOK, PYTHON
from tfmemlint.sources.walking import Choice

if TYPE_CHECKING:
    from tfmemlint.engine.results import FileResult

SMALL_BYTES = 2**20
"""Bytes of a file beyond which it is not compared with others."""
SIMILAR = 0.5
"""The part of the lines of a file that is still there if it was moved: git's own threshold."""
MAX_MOVED = 50
"""Files that are gone, and files that are new, up to which moved ones are looked for: each is compared with each."""
Judge = Callable[[argparse.Namespace], Sequence["FileResult"]]
__all__ = ["HistoryError", "leave_out_known"]


def leave_out_known(arguments: argparse.Namespace, results: Sequence[FileResult], judge: Judge) -> None:
    """Take the findings that the base of ``--since`` has, too, out of the results.

    Args:
        arguments: the command line.
        results: of the files as they are.
        judge: returns the results of a command line in the working directory.

    Raises:
        HistoryError: the past can't be read.
        ConfigError: a configuration file of the base can't be followed.
    """
    history = History(os.curdir)
    base = history.base(arguments.since)
    findings = [finding for result in results for finding in result.findings]
    if not findings:
        return
    known = set(_base_fingerprints(arguments, history, base, [finding.path for finding in findings], judge))
    sources = {result.path: result.source for result in results if result.source is not None}
    names = fingerprints(findings, sources)
    old = {id(finding) for finding, name in zip(findings, names, strict=True) if name in known}
    for result in results:
        result.findings = [finding for finding in result.findings if id(finding) not in old]
    if old and not arguments.quiet:
        say(f"{len(old)} left out, as {base[:12]} has them, too")


def _base_fingerprints(
    arguments: argparse.Namespace, history: History, base: str, paths: Sequence[str], judge: Judge
) -> list[str]:
    """Return the fingerprints of the findings of the base, those of moved files by their new names."""
    here = os.path.relpath(os.path.realpath(os.curdir), history.root)
    with scratch_folder("since") as directory:
        # The name of the folder may be that of a package.
        top = os.path.join(os.path.realpath(directory), os.path.basename(history.root) or "root")
        os.makedirs(os.path.join(top, ".git"))
        files = history.files(base)
        history.write(files, top, is_read)
        _copy_ignored(history.root, top)
        moved = _moved(history.root, top, {file.path for file in files}, paths)
        old = copy.copy(arguments)
        old.paths = _mapped(arguments.paths or ["."], history.root, top)
        if not old.paths:
            return []
        with _in_directory(os.path.join(top, here)):
            # What is to be said of the paths was said of those of today.
            with contextlib.redirect_stderr(io.StringIO()):
                results = judge(old)
            findings, sources = [], dict[str, Source]()
            for result in results:
                path = os.path.relpath(result.path)
                path = moved.get(path, path)
                findings += [dataclasses.replace(finding, path=path) for finding in result.findings]
                if result.source is not None:
                    sources[path] = result.source
            names = fingerprints(findings, sources)
    # What was read of the project's configuration is that of the base.
    reset_project_caches()
    return names


def _copy_ignored(root: str, top: str) -> None:
    """Copy the modules that git ignores (generated ones): no commit has them, and programs import them."""
    kinds = (PYTHON, NOTEBOOK)
    seen = set(walk([root], Choice(kinds=kinds)).files)
    for path in walk([root], Choice(kinds=kinds, respect_gitignore=False)).files:
        place = os.path.join(top, os.path.relpath(path, root))
        if path not in seen and os.path.isfile(path) and not os.path.lexists(place):
            with contextlib.suppress(OSError):
                os.makedirs(os.path.dirname(place), exist_ok=True)
                if os.path.getsize(path) <= LIMIT_BYTES:
                    shutil.copyfile(path, place)
                else:
                    # No check reads as much, and each says so.
                    with open(place, "xb") as file:
                        file.truncate(LIMIT_BYTES + 1)


def _mapped(paths: Sequence[str], root: str, top: str) -> list[str]:
    """Return the paths of the command line in the base, those that it has."""
    found = []
    for path in paths:
        relative = os.path.relpath(os.path.realpath(path), root)
        place = os.path.join(top, relative)
        if not relative.startswith(os.pardir) and os.path.lexists(place):
            found.append(place)
    return found


def _moved(root: str, top: str, past: set[str], paths: Sequence[str]) -> dict[str, str]:
    """Return the new names of files that the base has elsewhere, by their old names, as seen from the directory."""
    here = os.path.relpath(os.path.realpath(os.curdir), root)
    new = sorted({os.path.relpath(os.path.realpath(path), root).replace(os.sep, "/") for path in paths} - past)
    endings = {os.path.splitext(name)[1] for name in new}
    gone = [path for path in sorted(past) if os.path.splitext(path)[1] in endings]
    gone = [path for path in gone if not os.path.lexists(os.path.join(root, path))]
    if not new or len(new) > MAX_MOVED or len(gone) > MAX_MOVED:
        return {}
    found = {}
    for name in new:
        alike = [(_likeness(os.path.join(root, name), os.path.join(top, path)), path) for path in gone]
        best, path = max(alike, default=(0.0, ""))
        if best >= SIMILAR:
            gone.remove(path)
            found[os.path.relpath(path, here)] = os.path.relpath(name, here)
    return found


def _likeness(path: str, other: str) -> float:
    """Return the part of the lines that two files have in common."""
    import difflib

    from tfmemlint.sources.regular import read_text

    first, second = (read_text(each, SMALL_BYTES).splitlines() for each in (path, other))
    return difflib.SequenceMatcher(None, first, second, autojunk=False).ratio()


@contextlib.contextmanager
def _in_directory(path: str) -> Iterator[None]:
    """Enter with another working directory, which is made if need be."""
    os.makedirs(path, exist_ok=True)
    before = os.getcwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)
