"""Patterns of ``match``: whether a value fits one, and what it captures.

Source: the Python Language Reference, 8.6.4 (patterns).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.classes import class_member, derives_from, is_all_known, lineage
from tfmemlint.interpreter.operations.dataclass_fields import KEEPS_FIELDS, dataclass_fields, dataclass_mark
from tfmemlint.interpreter.operations.protocols import compared
from tfmemlint.interpreter.values import NO_KEY, UNKNOWN, Class, Const, Dict, Instance, Ref, Seq, Value, key_of

_TYPES: dict[str, type] = {"int": int, "str": str, "float": float, "bool": bool, "bytes": bytes}
_SEQUENCES = frozenset({"list", "tuple"})


def fits(context: Context, pattern: ast.pattern, subject: Value, captured: dict[str, Value]) -> bool | None:
    """True if a pattern matches a value, False if it does not, None where that is not known.

    ``captured`` gets the names that the pattern binds.
    """
    match pattern:
        case ast.MatchAs(inner, name):
            if name is not None:
                captured[name] = subject
            return True if inner is None else fits(context, inner, subject, captured)
        case ast.MatchOr(patterns):
            outcomes = [fits(context, inner, subject, captured) for inner in patterns]
            return True if True in outcomes else None if None in outcomes else False
        case ast.MatchSingleton(value):
            return subject.value is value if isinstance(subject, Const) else _never_constant(subject)
        case ast.MatchValue(written):
            return _is_equal(context, subject, context.evaluate(written), written)
        case ast.MatchSequence(patterns):
            return _fits_sequence(context, patterns, subject, captured)
        case ast.MatchMapping():
            return _fits_mapping(context, pattern, subject, captured)
        case ast.MatchClass():
            return _fits_class(context, pattern, subject, captured)
        case _:
            return None


def _never_constant(subject: Value) -> bool | None:
    return False if isinstance(subject, (Instance, Class, Seq, Dict)) else None


def _is_equal(context: Context, subject: Value, value: Value, node: ast.AST) -> bool | None:
    if isinstance(subject, Const) and isinstance(value, Const):
        return bool(subject.value == value.value)
    result = compared(context, ast.Eq(), subject, value, node)
    if isinstance(result, Const):
        return bool(result.value)
    return False if isinstance(subject, (Seq, Dict)) and isinstance(value, Const) else None


def _all(outcomes: Sequence[bool | None]) -> bool | None:
    return False if False in outcomes else None if None in outcomes else True


def _fits_sequence(
    context: Context, patterns: Sequence[ast.pattern], subject: Value, captured: dict[str, Value]
) -> bool | None:
    if not isinstance(subject, Seq) or subject.kind not in _SEQUENCES:
        for pattern in patterns:
            if not isinstance(pattern, ast.MatchStar):
                fits(context, pattern, UNKNOWN, captured)
            elif pattern.name:
                captured[pattern.name] = UNKNOWN
        return False if isinstance(subject, (Const, Dict)) else None
    items = subject.items
    star = next((place for place, pattern in enumerate(patterns) if isinstance(pattern, ast.MatchStar)), None)
    if len(items) < len(patterns) - (star is not None) or (star is None and len(items) != len(patterns)):
        return False
    outcomes: list[bool | None] = []
    behind = len(patterns) - star - 1 if star is not None else 0
    for place, pattern in enumerate(patterns):
        if isinstance(pattern, ast.MatchStar):
            if pattern.name:
                captured[pattern.name] = Seq(items[place : len(items) - behind])
        else:
            at = place if star is None or place < star else len(items) - (len(patterns) - place)
            outcomes.append(fits(context, pattern, items[at], captured))
    return _all(outcomes)


def _fits_mapping(
    context: Context, pattern: ast.MatchMapping, subject: Value, captured: dict[str, Value]
) -> bool | None:
    if pattern.rest:
        captured[pattern.rest] = UNKNOWN
    outcomes: list[bool | None] = []
    for written, inner in zip(pattern.keys, pattern.patterns, strict=True):
        key = key_of(context.evaluate(written))
        value = subject.items.get(key) if isinstance(subject, Dict) and key is not NO_KEY else None
        if value is None:
            fits(context, inner, UNKNOWN, captured)
            outcomes.append(False if isinstance(subject, Dict) and not subject.open and key is not NO_KEY else None)
        else:
            outcomes.append(fits(context, inner, value, captured))
    if isinstance(subject, (Const, Seq)):
        return False
    return _all(outcomes) if isinstance(subject, Dict) else None


def _fits_class(context: Context, pattern: ast.MatchClass, subject: Value, captured: dict[str, Value]) -> bool | None:
    cls = context.evaluate(pattern.cls)
    kind = _is_instance(context, subject, cls)
    outcomes: list[bool | None] = [kind]
    names = _positional_names(context, cls)
    for place, inner in enumerate(pattern.patterns):
        if isinstance(cls, Ref) and cls.name in _TYPES:
            outcomes.append(fits(context, inner, subject, captured))
        else:
            name = names[place] if place < len(names) else ""
            outcomes.append(fits(context, inner, _attribute(context, subject, name, kind, inner), captured))
    for name, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        outcomes.append(fits(context, inner, _attribute(context, subject, name, kind, inner), captured))
    return _all(outcomes)


def _attribute(context: Context, subject: Value, name: str, kind: bool | None, node: ast.AST) -> Value:
    if kind is not True or not name or not isinstance(subject, Instance):
        return UNKNOWN
    return context.attribute(subject, name, node)


def _positional_names(context: Context, cls: Value) -> list[str]:
    """Return the attributes that the positional patterns of a class mean."""
    if not isinstance(cls, Class):
        return []
    listed = class_member(context, cls, "__match_args__")
    if isinstance(listed, Seq):
        return [item.value for item in listed.items if isinstance(item, Const) and isinstance(item.value, str)]
    return list(dataclass_fields(cls)) if dataclass_mark(cls, KEEPS_FIELDS) is not None else []


def _is_instance(context: Context, subject: Value, cls: Value) -> bool | None:
    if isinstance(cls, Ref) and cls.name in (*_TYPES, *_SEQUENCES, "dict", "set"):
        if isinstance(subject, Const):
            return isinstance(subject.value, _TYPES[cls.name]) if cls.name in _TYPES else False
        if isinstance(subject, Seq):
            return subject.kind == cls.name if subject.kind in (*_SEQUENCES, "set") else None
        if isinstance(subject, Dict):
            return cls.name == "dict"
        if isinstance(subject, Instance) and is_all_known(context, subject.cls):
            return derives_from(context, subject.cls, frozenset({cls.name}))
        return None
    if not isinstance(cls, Class):
        return None
    if isinstance(subject, Instance):
        if cls in lineage(context, subject.cls):
            return True
        return False if is_all_known(context, subject.cls) else None
    return False if isinstance(subject, (Const, Seq, Dict)) else None
