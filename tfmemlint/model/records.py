"""Dataclasses that nothing changes, without what it costs to keep anybody from it.

A frozen dataclass sets each field by a call of ``object.__setattr__``, which makes an object of four fields nearly
four times as expensive (100,000 took 1.4 s of processor time, and take 0.37 s without). The interpreter makes millions
of them. mypy sees a frozen dataclass, and holds that nothing assigns to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import dataclass

    def record(*, eq: bool = True, **settings: Any) -> Any:
        """Return the decorator that ``dataclass(frozen=True, ...)`` is, without the guard against assignments."""
        assert settings.pop("frozen"), "what can be changed is a plain dataclass"

        def decorate(cls: type) -> type:
            # As of a frozen dataclass: equal objects have equal hashes, unless the class has a hash of its own.
            own_hash = "__hash__" in vars(cls) and not (vars(cls)["__hash__"] is None and "__eq__" in vars(cls))
            return dataclass(cls, eq=eq, unsafe_hash=eq and not own_hash, **settings)

        return decorate
