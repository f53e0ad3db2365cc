"""A search of the raw bytes for the few words without which a file can't matter. Most files end here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_TENSORFLOW = rb"tensorflow|keras|\btf\.|CUDA_VISIBLE_DEVICES"
_MATTERS = (
    rb"memory_(?:growth|limit|info|usage|stats|fraction|total|used|optimi[sz]er)"
    rb"|gpu_memory|allow_growth|gpu_options|GPUOptions|ConfigProto|LogicalDevice|VirtualDevice"
    rb"|(?:logical|virtual|visible|physical|local)_device|VISIBLE_DEVICES|TF_GPU|TF_FORCE_GPU|TF_CUDNN"
    rb"|is_gpu_available|gpu_device_name|get_device_details|(?:set|clear)_session|\bSession\(|InteractiveSession"
    rb"|\btf\.config\b|\.config\.experimental|contrib\.memory|enable_eager_execution|set_int(?:ra|er)_op_"
    rb"|\b(?:tf|tensorflow|K|backend|experimental|extended)\.[\w.]*(?:memory|gpu|Memory|GPU|vram|growth)"
    rb"|optimizer\.set_(?:jit|experimental_options)|(?i:def \w*(?:memory|vram|usage)|class \w*memory)|TFM\d|tfmemlint:"
)
_VARIABLES = (
    rb"(?:TF|CUDA)_\w*(?:GROW|GROT|MEM|FRACTION|ALLOC|DEVI[CS]|GPU)|GPU_ALLO[CW]|XLA_PYTHON_CLIENT|nvmlDeviceGetHandle"
)
"""Environment variables about GPUs, however they are spelled, and NVML: looked for only where `_OF_VARIABLES` are."""
_OF_VARIABLES = (b"TF_", b"CUDA_", b"XLA_PYTHON", b"GPU_ALLO", b"nvmlDevice")
_HINTS = (
    b"memory", b"gpu", b"growth", b"device", b"config", b"session", b"eager_execution", b"vram", b"usage", b"tfm",
    b"set_int", b"optimizer.set_", b"cudnn",
)  # fmt: skip
"""One of these is, in small letters, in all that `_MATTERS` finds: only the lines that they stand in are searched for
that, which is many times faster."""

_tensorflow = re.compile(_TENSORFLOW).search
_matters = re.compile(_MATTERS).search
_variables = re.compile(_VARIABLES).search
_card = re.compile(rb"[Gg][Pp][Uu]:[1-9]").search


def matters(data: bytes) -> bool:
    """Whether a file can hold anything that a rule would report."""
    return about_tensorflow(data) and may_matter(data)


def may_matter(data: bytes) -> bool:
    """The same of a stretch of a document, which need not say what it is about."""
    small = _small(data)
    return _stands(_matters, data, small, _HINTS) or _stands(_variables, data, data, _OF_VARIABLES)


def _stands(search: Callable[[bytes, int, int], object], data: bytes, text: bytes, words: Iterable[bytes]) -> bool:
    """Whether ``search`` finds something in the lines of ``data`` in which one of ``words`` stands, as ``text`` has
    them."""
    seen: set[int] = set()
    for word in words:
        at = text.find(word)
        while at >= 0:
            start = data.rfind(b"\n", 0, at) + 1
            end = data.find(b"\n", at)
            if end < 0:
                end = len(data)
            if start not in seen:
                seen.add(start)
                if search(data, start, end) is not None:
                    return True
            at = text.find(word, end)
    return False


_last: tuple[bytes, bytes] = b"", b""


def _small(data: bytes) -> bytes:
    """A file in small letters; the last one is remembered, for several questions about it."""
    global _last
    if _last[0] is not data:
        _last = data, data.lower()
    return _last[1]


def about_tensorflow(data: bytes) -> bool:
    """Whether a file mentions TensorFlow, or Keras."""
    # Most files that do say so at their top; looking for words is faster than looking for all of them at once.
    return (
        b"tensorflow" in data
        or b"keras" in data
        or b"CUDA_VISIBLE_DEVICES" in data
        or (b"tf." in data and _tensorflow(data) is not None)
    )


def names_card(data: bytes) -> bool:
    """Whether a file names one GPU by its number, so that it matters which ones are visible where it is started."""
    return b"gpu:" in _small(data) and _card(data) is not None and about_tensorflow(data)


_CONFIGURES = (
    b"memory_growth", b"_device_configuration", b"LogicalDevice", b"VirtualDevice", b"set_visible_devices",
    b"VISIBLE_DEVICES", b"TF_FORCE_GPU", b"TF_GPU_ALLOCATOR", b"TF_PER_DEVICE_MEM", b"set_intra_op_", b"set_inter_op_",
    b"set_memory_limit", b"set_gpu_memory",
)  # fmt: skip
_IN_CONFIGURES = (b"memory", b"device", b"tf_", b"set_int")
"""One of these is, in small letters, in each of them."""


def configures(data: bytes) -> bool:
    """Whether a file can configure GPUs by ``tf.config`` or the environment, so that it matters what has run before."""
    return any(map(_small(data).__contains__, _IN_CONFIGURES)) and any(map(data.__contains__, _CONFIGURES))


MATTERS, ABOUT, CONFIGURES, CARD = 1, 2, 4, 8
"""What `look` tells, by bits."""


def scan(data: bytes) -> int:
    """All that is asked about the code of one file: whether it `matters`, is `about_tensorflow`, `configures`
    something, `names_card`."""
    if not about_tensorflow(data):
        return CONFIGURES * configures(data)
    return ABOUT + MATTERS * may_matter(data) + CONFIGURES * configures(data) + CARD * names_card(data)


def scan_document(data: bytes) -> int:
    """The same of a document, of which no more is asked than whether something in it may matter."""
    return MATTERS * may_matter(data)
