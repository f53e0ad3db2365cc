"""The findings that a project lives with: those of its baseline."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tfmemlint.reporters.baseline import USUAL_NAME, Baseline, BaselineError
from tfmemlint.reporters.say import say

if TYPE_CHECKING:
    from tfmemlint.config.files import Config
    from tfmemlint.engine.results import FileResult


def leave_out_old(arguments: argparse.Namespace, config: Config, results: Sequence[FileResult]) -> None:
    """Take the findings of the baseline out of the results; with ``--update-baseline``, write all into it first.

    Raises:
        BaselineError: the baseline can't be read or written.
    """
    path = config.baseline or (USUAL_NAME if arguments.update_baseline else None)
    if path is None:
        return
    origin = config.origin("baseline")
    if arguments.update_baseline and os.path.isabs(origin) and not _is_below(path, os.path.dirname(origin)):
        raise BaselineError(f"{path}: is outside of the folder of {origin}: name it with --baseline to have it written")
    baseline = Baseline(path)
    if not arguments.update_baseline or os.path.lexists(path):
        baseline = Baseline.read(path)
    findings = [finding for result in results for finding in result.findings]
    sources = {result.path: result.source for result in results if result.source is not None}
    names = baseline.fingerprints(findings, sources)
    paths = [result.path for result in results]
    gone = len(baseline.gone(names, paths))
    if arguments.update_baseline:
        new = len(set(names) - baseline.entries.keys())
        baseline.update(findings, names, paths)
        if not arguments.quiet:
            say(f"{path}: {len(baseline.entries)} findings ({new} new, {gone} gone)")
    old = {id(finding) for finding, name in zip(findings, names, strict=True) if name in baseline.entries}
    for result in results:
        result.findings = [finding for finding in result.findings if id(finding) not in old]
    if arguments.update_baseline or arguments.quiet:
        return
    if old:
        say(f"{len(old)} left out, as they are in the baseline")
    if gone:
        say(f"{gone} of the baseline are gone: --update-baseline takes them out")


def _is_below(path: str, directory: str) -> bool:
    """True if a file is below a directory, links followed: a checked tree names no file elsewhere to be written."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(directory))
