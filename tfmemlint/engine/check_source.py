"""Check one Python text by itself: interpret it, run the rules, apply its comments."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run_rules import run_rules
from tfmemlint.engine.suppress import dedupe_and_suppress, judges_comments, unselected
from tfmemlint.engine.trouble import internal_error, python_syntax_error, too_deep, trouble
from tfmemlint.engine.unclaimed import reached_by_release, said_once
from tfmemlint.model.codes import SYNTAX_ERROR
from tfmemlint.model.finding import Finding, Span
from tfmemlint.rulekit.triggers import may_matter
from tfmemlint.sources.suppressions import read_suppressions

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch
    from tfmemlint.interpreter.program import Program
    from tfmemlint.interpreter.unit import ParsedModule
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.rule import Rule
    from tfmemlint.sources import Source


def check_source(
    source: Source, rules: Sequence[Rule], target: Target, gpu_memory_mib: float | None = None
) -> list[Finding]:
    """Return the findings of ``rules`` in one text without a project, in the order of its lines; never raises.

    The prefilter is not asked: a rule runs even if none of its triggers matches, and no launch of the text is known.
    Commands take files through `tfmemlint.engine.front_end` instead, which asks it. A text that can't be parsed, or in
    which a rule fails, has one finding that says so.

    Args:
        source: the text.
        rules: the rules to run, advice included.
        target: the release to judge for.
        gpu_memory_mib: the memory of one GPU in MiB; None if that is not known.
    """
    context = RunContext(target=target, only_rules=tuple(rules), gpu_memory_mib=gpu_memory_mib, kinds=frozenset())
    return dedupe_and_suppress(source, find_in_source(source, context), rules)


def find_in_source(
    source: Source,
    context: RunContext,
    parsed: ParsedModule | None = None,
    gave_up: list[str] | None = None,
    config_files: set[str] | None = None,
) -> list[Finding]:
    """Return what the rules find in one text on its own, before its comments silence any; never raises.

    Args:
        source: the text.
        context: its rules, release and launches are used.
        parsed: the same text, if it was parsed before.
        gave_up: gets the reasons, in words, why the program was not followed to its end.
        config_files: gets the absolute paths of the configuration files that it has asked for.
    """
    from tfmemlint.interpreter import analyze

    if read_suppressions(source.text).skip_file:
        return []
    rules = context.rules_for(source.path)
    others = unselected(rules) if judges_comments(source.text, rules) else []
    target = context.target_of(source.path)
    try:
        program = analyze(parsed or source, target)
        program.gpu_memory_mib = context.gpu_memory_mib
    except (SyntaxError, ValueError) as error:
        found = python_syntax_error(source, error, rules)
    except (RecursionError, MemoryError):
        found = too_deep(source, rules)
    except Exception as error:  # a file that the interpreter fails on must not take the run with it
        found = internal_error(source.path, "The interpreter", error, rules)
    else:
        if gave_up is not None:
            gave_up += program.gave_up
        if config_files is not None:
            config_files |= program.config_files
        found = reached_by_release(program, list(run_rules(program, rules)), rules)
        found = said_once([*found, *_in_shells(source, rules, target)], rules, program)
        found += reached_by_release(program, list(_as_started(source, program, found, context)), rules)
        # What these find is not reported: it says which comments are needed.
        found += run_rules(program, others)
    return [*found, *_bad_cells(source, rules)]


def _as_started(source: Source, program: Program, found: Sequence[Finding], context: RunContext) -> Iterator[Finding]:
    """Yield what is found besides where configuration files start a program, or nothing is given to it."""
    from tfmemlint.engine.check_launches import as_started, findings_at_launches, findings_by_default
    from tfmemlint.interpreter import analyze
    from tfmemlint.interpreter.unit import EntrySetup

    target = context.target_of(source.path)

    def analyze_with(launch: Launch | None) -> Program:
        result = analyze(source, target, as_started(EntrySetup(), launch))
        result.gpu_memory_mib = context.gpu_memory_mib
        return result

    rules, launches = context.rules_for(source.path), context.launches_of(source.path)
    at_launches = list(findings_at_launches(source.path, found, launches, rules, analyze_with))
    yield from at_launches
    yield from findings_by_default(program, [*found, *at_launches], rules, lambda: analyze_with(None))


def _in_shells(source: Source, rules: Sequence[Rule], target: Target) -> Iterator[Finding]:
    """Yield what is found in the shell commands of a notebook."""
    from tfmemlint.sources.notebook import Notebook

    if isinstance(source, Notebook) and may_matter(source.text.encode("utf-8", "replace")):
        from tfmemlint.deployment.notebook_shells import programs

        for program in programs(source, target, lambda text: may_matter(text.encode("utf-8", "replace"))):
            for finding in run_rules(program, rules):
                # Rewrites are for Python, not for commands; but one sets in the notebook what a command sets.
                in_kernel = finding.details.get("why") == "kernel"
                yield finding if in_kernel else dataclasses.replace(finding, fixable=False)


def _bad_cells(source: Source, rules: Sequence[Rule]) -> Iterator[Finding]:
    """Yield the cells that are not valid Python, of a notebook whose other cells can be read."""
    for row, words in source.problems:
        span = Span(row, 1, row, 2)
        yield from trouble(rules, SYNTAX_ERROR, source.path, span, f"This cell is not valid Python: {words}")
