"""What ``check`` and ``fix`` print when their work is done."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from tfmemlint.cli.arguments import say

if TYPE_CHECKING:
    from tfmemlint.config.files import Config
    from tfmemlint.engine.context import Context
    from tfmemlint.engine.results import FileResult
    from tfmemlint.model.finding import Finding
    from tfmemlint.sources import Source

_OF_ANOTHER_RELEASE = ("TFM206", "TFM501")
_MANY = 10
"""Findings about names of other releases from which on the question is which release the code is for."""


def report(arguments: argparse.Namespace, config: Config, context: Context, outcomes: list[FileResult]) -> None:
    """Print what a run came to, in the format that was asked for."""
    output_format = arguments.output_format or config.output_format or "full"
    if _is_plain(arguments, outcomes, output_format):
        if not arguments.quiet:
            print("All checks passed!")
        return
    from tfmemlint.reporters import Summary, close, render, statistics
    from tfmemlint.reporters.cells import in_cells

    findings = sorted((one for outcome in outcomes for one in outcome.findings), key=lambda one: one.sort_key)
    applied = [one for outcome in outcomes for one in outcome.applied]
    summary = Summary.of(
        findings,
        applied,
        files=len(outcomes),
        candidates=sum(outcome.candidate for outcome in outcomes),
        unsafe=context.unsafe,
        planned=arguments.diff,
    )
    # Whoever wants the new text, or the changes, gets nothing else on standard output.
    stream = sys.stdout
    if arguments.fix:
        stream = _changes(arguments, outcomes)
    for outcome in outcomes:
        if arguments.verbose and outcome.candidate:
            say(f"read closely: {outcome.path}")
        for note in outcome.notes if arguments.verbose else ():
            say(f"{outcome.path}: not followed to the end: {note}")
    if arguments.statistics:
        statistics(findings, stream, output_format, unsafe=context.unsafe)
        if not arguments.quiet and output_format in ("full", "concise"):
            close(summary, stream, verbose=arguments.verbose)
        return
    by_code = {}
    if findings:
        from tfmemlint.rulekit.rule import rules

        by_code = {rule.code: rule for rule in rules()}
    findings, sources = in_cells(
        findings, _sources(outcomes, findings, context), rows_of_file=output_format == "github"
    )
    render(
        findings,
        sources,
        output_format=output_format,
        stream=stream,
        rules=by_code,
        verbose=arguments.verbose,
        quiet=arguments.quiet,
        summary=summary,
        target_of=context.target_of,
    )
    if arguments.show_fixes and output_format in ("full", "concise"):
        from tfmemlint.reporters.fixes import show_fixes

        problems = {outcome.path: outcome.problem for outcome in outcomes if outcome.problem}
        applied, _ = in_cells(applied, {one.path: one.old for one in outcomes if one.old is not None})
        show_fixes(applied, findings, problems, stream, planned=arguments.diff)
    if context.target is None and not arguments.quiet and output_format in ("full", "concise"):
        _targets(findings, verbose=arguments.verbose)


def _targets(findings: list[Finding], *, verbose: bool) -> None:
    """Say which release was judged for, where somebody may wonder."""
    from tfmemlint.project.targets.find import current
    from tfmemlint.project.targets.show import in_short

    finder = current()
    about = [finder.of_file(one.path) for one in findings if one.code in _OF_ANOTHER_RELEASE]
    said = dict.fromkeys(found for found in (finder.found() if verbose else about) if found.target is not None)
    for found in list(said)[:_MANY]:
        say(f"judged for {in_short(found)}; --show-target says more")
    if verbose:
        for found in finder.found():
            for one in found.used:
                if one.releases is None:
                    say(f"{one.place}: {one.text}: the release of TensorFlow is not known: {one.why}")
        for note in finder.notes:
            say(note)
    old = sum(found.target is None for found in about)
    if old >= _MANY:
        say(
            f"{old} findings are about names of other releases; for code that runs on TensorFlow 1 say so:"
            " --target-version 1.15"
        )


def _sources(outcomes: list[FileResult], findings: list[Finding], context: Context) -> dict[str, Source]:
    """The texts to quote from: those of the files that were checked, and of those that lead to what was found there."""
    known = {outcome.path: outcome.source for outcome in outcomes if outcome.source is not None}
    others = {step.path for finding in findings for step in finding.trace} - known.keys()
    if others:
        from tfmemlint.engine.merge_programs import module_sources

        known |= module_sources(others, context)
    return known


def _is_plain(arguments: argparse.Namespace, outcomes: list[FileResult], output_format: str) -> bool:
    """Whether there is nothing to report and nobody to please with colours: then the reporters need not be loaded."""
    if arguments.fix or arguments.statistics or arguments.verbose or output_format not in ("full", "concise"):
        return False
    coloured = sys.stdout.isatty() or "FORCE_COLOR" in os.environ
    return not coloured and not any(outcome.findings for outcome in outcomes)


def _changes(arguments: argparse.Namespace, outcomes: list[FileResult]) -> object:
    """Print what was changed, or the new text of standard input; gives the stream for the report."""
    if arguments.diff:
        from tfmemlint.reporters.diff import print_diff, unified_diff

        for outcome in outcomes:
            if outcome.old is not None and outcome.source is not None:
                old, new = (outcome.old.as_file(one.text) for one in (outcome.old, outcome.source))
                print_diff(unified_diff(outcome.path, old, new), sys.stdout)
        return sys.stderr
    if "-" in arguments.paths:
        name = arguments.stdin_filename or "-"
        mended = next((one.source for one in outcomes if one.path == name and one.old is not None), None)
        sys.stdout.flush()
        # What could not be read, or needed no change, goes out as it came in: an editor puts it in the file's place.
        sys.stdout.buffer.write(arguments.stdin if mended is None else mended.encode(mended.text))
        return sys.stderr
    return sys.stdout
