"""The contents of the cache, as JSON: findings, the results of programs, the answers of searches.

Reading it calls nothing but the constructors named here, and each field is checked: whoever can write into the cache (a
CI job that restores one which another job has saved) can make findings of `check` go missing, or appear, and no more:
`foreign_paths` keeps it to the files of the run, and `fix` takes no finding from it. A pickle, even with a list of what
may be unpickled, is a program of its own: its instructions set attributes of classes and follow dotted names.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from tfmemlint.model.codes import is_label
from tfmemlint.model.finding import Applicability, Edit, Finding, Fix, Severity, Span, Step, Way
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.placed_text import Place, PlacedText
from tfmemlint.project.name_questions import MASKS, STORED
from tfmemlint.sources.regular import can_name_a_file

if TYPE_CHECKING:
    from tfmemlint.engine.results import FileResult, KeptRun, ProgramResult, WayTo
    from tfmemlint.project.entries import Entry

_T = TypeVar("_T")
KINDS = ("findings", "program", "number", "names", "answers", "run")
"""Findings of a file by itself, the result of a program, a number, answers about names, answers of searches, and the
results of a whole run."""
_MAX_PLACE = 2**31
"""A row or a column from here on is in no file that is read."""
_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)
_DECODER = json.JSONDecoder()


def encode(value: object) -> str:
    """Return a value as one line of JSON.

    Raises:
        TypeError, ValueError, RecursionError: it is nothing that is kept.
    """
    data: list[Any]
    if isinstance(value, list):
        data = ["findings", [_from_finding(finding) for finding in value]]
    elif isinstance(value, dict) and all(type(key) is str for key in value):
        data = ["names", {key: _name_answer(key, answer) for key, answer in value.items()}]
    elif isinstance(value, dict):
        data = ["answers", {_exactly(bytes, key).hex(): _exactly(int, answer) for key, answer in value.items()}]
    elif isinstance(value, int):
        data = ["number", _exactly(int, value)]
    else:
        data = ["run", run] if (run := _from_run(value)) is not None else ["program", _from_program(value)]
    return _ENCODER.encode(data)


def decode(text: str, kinds: Iterable[str] = KINDS) -> Any:
    """Return the value that `encode` has made a text of; ``kinds``: those that the caller can use.

    Raises:
        ValueError, TypeError, RecursionError: it has made none like that.
    """
    kind, data = _DECODER.decode(text)
    if kind not in kinds:
        raise ValueError(f"{kind!r} where there should be {' or '.join(kinds)}")
    match kind:
        case "findings":
            return _list(_finding, data)
        case "answers":
            return {bytes.fromhex(key): _exactly(int, answer) for key, answer in _exactly(dict, data).items()}
        case "names":
            return {key: _name_answer(key, answer) for key, answer in _exactly(dict, data).items()}
        case "number":
            return _exactly(int, data)
        case "program":
            return _program(data)
        case "run":
            return _run(data)
    raise ValueError(f"{kind!r} is nothing that is kept")


def has_findings(value: object) -> bool:
    """True if there are findings in what was cached."""
    return bool(value if isinstance(value, list) else getattr(value, "findings", ()))


def foreign_paths(value: Any) -> set[str]:
    """Return the files outside of the working directory that the cached findings of a file, a program or a run name.

    Reports quote the files that findings name. A cache that somebody else has written must not choose these.
    """
    of_run = getattr(value, "results", None)
    findings = value if isinstance(value, list) else value.findings if of_run is None else _findings_of(of_run)
    paths = {path for finding in findings for path in (finding.path, *(step.path for step in finding.trace))}
    if of_run is not None:
        paths |= {result.path for result in of_run}
        paths |= {edit.path for finding in findings if finding.fix for edit in finding.fix.edits}
    elif not isinstance(value, list):
        paths |= value.paths | value.read | {path for path, _, _ in value.ways}
    return {path for path in paths if not _is_below(path)}


def _findings_of(results: Iterable[FileResult]) -> list[Finding]:
    found = [finding for result in results for finding in (*result.findings, *result.suppressed)]
    return found + [finding.in_module for finding in found if finding.in_module is not None]


def _is_below(path: str) -> bool:
    """True if a name may be that of a file below the working directory."""
    inside = not os.path.isabs(path) and os.pardir not in path.replace(os.sep, "/").split("/")
    return inside and can_name_a_file(path)


def _name_answer(key: str, data: object) -> Any:
    """Return an answer to a question about the names in a file (`tfmemlint.project.name_answers`), checked."""
    question = key.partition(":")[0]
    if question == MASKS:
        return None if data is None else _list(_number, data)
    if question == STORED:
        return _list(_text, data)
    for part in _exactly(list, data):
        for name, row, mask in _exactly(list, part):
            _text(name), _number(row), _number(mask)
    uses, memory_uses, of_keras_2 = _exactly(list, data)
    return [uses, memory_uses, of_keras_2]


def _exactly(kind: type[_T], value: object) -> _T:
    if type(value) is not kind:
        raise TypeError(f"{type(value).__name__} where there should be {kind.__name__}")
    return value


def _list(read: Callable[[Any], _T], data: object) -> list[_T]:
    return [read(item) for item in _exactly(list, data)]


def _text(data: object) -> str:
    return _exactly(str, data)


def _label(data: object) -> str:
    text = _text(data)
    if not is_label(text):
        raise ValueError("no rule has this code or name")
    return text


def _number(data: object) -> int:
    return _exactly(int, data)


def _texts(data: object) -> tuple[str, ...]:
    return tuple(_list(_text, data))


def _from_text(text: str) -> object:
    """Return a text of a finding: one that names places as its parts, and the file that it is written for."""
    if type(text) is not PlacedText:
        return _text(text)
    return [_text(text.path), *(list(part) if isinstance(part, Place) else _text(part) for part in text.parts)]


def _any_text(data: object) -> str:
    if type(data) is str:
        return data
    path, *parts = _exactly(list, data)
    return PlacedText((part if type(part) is str else _named_place(part) for part in parts), _text(path))


def _named_place(data: object) -> Place:
    path, row = _exactly(list, data)
    return Place(_text(path), _exactly(int, row))


def _from_span(span: Span) -> list[int]:
    return [span.row, span.column, span.end_row, span.end_column]


def _span(data: object) -> Span:
    row, column, end_row, end_column = _list(_place, data)
    return Span(row, column, end_row, end_column)


def _place(data: object) -> int:
    place = _exactly(int, data)
    if not 0 <= place < _MAX_PLACE:
        raise ValueError(f"there is no row or column {place}")
    return place


def _from_finding(finding: Finding) -> list[Any]:
    if (
        type(finding) is not Finding
        or finding.fix is not None
        or finding.cell is not None
        or finding.in_module is not None
    ):
        raise TypeError("a finding of another kind")
    intent = finding.intent
    return [
        _text(finding.code),
        _text(finding.name),
        finding.severity.value,
        _text(finding.path),
        _from_span(finding.span),
        _from_text(finding.message),
        None
        if intent is None
        else [intent.purpose.value, _text(intent.devices), _from_plain(intent.value), intent.text],
        _from_text(finding.outcome),
        _from_text(finding.advice),
        [_from_step(step) for step in finding.trace],
        [_from_text(note) for note in finding.notes],
        _exactly(bool, finding.fixable),
        [[_text(name), _from_span(span)] for name, span in finding.anchors.items()],
        _from_plain(dict(finding.details)),
        _exactly(int, finding.noqa_row),
        _text(finding.withheld),
        _exactly(bool, finding.on_request),
        None if finding.way is None else [_from_span(finding.way.span), *map(_from_step, finding.way.frames)],
    ]


def _finding(data: object) -> Finding:
    code, name, severity, path, span, message, intent, outcome, advice, trace, *rest = _exactly(list, data)
    notes, fixable, anchors, details, noqa_row, withheld, on_request, way = rest
    return Finding(
        code=_label(code),
        name=_label(name),
        severity=Severity(_text(severity)),
        path=_text(path),
        span=_span(span),
        message=_any_text(message),
        intent=None if intent is None else _intent(intent),
        outcome=_any_text(outcome),
        advice=_any_text(advice),
        trace=tuple(_list(_step, trace)),
        notes=tuple(_list(_any_text, notes)),
        fixable=_exactly(bool, fixable),
        anchors=dict(_list(_anchor, anchors)),
        details=_exactly(dict, _plain(details)),
        noqa_row=_place(noqa_row),
        withheld=_text(withheld),
        on_request=_exactly(bool, on_request),
        way=None if way is None else _way(way),
    )


def _intent(data: object) -> Intent:
    purpose, devices, value, text = _exactly(list, data)
    read = _plain(value)
    if read is not None and not isinstance(read, (int, float, str)):
        raise TypeError("an intent of no plain value")
    return Intent(Purpose(_text(purpose)), _text(devices), read, _text(text))


def _from_step(step: Step) -> list[Any]:
    return [_text(step.path), _from_span(step.span), _text(step.words)]


def _way(data: object) -> Way:
    span, *frames = _exactly(list, data)
    return Way(_span(span), tuple(_list(_step, frames)))


def _step(data: object) -> Step:
    path, span, words = _exactly(list, data)
    return Step(_text(path), _span(span), _text(words))


def _anchor(data: object) -> tuple[str, Span]:
    name, span = _exactly(list, data)
    return _text(name), _span(span)


def _from_program(result: Any) -> list[Any]:
    from tfmemlint.engine.results import ProgramResult

    if type(result) is not ProgramResult:
        raise TypeError(f"{type(result).__name__} is nothing that is kept")
    entry = result.entry
    return [
        [entry.kind.value, _text(entry.path), _text(entry.module), entry.function, list(entry.conftests)],
        [_from_finding(finding) for finding in result.findings],
        [_from_place(place) for place in sorted(result.reached)],
        [_text(words) for words in result.gave_up],
        _text(result.failed),
        sorted(result.read),
        [[_text(path), _from_span(span), list(map(_from_place, frames))] for path, span, frames in sorted(result.ways)],
    ]


def _program(data: object) -> ProgramResult:
    from tfmemlint.engine.results import ProgramResult

    entry, findings, reached, gave_up, failed, read, ways = _exactly(list, data)
    return ProgramResult(
        _entry(entry),
        tuple(_list(_finding, findings)),
        frozenset(_list(_anchor, reached)),
        _texts(gave_up),
        _text(failed),
        frozenset(_texts(read)),
        frozenset(_list(_way_to, ways)),
    )


def _from_place(place: tuple[str, Span]) -> list[Any]:
    return [_text(place[0]), _from_span(place[1])]


def _way_to(data: object) -> WayTo:
    path, span, frames = _exactly(list, data)
    return _text(path), _span(span), tuple(_list(_anchor, frames))


def _entry(data: object) -> Entry:
    from tfmemlint.project.entries import Entry, Kind

    kind, path, module, function, conftests = _exactly(list, data)
    name = None if function is None else _text(function)
    return Entry(Kind(_text(kind)), _text(path), _text(module), name, _texts(conftests))


def _from_run(kept: Any) -> list[Any] | None:
    from tfmemlint.engine.results import KeptRun

    if type(kept) is not KeptRun:
        return None
    results = [
        [
            _text(result.path),
            _exactly(bool, result.candidate),
            [_from_reported(finding) for finding in result.findings],
            [_from_reported(finding) for finding in result.suppressed],
            [_text(note) for note in result.notes],
        ]
        for result in kept.results
    ]
    return [_text(kept.state), list(kept.outside), _text(kept.state_outside), results]


def _run(data: object) -> KeptRun:
    from tfmemlint.engine.results import KeptRun

    state, outside, state_outside, results = _exactly(list, data)
    return KeptRun(_text(state), _texts(outside), _text(state_outside), tuple(_list(_result, results)))


def _result(data: object) -> FileResult:
    from tfmemlint.engine.results import FileResult

    path, candidate, findings, suppressed, notes = _exactly(list, data)
    return FileResult(
        _text(path),
        _exactly(bool, candidate),
        _list(_reported, findings),
        _list(_reported, suppressed),
        notes=_texts(notes),
    )


def _from_reported(finding: Finding) -> list[Any]:
    """Return a finding as it is reported: with its fix, and the reason of a comment that silences it."""
    fix, module = finding.fix, finding.in_module
    plain = dataclasses.replace(finding, fix=None, cell=None, in_module=None, suppressed=None)
    return [
        _from_finding(plain),
        None if fix is None else _from_fix(fix),
        finding.cell,
        finding.suppressed,
        None if module is None else _from_reported(module),
    ]


def _reported(data: object) -> Finding:
    plain, fix, cell, suppressed, module = _exactly(list, data)
    return dataclasses.replace(
        _finding(plain),
        fix=None if fix is None else _fix(fix),
        cell=None if cell is None else _number(cell),
        suppressed=None if suppressed is None else _text(suppressed),
        in_module=None if module is None else _reported(module),
    )


def _from_fix(fix: Fix) -> list[Any]:
    edits = [[_from_span(edit.span), _text(edit.content), _text(edit.path)] for edit in fix.edits]
    return [fix.applicability.value, _text(fix.message), edits, [_text(name) for name in fix.needs]]


def _fix(data: object) -> Fix:
    applicability, message, edits, needs = _exactly(list, data)
    return Fix(Applicability(_text(applicability)), _text(message), tuple(_list(_edit, edits)), _texts(needs))


def _edit(data: object) -> Edit:
    span, content, path = _exactly(list, data)
    return Edit(_span(span), _text(content), _text(path))


_COLLECTIONS: dict[str, Callable[[Iterable[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
}


def _from_plain(value: object) -> Any:
    """Return plain data as JSON: collections and what JSON has no word for are objects with one member."""
    kind = type(value).__name__
    match value:
        case None | str() | int() | float() if type(value) in (type(None), str, bool, int, float):
            return value
        case dict():
            return {kind: [[_from_plain(key), _from_plain(item)] for key, item in value.items()]}
        case list() | tuple() | set() | frozenset() if kind in _COLLECTIONS:
            return {kind: [_from_plain(item) for item in value]}
        case bytes():
            return {kind: value.hex()}
        case complex():
            return {kind: [value.real, value.imag]}
        case slice():
            return {kind: [_from_plain(part) for part in (value.start, value.stop, value.step)]}
        case Span():
            return {kind: _from_span(value)}
    raise TypeError(f"{kind} is nothing that is kept")


def _plain(data: object) -> Any:
    if type(data) is not dict:
        if isinstance(data, list):
            raise TypeError("a list of no kind")
        return data
    ((kind, content),) = data.items()
    match kind:
        case "bytes":
            return bytes.fromhex(_text(content))
        case "Span":
            return _span(content)
        case "complex":
            real, imaginary = _exactly(list, content)
            return complex(float(real), float(imaginary))
        case "slice":
            return slice(*_list(_plain, content))
        case "dict":
            return {_plain(key): _plain(item) for key, item in _exactly(list, content)}
    return _COLLECTIONS[kind](_list(_plain, content))
