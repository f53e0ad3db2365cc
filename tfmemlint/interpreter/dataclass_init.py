"""Dataclasses: the ``__init__`` that is written for them, which keeps what it is given and makes what it is not."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tfmemlint.interpreter.builtin import Builtins
from tfmemlint.interpreter.context import MAX_DEPTH, Frame
from tfmemlint.interpreter.values import UNKNOWN, Class, Dict, Field, Function, Instance, Ref, Seq, Value
from tfmemlint.model.finding import Step

_DATACLASS = frozenset({"dataclass", "dataclasses.dataclass"})
_KEEPING = _DATACLASS | {"attr.s", "attrs.define", "define"}
"""Decorators of classes that keep what they are given, field by field."""
_PLAIN_BASES = frozenset({"object", "abc.ABC", "ABC", "typing.Generic", "Generic", "typing.Protocol", "Protocol"})
_OF_CLASS = frozenset({"ClassVar", "typing.ClassVar"})
_FOR_INIT = frozenset({"InitVar", "dataclasses.InitVar"})
_KEYWORDS_FOLLOW = frozenset({"KW_ONLY", "dataclasses.KW_ONLY"})
_INIT = ast.parse("def __init__(self): ...").body[0]
"""Stands for the method that is written for a dataclass."""


class Records(Builtins):
    """Making objects of dataclasses."""

    def written_init(self, cls: Class) -> Class | None:
        """The dataclass whose ``__init__``, written for it, makes objects of ``cls``; None where another one does, or
        that can't be told."""
        for one in _lineage(cls):
            if one is None or "__init__" in one.members or "__new__" in one.members:
                return None
            mark = _mark(one, _DATACLASS)
            if mark is not None:
                options = _options(mark)
                if options is None:
                    return None
                if options.get("init", True):
                    return one
        return None

    def make_record(
        self,
        instance: Instance,
        cls: Class,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        node: ast.AST,
    ) -> None:
        """What the ``__init__`` that is written for the dataclass ``cls`` does, and the ``__post_init__`` behind it."""
        if self.depth >= MAX_DEPTH:
            self.give_up(f"{self.source.path}:{self.span(node).row}: calls are nested more than {MAX_DEPTH} deep")
            return
        words = f"{self.frame.function} makes" if self.frame.function else "makes"
        call = Step(self.source.path, self.span(node), f"{words} {instance.cls.node.name}()")
        self.frames.append(Frame("__init__", self.scope, _INIT, call))
        self.depth += 1
        try:
            self._fill(instance, cls, args, keywords, node)
        finally:
            self.frames.pop()
            self.depth -= 1
        after = self.class_member(instance.cls, "__post_init__")
        if isinstance(after, Function) and self.state is not None:
            extra = [UNKNOWN for field in _fields(cls).values() if field.of_init]
            self.call_value(Function(after.node, after.scope, after.decorators, instance), extra, {}, node)

    def _fill(
        self, instance: Instance, cls: Class, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST
    ) -> None:
        fields = _fields(cls)
        places = [name for name, field in fields.items() if field.init and not field.keyword_only]
        given = {**dict(zip(places, args, strict=False)), **keywords}
        vague = self._is_vague_call(node)
        if args and None in _lineage(cls):
            # A base of somebody else's may have fields of its own, which come first.
            given, vague = dict(keywords), True
        for name, field in fields.items():
            if self.state is None:
                return
            if name in given and field.init:
                value = given[name]
                self.escape(value)
            elif vague and field.init:
                value = self._perhaps_made(field, node)
            else:
                value = self._made_of(field, node)
            if not field.of_init:
                self.keep(instance, name, value)

    def _made_of(self, field: _Described, node: ast.AST) -> Value:
        if field.factory is not None:
            return self.call_any(field.factory, [], {}, node)
        return UNKNOWN if field.default is None else field.default

    def _perhaps_made(self, field: _Described, node: ast.AST) -> Value:
        """What a field is where nobody can tell whether it is given."""
        if field.factory is not None:
            before = self.snapshot()
            with self.doubtful():
                self.call_any(field.factory, [], {}, node)
            self.merge(before)
        return UNKNOWN

    def _is_vague_call(self, node: ast.AST) -> bool:
        """Whether a call has ``*`` or ``**`` with nobody knows what."""
        if not isinstance(node, ast.Call):
            return True
        for part in node.args:
            if isinstance(part, ast.Starred) and not isinstance(self.last_values.get(id(part.value)), Seq):
                return True
        for keyword in node.keywords:
            if keyword.arg is None:
                value = self.last_values.get(id(keyword.value))
                if not isinstance(value, Dict) or value.open:
                    return True
        return False

    def takes_fields(
        self, cls: Class, args: Sequence[Value], keywords: Mapping[str, Value], instance: Instance
    ) -> bool:
        """A class of attrs without a base keeps what it is given, field by field."""
        if cls.bases or _mark(cls, _KEEPING) is None:
            return False
        for name, value in (*zip(_fields(cls), args, strict=False), *keywords.items()):
            self.escape(value)
            self.keep(instance, name, value)
        return True

    # What the other parts add

    def call_value(self, callee: Value, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        raise NotImplementedError


class _Described:
    """One field: how it is made where it isn't given, whether it can be, and how."""

    __slots__ = ("default", "factory", "init", "keyword_only", "of_init")

    def __init__(self, value: Value | None, *, of_init: bool, keyword_only: bool) -> None:
        field = value if isinstance(value, Field) else Field(default=value)
        self.default, self.factory, self.init, self.of_init = field.default, field.factory, field.init, of_init
        self.keyword_only = keyword_only if field.keyword_only is None else field.keyword_only


def _fields(cls: Class) -> dict[str, _Described]:
    """The fields of a dataclass, those of its bases first."""
    found: dict[str, _Described] = {}
    lineage = [one for one in _lineage(cls) if one is not None]
    for one in reversed(lineage):
        mark = _mark(one, _KEEPING)
        if mark is None:
            continue
        keywords_follow = bool((_options(mark) or {}).get("kw_only", False))
        for part in one.node.body:
            if not isinstance(part, ast.AnnAssign) or not isinstance(part.target, ast.Name):
                continue
            kind = _annotation(part.annotation)
            if kind in _KEYWORDS_FOLLOW:
                keywords_follow = True
            elif kind not in _OF_CLASS:
                name = part.target.id
                value = one.members.get(name) if part.value is not None else None
                found[name] = _Described(value, of_init=kind in _FOR_INIT, keyword_only=keywords_follow)
    return found


def _annotation(written: ast.expr) -> str:
    """The name of a type, without what is in brackets behind it."""
    text = (
        written.value if isinstance(written, ast.Constant) and isinstance(written.value, str) else ast.unparse(written)
    )
    return text.partition("[")[0].strip()


def _lineage(cls: Class) -> list[Class | None]:
    """A class and those that it is derived from, the nearest first; None for one of which nothing is known."""
    found: list[Class | None] = [cls]
    for base in cls.bases:
        if isinstance(base, Class) and len(found) < 20:
            found += _lineage(base)
        elif not isinstance(base, Ref) or base.name not in _PLAIN_BASES:
            found.append(None)
    return found


def _mark(cls: Class, names: frozenset[str]) -> ast.expr | None:
    """The decorator that makes it a dataclass."""
    for decorator in cls.node.decorator_list:
        if ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator) in names:
            return decorator
    return None


def _options(mark: ast.expr) -> dict[str, object] | None:
    """What ``@dataclass(...)`` is told; None where that isn't written out."""
    options: dict[str, object] = {}
    for keyword in mark.keywords if isinstance(mark, ast.Call) else ():
        if keyword.arg is None or not isinstance(keyword.value, ast.Constant):
            return None
        options[keyword.arg] = keyword.value.value
    return options
