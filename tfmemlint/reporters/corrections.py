"""Findings for a program that writes code: what is written, what to write in its place, and in which releases that was
seen to be there. `docs/corrections.md` describes the format; its version changes when a key changes its meaning."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tfmemlint import __version__
from tfmemlint.knowledge import environment, names, wishes
from tfmemlint.knowledge.instead import (
    NEAREST,
    SAME,
    WISH,
    Instead,
    of_api,
    of_real,
    of_value,
    of_variable,
    releases_of,
)
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Span
from tfmemlint.model.intent import Wish
from tfmemlint.reporters.machines import absolute, edits_of, places

if TYPE_CHECKING:
    from tfmemlint.rulekit.rule import Rule
    from tfmemlint.sources import Source

VERSION = 1
NAME, ATTRIBUTE, ARGUMENT, KEY, VARIABLE, VALUE = "name", "attribute", "argument", "key", "variable", "value"
"""What is wrong: a name of a function, class or module; an attribute that is assigned to; an argument; a key of a
dictionary; an environment variable; a value."""
USE, TEXT = "use", "text"
"""With all names right, how they are used; or a text that can't be read, and comments to this tool."""

_NAMES = frozenset({"TFM201", "TFM202", "TFM206", "TFM208", "TFM209", "TFM501", "TFM506", "TFM507", "TFM705"})
_REPORTED = "tf.config.experimental.get_memory_info"
_BETTER = {"TFM604": _REPORTED, "TFM706": "tf.config.list_physical_devices"}
"""Rules about names that are there, and what is to be used in their place."""
_AMOUNTS = frozenset({"TFM301", "TFM302", "TFM304"})
_VALUES = frozenset({"TFM307", "TFM316"})
_WHY = {
    NAME: "no name of TensorFlow is like it",
    USE: "no name or value is wrong by itself: how they are used is",
}
_WHY_OF_WISH = {
    Wish.RELEASE: "no call gives GPU memory back to other processes",
    Wish.REPORT: "TensorFlow does not tell this; NVML does",
}


class _Wrong(NamedTuple):
    """What is wrong: of which kind, as it is called, what to write, and why there is nothing to write."""

    kind: str
    written: str
    instead: Instead | None = None
    why: str = ""


def as_corrections(
    findings: Sequence[Finding],
    sources: Mapping[str, Source],
    rules: Mapping[str, Rule],
    target_of: Callable[[str], Target],
) -> str:
    """One JSON object; its ``corrections`` are in the order of files, rows, columns and codes."""
    made = [_object(one, sources, rules.get(one.code), target_of(one.path)) for one in findings]
    whole = {"version": VERSION, "tool": f"tfmemlint {__version__}", "corrections": made}
    return json.dumps(whole, indent=2, allow_nan=False) + "\n"


def _object(finding: Finding, sources: Mapping[str, Source], rule: Rule | None, target: Target) -> dict[str, Any]:
    text = _text(finding, sources)
    wrong = _wrong(finding, text, target)
    instead, nearest = wrong.instead, None
    if instead is not None and instead.relation == NEAREST:
        instead, nearest = None, instead
    why = None if instead is not None else wrong.why or _WHY.get(wrong.kind, _WHY[USE])
    if nearest is not None:
        why = "what was wanted is not known; nearest is the name that is most like it"
    fix = finding.fix
    return {
        "code": finding.code,
        "rule": finding.name,
        "severity": finding.severity.value,
        "filename": absolute(finding.path),
        "cell": finding.cell,
        **places(finding.span),
        "also_at": [places(span) for span in _others(finding)],
        "target": str(target),
        "kind": wrong.kind,
        "written": wrong.written,
        "text": text,
        "written_in_releases": _releases(wrong),
        "instead": _instead(instead, target),
        "nearest": _instead(nearest, target),
        "why_none": why,
        "edit": None
        if fix is None
        else {
            "applicability": fix.applicability.value,
            "message": fix.message,
            "edits": edits_of(fix),
            "needs": list(fix.needs),
        },
        "why_no_edit": None if fix is not None else finding.withheld or "no rewrite is known for this",
        "sentence": _sentence(finding),
        "url": rule.url() if rule is not None else None,
    }


def _instead(instead: Instead | None, target: Target) -> dict[str, Any] | None:
    if instead is None:
        return None
    known = target.judged_as
    return {
        "write": instead.name,
        "relation": instead.relation,
        "parameters": None if instead.parameters is None else list(instead.parameters),
        "verified": known is not None and str(known) in instead.releases,
        "releases": list(instead.releases),
        "evidence": instead.evidence or None,
    }


def _text(finding: Finding, sources: Mapping[str, Source]) -> str:
    """What the file has at the place of a finding."""
    key = finding.path if finding.cell is None else f"{finding.path}:cell {finding.cell}"
    source = sources.get(key)
    span = finding.span
    if source is None or not 1 <= span.row <= span.end_row <= len(source.lines):
        return ""
    rows = list(source.lines[span.row - 1 : span.end_row])
    rows[-1] = rows[-1][: span.end_column - 1]
    rows[0] = rows[0][span.column - 1 :]
    return "\n".join(rows)


def _others(finding: Finding) -> list[Span]:
    """Other places with the same wrong name."""
    uses = [span for name, span in finding.anchors.items() if re.fullmatch(r"use\d+", name)]
    return sorted({span for span in uses if span != finding.span})


def _sentence(finding: Finding) -> str:
    parts = [part.rstrip(". ") for part in (finding.message, finding.outcome, finding.advice) if part]
    return f"{'. '.join(parts)}."


def _releases(wrong: _Wrong) -> list[str]:
    """The releases that have what is written."""
    if wrong.kind == NAME:
        return list(releases_of(wrong.written)) if names.ever_existed(wrong.written) else []
    return list(of_variable(wrong.written).releases) if wrong.kind == VARIABLE else []


def _wrong(finding: Finding, text: str, target: Target) -> _Wrong:
    """What is wrong in a finding, by what its rule tells of it."""
    details, code = finding.details, finding.code
    name = str(details.get("name", "")).replace("()", "")
    given = details.get("instead")
    if code in _BETTER:
        return _Wrong(NAME, name, of_real(_BETTER[code], WISH, target))
    if code in _NAMES and name:
        new = details.get("new") or details.get("twin")
        if isinstance(given, Instead):
            return _Wrong(NAME, name, given)
        made_up = wishes.wish_of(str(details["name"]))
        why = _WHY_OF_WISH.get(made_up.wish, "") if made_up is not None else ""
        if code == "TFM506":
            # What it reports is told by the rule: the name is one that was there.
            report = of_real(_REPORTED, WISH, target) if details.get("report") in ("current", "peak") else None
            return _Wrong(NAME, name, report, _WHY_OF_WISH[Wish.REPORT])
        return _Wrong(NAME, name, of_real(str(new), SAME, target) if new else of_api(str(details["name"]), target), why)
    if code == "TFM203" and name:
        return _Wrong(ATTRIBUTE, name, of_api(name, target))
    if code == "TFM205":
        return _argument(finding, text)
    if code == "TFM204":
        return _key(finding, target)
    if code == "TFM207" and name:
        real = str(details.get("real") or "")
        why = "TensorFlow has no variable for this; advice says which call does it" if not real else ""
        return _Wrong(VARIABLE, name, of_variable(real) if real else None, why)
    if code == "TFM314":
        return _Wrong(VALUE, text, None, "these are two settings: each needs a place of its own")
    if code == "TFM210" and text[:1] in "'\"":
        return _Wrong(KEY, text.strip("'\""), None, "TensorFlow's optimizer has no such option")
    if code.startswith("TFM9"):
        meant = str(details.get("instead_of_masked") or "")
        return _Wrong(TEXT, text, of_real(meant, SAME, target) if meant else None, finding.message)
    if code in _VALUES:
        meant = str(details.get("meant") or "")
        value = str(details.get("value", "") or text)
        return _Wrong(VALUE, value, _value(meant, name or text) if meant else None, "which value is meant is not known")
    if code in _AMOUNTS:
        meant = str(details.get("replacement") or "")
        written = str(details.get("written", "") or text)
        share = details.get("value")
        if code == "TFM304" and isinstance(share, int | float) and 10 <= share <= 100:
            meant = f"{share / 100:g}"
        return _Wrong(VALUE, written, _value(meant, "") if meant else None, "the amount depends on the GPU's memory")
    return _Wrong(USE, text)


def _value(meant: str, text: str) -> Instead:
    """A value; of a variable that takes a few, with the releases that were seen to take it."""
    variable = next((one for one in environment.VARIABLES if one in text), "")
    return of_value(meant, variable)


def _argument(finding: Finding, text: str) -> _Wrong:
    details = finding.details
    keyword = str(details.get("keyword") or details.get("written") or text.partition("=")[0].strip())
    meant = details.get("meant") or details.get("replacement")
    if not meant and details.get("unit") in ("mib", "auto"):
        meant = "memory_limit"
    if not meant:
        return _Wrong(ARGUMENT, keyword, None, "the argument memory_limit takes MiB, this gives another unit")
    function = str(details.get("name", "tf.config.LogicalDeviceConfiguration"))
    return _Wrong(ARGUMENT, keyword, Instead(str(meant), SAME, None, releases_of(function), "name"))


def _key(finding: Finding, target: Target) -> _Wrong:
    details = finding.details
    key = str(details.get("key") or details.get("written", ""))
    report = details.get("report")
    if report is None and finding.intent is not None:
        report = finding.intent.value
    if report in ("current", "peak"):
        made = of_real(_REPORTED, WISH, target)
        if made is not None:
            return _Wrong(KEY, key, made._replace(name=f"{made.name}('GPU:0')[{str(report)!r}]"))
    return _Wrong(KEY, key, None, "TensorFlow does not tell this; NVML does")
