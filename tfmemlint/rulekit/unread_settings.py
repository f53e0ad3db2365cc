"""A setting that a file has under another name than the code asks for, so that a GPU is never configured.

``if settings.get("allow_growth"):`` with ``memory_growth: true`` in the file, which nothing reads: both names are about
one and the same intent, and nothing is raised, as the question has a default.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.tree_walk import all_nodes, nodes, scope_nodes
from tfmemlint.interpreter.program import Call
from tfmemlint.knowledge.functions import CONFIGURES_GPUS
from tfmemlint.model.records import record
from tfmemlint.project.listing import called

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.model.finding import Span
    from tfmemlint.sources.config_files.values import Setting

KIND = "setting"
"""The kind of a finding about such a setting."""
_GROWTH = re.compile(r"(?i)gro(?:w|wth)(?![a-z])")
_AMOUNTS = (
    re.compile(r"(?i)(?:mem(?:ory)?|gpu|vram)[-_]?(?:frac(?:tion)?|share|percent|ratio)(?![a-z])"),
    re.compile(
        r"(?i)(?:mem(?:ory)?|vram|gpu)[-_]?(?:limit|max|cap)|(?:limit|max)[-_]?(?:gpu[-_]?)?(?:mem(?:ory)?|vram)"
    ),
    re.compile(r"(?i)visible[-_]?(?:gpu|dev|cuda)|cuda[-_]?(?:visible|dev)"),
)


@record(frozen=True, slots=True)
class UnreadSetting:
    """A setting that nothing reads.

    Attributes:
        call: what would be called. asked: the name that the code asks for, at ``place``.
        near: the name in the file at ``path``, in the row ``row``.
    """

    call: Call
    asked: str
    place: Span
    near: str
    path: str
    row: int


_PART = re.compile(r"[a-z]+")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r" @\d+\Z")
"""The end of a condition that tells it from others of the same text."""


def unread_settings(program: Program) -> Iterator[UnreadSetting]:
    """Yield each setting of the files that a program reads under which nothing is looked up, and that is wanted where
    the code asks for another name."""
    if not program.settings:
        return
    keys = {key: (path, row) for path, setting in program.settings.items() for key, row in _keys(setting)}
    seen: set[object] = set()
    arguments = _Arguments(program)
    for call in program.of(Call):
        if call.name not in CONFIGURES_GPUS:
            continue
        tests = (_asked_by(test) for test, outcome in call.guards if outcome)
        for asked in (*tests, *arguments.asked(call)):
            if not asked or asked in keys:
                continue
            near = [key for key in keys if _are_alike(key, asked) and not _is_named(program, key)]
            place = _place(program, call.path, asked)
            if len(near) == 1 and place is not None and (call.path, place) not in seen:
                seen.add((call.path, place))
                path, row = keys[near[0]]
                yield UnreadSetting(call, asked, place, near[0], called(path), row)


def _keys(setting: Setting) -> Iterator[tuple[str, int]]:
    """Yield the names in a file, with their rows, that have a value which turns something on."""
    if isinstance(setting.value, dict):
        for key, inner in setting.value.items():
            if _turns_on(str(key), inner.value):
                yield str(key), inner.row
            yield from _keys(inner)
    elif isinstance(setting.value, tuple):
        for inner in setting.value:
            yield from _keys(inner)


def _turns_on(key: str, value: object) -> bool:
    """True if a value asks for something: of growth, a yes, and no rate; of all else, no number 0 and no no."""
    if _GROWTH.search(key):
        return value is True or (isinstance(value, str) and value.lower() in ("true", "yes", "on"))
    return not isinstance(value, (dict, tuple)) and value not in (False, None, 0, "", "false", "no")


def _are_alike(key: str, asked: str) -> bool:
    """True if two names are about one intent: growth; or the same amount, with the words of the other, or more."""
    if _GROWTH.search(key) and _GROWTH.search(asked):
        return True
    words, others = (set(_PART.findall(name.lower())) for name in (key, asked))
    return any(each.search(key) and each.search(asked) for each in _AMOUNTS) and (words <= others or others <= words)


_SCOPES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class _Arguments:
    """The names that the arguments of calls ask for. Each module is gone through once, and each of its scopes."""

    def __init__(self, program: Program) -> None:
        self._units = {unit.source.path: unit for unit in program.units}
        self._calls: dict[str, dict[Span, tuple[ast.Call, ast.AST]]] = {}
        self._bound: dict[int, dict[str, ast.expr | None]] = {}

    def asked(self, call: Call) -> Iterator[str]:
        """Yield the names that a call asks for, as they are written there or where a name is bound once."""
        found = self._calls_in(call.path).get(call.span)
        if found is None:
            return
        written, scope = found
        for given in nodes(written):
            value = self._bound_in(scope).get(given.id) if isinstance(given, ast.Name) else given
            yield from (_asked(each) for each in nodes(value) if isinstance(each, ast.Call)) if value else ()

    def _calls_in(self, path: str) -> dict[Span, tuple[ast.Call, ast.AST]]:
        """Return the calls of a module by their places, each with the scope that it stands in."""
        if path not in self._calls:
            unit = self._units.get(path)
            found = self._calls[path] = {}
            for scope in all_nodes(unit.tree) if unit is not None else ():
                if unit is not None and isinstance(scope, _SCOPES):
                    inside = (node for node in scope_nodes(scope) if isinstance(node, ast.Call))
                    found |= {unit.source.span(node): (node, scope) for node in inside}
        return self._calls[path]

    def _bound_in(self, scope: ast.AST) -> dict[str, ast.expr | None]:
        """Return what names are bound to that a scope binds once, by a plain assignment; None for the others."""
        if id(scope) not in self._bound:
            times: dict[str, int] = {}
            values: dict[str, ast.expr] = {}
            for node in nodes(scope):
                match node:
                    case ast.Assign([ast.Name(id=name)], value):
                        values[name] = value
                    case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                        times[name] = times.get(name, 0) + 1
                    case _:
                        pass
            self._bound[id(scope)] = {name: values.get(name) if count == 1 else None for name, count in times.items()}
        return self._bound[id(scope)]


def _asked_by(test: str) -> str:
    """Return the name that a condition asks for."""
    try:
        return _asked(ast.parse(_NUMBER.sub("", test), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError):
        return ""


def _asked(node: ast.expr) -> str:
    """Return the name that an expression asks for, with nothing where it is not there; "" for any other one."""
    match node:
        case ast.Call(ast.Name("getattr"), [_, ast.Constant(str() as name), ast.Constant(default)]) if not default:
            return name
        case ast.Call(ast.Attribute(attr="get"), [ast.Constant(str() as name)]):
            return name
        case ast.Call(ast.Attribute(attr="get"), [ast.Constant(str() as name), ast.Constant(default)]) if not default:
            return name
        case _:
            return ""


def _is_named(program: Program, key: str) -> bool:
    """True if a module of a program has the name, or a text with it: it may look it up in any way."""
    for unit in program.units:
        if key not in unit.source.text:
            continue
        for node in all_nodes(unit.tree):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=name) | ast.arg(arg=name):
                    pass
                case ast.Constant(str() as name):
                    pass
                case _:
                    continue
            if name is not None and key in (name, *_WORD.findall(name)):
                return True
    return False


def _place(program: Program, path: str, asked: str) -> Span | None:
    """Return where a module asks for a name, if it does so once."""
    for unit in program.units:
        if unit.source.path == path:
            found = [node for node in all_nodes(unit.tree) if isinstance(node, ast.Constant) and node.value == asked]
            return unit.source.span(found[0]) if len(found) == 1 else None
    return None
