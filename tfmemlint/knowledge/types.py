"""The members of TensorFlow's objects by release: devices, configurations, strategies, sessions, and TF1's messages.

Source: ``data/types.txt``, which ``tools/knowledge/make_types.py`` makes of what installed releases have. A member is
missing only where the table is sure of it; nothing is missing of a type that the table does not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from tfmemlint.knowledge import tables
from tfmemlint.knowledge.releases import KNOWN, Target, position

PHYSICAL, LOGICAL = "tf.config.PhysicalDevice", "tf.config.LogicalDevice"
CONFIGURATION = "tf.config.LogicalDeviceConfiguration"
ATTRIBUTES = "message DeviceAttributes"
"""The type of what ``device_lib.list_local_devices()`` lists."""

_RESULTS: Mapping[str, str] = {
    "tf.config.experimental.get_memory_info": "dict",
    "tf.config.experimental.get_device_details": "dict",
    "tf.config.experimental.get_memory_usage": "int",
    "tf.config.get_logical_device_configuration": "list",
    "tf.config.experimental.get_virtual_device_configuration": "list",
    "tf.Session": "tf.compat.v1.Session",
}
"""The types of what these functions return; a class returns itself."""
_ANY_STRATEGY = "tf.distribute.get_strategy"
"""Returns the strategy in whose scope it is called, of whatever class: that of TPUs has methods of its own. The table
has what the default strategy has."""
_PLAIN: Mapping[str, tuple[type, ...]] = {"dict": (dict,), "int": (int,), "list": (list, tuple, set)}
_TUPLES = (PHYSICAL, LOGICAL, CONFIGURATION)
_METHODS_OF_TUPLES = ("count", "index")


class Field(NamedTuple):
    """A field of a message: the type of a message in it, or ""; and whether it is repeated, or a map."""

    message: str
    repeated: bool


def lacks(type_: str, member: str, target: Target) -> bool:
    """True if the objects of a type have no such member in ``target`` for sure; private names are never missing."""
    if member.startswith("_"):
        return False
    plain = _PLAIN.get(type_)
    if plain is not None:
        return not any(hasattr(kind, member) for kind in plain)
    members = _table().get(type_)
    if members is None or type_.startswith(_ANY_STRATEGY):
        return False
    if type_.startswith("message ") and not member.islower():
        # A method, an inner type or a constant.
        return False
    found = members.get(member)
    return found is None or not _may_have(found[0], target)


def ever_had(type_: str, member: str) -> bool:
    """True if some release has a member that others lack."""
    return member in _table().get(type_, {})


def is_method_of_tuple(type_: str, member: str) -> bool:
    """True for ``count`` and ``index`` of devices and configurations, which have them as every named tuple does."""
    return type_ in _TUPLES and member in _METHODS_OF_TUPLES


def is_known(type_: str) -> bool:
    """True if the members of a type are known."""
    return type_ in _PLAIN or type_ in _table()


def type_of_result(function: str) -> str:
    """Return the type of what a function or class of TensorFlow returns; "" if the table does not have it."""
    type_ = _RESULTS.get(function, function)
    return type_ if is_known(type_) else ""


def type_of_message(name: str) -> str:
    """Return the type of a message by the canonical name of its class: ``tf.compat.v1.ConfigProto``; "" if unknown."""
    short = name.removeprefix("tf.").removeprefix("compat.v1.")
    type_ = f"message {short}"
    return type_ if type_ in _table() else ""


def field_of(message: str, name: str) -> Field | None:
    """Return a field of a message type; None if no release has it."""
    found = _table().get(message, {}).get(name)
    if found is None:
        return None
    inner = found[1]
    return Field(f"message {inner.rstrip('*')}" if inner.strip("*") else "", inner.endswith("*"))


def fields_of(message: str, target: Target) -> tuple[str, ...]:
    """Return the names of the fields that a message type has in ``target``."""
    return tuple(name for name, (releases, _) in _table().get(message, {}).items() if _may_have(releases, target))


def short(type_: str) -> str:
    """Return the name of a type as it reads in a message: ``PhysicalDevice``."""
    return type_.removeprefix("message ").replace("()", "").rpartition("tf.")[2].rpartition(".")[2] or type_


@lru_cache(maxsize=1)
def _table() -> dict[str, dict[str, tuple[str, str]]]:
    """By type and member: the releases that may have it, and for a field of a message what is in it."""
    types: dict[str, dict[str, tuple[str, str]]] = {}
    for line in tables.text("types.txt").splitlines():
        if line.startswith("#"):
            continue
        name, *members = line.split(" ")
        if name == "message":
            name = f"message {members.pop(0)}"
        types[name] = dict(map(_member, members))
    return types


def _member(text: str) -> tuple[str, tuple[str, str]]:
    member, _, releases = text.partition(":")
    name, _, inner = member.partition("=")
    mark = "*" if name.endswith("*") else ""
    return name.rstrip("*"), (releases, inner + mark)


def _may_have(releases: str, target: Target) -> bool:
    first, _, last = releases.partition("-")
    return position(first or KNOWN[0]) <= target.index <= position(last or KNOWN[-1])
