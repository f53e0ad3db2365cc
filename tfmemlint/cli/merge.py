"""The command ``merge``: one report of several, such as those of ``check --shard``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tfmemlint.reporters.formats import FORMATS, format_named
from tfmemlint.reporters.say import say

if TYPE_CHECKING:
    from tfmemlint.model.finding import Finding

CLEAN, FOUND, FAILED, CRASHED = 0, 1, 2, 3
CORRECTIONS = "corrections"
"""The one format that is made of more than a report says."""
_ABOUT = """\
Joins several reports of `tfmemlint check` into one. It reads json, json-lines and sarif, of which json holds the most.
A finding that is in several reports appears once. Excerpts of code are taken from the files, if they are still there.
"""
_EXAMPLES = """\
examples:
  tfmemlint check --shard 1/2 --output-format json -o 1.json
  tfmemlint check --shard 2/2 --output-format json -o 2.json
  tfmemlint merge 1.json 2.json                         the report that one run would have made
  tfmemlint merge --expect 2 *.json --output-format sarif -o all.sarif

The exit codes are those of check.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``merge``."""
    parser.description, parser.epilog = _ABOUT, _EXAMPLES
    parser.add_argument("reports", nargs="+", metavar="REPORT", help="files that `tfmemlint check` has written")
    add = parser.add_argument_group("report").add_argument
    formats = ", ".join(name for name in FORMATS if name != CORRECTIONS)
    add("--output-format", metavar="FORMAT", default="full", help=f"how to report: {formats} (default: full)")
    add("--lang", choices=("en", "zh"), help="the language of reports for people (default: that of the environment)")
    add("-o", "--output-file", metavar="FILE", help="write the report to FILE instead of standard output")
    add("--expect", metavar="N", type=int, help="exit with 2 unless there are N reports: none of them was lost")
    add("--statistics", action="store_true", help="print how often each rule fires instead of the findings")
    add("--exit-zero", action="store_true", help="exit with 0 even where something is found")
    add("-q", "--quiet", action="store_true", help="print findings only")


def run(arguments: argparse.Namespace) -> int:
    """Merge the reports; return the exit code."""
    from tfmemlint.reporters import render, statistics
    from tfmemlint.reporters.destination import OutputError, destination
    from tfmemlint.reporters.language import choose
    from tfmemlint.reporters.read_reports import ReportError, in_rows_of_files, merged, read_report, sources_of
    from tfmemlint.reporters.summary import Summary
    from tfmemlint.rulekit.rule import rules

    paths = list(dict.fromkeys(arguments.reports))
    if arguments.expect is not None and len(paths) != arguments.expect:
        say(f"--expect {arguments.expect}: there are {len(paths)} reports")
        return FAILED
    try:
        chosen = format_named(arguments.output_format)
        if chosen.name == CORRECTIONS:
            raise ValueError("corrections are made of more than a report says: `check` writes them")
        whole = merged(map(read_report, paths))
    except (ReportError, ValueError) as error:
        say(str(error))
        return FAILED
    choose(arguments.lang or "")
    sources = sources_of(whole)
    findings, suppressed = whole.findings, whole.suppressed
    if chosen.rows_of_file:
        findings, suppressed = in_rows_of_files(findings, sources), in_rows_of_files(suppressed, sources)
    cut_short = len({path for path, _ in whole.not_followed})
    try:
        with destination(arguments.output_file) as stream:
            if arguments.statistics:
                statistics(findings, stream, chosen.name)
            else:
                render(
                    findings,
                    sources,
                    output_format=chosen.name,
                    stream=stream,
                    rules={rule.code: rule for rule in rules()},
                    quiet=arguments.quiet,
                    summary=Summary.of(findings, cut_short=cut_short),
                    suppressed=suppressed,
                    not_followed=whole.not_followed,
                )
    except OutputError as error:
        say(str(error))
        return FAILED
    return _exit_code(findings, exit_zero=arguments.exit_zero)


def _exit_code(findings: list[Finding], *, exit_zero: bool) -> int:
    from tfmemlint.model.codes import INTERNAL_ERROR

    if any(finding.code == INTERNAL_ERROR for finding in findings):
        return CRASHED
    return FOUND if findings and not exit_zero else CLEAN
