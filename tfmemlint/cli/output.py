"""Print the results of ``check`` and ``fix``."""

from __future__ import annotations

import argparse
import os
import sys
from typing import IO, TYPE_CHECKING

from tfmemlint.engine.results import NOT_READ
from tfmemlint.reporters.formats import Format
from tfmemlint.reporters.language import choose, translate
from tfmemlint.reporters.say import say

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.results import FileResult
    from tfmemlint.model.finding import Finding
    from tfmemlint.sources import Source

MAX_NOT_FOLLOWED_SHOWN = 5
"""Places at which a file was not followed that are named below a report; -v and the formats for programs name all."""
MAX_TARGETS_SHOWN = 10
"""Releases that are named behind a report; --show-target names all."""


def report(
    arguments: argparse.Namespace,
    output_format: Format,
    context: RunContext,
    results: list[FileResult],
    stream: IO[str],
    *,
    failed: bool,
) -> None:
    """Print the results of a run.

    Args:
        arguments: the command line.
        output_format: how to report.
        context: the run.
        results: of all files.
        stream: where to print, if no new text or change goes there.
        failed: some path could not be followed: it is not said then that all checks passed.
    """
    choose(arguments.lang or "")
    if _is_plain(arguments, results, output_format):
        if not arguments.quiet and not failed:
            stream.write(translate("All checks passed!") + "\n")
        return
    from tfmemlint.reporters import close, render, statistics
    from tfmemlint.reporters.cells import in_cells, rows_in_cells
    from tfmemlint.reporters.summary import Summary

    findings = sorted(
        (finding for result in results for finding in result.findings), key=lambda finding: finding.sort_key
    )
    applied = [finding for result in results for finding in result.applied]
    summary = Summary.of(
        findings,
        applied,
        files=len(results),
        candidates=sum(result.candidate for result in results),
        unsafe=context.unsafe,
        planned=arguments.diff,
        cut_short=sum(result.is_cut_short for result in results),
        failed=failed,
    )
    # Whoever wants the new text, or the changes, gets nothing else on standard output.
    if arguments.fix:
        own = _changes(arguments, results)
        stream = own if stream is sys.stdout else stream
    for result in results:
        if arguments.verbose and result.candidate:
            say(f"read closely: {result.path}")
    not_followed = [(result.path, reason) for result in results for reason in result.not_followed]
    if arguments.verbose:
        for result in results:
            for note in result.notes:
                if note not in result.not_followed:
                    say(f"{result.path}: {note}")
    shown = not_followed if arguments.verbose else not_followed[:MAX_NOT_FOLLOWED_SHOWN]
    for path, reason in shown:
        say(f"{path}: not followed to the end: {reason}")
    if len(shown) < len(not_followed):
        say(f"not followed to the end in {len(not_followed) - len(shown)} more places; -v names them")
    not_read = sum(not NOT_READ.isdisjoint(result.notes) for result in results)
    if not_read and not arguments.verbose and not arguments.quiet:
        files = "1 file was" if not_read == 1 else f"{not_read} files were"
        say(f"{files} not checked: not valid Python 3 (-v says more)")
    if arguments.statistics:
        statistics(findings, stream, output_format.name, unsafe=context.unsafe)
        if not arguments.quiet and output_format.for_people:
            close(summary, stream, verbose=arguments.verbose)
        return
    by_code = {}
    if findings:
        from tfmemlint.rulekit.rule import rules

        by_code = {rule.code: rule for rule in rules()}
    suppressed = [finding for result in results for finding in result.suppressed]
    if suppressed:
        from tfmemlint.rulekit.rule import rules

        by_code = {rule.code: rule for rule in rules()}
    sources = _sources(results, [*findings, *suppressed], context)
    suppressed, _ = in_cells(suppressed, sources, rows_of_file=output_format.rows_of_file)
    findings, sources = in_cells(findings, sources, rows_of_file=output_format.rows_of_file)
    if output_format.for_people:
        sources = _quotable(sources, findings, context)
    render(
        findings,
        sources,
        output_format=output_format.name,
        stream=stream,
        rules=by_code,
        verbose=arguments.verbose,
        quiet=arguments.quiet,
        summary=summary,
        target_of=context.target_of,
        suppressed=suppressed,
        not_followed=not_followed,
    )
    if arguments.show_fixes and output_format.for_people:
        from tfmemlint.reporters.fixes import show_fixes

        problems = {result.path: result.problem for result in results if result.problem}
        applied = rows_in_cells(applied, {result.path: result.old for result in results if result.old is not None})
        show_fixes(applied, findings, problems, stream, planned=arguments.diff)
    if context.target is None and not arguments.quiet and output_format.for_people:
        _targets(findings, verbose=arguments.verbose)


def _of_another_release(findings: list[Finding]) -> list[Finding]:
    """The findings about names that other releases have."""
    if not findings:
        return []
    from tfmemlint.rulekit.rule import codes_where

    codes = codes_where(lambda rule: rule.of_another_release)
    return [finding for finding in findings if finding.code in codes]


def _targets(findings: list[Finding], *, verbose: bool) -> None:
    """Print which release was judged for if findings depend on it, or if everything is to be said."""
    from tfmemlint.project.targets.find import current
    from tfmemlint.project.targets.show import in_short

    finder = current()
    about = [finder.of_file(finding.path) for finding in _of_another_release(findings)]
    said = dict.fromkeys(found for found in (finder.found() if verbose else about) if found.target is not None)
    for found in list(said)[:MAX_TARGETS_SHOWN]:
        say(f"judged for {in_short(found)}; --show-target says more")
    if verbose:
        for found in finder.found():
            for statement in found.used:
                if statement.releases is None:
                    why = f"the release of TensorFlow is not known: {statement.why}"
                    say(f"{statement.place}: {statement.text}: {why}")
        for note in finder.notes:
            say(note)
    if any(found.target is None for found in about):
        say("nothing tells the release of some code, which is judged for the newest: --target-version 1.15 says it")


def _sources(results: list[FileResult], findings: list[Finding], context: RunContext) -> dict[str, Source]:
    """Return the texts to quote from: of the files that were checked, and of those that the traces of findings name."""
    known = {result.path: result.source for result in results if result.source is not None}
    others = {step.path for finding in findings for step in finding.trace} - known.keys()
    if others:
        from tfmemlint.engine.merge_programs import module_sources

        known |= module_sources(others, context)
    return known


def _quotable(sources: dict[str, Source], findings: list[Finding], context: RunContext) -> dict[str, Source]:
    """Return the texts but for those that a link out of what was named leads to: they may be nobody's to see."""
    from tfmemlint.engine.fix_file import outside

    paths = {finding.path for finding in findings} | {step.path for finding in findings for step in finding.trace}
    foreign = {path for path in paths if outside(path, context)}
    if not foreign:
        return sources
    return {name: source for name, source in sources.items() if name.partition(":cell ")[0] not in foreign}


def _is_plain(arguments: argparse.Namespace, results: list[FileResult], output_format: Format) -> bool:
    """True if there is nothing to report and no colour to print: the reporters need not be imported then."""
    if arguments.fix or arguments.statistics or arguments.verbose or not output_format.for_people:
        return False
    coloured = sys.stdout.isatty() or "FORCE_COLOR" in os.environ
    return not coloured and not any(result.findings or result.is_cut_short for result in results)


def _changes(arguments: argparse.Namespace, results: list[FileResult]) -> IO[str]:
    """Print the changes, or the new text of standard input; return the stream for the report."""
    if arguments.diff:
        from tfmemlint.reporters.diff import print_diff, unified_diff

        for result in results:
            if result.old is not None and result.source is not None:
                old, new = (result.old.as_file(source.text) for source in (result.old, result.source))
                print_diff(unified_diff(result.path, old, new), sys.stdout)
        return sys.stderr
    if "-" in arguments.paths:
        name = arguments.stdin_filename or "-"
        fixed = next((result.source for result in results if result.path == name and result.old is not None), None)
        sys.stdout.flush()
        # What could not be read, or needed no change, goes out as it came in: an editor puts it in the file's place.
        sys.stdout.buffer.write(arguments.stdin if fixed is None else fixed.encode(fixed.text))
        return sys.stderr
    return sys.stdout
