"""The commands ``check`` and ``fix``."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import sys
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.codes import INTERNAL_ERROR
from tfmemlint.reporters.formats import DEFAULT, format_named
from tfmemlint.reporters.say import say

if TYPE_CHECKING:
    from tfmemlint.config.files import Config
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.results import FileResult
    from tfmemlint.sources.walking import Walk

CLEAN, FOUND, FAILED, CRASHED = 0, 1, 2, 3


def run(arguments: argparse.Namespace) -> int:
    from tfmemlint.config.files import ConfigError, load

    try:
        config = load()
        context = _context(arguments, config)
    except ConfigError as error:
        say(str(error))
        return FAILED
    if arguments.show_target:
        return _show_target(arguments, config, context)
    try:
        with _gates(arguments, context) as context:
            results, failed = _results(arguments, config, context)
    except _Stopped as reason:
        say(str(reason))
        return FAILED
    from tfmemlint.cli.output import report

    report(arguments, config, context, results)
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
    return FOUND if findings and not arguments.exit_zero else CLEAN


def _context(arguments: argparse.Namespace, config: Config) -> RunContext:
    """Return what the options ask for; the command line comes before the file.

    Raises:
        ConfigError: an option can't be followed.
    """
    from tfmemlint.config.files import ConfigError, Layer
    from tfmemlint.engine.context import RunContext
    from tfmemlint.sources.kinds import checked

    for option, given in (
        ("--kinds", arguments.kinds),
        ("--extend-kinds", arguments.extend_kinds),
        ("--ignore-kinds", arguments.ignore_kinds),
    ):
        try:
            checked(_codes(given) or ())
        except ValueError as error:
            raise ConfigError("", f"{option}: {error}") from None

    target, memory = config.target_and_memory(arguments.target_version, arguments.gpu_memory)
    select, extend, ignore = (_codes(given) for given in (arguments.select, arguments.extend_select, arguments.ignore))
    if arguments.migrate:
        from tfmemlint.knowledge.releases import Target
        from tfmemlint.rulekit.rule import codes_where

        target = target or Target.newest()
        extend = (*(extend or ()), *sorted(codes_where(lambda rule: rule.of_another_release)))
    said = select is not None or extend or ignore
    in_file = config.select is not None or config.extend_select or config.ignore or config.extend_ignore
    selection = None
    if said or in_file or config.per_file_ignores:
        from tfmemlint.rulekit.rule import rules

        layer = Layer("", select, extend or (), ignore or ()) if said else None
        selection = config.selection(rules(), layer)
    output_format = format_named(arguments.output_format or config.output_format or DEFAULT)
    return RunContext(
        target=target,
        selection=selection,
        fix=arguments.fix,
        write=arguments.fix and not arguments.diff,
        explain_fixes=output_format.explain_fixes,
        unsafe=config.unsafe_fixes if arguments.unsafe_fixes is None else arguments.unsafe_fixes,
        gpu_memory_mib=memory,
        read_gpu_memory=config.read_gpu_memory or arguments.read_gpu_memory,
        cache=not arguments.no_cache,
        fix_only=_rule_codes("--fix-only", _codes(arguments.fix_only)),
        allow_dirty=arguments.allow_dirty,
        whole_program=arguments.whole_program,
        kinds=_kinds(arguments, config),
    )


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


def _rule_codes(option: str, codes: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the codes of rules, or their beginnings; () if the option isn't given.

    Raises:
        ConfigError: no rule has a code that starts so.
    """
    if codes is None:
        return ()
    from tfmemlint.config.files import ConfigError
    from tfmemlint.rulekit.rule import codes as known

    for code in codes:
        if not any(each.startswith(code) for each in known()):
            raise ConfigError("", f"{option}: {code!r} stands for no rule")
    return codes


def _codes(given: list[str] | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    return tuple(code.strip() for codes in given for code in codes.split(",") if code.strip())


def _results(arguments: argparse.Namespace, config: Config, context: RunContext) -> tuple[list[FileResult], bool]:
    """Return the result of each file, and whether some path could not be followed."""
    from tfmemlint.engine.run import from_text, run

    paths = list(dict.fromkeys(arguments.paths)) or ["."]
    results: list[FileResult] = []
    failed = False
    if "-" in paths:
        paths.remove("-")
        data = arguments.stdin = sys.stdin.buffer.read()
        results.append(from_text(data, arguments.stdin_filename or "-", context))
        if not paths:
            return results, failed
    found, files = _walk(paths, arguments, config)
    failed = bool(found.problems)
    if context.write:
        from tfmemlint.fixes.write_together import finish_interrupted

        finish_interrupted(found.litter)
        context = dataclasses.replace(context, named=tuple(paths))
    results.extend(run(files, context))
    results.sort(key=lambda result: result.path)
    return results, failed


def _walk(paths: list[str], arguments: argparse.Namespace, config: Config) -> tuple[Walk, list[tuple[str, bool]]]:
    """Return the files below the paths, each with whether the user named it; say which paths can't be followed."""
    from tfmemlint.engine.front_end import find_files
    from tfmemlint.sources.kinds import ALL

    # A file that is named is read, whatever its kind, unless the options speak of that.
    found, files = find_files(
        paths,
        config,
        kinds=_kinds(arguments, config),
        exclude=[pattern for given in arguments.exclude or () for pattern in given.split(",") if pattern],
        unwanted=frozenset(ALL) - _kinds(arguments, config, ALL),
    )
    for path, problem in found.problems:
        say(f"{path}: {problem}")
    for path in found.empty:
        say(f"{path}: no files to check here")
    if found.marked and (arguments.verbose or found.empty):
        say(f"left out as generated or vendored: {found.marked} (respect-gitattributes = false reads them)")
    return found, files


def _kinds(arguments: argparse.Namespace, config: Config, usual: Collection[str] | None = None) -> frozenset[str]:
    """Return the kinds of files to look for; the command line comes before the file.

    ``usual`` are the kinds where neither says anything; None for the default ones.
    """
    chosen = _codes(arguments.kinds)
    more, less = _codes(arguments.extend_kinds) or (), _codes(arguments.ignore_kinds) or ()
    return frozenset((*(config.file_kinds(usual) if chosen is None else chosen), *more)) - frozenset(less)


def _show_target(arguments: argparse.Namespace, config: Config, context: RunContext) -> int:
    from tfmemlint.project.targets.find import reset_cache
    from tfmemlint.project.targets.show import as_data, as_lines, judged

    paths = list(dict.fromkeys(arguments.paths)) or ["."]
    own = [arguments.stdin_filename or "-"] if "-" in paths else []
    paths = [path for path in paths if path != "-"]
    found = _walk(paths, arguments, config)[0] if paths else None
    finder = reset_cache()
    where = "--target-version" if arguments.target_version is not None else f"{config.path}: target-version"
    files = [*own, *(found.files if found is not None else ())]
    groups = judged(files, finder, context.target, where)
    if format_named(arguments.output_format or config.output_format or DEFAULT).is_json:
        import json

        print(json.dumps(as_data(groups, finder.notes), indent=2))
    else:
        from tfmemlint.reporters.paint import printable, write

        for line in as_lines(groups, finder.notes):
            write(sys.stdout, f"{printable(line)}\n")
    return FAILED if found is not None and found.problems else CLEAN
