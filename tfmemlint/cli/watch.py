"""Check again whenever a file changes.

watchfiles tells of changes, as the systems have a way of their own each for that; it is imported for ``--watch`` alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from tfmemlint.reporters.say import say
from tfmemlint.sources.walking import LEFT_OUT, LITTER

CLEAN, FAILED = 0, 2
_MISSING = "--watch needs the package watchfiles: pip install 'tfmemlint[watch]'"


def watch(paths: Sequence[str], check: Callable[[], int]) -> int:
    """Run ``check`` now and after each change below ``paths``, until interrupted; return 0, or 2 if that can't be."""
    try:
        import watchfiles
    except ImportError:
        say(_MISSING)
        return FAILED
    places = [path for path in paths if os.path.lexists(path)]
    if len(places) < len(paths) or not places:
        say("--watch needs files or directories that are there")
        return FAILED

    class Files(watchfiles.DefaultFilter):
        """Leaves out what `check` does not look at."""

        ignore_dirs = tuple(sorted(LEFT_OUT))
        ignore_entity_patterns = (*watchfiles.DefaultFilter.ignore_entity_patterns, rf"^{LITTER}")

    _run(check)
    for _ in watchfiles.watch(*places, watch_filter=Files(), raise_interrupt=False):
        if sys.stdout.isatty():
            sys.stdout.write("\x1b[2J\x1b[H")
        _run(check)
    return CLEAN


def _run(check: Callable[[], int]) -> None:
    check()
    sys.stdout.flush()
    say("waiting for changes; Ctrl-C ends this")
