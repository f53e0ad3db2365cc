"""From paths to the items that a command works on.

Every command that is given paths takes its files from here: they are found, read and searched by the prefilter in the
same way, and so are the programs of several files that start in them. Commands differ in the items that they select and
in their work on an item. A text without a file (standard input) goes through `tfmemlint.engine.run.from_text`, which
checks it as one named item, without the prefilter.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from tfmemlint.engine.context import RunContext, reset_project_caches
from tfmemlint.engine.item import Item, Items
from tfmemlint.engine.prefilter_cache import open_prefilter_cache
from tfmemlint.engine.scan_file import scan_file
from tfmemlint.facts.prefilter import CONFIGURES
from tfmemlint.sources import Unreadable, walk
from tfmemlint.sources.kinds import DOCUMENTS, PYTHON, kind_of, kind_of_text
from tfmemlint.sources.text import NOTEBOOK

if TYPE_CHECKING:
    from tfmemlint.config.files import Config
    from tfmemlint.sources.walking import Walk

MAX_FILES_TO_SEARCH_AROUND = 100
"""Files, named one by one, whose projects are searched for the programs that they are part of. A bound without a deeper
reason: who names more of them names whole projects, by a pattern of the shell."""
MAX_KEPT_BYTES = 32 * 1024 * 1024
"""Bytes of files that stay in memory from the prefilter to the search for programs; further ones are read again.
That many hold 1,800 files of the mean size of TensorFlow's own Python, 18 KB."""


def find_files(
    paths: Sequence[str],
    config: Config,
    *,
    kinds: frozenset[str] = frozenset({PYTHON}),
    exclude: Iterable[str] = (),
    unwanted: frozenset[str] = frozenset(),
) -> tuple[Walk, list[tuple[str, bool]]]:
    """Return the walk over ``paths``, and each file with whether the user named that very file.

    Args:
        paths: files and directories.
        config: what it says about files is followed.
        kinds: the kinds of files to look for in directories.
        exclude: patterns of further files to leave out.
        unwanted: the kinds of files to leave out even where they are named.
    """
    found = walk(
        paths,
        exclude=(*(config.exclude or ()), *config.extend_exclude, *exclude),
        respect_gitignore=config.respect_gitignore,
        respect_gitattributes=config.respect_gitattributes,
        root=str(config.root),
        kinds=kinds,
    )
    if unwanted:
        found.files = [path for path in found.files if kind_of(os.path.basename(path)) not in unwanted]
    named = {os.path.normpath(path) for path in paths}
    return found, [(path, os.path.normpath(path) in named) for path in found.files]


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
                kept[os.path.normpath(path)] = data
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
        os.path.normpath(item.path): bool(item.words & CONFIGURES)
        for item in python
        if not item.path.endswith(NOTEBOOK)
    }
    entries = find_programs(context.modules, paths, kept, configuring, search_around=search_around)
    starts = {entry.path: entry for entry in entries}
    for item in found.wanted:
        item.entry = starts.pop(os.path.normpath(item.path), None)
    given = {os.path.normpath(path): path for path in found.given}
    for path, entry in starts.items():
        try:
            data = context.modules.read(path)
        except Unreadable:
            continue
        found.wanted.append(Item(given.get(path, path), data, entry=entry, given=path in given))
    added = {item.path for item in found.wanted}
    found.left_out = [path for path in found.left_out if path not in added]
