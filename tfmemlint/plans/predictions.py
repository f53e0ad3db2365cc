"""Predictions for intents: by the model of TensorFlow's own checks, else by the findings of rules at their places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.facts.names import is_tensorflow
from tfmemlint.intents import StatedIntent
from tfmemlint.interpreter.program import Call, EnvWrite, ProtoMade, SessionMade
from tfmemlint.interpreter.values import Const, Value
from tfmemlint.knowledge import names
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION, SET_LOGICAL
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Purpose
from tfmemlint.plans import calls, options, variables
from tfmemlint.plans.entry_run import EntryRun, conditions
from tfmemlint.plans.model import Prediction, PredictionKind
from tfmemlint.plans.starting import unstarted
from tfmemlint.rulekit.explain import short, written
from tfmemlint.rulekit.exports import is_for_others
from tfmemlint.rulekit.rule import codes_where

_RAISED = re.compile(r"raises? ([\w.]+)(?:: (.+))?")


def predict(stated: StatedIntent, run: EntryRun) -> tuple[Prediction, tuple[str, ...]]:
    """Return the prediction for the intent ``stated``, and the codes of the rules with a finding there."""
    here = _findings_at(stated, run)
    about = [
        finding
        for finding in here
        if not _is_of_another_session(finding, stated, run) and not _is_of_an_earlier_setting(finding)
    ]
    found = _predict(stated, run, about)
    if found.kind in (PredictionKind.HAPPENS, PredictionKind.DEPENDS, PredictionKind.REPLACED) and found.reason in (
        "",
        "rule",
    ):
        found = unstarted(stated, run) or found
    by_cause = [
        finding
        for finding in run.findings
        if found.because == finding.span.row
        and found.reason in ("lost", "late")
        and any(step.span == stated.span for step in finding.trace)
    ]
    codes = tuple(sorted({finding.code for finding in (*here, *by_cause) if finding.severity is not Severity.ADVICE}))
    if found == calls.IN_FORCE and stated.intent.purpose is Purpose.GROWTH and stated.intent.value is None:
        found = Prediction(PredictionKind.UNKNOWN, words="not known: growth as the program decides")
    if found.kind in (PredictionKind.HAPPENS, PredictionKind.REPLACED):
        found = replace(found, condition=_condition(stated))
    elif found.kind is PredictionKind.FAILS and found.exception is not None and found.handler is None:
        handler = stated.event.handler_for(found.exception[0])
        if handler is not None:
            hidden = f"The handler in line {handler.span.row} catches it: the setting never takes effect"
            found = replace(found, handler=handler.span.row, details=(*found.details, hidden))
    return found, codes


def _predict(stated: StatedIntent, run: EntryRun, here: Sequence[Finding]) -> Prediction:
    if stated.by in ("made-up", "assignment") and not isinstance(stated.event, EnvWrite):
        return _invented(stated, here)
    known = _by_event(stated, run)
    if known is not None and known.kind is PredictionKind.FAILS:
        return known
    if known is not None and known.kind is PredictionKind.HAPPENS and known.because is not None:
        # The setting is already in force, which rules that look at the call alone don't know.
        return known
    if isinstance(stated.event, SessionMade):
        # These rules report other settings, which the session makes void.
        of_others = codes_where(lambda rule: rule.about_earlier_settings)
        here = [finding for finding in here if finding.code not in of_others]
    if run.count is not None and stated.intent.purpose is Purpose.GROWTH:
        # These rules are about any number of GPUs; `voided` and `unstarted` know the number.
        of_any_count = codes_where(lambda rule: rule.for_any_gpu_count)
        here = [finding for finding in here if finding.code not in of_any_count]
    # What goes wrong in a later pass of a loop has gone well in the first.
    errors = [
        finding for finding in here if finding.severity is Severity.ERROR and not finding.details.get("later_pass")
    ]
    if errors:
        return _found(stated, errors[0], PredictionKind.FAILS)
    warnings = [
        finding for finding in here if finding.severity is Severity.WARNING or finding.details.get("later_pass")
    ]
    unsure = isinstance(stated.event, SessionMade) and stated.intent.value is None and known is not None
    if unsure and known is not None and known.kind is PredictionKind.HAPPENS and warnings:
        return _found(stated, warnings[0], _doubt(stated, warnings[0]))  # it is about a value that isn't known
    if known is not None:
        return known
    if warnings:
        return _found(stated, warnings[0], _doubt(stated, warnings[0]))
    return calls.IN_FORCE


def _by_event(stated: StatedIntent, run: EntryRun) -> Prediction | None:
    match stated.event:
        case Call() as call if stated.by == "call":
            return calls.predict(stated, call, run)
        case Call() if stated.by == "report" and run.count == 0:
            exception = ("ValueError", "No matching devices found")
            words = "fails: TensorFlow sees no GPU"
            return Prediction(
                PredictionKind.FAILS,
                "value",
                words,
                (f"TensorFlow raises {': '.join(exception)}",),
                exception=exception,
            )
        case Call() as call if stated.by == "report":
            return calls.no_such_logical_gpu(call, run)
        case Call() as call if stated.by == "dropped":
            words = f"without effect: nothing gets this {short(call.name)}"
            return Prediction(PredictionKind.FAILS, "unused", words, ("Nothing is raised",))
        case EnvWrite() as write:
            return variables.predict(stated, write, run)
        case SessionMade() as session if names.exists(session.name, run.program.target):
            return options.predict(stated, session, run)
        case ProtoMade(consumed=True) as proto:
            words = f"not known: the {short(proto.name)} is handed on to something that is not followed"
            return Prediction(PredictionKind.UNKNOWN, "handed-on", words)
        case ProtoMade():
            return _unused(stated, run)
        case _:
            return None


def _unused(stated: StatedIntent, run: EntryRun) -> Prediction:
    settings = all(short(call.name) in _MESSAGES for call in run.program.calls() if is_tensorflow(call.name))
    made = isinstance(stated.event, ProtoMade) and is_for_others(run.program, stated.event)
    if made or (settings and not stated.event.function):
        return Prediction(PredictionKind.UNKNOWN, words="not known: another module may import these options")
    words = f"without effect: no session ever gets this {short(stated.name)}"
    return Prediction(PredictionKind.FAILS, "unused", words, ("Nothing is raised",))


_MESSAGES = ("ConfigProto", "GPUOptions", "OptimizerOptions", "GraphOptions", "Experimental")


def _invented(stated: StatedIntent, here: Sequence[Finding]) -> Prediction:
    """Return the prediction for a name, key or attribute that TensorFlow lacks: no effect, unless the program provides
    it."""
    grave = [finding for finding in here if finding.severity is not Severity.ADVICE]
    grave.sort(key=lambda finding: not finding.outcome.startswith("Python raises"))
    if not grave:
        return Prediction(
            PredictionKind.UNKNOWN, "made-up", f"not known: {_lacks(stated)}, and the program provides for that"
        )
    found = _found(stated, grave[0], PredictionKind.FAILS)
    words = "without effect: nobody reads this attribute" if stated.by == "assignment" else f"fails: {_lacks(stated)}"
    outcome = calls.predict(stated, stated.event, None) if isinstance(stated.event, Call) else None
    found = replace(found, reason="made-up", words=words)
    if outcome is None or outcome.reason != "late":
        return found
    late = f"It comes too late as well: {outcome.words.partition('too late: ')[2]}"
    return replace(found, details=(*found.details, late), because=outcome.because)


def _lacks(stated: StatedIntent) -> str:
    if stated.text.startswith("["):
        return f"{short(stated.name)} has no key {stated.text[1:-1]}"
    return f"no TensorFlow has {stated.name}" if is_tensorflow(stated.name) else f"there is no {stated.name}"


def _found(stated: StatedIntent, finding: Finding, kind: PredictionKind) -> Prediction:
    """Return the prediction that a rule's finding makes."""
    match = _RAISED.search(finding.outcome)
    exception = (match[1], match[2] or "") if match is not None else None
    first = finding.message.split(" ", 1)[0]
    is_name = "_" in first or first[1:] != first[1:].lower()
    message = finding.message if is_name else finding.message[0].lower() + finding.message[1:]
    lead = "depends: " if kind is PredictionKind.DEPENDS else "fails: "
    details = (finding.outcome,) if finding.outcome else ()
    return Prediction(kind, "rule", lead + message, details, exception=exception)


def _doubt(stated: StatedIntent, finding: Finding) -> PredictionKind:
    """Return the kind of a warning: it may be a warning only because a handler hides an error that is certain."""
    match = _RAISED.search(finding.outcome)
    hidden = match is not None and stated.event.handler_for(match[1]) is not None
    return PredictionKind.FAILS if hidden else PredictionKind.DEPENDS


def _is_of_another_session(finding: Finding, stated: StatedIntent, run: EntryRun) -> bool:
    """True if the trace of a finding ends at another session, which the same line makes when it is called again."""

    def leads_to(session: SessionMade) -> bool:
        end = finding.trace[-1 - len(session.frames) :]
        return bool(end) and end[-1].span == session.span and end[:-1] == session.frames

    if not isinstance(stated.event, SessionMade):
        return False
    same_line = [session for session in run.of(SessionMade) if session.span == stated.event.span]
    return not leads_to(stated.event) and any(map(leads_to, same_line))


def _is_of_an_earlier_setting(finding: Finding) -> bool:
    """True if a finding says that the setting takes the place of another: it takes effect itself."""
    return finding.details.get("replaces") is True


def _findings_at(stated: StatedIntent, run: EntryRun) -> list[Finding]:
    """Return the findings at the place of an intent, the gravest first."""
    spans = [stated.span]
    if isinstance(stated.event, ProtoMade):
        spans.append(stated.event.span)
    elif isinstance(stated.event, EnvWrite) and stated.event.given is not None:
        # Rules about a text report the place where it is written.
        spans.append(stated.event.given)
    elif isinstance(stated.event, SessionMade) and stated.text in stated.event.field_spans:
        # Rules about a single option report the place where it is set.
        spans.append(stated.event.field_spans[stated.text])
    elif stated.setting is Purpose.LIMIT:
        # The limits may have been created before, and passed by name.
        setters = [call.span for call in run.of(Call) if call.name in SET_LOGICAL and call.span != stated.event.span]
        made = (
            call
            for call in run.of(Call)
            if call.name in LOGICAL_CONFIGURATION and not any(span.contains(call.span) for span in setters)
        )
        spans.extend(call.span for call in made if _is_size(call.value(0, "memory_limit"), stated.sizes))
    here = [
        finding
        for finding in run.findings
        if any(span.contains(finding.span) or finding.span.contains(span) for span in spans)
        or (isinstance(stated.event, ProtoMade) and stated.span in finding.anchors.values())
    ]
    return sorted(here, key=lambda finding: finding.severity is not Severity.ERROR)


def _is_size(value: Value | None, sizes: Sequence[float] | None) -> bool:
    """True if a limit may be one of those sizes; any that isn't known is, where none of them is known."""
    if not isinstance(value, Const):
        return value is not None and not sizes
    try:
        return isinstance(value.value, (str, int, float)) and float(value.value) in (sizes or ())
    except ValueError:
        return not sizes


def _condition(stated: StatedIntent) -> str:
    """Return the conditions under which an intent is reached."""
    if stated.certain:
        return ""
    guards = [written(text) for text in conditions(stated.event)]
    return f"if {' and '.join(guards)}" if guards else "where this line is reached"
