"""From paths to the items that a command works on.

Every command that is given paths takes its files from here: they are found, read and searched by the prefilter in the
same way, and so are the programs of several files that start in them. Commands differ in the items that they select and
in their work on an item. A text without a file (standard input) goes through `tfmemlint.engine.run.from_text`, which
checks it as one named item, without the prefilter.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from tfmemlint.engine.context import RunContext, reset_project_caches
from tfmemlint.engine.item import Item, Items
from tfmemlint.engine.prefilter_cache import open_prefilter_cache
from tfmemlint.engine.scan_file import scan_file
from tfmemlint.facts.prefilter import CONFIGURES
from tfmemlint.project.listing import graph_name
from tfmemlint.project.roots import outermost, project_root
from tfmemlint.sources import Unreadable, walk
from tfmemlint.sources.kinds import ALL, DOCUMENTS, PYTHON, SETTINGS, kind_of, kind_of_text
from tfmemlint.sources.regular import read_text
from tfmemlint.sources.text import NOTEBOOK
from tfmemlint.sources.walking import Choice, leads_outside

if TYPE_CHECKING:
    from tfmemlint.config.nearest import Nearest
    from tfmemlint.interpreter.modules import ModuleStore
    from tfmemlint.sources.walking import Walk

MAX_FILES_TO_SEARCH_AROUND = 100
"""Files, named one by one, whose projects are searched for the programs that they are part of. A bound without a deeper
reason: who names more of them names whole projects, by a pattern of the shell."""
MAX_SCRIPT_BYTES = 2**20
"""Bytes of a file without an ending in its name beyond which it is no script that a person wrote."""
MAX_KEPT_BYTES = 32 * 1024 * 1024
"""Bytes of files that stay in memory from the prefilter to the search for programs; further ones are read again.
That many hold 1,800 files of the mean size of TensorFlow's own Python, 18 KB."""


def find_files(
    paths: Sequence[str],
    nearest: Nearest,
    *,
    kinds: Iterable[str] = ALL,
    leave_out_named: bool = False,
    as_in_directories: bool = False,
) -> tuple[Walk, list[tuple[str, bool]]]:
    """Return the walk over ``paths``, and each file with whether the user named that very file.

    Args:
        paths: files and directories.
        nearest: the options of each directory, which are followed.
        kinds: the kinds of files that the command takes; the options say which of them are looked for.
        leave_out_named: also leave out files that are named, if the options say that their kind is not wanted.
        as_in_directories: leave out files that are named, if they would not be looked for in a directory; a file
            whose name says nothing is taken if its first line names its interpreter.

    Raises:
        ConfigError: a configuration file can't be followed.
    """
    taken = frozenset(kinds)

    def choose(directory: str) -> Choice:
        config = nearest.of_directory(directory)
        return Choice(
            config.file_kinds() & taken, config.exclude, config.respect_gitignore, config.respect_gitattributes
        )

    def choose_kinds(path: str) -> frozenset[str]:
        return nearest.of_file(path).file_kinds() & taken

    found = walk(paths, choose)
    if leave_out_named:
        found.files = [
            path
            for path in found.files
            if kind_of(os.path.basename(path)) in (None, *nearest.of_file(path).file_kinds(ALL))
        ]
    if as_in_directories:
        found.files = [path for path in found.files if _kind_by_name_or_interpreter(path) in choose_kinds(path)]
    named = {os.path.normpath(path) for path in paths}
    found.foreign = frozenset(path for path in found.outside if _is_setting_of_others(path))
    if found.foreign:
        found.files = [path for path in found.files if path not in found.foreign]
    return found, [(path, os.path.normpath(path) in named) for path in found.files]


def _is_setting_of_others(path: str) -> bool:
    """True if a configuration file, reached by a link, is not in the project that the link is in.

    What a report would show of it may be a secret of whoever runs the tool: a stranger's tree can name any file so.
    """
    if kind_of(os.path.basename(path)) not in SETTINGS:
        return False
    root = project_root(path)
    return root in outermost() or leads_outside(path, [root])


def _kind_by_name_or_interpreter(path: str) -> str | None:
    """Return the kind of a file by its name, else by the interpreter that its first line names; None for others."""
    kind = kind_of(os.path.basename(path))
    if kind is not None or "." in os.path.basename(path):
        return kind
    first = read_text(path, MAX_SCRIPT_BYTES).partition("\n")[0]
    if not first.startswith("#!"):
        return None
    return PYTHON if "python" in first else kind if (kind := kind_of_text(first.encode())) != PYTHON else None


def read_items(
    files: Iterable[tuple[str, bool]],
    context: RunContext,
    is_wanted: Callable[[Item], bool],
    *,
    with_programs: bool = True,
) -> Items:
    """Read and search files, and return those to work on; a run starts: nothing of an earlier one is used.

    Args:
        files: each file with whether the user named that very file.
        context: the run.
        is_wanted: True for an item that the command is to work on. It is asked before programs are known.
        with_programs: also find the programs of several files that start in them, and add the files that they start in.
    """
    reset_project_caches(context.modules.open_texts)
    files = list(files)
    found = Items()
    python: list[Item] = []
    kept: dict[str, bytes] = {}
    room = MAX_KEPT_BYTES
    prefilter = open_prefilter_cache(os.getcwd(), len(files), use_cache=context.cache)
    for path, named in files:
        found.given.append(path)
        try:
            data = context.modules.read(path)
        except Unreadable as error:
            found.wanted.append(Item(path, None, error, named=named))
            continue
        kind = kind_of(os.path.basename(path))
        item = Item(path, data, kind=kind or kind_of_text(data), named=named)
        item.words = prefilter.ask(item.kind, data, scan_file(path, item.kind))
        if item.kind not in DOCUMENTS:
            python.append(item)
            if room >= len(data):
                kept[graph_name(path)] = data
                room -= len(data)
        if is_wanted(item):
            found.wanted.append(item)
        else:
            found.left_out.append(path)
            item.data = None
    prefilter.save()
    context.modules.reset(item.path for item in python)
    if with_programs:
        _add_programs(found, python, kept, context)
    return found


def _add_programs(found: Items, python: Sequence[Item], kept: dict[str, bytes], context: RunContext) -> None:
    """Give the items the programs of several files that start there, and add the files that others start in."""
    search_around = len(python) <= MAX_FILES_TO_SEARCH_AROUND
    if not search_around and not any(item.words & CONFIGURES for item in python):
        return
    from tfmemlint.engine.find_programs import find_programs

    paths = [item.path for item in python]
    configuring = {
        graph_name(item.path): bool(item.words & CONFIGURES) for item in python if not item.path.endswith(NOTEBOOK)
    }
    entries = find_programs(context.modules, paths, kept, configuring, search_around=search_around)
    starts = {entry.path: entry for entry in entries}
    for item in found.wanted:
        item.entry = starts.pop(graph_name(item.path), None)
    given = {graph_name(path): path for path in found.given}
    for path, entry in starts.items():
        try:
            data = context.modules.read(path)
        except Unreadable:
            continue
        found.wanted.append(Item(given.get(path, path), data, entry=entry, given=path in given))
    added = {item.path for item in found.wanted}
    found.left_out = [path for path in found.left_out if path not in added]


def programs_of(paths: Sequence[str], store: ModuleStore) -> list[Item]:
    """Return the files in which the programs start that files are part of, each with its program."""
    from tfmemlint.engine.find_programs import find_programs

    found = []
    for entry in find_programs(store, paths, {}, {}, search_around=True):
        with contextlib.suppress(Unreadable):
            found.append(Item(store.name_of(entry.path), store.read(entry.path), entry=entry, given=False))
    return found
