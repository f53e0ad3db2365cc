"""Tests of many small files, as one test a folder: a test of its own for each costs more than what it looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest


def for_each_file(
    paths: Iterable[Path], folder_of: Callable[[Path], str] = lambda path: path.parent.name
) -> Callable[[Callable[[Path], None]], Callable[[list[Path]], None]]:
    """Make a test of one file a test of each folder of files, which names every file that fails, and why.

    Args:
        paths: The files.
        folder_of: The name of the test that a file belongs to; its folder's without one.
    """
    folders: dict[str, list[Path]] = {}
    for path in paths:
        folders.setdefault(folder_of(path), []).append(path)

    def decorate(test: Callable[[Path], None]) -> Callable[[list[Path]], None]:
        def holds_for_all(files: list[Path]) -> None:
            wrong = []
            for path in files:
                try:
                    test(path)
                except AssertionError as error:
                    wrong.append(f"{path.parent.name}/{path.name}: {error}")
            assert not wrong, "\n\n".join(wrong)

        holds_for_all.__name__, holds_for_all.__doc__ = test.__name__, test.__doc__
        holds_for_all.__module__, holds_for_all.__qualname__ = test.__module__, test.__qualname__
        return pytest.mark.parametrize("files", folders.values(), ids=list(folders))(holds_for_all)

    return decorate
