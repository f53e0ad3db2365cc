"""The commands ``check`` and ``fix``."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.codes import INTERNAL_ERROR
from tfmemlint.reporters.formats import Format, format_named, usual
from tfmemlint.reporters.say import say

if TYPE_CHECKING:
    from tfmemlint.config.files import Table
    from tfmemlint.config.nearest import Nearest
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.options_by_file import OptionsByFile
    from tfmemlint.engine.results import FileResult
    from tfmemlint.sources.walking import Walk

CLEAN, FOUND, FAILED, CRASHED = 0, 1, 2, 3
MAX_LINKS_SHOWN = 5
"""Configuration files, not read as links lead to them, that are named; -v names all."""


def run(arguments: argparse.Namespace) -> int:
    """Check or fix, with ``--watch`` again and again; return the exit code."""
    if not arguments.watch:
        return _run(arguments)
    from tfmemlint.cli.watch import watch

    return watch(arguments.paths or ["."], lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> int:
    from tfmemlint.config.command_line import nearest_of
    from tfmemlint.config.files import ConfigError
    from tfmemlint.engine.options_by_file import OptionsByFile

    try:
        options = OptionsByFile(nearest_of(arguments, _of_migrate(arguments)), migrate=arguments.migrate)
        output_format = format_named(options.nearest.top.output_format or usual(os.environ))
        context = _context(arguments, options, output_format)
        _refuse_what_needs_all(arguments)
        if arguments.show_target:
            return _show_target(arguments, context, options.nearest, output_format)
        with _gates(arguments, context) as context:
            results, failed = _results(arguments, options, context)
        if arguments.since is not None:
            _leave_out_known(arguments, results)
        if options.nearest.top.baseline is not None or arguments.update_baseline:
            from tfmemlint.cli.old_findings import leave_out_old
            from tfmemlint.reporters.baseline import BaselineError

            try:
                leave_out_old(arguments, options.nearest.top, results)
            except BaselineError as error:
                raise _Stopped(f"--baseline: {error}") from None
        if arguments.add_ignore is not None:
            from tfmemlint.engine.add_ignores import add_ignores

            added, left = add_ignores(results, arguments.add_ignore, context)
            say(f"comments silence {added} findings now" + (f"; {left} are left" if left else ""))
    except (ConfigError, _Stopped) as error:
        say(str(error))
        return FAILED
    from tfmemlint.cli.output import report
    from tfmemlint.reporters.destination import OutputError, destination

    try:
        with destination(arguments.output_file) as stream:
            report(arguments, output_format, context, results, stream, failed=failed)
    except OutputError as error:
        failed = True
        say(str(error))
    findings = [finding for result in results for finding in result.findings]
    for result in results:
        if result.remark:
            say(f"{result.path}: {result.remark}")
        if result.problem:
            failed = True
            say(f"{result.path}: {result.problem}")
    if any(finding.code == INTERNAL_ERROR for finding in findings):
        return CRASHED
    if failed:
        return FAILED
    if (arguments.diff or arguments.exit_non_zero_on_fix) and any(result.applied for result in results):
        return FOUND
    return FOUND if findings and not arguments.exit_zero else CLEAN


def _of_migrate(arguments: argparse.Namespace) -> list[Table]:
    """Return the options that ``--migrate`` stands for."""
    if not arguments.migrate:
        return []
    from tfmemlint.config.files import Table
    from tfmemlint.rulekit.rule import codes_where

    codes = codes_where(lambda rule: rule.of_another_release)
    return [Table("--migrate", "", {"extend-select": tuple(sorted(codes))})]


def _context(arguments: argparse.Namespace, options: OptionsByFile, output_format: Format) -> RunContext:
    """Return what the options ask for.

    Raises:
        ConfigError: an option can't be followed.
    """
    from tfmemlint.engine.context import RunContext

    return RunContext(
        **options.options_of(options.nearest.top),
        by_file=options,
        fix=arguments.fix,
        write=arguments.fix and not arguments.diff,
        explain_fixes=output_format.explain_fixes,
        keep_suppressed=output_format.shows_suppressed and not arguments.fix,
        cache=not arguments.no_cache,
        jobs=arguments.jobs,
        fix_only=_rule_codes("fix-only", arguments.fix_only),
        allow_dirty=arguments.allow_dirty,
        named=tuple(path for path in arguments.paths or ["."] if path != "-"),
        whole_program=arguments.whole_program,
        shard=arguments.shard,
    )


def _leave_out_known(arguments: argparse.Namespace, results: list[FileResult]) -> None:
    """Leave the findings that a branch brings.

    Raises:
        ConfigError: a configuration file can't be followed.
        _Stopped: the past can't be read.
    """
    from tfmemlint.cli.since import HistoryError, leave_out_known
    from tfmemlint.config.command_line import nearest_of
    from tfmemlint.engine.options_by_file import OptionsByFile

    def judge(arguments: argparse.Namespace) -> list[FileResult]:
        options = OptionsByFile(nearest_of(arguments, _of_migrate(arguments)), migrate=arguments.migrate)
        context = _context(arguments, options, format_named("concise"))
        return _results(arguments, options, dataclasses.replace(context, explain_fixes="never", shard=None))[0]

    try:
        leave_out_known(arguments, results, judge)
    except HistoryError as error:
        raise _Stopped(f"--since: {error}") from None


def _refuse_what_needs_all(arguments: argparse.Namespace) -> None:
    """Refuse options that need all files and findings, where a part of them is asked for.

    Raises:
        _Stopped: there is one.
    """
    asked = [("--shard", arguments.shard), ("--since", arguments.since)]
    part = next((option for option, value in asked if value is not None), None)
    if part is None:
        return
    others = [("--fix", arguments.fix), ("- (standard input)", "-" in arguments.paths)]
    if part == "--since":
        others.append(("--update-baseline", arguments.update_baseline))
    for option, given in others:
        if given:
            raise _Stopped(f"{part} asks for a part of the findings: it can't be used with {option}")


class _Stopped(Exception):
    """The run can't start, and nothing was changed."""


@contextlib.contextmanager
def _gates(arguments: argparse.Namespace, context: RunContext) -> Iterator[RunContext]:
    """Enter the context with those who have to agree to a change before it is made: a person, TensorFlow."""
    if arguments.ask:
        from tfmemlint.cli.prompt import terminal

        ask = terminal()
        if ask is None:
            raise _Stopped("--ask needs a terminal to ask on; --diff shows the changes")
        context = dataclasses.replace(context, ask=ask)
    if not arguments.verify:
        yield context
        return
    from tfmemlint.verify.fixing import prover
    from tfmemlint.verify.result import GroundError

    with contextlib.ExitStack() as stack:
        try:
            prove = stack.enter_context(prover(arguments.device, arguments.python))
        except GroundError as error:
            raise _Stopped(f"--verify: {error}; nothing was changed") from None
        yield dataclasses.replace(context, prove=prove)


def _rule_codes(option: str, given: list[str] | None) -> tuple[str, ...]:
    """Return the codes of the rules that selectors stand for; () if the option isn't given.

    Raises:
        ConfigError: a selector stands for no rule.
    """
    if given is None:
        return ()
    from tfmemlint.config.options import split
    from tfmemlint.config.selection import codes_of
    from tfmemlint.rulekit.rule import rules

    selectors = split(",".join(given))
    return tuple(sorted({code for selector in selectors for code in codes_of(selector, rules(), "", option)}))


def _results(
    arguments: argparse.Namespace, options: OptionsByFile, context: RunContext
) -> tuple[list[FileResult], bool]:
    """Return the result of each file, and whether some path could not be followed.

    Raises:
        ConfigError: a configuration file can't be followed.
    """
    from tfmemlint.engine.run import from_text

    paths = list(dict.fromkeys(arguments.paths)) or ["."]
    results: list[FileResult] = []
    failed = False
    if "-" in paths:
        paths.remove("-")
        data = arguments.stdin = sys.stdin.buffer.read()
        results.append(from_text(data, arguments.stdin_filename or "-", context))
        if not paths:
            return results, failed
    found, files = _walk(paths, arguments, options.nearest)
    options.validate(found.files)
    failed = bool(found.problems)
    if context.write:
        from tfmemlint.fixes.write_together import finish_interrupted

        finish_interrupted(found.litter)
    results.extend(_checked(arguments, paths, files, context, options))
    results.sort(key=lambda result: result.path)
    return results, failed


def _checked(
    arguments: argparse.Namespace,
    paths: list[str],
    files: list[tuple[str, bool]],
    context: RunContext,
    options: OptionsByFile,
) -> list[FileResult]:
    """Return the result of each file: where only findings are asked for, those of the last run if nothing changed."""
    # What is printed with -v, and what is changed, needs more than findings.
    if arguments.verbose or arguments.since is not None or arguments.add_ignore is not None or context.fix:
        from tfmemlint.engine.run import run

        return run(files, context)
    from tfmemlint.engine.repeated_runs import recall_or_run

    return recall_or_run(files, context, paths, options.nearest.tables)


def _walk(paths: list[str], arguments: argparse.Namespace, nearest: Nearest) -> tuple[Walk, list[tuple[str, bool]]]:
    """Return the files below the paths, each with whether the user named it; say which paths can't be followed."""
    from tfmemlint.engine.front_end import find_files

    # A file that is named is read, whatever its kind, unless the options speak of that.
    found, files = find_files(paths, nearest, leave_out_named=True, as_in_directories=arguments.force_exclude)
    for path, problem in found.problems:
        say(f"{path}: {problem}")
    for path in found.empty:
        say(f"{path}: no files to check here")
    foreign = sorted(found.foreign)
    for path in foreign if arguments.verbose else foreign[:MAX_LINKS_SHOWN]:
        say(f"{path}: not read, as a link there leads out of the project: name the file to have it read")
    if len(foreign) > MAX_LINKS_SHOWN and not arguments.verbose:
        say(f"{len(foreign) - MAX_LINKS_SHOWN} more such files; -v names them")
    if found.marked and (arguments.verbose or found.empty):
        say(f"left out as generated or vendored: {found.marked} (respect-gitattributes = false reads them)")
    return found, files


def _show_target(arguments: argparse.Namespace, context: RunContext, nearest: Nearest, output_format: Format) -> int:
    from tfmemlint.project.targets.find import reset_cache
    from tfmemlint.project.targets.show import as_data, as_lines, judged

    paths = list(dict.fromkeys(arguments.paths)) or ["."]
    own = [arguments.stdin_filename or "-"] if "-" in paths else []
    paths = [path for path in paths if path != "-"]
    found = _walk(paths, arguments, nearest)[0] if paths else None
    finder = reset_cache()
    by_config: dict[str, list[str]] = {}
    for path in [*own, *(found.files if found is not None else ())]:
        by_config.setdefault(nearest.of_file(path).path or "", []).append(path)
    groups = []
    for files in by_config.values():
        config = nearest.of_file(files[0])
        origin = config.origin("target-version")
        where = f"{origin}: target-version" if origin.endswith(".toml") else origin or "--target-version"
        groups += judged(files, finder, context.at(files[0]).target, where)
    if output_format.is_json:
        from tfmemlint.reporters.json_text import json_text

        print(json_text(as_data(groups, finder.notes)))
    else:
        from tfmemlint.reporters.paint import printable, write

        for line in as_lines(groups, finder.notes):
            write(sys.stdout, f"{printable(line)}\n")
    return FAILED if found is not None and found.problems else CLEAN
