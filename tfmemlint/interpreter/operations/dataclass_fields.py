"""The fields of dataclasses."""

from __future__ import annotations

import ast

from tfmemlint.facts.tree_walk import unparsed
from tfmemlint.interpreter.values import Class, Field, Ref, Value

DATACLASS = frozenset({"dataclass", "dataclasses.dataclass"})
KEEPS_FIELDS = DATACLASS | {"attr.s", "attrs.define", "define"}
"""Decorators of classes that keep what they are given, field by field."""
NAMED_TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})
_PLAIN_BASES = NAMED_TUPLES | {"object", "abc.ABC", "ABC", "typing.Generic", "Generic", "typing.Protocol", "Protocol"}
_MARK = ast.Name("NamedTuple", ast.Load())
"""In the place of a decorator: a named tuple keeps what it is given as well."""
_OF_CLASS = frozenset({"ClassVar", "typing.ClassVar"})
_FOR_INIT = frozenset({"InitVar", "dataclasses.InitVar"})
_KEYWORDS_FOLLOW = frozenset({"KW_ONLY", "dataclasses.KW_ONLY"})


class Described:
    """One field of a dataclass: how it is made if it isn't given, and whether it can be given.

    ``owner`` is the class that has it, ``written`` the code of its value.
    """

    __slots__ = ("default", "factory", "init", "keyword_only", "of_init", "owner", "written")

    def __init__(
        self, value: Value | None, owner: Class, written: ast.expr | None, *, of_init: bool, keyword_only: bool
    ) -> None:
        self.owner, self.written = owner, written
        field = value if isinstance(value, Field) else Field(default=value)
        self.default, self.factory, self.init, self.of_init = field.default, field.factory, field.init, of_init
        self.keyword_only = keyword_only if field.keyword_only is None else field.keyword_only


def dataclass_fields(cls: Class) -> dict[str, Described]:
    """Return the fields of a dataclass, those of its bases first."""
    found: dict[str, Described] = {}
    lineage = [ancestor for ancestor in class_lineage(cls) if ancestor is not None]
    for ancestor in reversed(lineage):
        mark = dataclass_mark(ancestor, KEEPS_FIELDS)
        if mark is None:
            continue
        keywords_follow = bool((mark_options(mark) or {}).get("kw_only", False))
        for part in ancestor.node.body:
            if not isinstance(part, ast.AnnAssign) or not isinstance(part.target, ast.Name):
                continue
            kind = _annotation_name(part.annotation)
            if kind in _KEYWORDS_FOLLOW:
                keywords_follow = True
            elif kind not in _OF_CLASS:
                name = part.target.id
                value = ancestor.members.get(name) if part.value is not None else None
                of_init = kind in _FOR_INIT
                found[name] = Described(value, ancestor, part.value, of_init=of_init, keyword_only=keywords_follow)
    return found


def _annotation_name(written: ast.expr) -> str:
    """Return the name of a type, without its brackets."""
    text = written.value if isinstance(written, ast.Constant) and isinstance(written.value, str) else unparsed(written)
    return text.partition("[")[0].strip()


def class_lineage(cls: Class) -> list[Class | None]:
    """Return a class and its bases, the nearest first; None for one of which nothing is known."""
    found: list[Class | None] = [cls]
    for base in cls.bases:
        if isinstance(base, Class) and len(found) < 20:
            found += class_lineage(base)
        elif not isinstance(base, Ref) or base.name not in _PLAIN_BASES:
            found.append(None)
    return found


def dataclass_mark(cls: Class, names: frozenset[str]) -> ast.expr | None:
    """Return the decorator that makes a class a dataclass, or the like; for a named tuple, something in its place."""
    if any(isinstance(base, Ref) and base.name in NAMED_TUPLES for base in cls.bases):
        return _MARK
    for decorator in cls.node.decorator_list:
        if unparsed(decorator.func if isinstance(decorator, ast.Call) else decorator) in names:
            return decorator
    return None


def mark_options(mark: ast.expr) -> dict[str, object] | None:
    """Return the options of ``@dataclass(...)``; None if they aren't written out."""
    options: dict[str, object] = {}
    for keyword in mark.keywords if isinstance(mark, ast.Call) else ():
        if keyword.arg is None or not isinstance(keyword.value, ast.Constant):
            return None
        options[keyword.arg] = keyword.value.value
    return options
