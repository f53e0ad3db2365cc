"""From one text to its findings: screen, flow, rules, suppressions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tfmemlint.model.codes import INTERNAL_ERROR, RUN_CODES, SYNTAX_ERROR, UNKNOWN_CODE, UNREADABLE, UNUSED
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.rulekit.triggers import may_matter
from tfmemlint.sources.suppressions import Suppressions, read_suppressions

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch
    from tfmemlint.interpreter.program import EnvWrite, Program
    from tfmemlint.interpreter.unit import ParsedModule
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.rule import Rule
    from tfmemlint.sources import Source, Unreadable

_GRAVITY = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.ADVICE: 2}


def check_source(
    source: Source,
    rules: Sequence[Rule],
    target: Target,
    gpu_memory_mib: float | None = None,
    starts: Sequence[Launch] = (),
) -> list[Finding]:
    """Everything that ``rules`` have to say about one text on its own, in the order of its lines; never raises.

    ``gpu_memory_mib`` is the memory of one GPU in MiB, where the user has told it; ``starts`` are the environments in
    which configuration files start it.

    A text that can't be parsed, or that a rule fails on, is itself one finding.
    """
    return dedupe_and_suppress(source, judge_source(source, rules, target, gpu_memory_mib, starts), rules)


def dedupe_and_suppress(source: Source, found: Sequence[Finding], rules: Sequence[Rule]) -> list[Finding]:
    """Of all that was found in one text, what is to be said: once, in order, and not what its comments silence."""
    suppressions = read_suppressions(source.text, python=source.language == "python")
    if suppressions.skip_file:
        return []
    by_code = {rule.code: rule for rule in rules}
    kept = dedupe(found, by_code)
    return sorted(_suppressed(kept, suppressions, by_code, source), key=lambda finding: finding.sort_key)


def judge_source(
    source: Source,
    rules: Sequence[Rule],
    target: Target,
    gpu_memory_mib: float | None = None,
    starts: Sequence[Launch] = (),
    parsed: ParsedModule | None = None,
) -> list[Finding]:
    """What ``rules`` find in one text on its own, whatever its comments silence; ``parsed`` is that text, where it was
    parsed before."""
    from tfmemlint.interpreter import analyze

    if read_suppressions(source.text).skip_file:
        return []
    by_code = {rule.code: rule for rule in rules}
    try:
        program = analyze(parsed or source, target)
        program.gpu_memory_mib = gpu_memory_mib
    except (SyntaxError, ValueError) as error:
        found = [_syntax_error(source, by_code, error)]
    except (RecursionError, MemoryError):
        found = [_trouble(by_code, SYNTAX_ERROR, source.path, Span(1, 1, 1, 1), "nested too deeply to be read")]
    except Exception as error:  # a file that the interpreter fails on must not take the run with it
        found = [internal_error(source, by_code, "The interpreter", error)]
    else:
        own = [*judge_program(program, rules), *_in_shells(source, rules, target)]
        found = [*own, *(_where_started(source, rules, target, starts, own) if starts else ())]
    return [finding for finding in (*found, *_unread(source, by_code)) if finding is not None]


def _where_started(
    source: Source, rules: Sequence[Rule], target: Target, starts: Sequence[Launch], found: Sequence[Finding]
) -> Iterator[Finding]:
    from tfmemlint.engine.check_launches import started
    from tfmemlint.interpreter import analyze
    from tfmemlint.interpreter.unit import EntrySetup

    def judged(writes: tuple[EnvWrite, ...], concerned: Sequence[Rule]) -> Iterator[Finding]:
        return judge_program(analyze(source, target, EntrySetup(None, environment=writes)), concerned)

    return started(source.path, found, starts, rules, judged)


def _in_shells(source: Source, rules: Sequence[Rule], target: Target) -> Iterator[Finding]:
    """What the commands in a notebook set."""
    from tfmemlint.sources.notebook import Notebook

    if isinstance(source, Notebook) and may_matter(source.text.encode("utf-8", "replace")):
        from tfmemlint.deployment.notebook_shells import programs

        for program in programs(source, target):
            for finding in judge_program(program, rules):
                # What mends Python mends no command.
                yield dataclasses.replace(finding, fixable=False)


def _unread(source: Source, by_code: dict[str, Rule]) -> Iterator[Finding | None]:
    """What is no Python in a file that can be read otherwise."""
    for row, words in source.problems:
        span = Span(row, 1, row, 2)
        yield _trouble(by_code, SYNTAX_ERROR, source.path, span, f"This cell is not valid Python: {words}")


def judge_program(program: Program, rules: Sequence[Rule]) -> Iterator[Finding]:
    """What ``rules`` find in a program. In modules other than the one that is run, only those speak that are about what
    a program does as a whole: for all else, each module is judged on its own."""
    by_code = {rule.code: rule for rule in rules}
    for rule in rules:
        try:
            for finding in rule.check(program):
                if rule.whole_program or finding.path == program.source.path:
                    yield finding
        except Exception as error:  # a rule that fails must not take the run with it
            yield from _optional(internal_error(program.source, by_code, rule.code, error))


def unreadable(path: str, error: Unreadable, rules: Iterable[Rule]) -> list[Finding]:
    """The finding for a file that can't be read."""
    by_code = {rule.code: rule for rule in rules}
    span = Span(max(error.row, 1), 1, max(error.row, 1), 1)
    return _optional(_trouble(by_code, UNREADABLE, path, span, str(error)))


def syntax_finding(path: str, row: int, message: str, rules: Iterable[Rule]) -> Finding:
    """The finding for a file that is not valid in its own language."""
    found = _trouble({rule.code: rule for rule in rules}, SYNTAX_ERROR, path, Span(row, 1, row, 1), message)
    assert found is not None
    return found


def dedupe(found: Sequence[Finding], by_code: dict[str, Rule]) -> list[Finding]:
    """One finding a place: of equal ones the gravest with the shortest trace, of related ones the most specific."""
    best: dict[tuple[str, str, Span], Finding] = {}
    for finding in found:
        key = (finding.code, finding.path, finding.span)
        known = best.get(key)
        if known is None or _weight(finding) < _weight(known):
            best[key] = finding
    kept = list(best.values())
    silenced: set[int] = set()
    for speaker in kept:
        rule = by_code.get(speaker.code)
        over = rule.supersedes if rule is not None else ()
        for other in kept:
            if other.code in over and (speaker.span.contains(other.span) or other.span.contains(speaker.span)):
                silenced.add(id(other))
    return [finding for finding in kept if id(finding) not in silenced]


def _weight(finding: Finding) -> tuple[int, int, str]:
    return _GRAVITY[finding.severity], len(finding.trace), finding.message


def _suppressed(
    found: Sequence[Finding], suppressions: Suppressions, by_code: dict[str, Rule], source: Source
) -> list[Finding]:
    """What the comments leave, and what is wrong with the comments themselves."""
    if not suppressions.comments:
        return list(found)
    kept: list[Finding] = []
    worked: set[str] = set()
    for finding in found:
        comment = suppressions.for_finding(finding)
        if comment is None or finding.code in RUN_CODES:
            kept.append(finding)
        else:
            worked.update(f"{comment.row}:{span}" for code, span in comment.codes if finding.code.startswith(code))
    from tfmemlint.rulekit.rule import codes as all_codes

    known = all_codes()
    for comment in suppressions.comments:
        for code, span in comment.codes:
            if not code.startswith("TFM"):
                continue
            if not any(one.startswith(code) for one in known):
                message = f"{code} in this comment is no rule: it silences nothing"
                kept.extend(_optional(_trouble(by_code, UNKNOWN_CODE, source.path, span, message)))
            elif f"{comment.row}:{span}" not in worked and any(one.startswith(code) for one in by_code):
                message = f"{code} is silenced here, and nothing of the kind is found here"
                kept.extend(_optional(_trouble(by_code, UNUSED, source.path, span, message)))
    return kept


def _optional(finding: Finding | None) -> list[Finding]:
    return [] if finding is None else [finding]


def _syntax_error(source: Source, by_code: dict[str, Rule], error: SyntaxError | ValueError) -> Finding | None:
    row = getattr(error, "lineno", None) or 1
    column = max(getattr(error, "offset", None) or 1, 1)
    words = getattr(error, "msg", None) or str(error)
    notes = []
    line = source.lines[row - 1] if row <= len(source.lines) else ""
    if "Missing parentheses in call to" in words or "multiple exception types" in words:
        notes.append("This looks like Python 2: tfmemlint reads Python 3.")
    elif "***" in line:
        notes.append("The line looks damaged by masking (***).")
    elif line.count(" = ") + line.count("import ") > 1:
        notes.append("Several statements seem to have run together on this line.")
    return _trouble(
        by_code, SYNTAX_ERROR, source.path, Span(row, column, row, column + 1), f"Not valid Python: {words}", notes
    )


def internal_error(source: Source, by_code: dict[str, Rule], who: str, error: Exception) -> Finding | None:
    """The finding for a part of the tool that failed on a file."""
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}"
    message = f"{who} failed on this file: {type(error).__name__}: {error} ({where})"
    return _trouble(by_code, INTERNAL_ERROR, source.path, Span(1, 1, 1, 1), message)


def _trouble(
    by_code: dict[str, Rule], code: str, path: str, span: Span, message: str, notes: Sequence[str] = ()
) -> Finding | None:
    """A finding about the run itself; None where its rule isn't selected. What kept the tool from its work is always
    said."""
    from tfmemlint.rulekit.rule import rules

    rule = by_code.get(code)
    if rule is None:
        if code not in RUN_CODES:
            return None
        rule = next(one for one in rules() if one.code == code)
    return Finding(code, rule.name, rule.severity, path, span, message, notes=tuple(notes), noqa_row=span.row)
