"""The options of the commands ``check`` and ``fix``, in the groups of their help."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tfmemlint.config.command_line import add_config_arguments
from tfmemlint.reporters.formats import FORMATS

if TYPE_CHECKING:
    from tfmemlint.engine.shard import Shard

CHECK_EXAMPLES = """\
examples:
  tfmemlint check                                   all files below this directory
  tfmemlint check train.py --output-format concise  one file, a line for each finding
  tfmemlint check --select TFM1,eager-config        some rules only
  tfmemlint check --update-baseline                 accept the findings of today
  tfmemlint check --output-format sarif -o out.sarif

Exit code: 0 if nothing is found, 1 if something is, 2 if the tool could not do its work, 3 if it has an error of its
own.
"""
FIX_EXAMPLES = """\
examples:
  tfmemlint fix --diff                 what would change; exits with 1 if something would
  tfmemlint fix train.py --ask         ask before each change
  tfmemlint fix --unsafe-fixes         also make changes that a person should review
  tfmemlint fix --select TFM903        remove comments that silence nothing

The exit codes are those of check; what has been fixed does not count.
"""


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``check``."""
    parser.usage, parser.epilog = "tfmemlint check [OPTION ...] [PATH ...]", CHECK_EXAMPLES
    fixes = _common(parser)
    fixes.add_argument("--fix", action="store_true", help="fix what can be fixed, as `tfmemlint fix` does")
    add = parser.add_argument_group("other actions").add_argument
    add(
        "--add-ignore",
        metavar="REASON",
        help="silence each finding by a comment with this reason on its line",
    )
    add("--show-target", action="store_true", help="print the release that each file is judged for, and why")
    add("--watch", action="store_true", help="check again whenever a file changes, until interrupted")
    add(
        "--since",
        metavar="REV",
        help="report only what the checked-out branch brings: not what it had when it left REV (a branch, tag or"
        " commit); git is not run",
    )
    add(
        "--shard",
        metavar="I/N",
        type=_shard,
        help="judge one of N parts of the files, each with its whole programs; `tfmemlint merge` joins the reports",
    )
    parser.set_defaults(diff=False, ask=False, show_fixes=False, fix_only=None, verify=False, whole_program=False)


def add_fix_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``fix``."""
    parser.usage, parser.epilog = "tfmemlint fix [OPTION ...] [PATH ...]", FIX_EXAMPLES
    add = _common(parser).add_argument
    add(
        "--diff", action="store_true", help="print what would change, and change nothing; exit with 1 if anything would"
    )
    add("--ask", action="store_true", help="show each change and ask before it is made")
    add(
        "--fix-only",
        metavar="CODES",
        action="append",
        help="fix only the findings of these rules; all findings are reported",
    )
    add(
        "--whole-program",
        action="store_true",
        help="also change files that were not named, where a fix needs it, if they are in the same project",
    )
    add("--show-fixes", action="store_true", help="list what was fixed, and why the rest was not")
    add = parser.add_argument_group("proof").add_argument
    add(
        "--verify",
        action="store_true",
        help="before anything is written, run the fixed code that configures GPU memory on the installed TensorFlow,"
        " and make no change that does not take effect there; THIS RUNS THE PROGRAM'S CODE, as `tfmemlint verify` does",
    )
    add(
        "--device",
        choices=("auto", "gpu", "driver", "edge"),
        default="auto",
        help="with --verify: where to run",
    )
    add("--python", metavar="PATH", help="with --verify: the interpreter that has TensorFlow (default: this one)")
    parser.set_defaults(fix=True, show_target=False, add_ignore=None, watch=False, shard=None, since=None)


def _common(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add what both commands have; return the group of options about fixes."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files or directories (default: .); - is standard input"
    )
    add_selecting_arguments(parser)
    files = parser.add_argument_group("standard input and hooks")
    files.add_argument(
        "--force-exclude",
        action="store_true",
        help="also leave out named files that a search of their directory would leave out",
    )
    files.add_argument("--stdin-filename", metavar="PATH", help="the path to report for standard input")
    fixes = parser.add_argument_group("fixes")
    fixes.add_argument(
        "--unsafe-fixes", action="store_true", default=None, help="also apply fixes that a person should review"
    )
    fixes.add_argument(
        "--allow-dirty", action="store_true", help="also fix files with changes that are neither committed nor staged"
    )
    fixes.add_argument("--exit-non-zero-on-fix", action="store_true", help="exit with 1 also where something was fixed")
    add = parser.add_argument_group("report").add_argument
    add("--output-format", metavar="FORMAT", help=f"how to report: {', '.join(FORMATS)} (default: full)")
    add("--lang", choices=("en", "zh"), help="the language of reports for people (default: that of the environment)")
    add("-o", "--output-file", metavar="FILE", help="write the report to FILE instead of standard output")
    add("--statistics", action="store_true", help="print how often each rule fires instead of the findings")
    add("--exit-zero", action="store_true", help="exit with 0 even where something is found")
    add("-q", "--quiet", action="store_true", help="print findings only")
    add("-v", "--verbose", action="store_true", help="print what is read")
    add = parser.add_argument_group("known findings").add_argument
    add("--baseline", metavar="FILE", help="leave out the findings that this file lists")
    add(
        "--update-baseline",
        action="store_true",
        help="write the findings to the baseline (default: tfmemlint-baseline.json), and remove those that are gone",
    )
    run = parser.add_argument_group("run")
    add_config_arguments(run)
    run.add_argument("--no-cache", action="store_true", help="neither read nor write the cache")
    run.add_argument("--jobs", metavar="N", type=_jobs, help="use N processes at most (default: one per core, up to 8)")
    return fixes


def _shard(text: str) -> Shard:
    from tfmemlint.engine.shard import Shard

    try:
        return Shard.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _jobs(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes")
    return number


def add_selecting_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options about rules, files and the machine that configuration files have as well."""
    add = parser.add_argument_group("rules").add_argument
    for option, words in (
        ("--select", "run these rules only (codes, prefixes of codes, or names, separated by commas)"),
        ("--extend-select", "also run these rules"),
        ("--ignore", "do not run these rules"),
        ("--extend-ignore", "do not run these rules either"),
    ):
        add(option, metavar="CODES", action="append", help=words)
    for option, words in (
        ("--per-file-ignores", "turn off rules in some files, in place of the configuration's own list"),
        ("--extend-per-file-ignores", "turn off rules in some files, in addition to that list"),
    ):
        add(option, metavar="PATTERN:CODE", action="append", help=words)
    add("--severity", metavar="CODE:SEVERITY", action="append", help="the severity of what a rule finds")
    add("--min-severity", metavar="SEVERITY", help="leave out findings below this severity: error, warning or advice")
    add = parser.add_argument_group("files").add_argument
    add("--kinds", metavar="KINDS", action="append", help="look for these kinds of files only (separated by commas)")
    add("--extend-kinds", metavar="KINDS", action="append", help="also look for these kinds of files (text)")
    add("--ignore-kinds", metavar="KINDS", action="append", help="do not look for these kinds of files")
    patterns = "leave these files out (patterns as in .gitignore)"
    add("--exclude", "--extend-exclude", metavar="PATTERNS", action="append", help=patterns)
    add = parser.add_argument_group("what the code runs on").add_argument
    add(
        "--target-version",
        metavar="X.Y",
        help="the TensorFlow release that the code runs on (default: the one that the project requires)",
    )
    add(
        "--migrate",
        action="store_true",
        help="also report the names that the newest release (or that of --target-version) lacks and that have nothing"
        " to do with GPU memory",
    )
    add("--gpu-memory", metavar="SIZE", help="the memory of one GPU, such as 16GiB: shares become numbers of MiB")
    add(
        "--read-gpu-memory",
        action="store_true",
        default=None,
        help="where --gpu-memory is not given, fixes may add a function that asks NVML for the memory of a GPU"
        " (the code then needs the package nvidia-ml-py)",
    )
