"""What becomes of an intent: by the model of TensorFlow's own checks, else by what the rules find at its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.facts.names import is_tensorflow
from tfmemlint.intents import Wanted
from tfmemlint.interpreter.program import Call, EnvWrite, ProtoMade, SessionMade
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge import names
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION, SET_LOGICAL
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Wish
from tfmemlint.plan import calls, options, variables
from tfmemlint.plan.entry_run import Scene, conditions
from tfmemlint.plan.model import Fate, Prediction
from tfmemlint.plan.starting import unstarted
from tfmemlint.rulekit.explain import short, written
from tfmemlint.rulekit.exports import is_for_others
from tfmemlint.rulekit.rule import codes_where

_RAISED = re.compile(r"raises? ([\w.]+)(?:: (.+))?")


def fate(one: Wanted, scene: Scene) -> tuple[Fate, tuple[str, ...]]:
    """What becomes of ``one``, and the codes of the rules that find something there."""
    here = _findings_at(one, scene)
    found = _fate(one, scene, here)
    if found.verdict in (Prediction.HAPPENS, Prediction.DEPENDS, Prediction.REPLACED) and found.reason in ("", "rule"):
        found = unstarted(one, scene) or found
    by_cause = [
        finding
        for finding in scene.findings
        if found.because == finding.span.row
        and found.reason in ("lost", "late")
        and any(step.span == one.span for step in finding.trace)
    ]
    codes = tuple(sorted({finding.code for finding in (*here, *by_cause) if finding.severity is not Severity.ADVICE}))
    if found.verdict in (Prediction.HAPPENS, Prediction.REPLACED):
        found = replace(found, condition=_condition(one))
    elif found.verdict is Prediction.FAILS and found.exception is not None and found.handler is None:
        handler = one.event.handler_for(found.exception[0])
        if handler is not None:
            hidden = f"The handler in line {handler.span.row} catches it: the setting never takes effect"
            found = replace(found, handler=handler.span.row, details=(*found.details, hidden))
    return found, codes


def _fate(one: Wanted, scene: Scene, here: Sequence[Finding]) -> Fate:
    if one.by in ("made-up", "assignment") and not isinstance(one.event, EnvWrite):
        return _invented(one, here)
    known = _by_event(one, scene)
    if known is not None and known.verdict is Prediction.FAILS:
        return known
    if known is not None and known.verdict is Prediction.HAPPENS and known.because is not None:
        # It is so already, which rules that look at the call alone don't know.
        return known
    if isinstance(one.event, SessionMade):
        # These tell of other settings, which the session makes void.
        of_others = codes_where(lambda rule: rule.about_earlier_settings)
        here = [finding for finding in here if finding.code not in of_others]
    if scene.count is not None and one.intent.wish is Wish.GROWTH:
        # These rules are about any number of GPUs; `voided` and `unstarted` know better.
        of_any_count = codes_where(lambda rule: rule.for_any_gpu_count)
        here = [finding for finding in here if finding.code not in of_any_count]
    errors = [finding for finding in here if finding.severity is Severity.ERROR]
    if errors:
        return _found(one, errors[0], Prediction.FAILS)
    warnings = [finding for finding in here if finding.severity is Severity.WARNING]
    unsure = isinstance(one.event, SessionMade) and one.intent.value is None and known is not None
    if unsure and known is not None and known.verdict is Prediction.HAPPENS and warnings:
        return _found(one, warnings[0], _doubt(one, warnings[0]))  # it is about a value that isn't known
    if known is not None:
        return known
    if warnings:
        return _found(one, warnings[0], _doubt(one, warnings[0]))
    return calls.IN_FORCE


def _by_event(one: Wanted, scene: Scene) -> Fate | None:
    match one.event:
        case Call() as call if one.by == "call":
            return calls.fate(one, call, scene)
        case Call() if one.by == "report" and scene.count == 0:
            exception = ("ValueError", "No matching devices found")
            words = "fails: TensorFlow sees no GPU"
            return Fate(
                Prediction.FAILS, "value", words, (f"TensorFlow raises {': '.join(exception)}",), exception=exception
            )
        case EnvWrite() as write:
            return variables.fate(one, write, scene)
        case SessionMade() as session if names.exists(session.name, scene.program.target):
            return options.fate(one, session, scene)
        case ProtoMade(consumed=True) as proto:
            words = f"not known: the {short(proto.name)} is handed on to something that is not followed"
            return Fate(Prediction.UNKNOWN, "handed-on", words)
        case ProtoMade():
            return _unused(one, scene)
        case _:
            return None


def _unused(one: Wanted, scene: Scene) -> Fate:
    settings = all(short(call.name) in _MESSAGES for call in scene.program.calls() if is_tensorflow(call.name))
    made = isinstance(one.event, ProtoMade) and is_for_others(scene.program, one.event)
    if made or (settings and not one.event.function):
        return Fate(Prediction.UNKNOWN, words="not known: another module may import these options")
    words = f"without effect: no session ever gets this {short(one.name)}"
    return Fate(Prediction.FAILS, "unused", words, ("Nothing is raised",))


_MESSAGES = ("ConfigProto", "GPUOptions", "OptimizerOptions", "GraphOptions", "Experimental")


def _invented(one: Wanted, here: Sequence[Finding]) -> Fate:
    """A name, key or attribute that TensorFlow lacks: without effect, unless the program provides for it."""
    grave = [finding for finding in here if finding.severity is not Severity.ADVICE]
    grave.sort(key=lambda finding: not finding.outcome.startswith("Python raises"))
    if not grave:
        return Fate(Prediction.UNKNOWN, "made-up", f"not known: {_lacks(one)}, and the program provides for that")
    found = _found(one, grave[0], Prediction.FAILS)
    words = "without effect: nobody reads this attribute" if one.by == "assignment" else f"fails: {_lacks(one)}"
    outcome = calls.fate(one, one.event, None) if isinstance(one.event, Call) else None
    found = replace(found, reason="made-up", words=words)
    if outcome is None or outcome.reason != "late":
        return found
    late = f"It comes too late as well: {outcome.words.partition('too late: ')[2]}"
    return replace(found, details=(*found.details, late), because=outcome.because)


def _lacks(one: Wanted) -> str:
    if one.text.startswith("["):
        return f"{short(one.name)} has no key {one.text[1:-1]}"
    return f"no TensorFlow has {one.name}" if is_tensorflow(one.name) else f"there is no {one.name}"


def _found(one: Wanted, finding: Finding, verdict: Prediction) -> Fate:
    """The fate that a rule's finding tells."""
    match = _RAISED.search(finding.outcome)
    exception = (match[1], match[2] or "") if match is not None else None
    start = finding.message[0].lower() if not finding.message[:2].isupper() else finding.message[0]
    message = finding.message if "_" in finding.message.split(" ", 1)[0] else start + finding.message[1:]
    lead = "depends: " if verdict is Prediction.DEPENDS else "fails: "
    details = (finding.outcome,) if finding.outcome else ()
    return Fate(verdict, "rule", lead + message, details, exception=exception)


def _doubt(one: Wanted, finding: Finding) -> Prediction:
    """A warning may be one because a handler hides an error that is certain."""
    match = _RAISED.search(finding.outcome)
    hidden = match is not None and one.event.handler_for(match[1]) is not None
    return Prediction.FAILS if hidden else Prediction.DEPENDS


def _findings_at(one: Wanted, scene: Scene) -> list[Finding]:
    """What the rules say at the place of an intent, the gravest first."""
    spans = [one.span]
    if isinstance(one.event, ProtoMade):
        spans.append(one.event.span)
    elif isinstance(one.event, SessionMade) and one.text in one.event.field_spans:
        # Rules about a single option speak where that is set.
        spans.append(one.event.field_spans[one.text])
    elif one.setting is Wish.LIMIT and one.sizes:
        # The limits may have been made before, and handed over by a name.
        setters = [call.span for call in scene.of(Call) if call.name in SET_LOGICAL and call.span != one.event.span]
        made = (
            call
            for call in scene.of(Call)
            if call.name in LOGICAL_CONFIGURATION and not any(span.contains(call.span) for span in setters)
        )
        sizes = {Const(size) for size in one.sizes}
        spans.extend(call.span for call in made if call.value(0, "memory_limit") in sizes)
    here = [
        finding
        for finding in scene.findings
        if any(span.contains(finding.span) or finding.span.contains(span) for span in spans)
        or (isinstance(one.event, ProtoMade) and one.span in finding.anchors.values())
    ]
    return sorted(here, key=lambda finding: finding.severity is not Severity.ERROR)


def _condition(one: Wanted) -> str:
    """Under which conditions an intent is reached at all."""
    if one.certain:
        return ""
    guards = [written(text) for text in conditions(one.event)]
    return f"if {' and '.join(guards)}" if guards else "where this line is reached"
