"""The members of classes."""

from __future__ import annotations

import ast

from tfmemlint.facts.names import is_tensorflow
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.values import UNKNOWN, Class, Field, Function, Instance, Ref, Value, holds_code


def class_member(context: Context, cls: Class, name: str, seen: int = 0) -> Value | None:
    """Return a name of a class or of its bases; a base that is TensorFlow's answers with its own name."""
    later = context.heap.get((cls, name))
    if later is not None:
        return later
    if name in cls.members:
        found = cls.members[name]
        # What a dataclass says of a field is gone once it is one.
        return found if not isinstance(found, Field) else found.default or UNKNOWN
    for base in cls.bases:
        if isinstance(base, Class) and seen < 20:
            inherited = class_member(context, base, name, seen + 1)
            if inherited is not None:
                return inherited
        elif isinstance(base, Ref) and is_tensorflow(base.name):
            return Ref(f"{base.name}().{name}")
    return None


def has_lists(cls: Class) -> bool:
    """True if a class has a container of its own that code may be put into."""
    bases = [base for base in cls.bases if isinstance(base, Class)]
    return any(map(holds_code, cls.members.values())) or any(map(has_lists, bases))


def defining_class(receiver: Value | None, code: ast.AST) -> Value | None:
    """Return the class whose body defines a method: ``super()`` starts from it."""
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    pending = [cls] if isinstance(cls, Class) else []
    while pending:
        candidate = pending.pop()
        if any(isinstance(value, Function) and value.node is code for value in candidate.members.values()):
            return candidate
        pending.extend(base for base in candidate.bases if isinstance(base, Class))
    return cls
