"""Load the program's own modules with other texts than their files have: sliced, and with marks in them.

Python finds the modules, as it does in the program itself; only their texts are replaced.
"""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

from tfmemlint.verify.child.watching import Watcher


def serve(texts: Mapping[str, str], watcher: Watcher) -> None:
    """Make imports of the files in ``texts`` use those texts."""
    known = {str(Path(path).resolve()): text for path, text in texts.items()}
    read = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
        path = loader.get_filename(fullname)
        text = known.get(str(Path(path).resolve()))
        if text is None:
            return read(loader, fullname)
        watcher.modules.add(path)  # as frames have it
        # Tracebacks and AutoGraph see the text that is run.
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
        return compile(watcher.marked(text, path), path, "exec", dont_inherit=True)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
