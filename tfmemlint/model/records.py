"""Dataclasses whose methods are compiled when they are first called, and that nothing changes if they are frozen.

The standard library compiles up to six methods of each dataclass when that is defined, which was nearly half of the
processor time of a run over one file: 200 classes of this tool's own took 85 ms. Most of these methods are never
called.

A frozen dataclass sets each field by a call of ``object.__setattr__``, which makes an object of four fields nearly
four times as expensive (100,000 took 1.4 s of processor time, and take 0.37 s without). The interpreter makes millions
of them. mypy sees a frozen dataclass, and holds that nothing assigns to it.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "late_init", "record"]

if TYPE_CHECKING:
    from dataclasses import dataclass
    from dataclasses import dataclass as record
else:

    def record(**settings: Any) -> Any:
        """Return the decorator that ``dataclass(frozen=True, ...)`` is."""
        assert settings.get("frozen"), "what can be changed is a plain dataclass"
        return dataclass(**settings)

    def dataclass(cls: type | None = None, /, **settings: Any) -> Any:
        """Make a class a dataclass, as the decorator of the standard library does, without a guard against assignments.

        Args:
            cls: the class; None if the decorator is called with settings.
            **settings: those of the standard library.
        """
        return _made(cls, **settings) if cls is not None else lambda cls: _made(cls, **settings)


def _made(cls: type, *, eq: bool = True, frozen: bool = False, **settings: Any) -> type:
    own = vars(cls)
    is_shown = settings.pop("repr", True)
    has_hash = "__hash__" in own and not (own["__hash__"] is None and "__eq__" in own)
    if settings.get("order"):
        return dataclasses.dataclass(cls, eq=eq, repr=is_shown, unsafe_hash=frozen and not has_hash, **settings)
    made: type = dataclasses.dataclass(cls, init=False, repr=False, eq=False, **settings)
    methods = vars(made)
    if "__init__" not in methods:
        late_init(made)
    if is_shown and "__repr__" not in methods:
        made.__repr__ = _repr_of(made)  # type: ignore[method-assign]
    if not eq:
        return made
    if "__eq__" not in methods:
        names = [field.name for field in dataclasses.fields(made) if field.compare]
        body = f"return {_tuple('self', names)} == {_tuple('other', names)}"
        _add_late(
            made, "__eq__", f"self, other):\n if other.__class__ is self.__class__:\n  {body}\n return NotImplemented"
        )
    if not has_hash:
        # As in the standard library: equal objects that nothing changes have equal hashes, others have none.
        names = [each.name for each in dataclasses.fields(made) if (each.compare if each.hash is None else each.hash)]
        if frozen:
            _add_late(made, "__hash__", f"self):\n return hash({_tuple('self', names)})")
        else:
            made.__hash__ = None  # type: ignore[assignment]
    return made


def late_init(made: type) -> None:
    """Give a dataclass the ``__init__`` that it would have, compiled when it is first called, without a guard."""
    parameters: list[str] = []
    only_by_name: list[str] = []
    body: list[str] = []
    given: dict[str, Any] = {"_FACTORY": _FACTORY}
    for field in dataclasses.fields(made):
        name, value, parameter = field.name, field.name, field.name
        if field.default_factory is not dataclasses.MISSING:
            given[f"_make_{name}"] = field.default_factory
            parameter, value = f"{name}=_FACTORY", f"_make_{name}() if {name} is _FACTORY else {name}"
            if not field.init:
                value = f"_make_{name}()"
        elif field.default is not dataclasses.MISSING:
            given[f"_default_{name}"] = field.default
            parameter = f"{name}=_default_{name}"
            if not field.init:
                value = f"_default_{name}"
        elif not field.init:
            continue
        if field.init:
            (only_by_name if field.kw_only else parameters).append(parameter)
        body.append(f" self.{name} = {value}")
    if hasattr(made, "__post_init__"):
        body.append(" self.__post_init__()")
    parameters += ["*", *only_by_name] if only_by_name else []
    _add_late(made, "__init__", "\n".join([f"{', '.join(['self', *parameters])}):", *(body or [" pass"])]), given)


def _add_late(made: type, name: str, text: str, given: dict[str, Any] | None = None) -> None:
    """Give a class a method that is compiled when it is first called.

    Args:
        made: the class.
        name: the name of the method.
        text: its source, from its first parameter on.
        given: the names in it that are not Python's own.
    """

    def first_call(*arguments: Any, **by_name: Any) -> Any:
        space = dict(given or {})
        exec(f"def {name}({text}", space)
        method = space[name]
        method.__qualname__ = f"{made.__qualname__}.{name}"
        # The class may have been made anew since, for its slots.
        for cls in type(arguments[0]).__mro__:
            if vars(cls).get(name) is first_call:
                setattr(cls, name, method)
        return method(*arguments, **by_name)

    setattr(made, name, first_call)


def _repr_of(made: type) -> Any:
    from reprlib import recursive_repr

    names = [field.name for field in dataclasses.fields(made) if field.repr]

    @recursive_repr()
    def shown(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in names])})"

    return shown


def _tuple(owner: str, names: list[str]) -> str:
    return f"({''.join(f'{owner}.{name},' for name in names)})"


_FACTORY = object()
"""Stands for an argument that was not given, for which a factory makes a new value."""
