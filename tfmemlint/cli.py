"""The command line: ``check``, ``fix`` and ``rule``; the others have modules of their own."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfmemlint import __version__

if TYPE_CHECKING:
    from tfmemlint.config import Config
    from tfmemlint.finding import Finding
    from tfmemlint.run import Job, Outcome
    from tfmemlint.sources import Source

CLEAN, FOUND, FAILED = 0, 1, 2
_OF_ANOTHER_RELEASE = ("TFM206", "TFM501")
_MANY = 10
"""Findings about names of other releases from which on the question is which release the code is for."""
_ELSEWHERE = {
    "verify": ("tfmemlint.verify.command", "run what configures GPU memory on the real TensorFlow, and judge it"),
    "plan": ("tfmemlint.plan.command", "tell what a program asks of each GPU, and what it will get"),
    "fit": ("tfmemlint.fit.command", "tell whether a training script fits a GPU's memory, and what takes it"),
    "doctor": ("tfmemlint.doctor.command", "tell what this machine has, and what is missing"),
}
"""The commands that have modules of their own, and what they are for."""
_FORMATS = ("full", "concise", "json", "github")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0 clean, 1 findings, 2 the tool could not do its work."""
    given = list(sys.argv[1:] if argv is None else argv)
    own: list[str] = []
    if given[:1] in (["verify"], ["fit"]) and "--" in given:
        place = given.index("--")
        given, own = given[:place], given[place + 1 :]
    arguments = _parser(given[0] if given else "").parse_args(given)
    arguments.program_arguments = own
    # The syntax trees that are read are all needed, and short-lived: looking for garbage in them is time lost.
    gc.set_threshold(200_000, 20, 20)
    # What Python has to say about the style of the code that is read is no concern of the reader.
    warnings.simplefilter("ignore", SyntaxWarning)
    warnings.simplefilter("ignore", DeprecationWarning)
    try:
        code = int(arguments.run(arguments))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python must not fail again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    except KeyboardInterrupt:
        _say("interrupted" + ("; every file is as it was before, or fixed as a whole" if given[:1] == ["fix"] else ""))
        return FAILED


def _parser(chosen: str) -> argparse.ArgumentParser:
    """The parser, with the options of the ``chosen`` command, as far as commands have modules of their own."""
    parser = argparse.ArgumentParser(
        prog="tfmemlint",
        description="Says what TensorFlow will really do with GPU memory, and rewrites the code to do what was wanted.",
    )
    parser.add_argument("--version", action="version", version=f"tfmemlint {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="{check,fix,verify,plan,fit,doctor,rule}")
    check = commands.add_parser("check", help="report what is wrong")
    _common(check)
    check.add_argument("--fix", action="store_true", help="mend what can be mended, as `tfmemlint fix` does")
    check.set_defaults(run=_check, diff=False)
    fix = commands.add_parser("fix", help="mend what can be mended, and report the rest")
    _common(fix)
    fix.add_argument("--diff", action="store_true", help="print what would change, and change nothing")
    fix.set_defaults(run=_check, fix=True)
    for name, (place, words) in _ELSEWHERE.items():
        other = commands.add_parser(name, help=words)
        if name == chosen:
            # The others are not even imported: `check` has to start fast.
            module = importlib.import_module(place)
            module.add_arguments(other)
            other.set_defaults(run=module.run)
    rule = commands.add_parser("rule", help="explain a rule")
    rule.add_argument("code", nargs="?", help="the rule's code, such as TFM101, or its name")
    rule.add_argument("--all", action="store_true", help="explain all rules")
    rule.add_argument("--output-format", choices=("text", "json"), default="text")
    rule.set_defaults(run=_rule)
    return parser


def _common(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files or directories (default: .); - is standard input")
    for option, words in (
        ("--select", "run these rules only (codes or their beginnings, with commas between)"),
        ("--extend-select", "run these rules besides"),
        ("--ignore", "do not run these rules"),
    ):
        add(option, metavar="CODES", action="append", help=words)
    add("--exclude", metavar="PATTERNS", action="append", help="leave these files out (patterns as in .gitignore)")
    add("--target-version", metavar="X.Y", help="the TensorFlow release that the code runs on (default: the newest)")
    add("--unsafe-fixes", action="store_true", default=None, help="also mend where a person should look at the result")
    add("--gpu-memory", metavar="SIZE", help="the memory of one GPU, such as 16GiB: shares become numbers of MiB")
    add("--output-format", choices=_FORMATS, help="how to report (default: full)")
    add("--statistics", action="store_true", help="print how often each rule fires instead of the findings")
    add("--exit-zero", action="store_true", help="exit with 0 even where something is found")
    add("--stdin-filename", metavar="PATH", help="what the text on standard input is called")
    add("--no-cache", action="store_true", help="read nothing from a cache, and write nothing to it")
    add("-q", "--quiet", action="store_true", help="print findings only")
    add("-v", "--verbose", action="store_true", help="say what is read")


def _say(message: str) -> None:
    print(f"tfmemlint: {message}", file=sys.stderr)


# check and fix


def _check(arguments: argparse.Namespace) -> int:
    from tfmemlint.config import ConfigError, load

    try:
        config = load()
        job = _job(arguments, config)
    except ConfigError as error:
        _say(str(error))
        return FAILED
    outcomes, failed = _outcomes(arguments, config, job)
    _report(arguments, config, job, outcomes)
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    for outcome in outcomes:
        if outcome.problem:
            failed = True
            _say(f"{outcome.path}: {outcome.problem}")
    if failed or any(finding.code == "TFM900" for finding in findings):
        return FAILED
    return FOUND if findings and not arguments.exit_zero else CLEAN


def _job(arguments: argparse.Namespace, config: Config) -> Job:
    """What the options ask for; the command line comes before the file.

    Raises:
        ConfigError: an option can't be followed.
    """
    from tfmemlint.config import ConfigError, Layer, parse_memory
    from tfmemlint.run import Job

    target, memory = config.target_version, config.gpu_memory_mib
    if arguments.target_version is not None:
        from tfmemlint.knowledge.releases import Target

        try:
            target = Target.parse(arguments.target_version)
        except ValueError as error:
            raise ConfigError("", f"--target-version: {error}") from None
    if arguments.gpu_memory is not None:
        try:
            memory = parse_memory(arguments.gpu_memory)
        except ValueError as error:
            raise ConfigError("", f"--gpu-memory: {error}") from None
    select, extend, ignore = (_codes(one) for one in (arguments.select, arguments.extend_select, arguments.ignore))
    said = select is not None or extend or ignore
    in_file = config.select is not None or config.extend_select or config.ignore or config.extend_ignore
    selection = None
    if said or in_file or config.per_file_ignores:
        from tfmemlint.rule import rules

        layer = Layer("", select, extend or (), ignore or ()) if said else None
        selection = config.selection(rules(), layer)
    formats = arguments.output_format or config.output_format or "full"
    return Job(
        target=target,
        selection=selection,
        fix=arguments.fix,
        write=arguments.fix and not arguments.diff,
        explain_fixes={"json": "always", "github": "never"}.get(formats, "few"),
        unsafe=config.unsafe_fixes if arguments.unsafe_fixes is None else arguments.unsafe_fixes,
        gpu_memory_mib=memory,
    )


def _codes(given: list[str] | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    return tuple(code.strip() for one in given for code in one.split(",") if code.strip())


def _outcomes(arguments: argparse.Namespace, config: Config, job: Job) -> tuple[list[Outcome], bool]:
    """The outcome of each file, and whether some path could not be followed."""
    from tfmemlint.run import from_text, run
    from tfmemlint.sources import walk

    paths = list(dict.fromkeys(arguments.paths)) or ["."]
    outcomes: list[Outcome] = []
    failed = False
    if "-" in paths:
        paths.remove("-")
        data = arguments.stdin = sys.stdin.buffer.read()
        outcomes.append(from_text(data, arguments.stdin_filename or "-", job))
        if not paths:
            return outcomes, failed
    exclude = [pattern for one in arguments.exclude or () for pattern in one.split(",") if pattern]
    found = walk(
        paths,
        exclude=(*(config.exclude or ()), *config.extend_exclude, *exclude),
        respect_gitignore=config.respect_gitignore,
        root=str(config.root),
    )
    for path, problem in found.problems:
        failed = True
        _say(f"{path}: {problem}")
    for path in found.empty:
        _say(f"{path}: no Python files here")
    named = {os.path.normpath(path) for path in paths}
    outcomes.extend(run(((path, os.path.normpath(path) in named) for path in found.files), job))
    outcomes.sort(key=lambda outcome: outcome.path)
    return outcomes, failed


def _report(arguments: argparse.Namespace, config: Config, job: Job, outcomes: list[Outcome]) -> None:
    output_format = arguments.output_format or config.output_format or "full"
    if _is_plain(arguments, outcomes, output_format):
        if not arguments.quiet:
            print("All checks passed!")
        return
    from tfmemlint.reporters import Summary, close, render, statistics

    findings = sorted((one for outcome in outcomes for one in outcome.findings), key=lambda one: one.sort_key)
    applied = [one for outcome in outcomes for one in outcome.applied]
    summary = Summary.of(
        findings,
        applied,
        files=len(outcomes),
        candidates=sum(outcome.candidate for outcome in outcomes),
        unsafe=job.unsafe,
        planned=arguments.diff,
    )
    # Whoever wants the new text, or the changes, gets nothing else on standard output.
    stream = sys.stdout
    if arguments.fix:
        stream = _changes(arguments, outcomes)
    for outcome in outcomes:
        if arguments.verbose and outcome.candidate:
            _say(f"read closely: {outcome.path}")
        for note in outcome.notes if arguments.verbose else ():
            _say(f"{outcome.path}: not followed to the end: {note}")
    if arguments.statistics:
        statistics(findings, stream, output_format, unsafe=job.unsafe)
        if not arguments.quiet and output_format in ("full", "concise"):
            close(summary, stream, verbose=arguments.verbose)
        return
    by_code = {}
    if findings:
        from tfmemlint.rule import rules

        by_code = {rule.code: rule for rule in rules()}
    render(
        findings,
        _sources(outcomes, findings),
        output_format=output_format,
        stream=stream,
        rules=by_code,
        verbose=arguments.verbose,
        quiet=arguments.quiet,
        summary=summary,
    )
    old = sum(one.code in _OF_ANOTHER_RELEASE for one in findings)
    if old >= _MANY and job.target is None and not arguments.quiet and output_format in ("full", "concise"):
        _say(
            f"{old} findings are about names of other releases; for code that runs on TensorFlow 1 say so:"
            " --target-version 1.15"
        )


def _sources(outcomes: list[Outcome], findings: list[Finding]) -> dict[str, Source]:
    """The texts to quote from: those of the files that were checked, and of those that lead to what was found there."""
    known = {outcome.path: outcome.source for outcome in outcomes if outcome.source is not None}
    others = {step.path for finding in findings for step in finding.trace} - known.keys()
    if others:
        from tfmemlint import programs

        known |= programs.sources(others)
    return known


def _is_plain(arguments: argparse.Namespace, outcomes: list[Outcome], output_format: str) -> bool:
    """Whether there is nothing to report and nobody to please with colours: then the reporters need not be loaded."""
    if arguments.fix or arguments.statistics or arguments.verbose or output_format not in ("full", "concise"):
        return False
    coloured = sys.stdout.isatty() or "FORCE_COLOR" in os.environ
    return not coloured and not any(outcome.findings for outcome in outcomes)


def _changes(arguments: argparse.Namespace, outcomes: list[Outcome]) -> object:
    """Print what was changed, or the new text of standard input; gives the stream for the report."""
    if arguments.diff:
        from tfmemlint.reporters.diff import print_diff, unified_diff

        for outcome in outcomes:
            if outcome.old is not None and outcome.source is not None:
                print_diff(unified_diff(outcome.path, outcome.old.text, outcome.source.text), sys.stdout)
        return sys.stderr
    if "-" in arguments.paths:
        name = arguments.stdin_filename or "-"
        mended = next((one.source for one in outcomes if one.path == name and one.old is not None), None)
        sys.stdout.flush()
        # What could not be read, or needed no change, goes out as it came in: an editor puts it in the file's place.
        sys.stdout.buffer.write(arguments.stdin if mended is None else mended.encode(mended.text))
        return sys.stderr
    return sys.stdout


# rule


def _rule(arguments: argparse.Namespace) -> int:
    from tfmemlint.reporters import page
    from tfmemlint.rule import rules

    if arguments.all:
        page.show_all(rules(), sys.stdout, output_format=arguments.output_format)
        return CLEAN
    if arguments.code is None:
        _say("which rule? give its code, or --all")
        return FAILED
    wanted = arguments.code.strip()
    found = next((rule for rule in rules() if wanted.upper() == rule.code or wanted == rule.name), None)
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(wanted.upper(), [rule.code for rule in rules()], n=1, cutoff=0.5)
        _say(f"there is no rule {wanted!r}" + (f"; did you mean {near[0]}?" if near else ""))
        return FAILED
    page.show(found, sys.stdout, output_format=arguments.output_format)
    return CLEAN
