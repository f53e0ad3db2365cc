"""The findings that a project lives with: those of its baseline."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfmemlint.reporters.baseline import USUAL_NAME, Baseline
from tfmemlint.reporters.say import say

if TYPE_CHECKING:
    from tfmemlint.config.files import Config
    from tfmemlint.engine.results import FileResult


def leave_out_old(arguments: argparse.Namespace, config: Config, results: Sequence[FileResult]) -> None:
    """Take the findings of the baseline out of the results; with ``--update-baseline``, write all into it first.

    Raises:
        BaselineError: the baseline can't be read or written.
    """
    import os

    path = config.baseline or (USUAL_NAME if arguments.update_baseline else None)
    if path is None:
        return
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
