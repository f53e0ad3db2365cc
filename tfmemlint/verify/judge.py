"""Judge an intent by a run: does TensorFlow do what the program intends?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.intents import StatedIntent
from tfmemlint.interpreter.program import EnvWrite, ItemLookup
from tfmemlint.model.finding import Span
from tfmemlint.model.intent import Purpose
from tfmemlint.verify import configuration_checks
from tfmemlint.verify.memory_checks import confirm
from tfmemlint.verify.observation import ConfigCall, Observation, gpu_number
from tfmemlint.verify.result import Result
from tfmemlint.verify.verdict import GroundFacts, Verdict, VerdictKind

_FUNCTIONS = {
    Purpose.GROWTH: "set_memory_growth",
    Purpose.LIMIT: "set_logical_device_configuration",
    Purpose.FRACTION: "set_logical_device_configuration",
    Purpose.VISIBLE: "set_visible_devices",
    Purpose.REPORT: "get_memory_info",
}
_NODE = re.compile(r"\{\{function_node [^}]*\}\}\s*|\s*\[Op:\w+\](?: name:.*)?")
"""TensorFlow's note about the operation that raised an error."""
_ELSEWHERE = (
    "ModuleNotFoundError",
    "ImportError",
    "FileNotFoundError",
    "PermissionError",
    "ConnectionError",
    "ConnectionRefusedError",
    "URLError",
    "gaierror",
    "TimeoutError",
    "EOFError",
)
"""Errors because something is missing on this machine, not because of the use of TensorFlow."""
_OWN_NAMES = re.compile(r"'(?:tensorflow|keras)[.']")
"""Packages that exist here: a name that can't be imported from them does not exist."""
_TENSORFLOW = re.compile(r"tensorflow|(?:Logical|Virtual)DeviceConfiguration|PhysicalDevice")
"""Words in errors that TensorFlow's own code raises."""


def judge(stated: StatedIntent, seen: Observation, facts: GroundFacts, places: Sequence[Span]) -> Verdict:
    """Return the verdict on an intent of the program that was run; ``places`` are those of all of its intents."""
    asked = asked_for(stated, seen)
    verdict = _at_its_place(stated, seen, asked, places)
    if verdict is None:
        verdict = _by_outcome(stated, seen, facts, asked)
        name_lacks = stated.by == "made-up" and not isinstance(stated.event, (EnvWrite, ItemLookup))
        if name_lacks and verdict.kind is VerdictKind.NOTHING:
            reason = f"TensorFlow has no {stated.name}; the program catches the error and goes on"
            verdict = replace(verdict, kind=VerdictKind.RAISES, reason=reason)
        if verdict.kind is VerdictKind.HOLDS and _is_read_by_nobody(stated):
            reason = f"{_why_nothing(stated, asked)}; the intent holds without it"
            verdict = replace(verdict, kind=VerdictKind.NOTHING, reason=reason)
        if stated.by == "handed-on" and verdict.kind is VerdictKind.NOTHING:
            reason = "the options are passed to something that this run may have left out"
            verdict = replace(verdict, kind=VerdictKind.UNPROVEN, reason=reason)
        if verdict.kind is VerdictKind.NOTHING and not verdict.reason:
            verdict = replace(verdict, reason=_why_nothing(stated, asked))
    return verdict


def _why_nothing(stated: StatedIntent, asked: Sequence[ConfigCall]) -> str:
    """Return why a line that ran without an error had no effect, if the configuration in force doesn't say."""
    if stated.by == "assignment" or (stated.by == "made-up" and isinstance(stated.event, EnvWrite)):
        return f"TensorFlow never reads {stated.name}"
    if stated.by == "proto":
        return "no session is ever made with these options"
    if stated.by == "dropped":
        return "no function of TensorFlow gets this configuration"
    if stated.by == "call" and not asked:
        return "the line was run, but it never reached TensorFlow"
    return ""


def _is_read_by_nobody(stated: StatedIntent) -> bool:
    """True if an intent is stated where TensorFlow never looks, so that it can't have any effect."""
    return stated.by in ("assignment", "proto", "dropped") or (
        stated.by == "made-up" and isinstance(stated.event, EnvWrite)
    )


def judge_elsewhere(
    stated: StatedIntent, seen: Observation, facts: GroundFacts, asked: Sequence[ConfigCall]
) -> Verdict:
    """Return the verdict on an intent of another text of the program (before its fixes), by what is in force now.

    ``asked`` are the calls of the other text at the intent's place, if it was reached.
    """
    result = seen.result
    if result.error and not seen.stopped:
        if died_elsewhere(result) or result.timed_out:
            return Verdict(stated, VerdictKind.UNPROVEN, reason=_ending(seen))
        line = f" in line {result.traceback_line}" if result.traceback_line else ""
        return Verdict(stated, VerdictKind.RAISES, reason=f"{first_line(result.error)}{line}")
    if stated.intent.purpose in (Purpose.REPORT, Purpose.DEVICES):
        return Verdict(stated, VerdictKind.HOLDS, observed=_reported(stated, seen.asked))
    return _by_outcome(stated, seen, facts, asked)


def asked_for(stated: StatedIntent, seen: Observation) -> list[ConfigCall]:
    """Return the calls of TensorFlow's configuration that the run made at the place of an intent."""
    function = _FUNCTIONS.get(stated.intent.purpose)
    found = list(seen.calls(function, stated.span)) if function is not None else []
    if not isinstance(stated.gpu, int):
        return found
    # A helper is called for one GPU after the other: each call is an intent of its own.
    return [call for call in found if call.args and gpu_number(call.args[0]) == stated.gpu] or found


def _at_its_place(
    stated: StatedIntent, seen: Observation, asked: Sequence[ConfigCall], places: Sequence[Span]
) -> Verdict | None:
    """Return the verdict if the place itself decides: an error there, or that it was never reached."""
    result, span = seen.result, stated.span
    row = span.row
    here = result.traceback_line is not None and span.row <= result.traceback_line <= span.end_row
    for call in asked:
        if call.error:
            caught = "" if here and result.error else "; the program catches it and goes on"
            return Verdict(stated, VerdictKind.RAISES, reason=f"{first_line(call.error)}{caught}")
    if here and result.error:
        if died_elsewhere(result):
            return Verdict(stated, VerdictKind.UNPROVEN, reason=_ending(seen))
        return Verdict(stated, VerdictKind.RAISES, reason=first_line(result.error))
    if asked:
        return None
    if stated.statement.row in seen.reached or row in seen.reached:
        never = stated.by == "call" and stated.intent.purpose in _FUNCTIONS and seen.result.physical
        return Verdict(stated, VerdictKind.NOTHING, reason=_why_nothing(stated, asked)) if never else None
    if stated.by in ("proto", "handed-on"):
        return None  # it has no place of its own, as nothing uses it
    if result.error:
        line = result.traceback_line
        blamed = any(place.row <= line <= place.end_row for place in places) if line is not None else False
        errors = {*(call.error for call in seen.asked), *(start.error for start in seen.starts)}
        blamed = blamed or result.error in errors or _TENSORFLOW.search(result.message) is not None
        if blamed and not died_elsewhere(result):
            return Verdict(
                stated, VerdictKind.NOTHING, reason=f"never reached: line {line} raises {result.exception} first"
            )
        return Verdict(stated, VerdictKind.UNPROVEN, reason=f"never reached: {_ending(seen)}")
    if result.exit_code is not None:
        return Verdict(stated, VerdictKind.UNPROVEN, reason=f"never reached: {_ending(seen)}")
    return Verdict(stated, VerdictKind.UNPROVEN, reason=f"line {row} was not reached in this run")


def died_elsewhere(result: Result) -> bool:
    """True if the program ended because something is missing on this machine."""
    own = result.exception.endswith(("ImportError", "ModuleNotFoundError")) and _OWN_NAMES.search(result.message)
    return result.exception in _ELSEWHERE and not own


def _by_outcome(stated: StatedIntent, seen: Observation, facts: GroundFacts, asked: Sequence[ConfigCall]) -> Verdict:
    """Return the verdict by the configuration that TensorFlow ended up with, and by the memory that it took."""
    result = seen.result
    purpose = stated.intent.purpose
    if purpose is Purpose.REPORT:
        if stated.by == "made-up":
            return Verdict(stated, VerdictKind.NOTHING, reason=f"TensorFlow's answer has no {stated.text.strip('[]')}")
        return Verdict(stated, VerdictKind.HOLDS, observed=_reported(stated, asked))
    if result.timed_out or result.out_of_memory or (seen.in_force is None and result.error and not seen.start_error):
        return Verdict(stated, VerdictKind.UNPROVEN, reason=_ending(seen))
    if seen.start_error:
        line = seen.starts[-1].lines[0] if seen.starts and seen.starts[-1].lines else None
        where = f" (when the runtime starts, line {line})" if line is not None else " (when the runtime starts)"
        return Verdict(stated, VerdictKind.RAISES, reason=first_line(seen.start_error) + where)
    decide = configuration_checks.BY_PURPOSE.get(purpose)
    if decide is None or (seen.in_force is None and purpose is not Purpose.VISIBLE):
        words = "TensorFlow saw no GPU in this run" if decide is not None else "no run can show it"
        return Verdict(stated, VerdictKind.UNPROVEN, reason=words)
    verdict = decide(stated, seen, facts, asked)
    if facts.allocates:
        verdict = confirm(verdict, seen, facts)
    return verdict


def _reported(stated: StatedIntent, asked: Sequence[ConfigCall]) -> str:
    if stated.intent.value not in ("current", "peak"):
        return ""
    for call in asked:
        if call.function == "get_memory_info" and isinstance(call.value, dict):
            return ", ".join(f"{name} {int(value)} bytes" for name, value in call.value.items())
    return ""


def _ending(seen: Observation) -> str:
    """Say how a program failed, with its last output."""
    result = seen.result
    if result.timed_out or result.out_of_memory:
        return f"the program {result.message}"
    said = [line.strip() for line in result.stderr.splitlines() if line.strip()]
    if result.exit_code is not None and not result.exception:
        last = f": {said[-1]}" if said and result.exit_code else ""
        return f"the program ended with exit code {result.exit_code}{last}"
    line = f"line {result.traceback_line}" if result.traceback_line else "the program"
    if result.exception.startswith("SIG") or result.exception in ("Exited", "HarnessError"):
        return result.message
    missing = result.exception == "ModuleNotFoundError" and died_elsewhere(result)
    hint = ": this Python does not have it (--python names another one)" if missing else ""
    return f"{line} raised {first_line(result.error)}{hint}"


def first_line(error: str) -> str:
    """Return an error's first line. The lines that TensorFlow adds are of no use to a reader."""
    lines = error.splitlines()
    if not lines:
        return ""
    told = _NODE.sub("", lines[0]).removesuffix(" The following argument types are supported:")
    return told.rstrip()
