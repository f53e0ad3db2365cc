"""Keys of dictionaries: constants, and what is only equal to itself."""

from __future__ import annotations

from collections.abc import Hashable

from tfmemlint.interpreter.values.kinds import Class, Function, Instance, Seq, Value
from tfmemlint.interpreter.values.leaves import Const, Ref

_ITSELF = (Class, Function, Instance, Ref)
_TYPES = frozenset({"int", "float", "str", "bool", "bytes", "list", "tuple", "dict", "set", "NoneType"})
NO_KEY = object()
"""Stands for a key that is not known."""


def key_of(value: Value) -> Hashable:
    """Return a value as a key of a `Dict`; ``NO_KEY`` where it isn't known which."""
    if isinstance(value, Const):
        return value.value if isinstance(value.value, Hashable) else NO_KEY
    if isinstance(value, (Class, Instance)) or (isinstance(value, Function) and value.bound is None):
        if isinstance(value, Instance) and any(name in value.cls.members for name in ("__eq__", "__hash__")):
            return NO_KEY
        return value
    if isinstance(value, Ref) and value.name in _TYPES:
        return value
    if isinstance(value, Seq) and value.kind == "tuple":
        keys = tuple(map(key_of, value.items))
        return NO_KEY if NO_KEY in keys else keys
    return NO_KEY


def value_of_key(key: Hashable) -> Value:
    """Return a key of a `Dict` as a value."""
    if isinstance(key, _ITSELF):
        return key
    return Seq(tuple(map(value_of_key, key)), "tuple") if isinstance(key, tuple) else Const(key)
