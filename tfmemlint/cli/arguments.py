"""The options of the commands ``check`` and ``fix``."""

from __future__ import annotations

import argparse

from tfmemlint.config.command_line import add_config_arguments
from tfmemlint.reporters.formats import FORMATS


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``check``."""
    _common(parser)
    add = parser.add_argument
    add("--fix", action="store_true", help="fix what can be fixed, as `tfmemlint fix` does")
    add(
        "--add-ignore",
        metavar="REASON",
        help="write a comment with this reason to each line with a finding, which silences it from now on",
    )
    add("--show-target", action="store_true", help="print which release files are judged for, and why")
    parser.set_defaults(diff=False, ask=False, show_fixes=False, fix_only=None, verify=False, whole_program=False)


def add_fix_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``fix``."""
    _common(parser)
    add = parser.add_argument
    add("--diff", action="store_true", help="print what would change, and change nothing")
    add("--ask", action="store_true", help="show each change and ask before it is made")
    add(
        "--fix-only",
        metavar="CODES",
        action="append",
        help="fix what these rules find only; all is reported",
    )
    add(
        "--whole-program",
        action="store_true",
        help="also change files that were not named, where a fix needs it, if they are in the same project",
    )
    add("--show-fixes", action="store_true", help="list what was fixed, and why the rest was not")
    add(
        "--verify",
        action="store_true",
        help="before anything is written, run what configures GPU memory in the new text on the installed TensorFlow,"
        " and make no change that does not take effect there; THIS RUNS THE PROGRAM'S CODE, as `tfmemlint verify` does",
    )
    add(
        "--device",
        choices=("auto", "gpu", "driver", "edge"),
        default="auto",
        help="with --verify: where to run",
    )
    add("--python", metavar="PATH", help="with --verify: the interpreter that has TensorFlow (default: this one)")
    parser.set_defaults(fix=True, show_target=False, add_ignore=None)


def _common(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files or directories (default: .); - is standard input")
    add_selecting_arguments(parser)
    add(
        "--migrate",
        action="store_true",
        help="also report the names that the newest release (or that of --target-version) lacks and that have nothing"
        " to do with GPU memory",
    )
    add("--allow-dirty", action="store_true", help="also fix files with changes that git does not have yet")
    add("--output-format", metavar="FORMAT", help=f"how to report: {', '.join(FORMATS)} (default: full)")
    add("-o", "--output-file", metavar="FILE", help="write the report to FILE instead of standard output")
    add("--statistics", action="store_true", help="print how often each rule fires instead of the findings")
    add("--baseline", metavar="FILE", help="leave out the findings that this file has")
    add(
        "--update-baseline",
        action="store_true",
        help="write what is found to the baseline (default: tfmemlint-baseline.json), and take out what is gone",
    )
    add("--exit-non-zero-on-fix", action="store_true", help="exit with 1 where something was fixed, too")
    add("--exit-zero", action="store_true", help="exit with 0 even where something is found")
    add_config_arguments(parser)
    add(
        "--force-exclude",
        action="store_true",
        help="leave out named files, too, that would not be looked for in a directory",
    )
    add("--stdin-filename", metavar="PATH", help="the path to report for standard input")
    add("--no-cache", action="store_true", help="read nothing from a cache, and write nothing to it")
    add("-q", "--quiet", action="store_true", help="print findings only")
    add("-v", "--verbose", action="store_true", help="say what is read")


def add_selecting_arguments(parser: argparse._ActionsContainer) -> None:
    """Give ``parser`` the options that configuration files have as well."""
    add = parser.add_argument
    for option, words in (
        ("--select", "run these rules only (codes or their beginnings, with commas between)"),
        ("--extend-select", "run these rules besides"),
        ("--ignore", "do not run these rules"),
        ("--extend-ignore", "do not run these rules either"),
    ):
        add(option, metavar="CODES", action="append", help=words)
    for option, words in (
        ("--per-file-ignores", "rules that are off in some files, instead of those of configuration files"),
        ("--extend-per-file-ignores", "rules that are off in some files besides"),
    ):
        add(option, metavar="PATTERN:CODE", action="append", help=words)
    add("--severity", metavar="CODE:SEVERITY", action="append", help="the severity of what a rule finds")
    add("--min-severity", metavar="SEVERITY", help="leave out what is less grave: error, warning or advice")
    add("--kinds", metavar="KINDS", action="append", help="look for these kinds of files only (with commas between)")
    add("--extend-kinds", metavar="KINDS", action="append", help="look for these kinds of files besides (text)")
    add("--ignore-kinds", metavar="KINDS", action="append", help="do not look for these kinds of files")
    patterns = "leave these files out (patterns as in .gitignore)"
    add("--exclude", "--extend-exclude", metavar="PATTERNS", action="append", help=patterns)
    add(
        "--target-version",
        metavar="X.Y",
        help="the TensorFlow release that the code runs on (default: the one that the project requires)",
    )
    add("--gpu-memory", metavar="SIZE", help="the memory of one GPU, such as 16GiB: shares become numbers of MiB")
    add("--unsafe-fixes", action="store_true", default=None, help="also apply fixes that a person should review")
