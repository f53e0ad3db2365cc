"""Amounts of memory whose size isn't known: their types and units through arithmetic."""

from __future__ import annotations

import ast
import configparser
import math
import re
from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.facts import folding
from tfmemlint.facts.syntax import last_word
from tfmemlint.interpreter.operations.options import answer_of
from tfmemlint.interpreter.values import UNKNOWN, Amount, Cell, Const, Fields, FileValue, Seq, Unknown, Value
from tfmemlint.knowledge import units

FLAGS = Cell(0, Seq(()), False)
"""In the heap it holds what the flags of ``absl`` are, as far as their types tell, by name."""
_NAMED = (ast.Name, ast.Attribute, ast.Subscript)


def computed(node: ast.BinOp, left: Value, right: Value) -> Value:
    """Return what is known of the result of an operator, one of whose operands isn't known."""
    known = _of_file(node.op, left, right)
    if known is not None:
        return known
    first, second = _amount_of(node.left, left), _amount_of(node.right, right)
    if first is None and second is None:
        return _in_bytes(node, left, right)
    match node.op:
        case ast.Mult():
            return _product(first, left, second, right)
        case ast.Div() | ast.FloorDiv() if first is not None and isinstance(right, Const):
            bits = units.bits_of_factor(right.value)
            return _scaled(first, -bits if bits is not None else None, part=bits == 0 and right.value != 1)
        case ast.RShift() | ast.LShift() if first is not None and isinstance(right, Const):
            bits = right.value if isinstance(right.value, int) else None
            return _scaled(first, -bits if bits is not None and isinstance(node.op, ast.RShift) else bits)
        case ast.Add() | ast.Sub():
            return _sum(first, left, second, right)
        case ast.Mod() if isinstance(left, Const) and isinstance(left.value, str):
            return Amount("str", source="a format")
        case _:
            return UNKNOWN


def _of_file(op: ast.operator, left: Value, right: Value) -> Value | None:
    """Return the result of an operator on a number of a file and a constant; None for all else."""
    number = left if isinstance(left, FileValue) else right
    other = right if number is left else left
    if not isinstance(number, FileValue) or number.default is None:
        return None
    given = other.value if isinstance(other, Const) else other.default if isinstance(other, FileValue) else None
    if given is None:
        return None
    try:
        result = folding.binary(op, *((number.default, given) if number is left else (given, number.default)))
    except folding.NotFolded:
        return None
    if isinstance(result, bool) or not isinstance(result, (int, float)):
        return None
    return replace(number, unit="", default=result, value=result)


def named(node: ast.expr, value: Value) -> Value:
    """Return ``value``, or if nothing is known of it an amount in the unit that the name of ``node`` states: an
    attribute, a key, or what ``config.get("limit_gb")`` gives."""
    if value is not UNKNOWN:
        return value
    name = last_word(node)
    unit = units.unit_in_name(name) if name else ""
    return Amount("", unit, name, sure=False) if unit else value


def _amount_of(node: ast.expr, value: Value) -> Amount | None:
    """Return an operand as an amount; one of which nothing is known has the unit that its name states."""
    if not isinstance(value, Unknown):
        return None
    if isinstance(value, Amount) and (value.unit or value.type in ("str", "list")):
        return value
    unit = units.unit_in_name(last_word(node)) if isinstance(node, _NAMED) else ""
    return Amount("number", unit, last_word(node), sure=False) if unit else None


def _product(first: Amount | None, left: Value, second: Amount | None, right: Value) -> Value:
    if first is not None and isinstance(right, Const):
        return _scaled(first, units.bits_of_factor(right.value), part=_is_share(right.value))
    if second is not None and isinstance(left, Const):
        return _scaled(second, units.bits_of_factor(left.value), part=_is_share(left.value))
    for amount, share in ((first, right), (second, left)):
        if amount is not None and isinstance(share, Amount) and _is_unknown_share(share):
            return _scaled(amount, 0, part=True)
    return UNKNOWN


_SHARE = re.compile(r"(?i)(?<![a-z])(?:share|fraction|ratio)\Z")


def _is_unknown_share(factor: Amount) -> bool:
    """True for a number without a unit that is a share where nobody gives another, or that is called one."""
    if factor.unit or factor.type not in ("", "number"):
        return False
    return _is_share(factor.default) or _SHARE.search(factor.source) is not None


def _in_bytes(node: ast.BinOp, left: Value, right: Value) -> Value:
    """Return what is made of a number that isn't known by a factor of 1024**3: bytes, as nothing else is made so."""
    for number, value, factor in ((node.left, left, right), (node.right, right, left)):
        if isinstance(node.op, ast.Mult) and isinstance(factor, Const) and factor.value == 2**30:
            source = value.source if isinstance(value, Amount) else last_word(number)
            plain = not isinstance(value, Amount) or value.type in ("", "number")
            return (
                Amount("number", units.BYTES, source, sure=False) if plain and isinstance(value, Unknown) else UNKNOWN
            )
    return UNKNOWN


def _is_share(factor: object) -> bool:
    """True for a factor that makes a part of an amount, and changes no unit."""
    return isinstance(factor, (int, float)) and 0 < factor < 1 and units.bits_of_factor(factor) == 0


def _scaled(amount: Amount, bits: int | None, *, part: bool = False) -> Value:
    if amount.type in ("str", "list"):
        return UNKNOWN
    unit = units.converted(amount.unit, bits)
    scaled = amount.scaled or part
    whole = amount.whole and not scaled
    return replace(amount, type="number", unit=unit, default=None, scaled=scaled, whole=whole) if unit else UNKNOWN


def _sum(first: Amount | None, left: Value, second: Amount | None, right: Value) -> Value:
    known = first or second
    if known is None or (first is not None and second is not None and first.unit != second.unit):
        return UNKNOWN
    known = replace(known, default=None, whole=False)
    if known.type == "str":
        return known if isinstance(left, (Const, Amount)) and isinstance(right, (Const, Amount)) else UNKNOWN
    return known if known.type != "list" else UNKNOWN


def as_number(value: Value, *, whole: bool = False) -> Value:
    """Return what ``float()`` and the like, or with ``whole`` ``int()``, make of a value."""
    if isinstance(value, Const):
        number = _number_in(value.value)
        if isinstance(number, float) and whole and math.isfinite(number):
            number = int(number)
        return UNKNOWN if number is None else Const(number)
    if isinstance(value, FileValue):
        number = _number_in(value.value)
        if isinstance(number, float) and whole and math.isfinite(number):
            number = int(number)
        return replace(value, type="number", sure=True, default=number, value=number)
    if not isinstance(value, Amount):
        return UNKNOWN
    default = None if isinstance(value.default, str) else value.default
    return replace(value, type="number", sure=True, default=default)


def read_as(method: str, value: Value) -> Value:
    """Return what ``getint``, ``getfloat`` or ``getboolean`` of a section of an INI file makes of a text."""
    if method == "getboolean":
        text = value.value.lower() if isinstance(value, Const) and isinstance(value.value, str) else ""
        return Const(_BOOLEANS[text]) if text in _BOOLEANS else UNKNOWN
    return as_number(value, whole=method == "getint")


_BOOLEANS = configparser.ConfigParser.BOOLEAN_STATES
_TEXTS = frozenset(
    {"strip", "lstrip", "rstrip", "lower", "upper", "decode", "replace", "read", "readline", "title", "format", "join"}
) | {"group"}
"""Methods of texts, of files, of what a program has printed, and of what matches in them, that return a text."""
_LISTS = frozenset({"split", "rsplit", "splitlines", "readlines", "groups"})


def of_text(text: Amount, method: str) -> Amount | None:
    """Return what a method of a text returns; None for one that returns neither a text nor a list of texts."""
    if text.type != "str" or method not in _TEXTS | _LISTS:
        return None
    return Amount("list" if method in _LISTS else "str", text.unit, text.source)


def as_text(value: Amount) -> Value:
    """Return what ``str()`` makes of an amount."""
    if isinstance(value, FileValue) and not isinstance(value.value, tuple):
        return replace(value, type="str", sure=True, default=None, value=str(value.value))
    return Amount("str", value.unit, value.source, default=None if value.default is None else str(value.default))


def _number_in(value: object) -> float | None:
    """Return the number that a value of a file is, or is the text of."""
    try:
        return float(value) if isinstance(value, (str, float)) else value if isinstance(value, int) else None
    except ValueError:
        return None


def option_value(
    name: str, reader: str, default: Value, source: str, told: Value | None = None, unit: str = ""
) -> Value:
    """Return what an option of a command line is.

    Args:
        name: its name, which may state a unit. reader: ``str``, ``int`` or ``float``; "" for any other.
        default: what it is where none is given. source: where it comes from, in words.
        told: the text that explains it to users, which may state the unit. unit: one that is stated otherwise.
    """
    unit = unit or units.unit_in_name(name)
    if not unit and reader in ("int", "float") and isinstance(told, Const) and isinstance(told.value, str):
        unit = units.unit_in_help(told.value)
    if reader in ("int", "float"):
        number = default.value if isinstance(default, Const) else None
        known = isinstance(number, (int, float)) and not isinstance(number, bool)
        whole = units.is_memory_of_gpu(name, for_sure=True) or (
            isinstance(told, Const) and units.is_for_all(told.value)
        )
        return Amount("number", unit, source, default=number if known else None, whole=whole)
    if reader != "str" or not isinstance(default, Const):
        return UNKNOWN
    text = default.value if isinstance(default.value, str) else None
    return Amount("str", unit, source, text is not None or default.value is None, text)


def memory_of(function: str) -> Value:
    """Return what a function of NVML or psutil returns: an object with amounts in bytes; UNKNOWN for any other."""
    names = units.MEMORY_FIELDS.get(function.rpartition(".")[2])
    if names is None:
        return UNKNOWN
    source = f"{function.rpartition('.')[2]}()"
    return Fields(
        {name: Amount("number", units.BYTES, source, whole=name in units.all_of_a_gpu(function)) for name in names}
    )


_PRINTING = frozenset({"subprocess.check_output", "subprocess.getoutput", "subprocess.run", "os.popen"})


def told_by(function: str, args: Sequence[Value] = ()) -> Value:
    """Return what is known of the result of another library's function."""
    if function in _PRINTING:
        in_mib = units.is_asked_in_mib(_command(args[0] if args else UNKNOWN))
        printed = Amount("str", units.MIB, "nvidia-smi") if in_mib else Amount("str", source="the output of a program")
        return Fields({"stdout": printed, "stderr": printed}) if function == "subprocess.run" else printed
    if function == "GPUtil.getGPUs":
        return Fields({}, _GPU_OF_GPUTIL)
    return memory_of(function) if function.rpartition(".")[2] in units.MEMORY_FIELDS else answer_of(function)


def _command(given: Value) -> str:
    """Return a command as far as it is known: the words of a list, with spaces between them."""
    parts = given.items if isinstance(given, Seq) else (given,)
    return " ".join(part.value for part in parts if isinstance(part, Const) and isinstance(part.value, str))


_GPU_OF_GPUTIL = Fields({name: Amount("number", unit, "GPUtil") for name, unit in units.GPUTIL_FIELDS.items()})
