"""Find what calls read and change of what they are given, as far as the functions that are called are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from tfmemlint.fixes.access_paths import RECEIVER, Given, Path
from tfmemlint.model.records import dataclass

if TYPE_CHECKING:
    from tfmemlint.fixes.def_use import DefUse


@dataclass(frozen=True, slots=True)
class Known:
    """The body of a function that is called, with the effects of the calls in its own file."""

    body: DefUse
    effects: CallEffects


class CallEffects:
    """The effects of calls in one file.

    Args:
        bodies: what its functions and methods do, by their names; methods have the name of their class in front.
        elsewhere: returns a function of another file by its dotted name here; None if it is not known.
        copying: the names of functions that change nothing, unless the program has one of this name itself.
    """

    def __init__(
        self,
        bodies: Mapping[str, DefUse],
        elsewhere: Callable[[str], Known | None] = lambda _: None,
        copying: frozenset[str] = frozenset(),
    ) -> None:
        self._bodies = bodies
        self._copying = copying
        self._elsewhere = elsewhere
        self._methods: dict[str, DefUse | None] = {}
        for name, body in bodies.items():
            method = name.rpartition(".")[2] if "." in name else ""
            if method:
                # Which class an object is of is not known: of a name that two classes have, neither is taken.
                self._methods[method] = None if method in self._methods else body

    def body_of(self, called: str) -> DefUse | None:
        """Return what a function of the file does, or a method of ``self``; None if it is not known."""
        owner, _, method = called.rpartition(".")
        if owner == "self":
            body = self._methods.get(method)
            return body if body is not None and body.parameters[:1] == ("self",) else None
        body = self._bodies.get(called)
        return None if body is None or (owner and body.parameters[:1] in (("self",), ("cls",))) else body

    def method(self, name: str) -> DefUse | None:
        """Return what ``Class.method`` does with an object of this class; None if it is no method."""
        body = self._bodies.get(name) if "." in name else None
        return body if body is not None and body.parameters[:1] == ("self",) else None

    def touched(self, names: DefUse, seen: frozenset[str] = frozenset()) -> set[Path]:
        """Return the paths that statements may change, in the functions that they call as well."""
        found = set(names.touches)
        for given, body, effects in self._calls(names, seen):
            if body is None:
                found |= set() if given.function in self._copying else {given.path}
            else:
                found |= _handed(given, body, effects.touched(body, seen | {given.function}))
        return found

    def parts(self, names: DefUse, seen: frozenset[str] = frozenset()) -> set[Path]:
        """Return the paths that statements read, in the functions that they call as well."""
        found = set(names.parts)
        for given, body, effects in self._calls(names, seen):
            if body is None:
                found.add(given.path)
            else:
                found |= _handed(given, body, effects.parts(body, seen | {given.function}))
        return found

    def _calls(self, names: DefUse, seen: frozenset[str]) -> Iterator[tuple[Given, DefUse | None, CallEffects]]:
        for given in names.given:
            if given.function in seen:
                # It calls itself: all that it does is seen from outside.
                continue
            body, effects = self.body_of(given.function), self
            if body is None and (known := self._elsewhere(given.function)) is not None:
                body, effects = known.body, known.effects
            yield given, body if body is not None and _parameter(given, body) else None, effects


def _parameter(given: Given, body: DefUse) -> str:
    """Return the parameter that gets an argument; "" if it is not known."""
    if isinstance(given.key, str):
        return given.key if given.key in body.parameters else ""
    is_method = body.parameters[:1] == ("self",)
    position = given.key + (is_method if given.key != RECEIVER else 1)
    return body.parameters[position] if position < body.positional else ""


def _handed(given: Given, body: DefUse, paths: set[Path]) -> set[Path]:
    """Return paths of the parameter that gets an argument as those of the argument."""
    parameter = _parameter(given, body)
    return {(*given.path, *path[1:]) if given.whole else given.path for path in paths if path[0] == parameter}
