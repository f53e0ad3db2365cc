"""Python's data model: which special method is run by which syntax and by which function of the library.

Source: the Python Language Reference, 3.3 (special method names). Each row has programs in ``fixtures/calls`` that are
run by Python: ``bad_`` where the method runs, ``ok_`` where it does not.
"""

from __future__ import annotations

import ast

UNARY: dict[type[ast.unaryop], str] = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
"""Operators before one operand. ``not`` asks ``__bool__``, then ``__len__``."""

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}
"""Operators between two operands: ``left.__add__(right)``, and ``right.__radd__(left)`` where that declines."""

IN_PLACE: dict[type[ast.operator], str] = {op: f"__i{name}__" for op, name in BINARY.items()}
"""Operators of augmented assignments: ``left.__iadd__(right)``; without it they do what the operator does."""

COMPARED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("__eq__", "__eq__"),
    ast.NotEq: ("__ne__", "__ne__"),
    ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"),
    ast.Gt: ("__gt__", "__lt__"),
    ast.GtE: ("__ge__", "__le__"),
}
"""Comparisons: what the left operand is asked, and what the right one is where that declines."""

ASKED: dict[str, tuple[str, ...]] = {
    "str": ("__str__", "__repr__"),
    "print": ("__str__", "__repr__"),
    "repr": ("__repr__",),
    "ascii": ("__repr__",),
    "format": ("__format__", "__str__", "__repr__"),
    "bytes": ("__bytes__",),
    "hash": ("__hash__",),
    "bool": ("__bool__", "__len__"),
    "len": ("__len__",),
    "int": ("__int__", "__index__", "__trunc__"),
    "float": ("__float__", "__index__"),
    "complex": ("__complex__", "__float__", "__index__"),
    "abs": ("__abs__",),
    "round": ("__round__",),
    "divmod": ("__divmod__",),
    "pow": ("__pow__",),
    "range": ("__index__",),
    "bin": ("__index__",),
    "hex": ("__index__",),
    "oct": ("__index__",),
    "operator.index": ("__index__",),
    "math.floor": ("__floor__", "__float__"),
    "math.ceil": ("__ceil__", "__float__"),
    "math.trunc": ("__trunc__",),
    "math.sqrt": ("__float__", "__index__"),
    "dir": ("__dir__",),
    "next": ("__next__",),
    "anext": ("__anext__",),
    "reversed": ("__reversed__",),
    "aiter": ("__aiter__",),
    "iter": ("__iter__",),
    "copy.copy": ("__copy__", "__reduce_ex__", "__reduce__"),
    "copy.deepcopy": ("__deepcopy__", "__reduce_ex__", "__reduce__"),
    "os.fspath": ("__fspath__",),
    "open": ("__fspath__",),
    "pickle.dumps": ("__reduce_ex__", "__reduce__", "__getstate__"),
    "sys.getsizeof": ("__sizeof__",),
    "operator.length_hint": ("__len__", "__length_hint__"),
}
"""Built-in functions: the special methods of the argument, of which the first that its class has is called."""

ITERATES = frozenset(
    {
        *("list", "tuple", "set", "frozenset", "sorted", "sum", "any", "all", "min", "max", "dict"),
        *("collections.deque", "collections.Counter", "collections.OrderedDict", "bytes", "bytearray"),
        *("numpy.array", "math.fsum", "statistics.mean"),
    }
)
"""Functions that go through their first argument: ``__iter__`` and ``__next__``, or ``__getitem__``."""
