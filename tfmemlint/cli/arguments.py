"""The options of the commands ``check`` and ``fix``."""

from __future__ import annotations

import argparse

from tfmemlint.reporters.formats import FORMATS


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``check``."""
    _common(parser)
    add = parser.add_argument
    add("--fix", action="store_true", help="fix what can be fixed, as `tfmemlint fix` does")
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
    parser.set_defaults(fix=True, show_target=False)


def _common(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files or directories (default: .); - is standard input")
    for option, words in (
        ("--select", "run these rules only (codes or their beginnings, with commas between)"),
        ("--extend-select", "run these rules besides"),
        ("--ignore", "do not run these rules"),
    ):
        add(option, metavar="CODES", action="append", help=words)
    add("--kinds", metavar="KINDS", action="append", help="look for these kinds of files only (with commas between)")
    add("--extend-kinds", metavar="KINDS", action="append", help="look for these kinds of files besides (text)")
    add("--ignore-kinds", metavar="KINDS", action="append", help="do not look for these kinds of files")
    add("--exclude", metavar="PATTERNS", action="append", help="leave these files out (patterns as in .gitignore)")
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
    add("--unsafe-fixes", action="store_true", default=None, help="also apply fixes that a person should review")
    add("--allow-dirty", action="store_true", help="also fix files with changes that git does not have yet")
    add("--gpu-memory", metavar="SIZE", help="the memory of one GPU, such as 16GiB: shares become numbers of MiB")
    add(
        "--read-gpu-memory",
        action="store_true",
        help="where --gpu-memory is not given, fixes may add a function that asks NVML for the memory of a GPU"
        " (the code then needs the package nvidia-ml-py)",
    )
    add("--output-format", choices=tuple(FORMATS), help="how to report (default: full)")
    add("--statistics", action="store_true", help="print how often each rule fires instead of the findings")
    add("--exit-zero", action="store_true", help="exit with 0 even where something is found")
    add("--stdin-filename", metavar="PATH", help="the path to report for standard input")
    add("--no-cache", action="store_true", help="read nothing from a cache, and write nothing to it")
    add("-q", "--quiet", action="store_true", help="print findings only")
    add("-v", "--verbose", action="store_true", help="say what is read")
