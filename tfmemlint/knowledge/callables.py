"""Functions of Python's library, and of well-known packages, that are given code: whether they call it, and when."""

from __future__ import annotations

KEEPS_CALLS = frozenset(
    {
        *("staticmethod", "classmethod", "property", "functools.lru_cache", "functools.cache", "functools.wraps"),
        *("functools.lru_cache()", "functools.wraps()", "contextlib.contextmanager", "contextlib.asynccontextmanager"),
        *("typing.no_type_check", "typing.overload", "typing.final", "typing_extensions.override", "typing.override"),
        *("abc.abstractmethod", "functools.singledispatch", "functools.cached_property"),
    }
)
"""Decorators after which calling a function does what its body says."""
