"""The members of classes, in the order in which Python looks for them."""

from __future__ import annotations

from tfmemlint.facts.names import is_tensorflow
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.values import UNKNOWN, Class, Field, Ref, Value

_MAX_LINEAGE = 60
"""Classes in one lineage; a longer one is cut, as is one whose bases contradict each other."""

ENUMS = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag", "enum.ReprEnum"})
MEMBERS = "__members__"
"""Under this name the heap has the members of an Enum, in their order."""


def lineage(context: Context, cls: Class) -> tuple[Value, ...]:
    """Return a class and its bases in the order of Python's method resolution (C3); others' classes are among them.

    Source: https://docs.python.org/3/howto/mro.html
    """
    known = context.lineages.get(id(cls))
    if known is not None and known[0] is cls:
        return known[1]
    parents = [lineage(context, base) if isinstance(base, Class) else (base,) for base in cls.bases]
    found = (cls, *(parents[0] if len(parents) == 1 else _merged([*parents, cls.bases])))[:_MAX_LINEAGE]
    context.lineages[id(cls)] = cls, found
    return found


def _merged(parents: list[tuple[Value, ...]]) -> tuple[Value, ...]:
    """Merge the lineages of several bases: none comes before what is derived from it."""
    merged: list[Value] = []
    left = [list(parent) for parent in parents if parent]
    while left:
        heads = [row[0] for row in left]
        head = next((head for head in heads if not any(head in row[1:] for row in left)), heads[0])
        merged.append(head)
        left = [rest for row in left if (rest := [value for value in row if value is not head and value != head])]
    return tuple(merged)


def class_member(context: Context, cls: Class, name: str) -> Value | None:
    """Return a name of a class or of its bases; a base that is TensorFlow's answers with its own name."""
    return _named_in(context, (cls,), name) or _named_in(context, lineage(context, cls)[1:], name)


def member_after(context: Context, cls: Class, owner: Class, name: str) -> Value | None:
    """Return the name that ``super()`` in a method of ``owner`` finds for an object of ``cls``."""
    known = lineage(context, cls)
    place = next((place for place, value in enumerate(known) if value is owner), None)
    return _named_in(context, known[place + 1 :] if place is not None else lineage(context, owner)[1:], name)


def _named_in(context: Context, classes: tuple[Value, ...], name: str) -> Value | None:
    for cls in classes:
        if isinstance(cls, Class):
            found = context.heap.get((cls, name))
            if found is None:
                found = cls.members.get(name)
            if found is not None:
                # What a dataclass says of a field is gone once it is one.
                return found if not isinstance(found, Field) else found.default or UNKNOWN
        elif isinstance(cls, Ref) and is_tensorflow(cls.name):
            return Ref(f"{cls.name}().{name}")
    return None


def is_all_known(context: Context, cls: Class) -> bool:
    """True if all bases of a class are the program's own, or have no attributes to speak of."""
    return all(
        isinstance(base, Class) or (isinstance(base, Ref) and base.name in PLAIN_BASES)
        for base in lineage(context, cls)
    )


def has_no_truth_of_its_own(context: Context, cls: Class) -> bool:
    """True if no base of a class, but for the program's own, says whether an object is true, or how long it is."""
    return all(
        isinstance(base, Class) or (isinstance(base, Ref) and base.name in _ALWAYS_TRUE)
        for base in lineage(context, cls)
    )


_ALWAYS_TRUE = frozenset({"object", "abc.ABC", "typing.Generic", "typing.Protocol", "enum.Enum", "Exception"})
PLAIN_BASES = frozenset(
    {"object", "type", "abc.ABC", "typing.Generic", "typing.Protocol", "abc.ABCMeta", "dict", "list", "set", "tuple"}
    | {"collections.OrderedDict", "collections.UserDict"}
    | {"str", "int", "float", "enum.Enum", "enum.IntEnum", "enum.StrEnum", "Exception", "ValueError", "RuntimeError"}
)
"""Bases whose attributes all have names that nobody mistakes for their own."""


def derives_from(context: Context, cls: Class, names: frozenset[str]) -> bool:
    """True if one of these classes of others is a base of a class."""
    return any(isinstance(base, Ref) and base.name in names for base in lineage(context, cls))


def metaclass_of(context: Context, cls: Class) -> Value | None:
    """Return the metaclass of a class: its own, or that of the first base that has one."""
    return next((base.metaclass for base in lineage(context, cls) if isinstance(base, Class) and base.metaclass), None)
