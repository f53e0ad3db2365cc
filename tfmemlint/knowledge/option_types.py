"""The types of the options of TF1 sessions, and which values each of them refuses.

Measured on TensorFlow 1.15 (protobuf 3.20) and 2.21 (protobuf 6): each field assigned, and given to the constructor,
numbers, texts, lists, tuples, dictionaries, None, NumPy's numbers and messages. What only one of the two refuses (a
float for a bool, a bool for a whole number) is left out.
"""

from __future__ import annotations

from types import MappingProxyType

BOOLS = frozenset(
    {"allow_growth", "force_gpu_compatible", "allow_soft_placement", "log_device_placement", "isolate_session_state"}
)
SHARES = frozenset({"per_process_gpu_memory_fraction"})
TEXTS = frozenset({"visible_device_list", "allocator_type"})
WHOLE = frozenset({"intra_op_parallelism_threads", "inter_op_parallelism_threads", "deferred_deletion_bytes"})
MESSAGES = frozenset({"gpu_options", "graph_options", "rpc_options", "cluster_def", "optimizer_options"})
MAPS = frozenset({"device_count"})
REPEATED = frozenset({"device_filters", "session_inter_op_thread_pool", "virtual_devices"})
NOT_ASSIGNED = MESSAGES | MAPS | REPEATED
"""Fields to which nothing can be assigned: ``AttributeError``."""

_REFUSED = MappingProxyType(
    {
        "bool": (BOOLS, frozenset({"text", "list", "dict", "message"})),
        "share": (SHARES, frozenset({"text", "list", "dict", "message"})),
        "text": (TEXTS, frozenset({"bool", "whole", "number", "list", "dict", "message"})),
        "whole": (WHOLE, frozenset({"text", "list", "dict", "message"})),
        "message": (MESSAGES, frozenset({"bool", "whole", "number", "text", "list"})),
    }
)


def kind_of(field: str) -> str:
    """Return what a field takes: ``bool``, ``share``, ``text``, ``whole`` or ``message``; "" if that is not known."""
    return next((kind for kind, (fields, _) in _REFUSED.items() if field in fields), "")


def refuses(field: str, type_: str, *, assigned: bool) -> bool:
    """Return True if a field raises ``TypeError`` for values of a type.

    ``type_``: ``bool``, ``whole`` and ``number`` (of numbers), ``text``, ``list``, ``dict``, ``message`` or ``none``.
    ``None`` is refused by assignments only; to a constructor it is the same as nothing.
    """
    if type_ == "none":
        return assigned and kind_of(field) not in ("", "message")
    return any(field in fields and type_ in refused for fields, refused in _REFUSED.values())
