"""The effect of ``NAME=VALUE`` in the environment of a program that uses TensorFlow.

The setting may come from Python, a Dockerfile, a shell script or a compose file. These are pure functions of two
strings; the caller knows the rest of the program (if it reads the variable itself, or uses JAX). Sources:
`knowledge.environment` (measured), and for values the runs of ``tests/verify/claim_scenarios.py`` on the simulated
driver. ``CUDA_VISIBLE_DEVICES`` is judged as NVIDIA documents it: CUDA uses the entries before the first invalid one,
and a GPU that is listed twice hides all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import zip_longest
from typing import NamedTuple

from tfmemlint.knowledge import environment, named
from tfmemlint.model.intent import Purpose
from tfmemlint.model.patterns import late_pattern

GROWTH = "TF_FORCE_GPU_ALLOW_GROWTH"
ALLOCATOR = "TF_GPU_ALLOCATOR"
VISIBLE = "CUDA_VISIBLE_DEVICES"

TRUE_WORDS = frozenset({"true", "1", "yes", "on", "y", "t", "enable", "enabled"})
FALSE_WORDS = frozenset({"false", "0", "no", "off", "n", "f", "disable", "disabled"})

ORDER = "CUDA_DEVICE_ORDER"
CONTAINER = "NVIDIA_VISIBLE_DEVICES"
_ORDERS = ("FASTEST_FIRST", "PCI_BUS_ID")
NUMBERS = {
    "TF_PER_DEVICE_MEMORY_LIMIT_MB": "aborts",
    "TF_CUDA_MALLOC_ASYNC_SUPPORTED_PREALLOC": "aborts",
    "TF_GPU_HOST_MEM_LIMIT_IN_MB": "default",
    "TF_DEVICE_MIN_SYS_MEMORY_IN_MB": "default",
    "TF_MIN_GPU_MULTIPROCESSOR_COUNT": "default",
}
"""Variables that are whole numbers: ``aborts`` if a value that is none ends the process by a failed check, ``default``
if the default is used. Seen on 2.21, as the words of the next table (``tests/verify/claim_scenarios.py``)."""
WORDS = {
    "TF_GPU_THREAD_MODE": ("raises", ("global", "gpu_shared", "gpu_private")),
    "TF_CUDA_PLATFORM_GPU_DEVICE_SCHEDULE": ("aborts", ("spin", "yield", "blocking_sync")),
    "TF_ENABLE_GPU_GARBAGE_COLLECTION": ("default", ("true", "false", "1", "0", "")),
}
"""Variables that are one of a few words; ``raises``: an InvalidArgumentError, when the devices are made."""
_ALL_IN_CONTAINER = frozenset({"all", "none", "void", ""})

_DEFAULT_ALLOCATORS = frozenset({"", "bfc", "gpu_bfc", "default"})
_NO_GPU = frozenset({"", "-1", "none", "no", "null", "cpu", "void", "nodevfiles", "false", "off"})
_REAL = (ORDER, *environment.VARIABLES)
_UNLIKE = frozenset({"CPU", "GPU", "TPU", "XPU", "NPU", "IPU", "HIP", "CUDA", "ROCR", "MUSA", "TF", "XLA", "CPP"})
"""Words with different meanings, however similar their spellings."""
_LOOKALIKES = str.maketrans(
    "\u0410\u0412\u0421\u0415\u041d\u0406\u0408\u041a\u041c\u041e\u0420\u0405\u0422\u0425\u0423"
    "\u0391\u0392\u0395\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7\u03a5\u0396\u2010\u2011\u2013\u2014\uff3f",
    "ABCEHIJKMOPSTXYABEHIKMNOPTXYZ_____",
)

_OWNERS = {
    "JAX": ("jax", "flax", "haiku", "optax", "orbax", "numpyro", "equinox", "alphafold", "trax", "brax", "chex"),
    "PyTorch": ("torch", "lightning", "transformers", "fastai", "ultralytics", "diffusers"),
    "NVTabular": ("nvtabular", "merlin", "rapids"),
}
"""Lower-case words that show that a text is about the owner of a variable."""
_NOT_A_SIGN = r"XLA_PYTHON_CLIENT_\w+|PYTORCH_(?!VER)\w+|TF_MEMORY_\w+|(?i:ajax|chexpert)"
"""Matches that contain such words but show nothing: the variables themselves, which are there in any case (but a text
that names a release of PyTorch is about PyTorch), and words that only look similar."""


class BadName(NamedTuple):
    """A variable that TensorFlow does not read under this name.

    Attributes:
        kind: ``invisible`` (invisible characters, or characters that look like others), ``typo`` (nearly the name of a
            real variable), ``made-up``, ``foreign`` (another library's).
        purpose: what the author wanted.
        real: the variable that the author meant, "" if TensorFlow has none for the purpose.
        owner: the library that a ``foreign`` variable belongs to.
    """

    kind: str
    purpose: Purpose
    real: str = ""
    owner: str = ""


class BadValue(NamedTuple):
    """A value that has no effect, or another effect than it seems to have.

    Attributes:
        kind: ``growth``, ``allocator``, ``visible``, ``twice`` (a GPU is listed twice), ``alike`` (characters that
            only look like ASCII), ``number`` (no whole number), ``bytes`` (so many MiB that no GPU has them), ``word``
            (none of a few), ``order`` (of GPUs), ``container`` (no GPUs of a container).
        meant: the value that the author meant, "" if that is not clear.
        harmless: True if the default does what the value asks for.
    """

    kind: str
    meant: str = ""
    harmless: bool = False


def judge_name(name: str) -> BadName | None:
    """Return what is wrong with the name of a variable; None if nothing is, or nothing is known."""
    if name in environment.VARIABLES or (name.startswith("TF_CPP_") and _in_another_place(name) is None):
        return None
    plain = _plain(name)
    plain = plain.rstrip("=") if plain != name else plain
    if plain != name and plain in _REAL:
        return BadName("invisible", _purpose_of_real(plain), plain)
    purpose = environment.purpose_of(name)
    if purpose is None and _nearest(name) is None:
        return BadName("made-up", Purpose.OTHER) if _extends_a_real_name(name) and named.named(name) is None else None
    known = named.named(name)
    if known is not None and not (name in environment.MADE_UP and known.letters == "t"):
        # A message in 2.16 mentions XLA_PYTHON_CLIENT_MEM_FRACTION, which nothing there reads.
        return None
    if name in environment.OTHERS:
        return BadName(
            "foreign", purpose or Purpose.OTHER, GROWTH if purpose is Purpose.GROWTH else "", environment.OTHERS[name]
        )
    near = _nearest(name)
    if near is not None:
        return BadName("typo", _purpose_of_real(near), near)
    real = GROWTH if purpose is Purpose.GROWTH else ""
    return BadName("made-up", purpose or Purpose.OTHER, real)


def shows_owner(text: str, owner: str) -> bool:
    """Return True if a text of any kind mentions the library ``owner`` (`BadName.owner`), or a library built on it: its
    variables are then set for that library. Return True in case of doubt."""
    words = _OWNERS[owner]
    # Nearly all texts have none of the words; the first test is the faster one.
    return _has(text, words) and _has(re.sub(_NOT_A_SIGN, "", text), words)


def _has(text: str, words: Iterable[str]) -> bool:
    small = text.lower()
    return any(word in small for word in words)


def judge_value(name: str, value: str) -> BadValue | None:
    """Return what is wrong with a value of a real variable; None if nothing is, or nothing is known."""
    if run_together(name, value):
        return None
    if name == GROWTH and value not in ("true", "false", ""):
        return _growth_value(value)
    if name == ALLOCATOR and value not in (environment.allowed(name) or ()):
        word = re.sub(r"[^a-z]", "", _plain(value).lower())
        if word in {name.replace("_", "") for name in _DEFAULT_ALLOCATORS}:
            return None
        known = environment.allowed(name) or ()
        words = sorted(re.findall(r"[a-z]+", _plain(value).lower()))
        meant = next(
            (each for each in known if each.replace("_", "") == word or sorted(each.split("_")) == words),
            "",
        ) or next((each for each in known if _is_near(word, each.replace("_", ""))), "")
        return BadValue("allocator", meant)
    if name == VISIBLE:
        return _alike(value) or _visible_value(value)
    if name in NUMBERS:
        return _number_value(name, value)
    if name in WORDS and value.lower() not in WORDS[name][1]:
        word = re.sub(r"[^a-z]", "", value.lower())
        meant = {known.replace("_", ""): known for known in WORDS[name][1] if known}.get(word, "")
        return BadValue("word", meant or _truth(name, value))
    if name == ORDER and value.strip().upper() not in _ORDERS:
        near = [order for order in _ORDERS if _distance(value.strip().upper(), order, 2) <= 2]
        return BadValue("order", near[0] if near else "")
    if name == CONTAINER:
        return _container_value(value)
    return None


def is_judged(name: str) -> bool:
    """Return True if something is known about the values of a variable."""
    return environment.read_at(name) is not None or name in (ORDER, CONTAINER)


def _truth(name: str, value: str) -> str:
    """Return ``true`` or ``false`` for a word that means as much, of a variable that is one of these."""
    wanted = wants_growth(name, value) if "true" in WORDS[name][1] else None
    return "" if wanted is None else str(wanted).lower()


def _alike(value: str) -> BadValue | None:
    """Judge digits and commas of other scripts, and invisible characters: CUDA reads ASCII."""
    return None if value.isascii() else BadValue("alike", _plain(value) if _plain(value).isascii() else "")


def _number_value(name: str, value: str) -> BadValue | None:
    if re.fullmatch(r"\s*[+-]?\d+\s*", value, re.ASCII):
        is_bytes = "LIMIT" in name and int(value) >= _LEAST_BYTES
        return BadValue("bytes", str(int(value) // 2**20)) if is_bytes else None
    if "$" in value or (not value and NUMBERS[name] == "default"):
        return None
    amount = re.fullmatch(r"\s*(\d+)\s*(M|MB|MiB|G|GB|GiB)\s*", value, re.ASCII | re.IGNORECASE)
    if amount is None or "_MB" not in name:
        return BadValue("number")
    return BadValue("number", str(int(amount[1]) * (1024 if amount[2][0] in "gG" else 1)))


_LEAST_BYTES = 2**26
"""As MiB, 64 TiB; from there on a number is one of bytes."""


def _container_value(value: str) -> BadValue | None:
    """Judge the GPUs of a container, as the documentation of NVIDIA's Container Toolkit has them.

    A GPU that is not known ends the start of the container: ``nvidia-container-cli: device error: 4: unknown device``
    (NVIDIA/enroot#207, NVIDIA/nvidia-docker#1283).
    """
    if value.strip().lower() in _ALL_IN_CONTAINER or "$" in value or "{" in value:
        return None
    numbers = [
        re.fullmatch(r"(?:/?(?:device:)?gpu|cuda)[:_]?(\d+)", part.strip(), re.IGNORECASE) for part in value.split(",")
    ]
    meant = [found[1] for found in numbers if found is not None]
    return BadValue("container", ",".join(meant)) if len(meant) == len(numbers) else None


def wants_growth(name: str, value: str | None) -> bool | None:
    """Return True if the value of a growth variable enables growth; None if no known word states it. JAX's variable
    states that all memory is allocated at once, which is the opposite."""
    word = (value or "").strip().lower()
    asked = True if word in TRUE_WORDS else False if word in FALSE_WORDS else None
    return (not asked if asked is not None else None) if name.endswith("_PREALLOCATE") else asked


def run_together(name: str, value: str) -> tuple[tuple[str, str], ...]:
    """Return the settings that one value contains, as ``(name, value)`` each; empty if it is a single setting, as it
    should be."""
    if environment.read_at(name) is None or name.endswith("_FLAGS") or "=" not in value:
        return ()
    parts = _SETTING.split(value)
    found = [(name, parts[0].strip().strip("'\""))]
    for other, given in zip(parts[1::2], parts[2::2], strict=True):
        if environment.read_at(other) is None and named.named(other) is None:
            return ()
        found.append((other, given.strip().strip("'\"")))
    return tuple(found) if len(found) > 1 else ()


_SETTING = late_pattern(r"(?:^|(?<![\s,;&])[\s,;&]+)(?:export\s+)?((?:TF|CUDA|XLA|NCCL)_[A-Z0-9_]+)\s*=")


def hides_all(value: str) -> bool:
    """Return True if the author of this value of ``CUDA_VISIBLE_DEVICES`` intends to hide all GPUs."""
    word = value.strip().strip("'\"").lower()
    return word in _NO_GPU or word.startswith("-")


def shown(value: str) -> tuple[str, ...] | None:
    """Return the GPUs that a value of ``CUDA_VISIBLE_DEVICES`` shows, in TensorFlow's order; None if that is unknown
    (UUIDs, entries that are not numbers)."""
    entries = tuple(part.strip() for part in value.split(","))
    if all(part.isascii() and part.isdigit() for part in entries) and len(set(entries)) == len(entries):
        return tuple(str(int(part)) for part in entries)
    return None


def _growth_value(value: str) -> BadValue:
    word = _plain(value).strip().strip("'\"").lower()
    if word in TRUE_WORDS:
        return BadValue("growth", "true")
    return BadValue("growth", "false", harmless=True) if word in FALSE_WORDS else BadValue("growth")


def _visible_value(value: str) -> BadValue | None:
    word = value.strip().strip("'\"").lower()
    if hides_all(value):
        return None
    entries = [part.strip() for part in value.split(",")]
    first = entries[0]
    if first[:1].isdigit():
        numbers = [part for part in entries if part.isascii() and part.isdigit()]
        twice = len(set(numbers)) < len(numbers) == len(entries)
        return BadValue("twice", ",".join(dict.fromkeys(entries))) if twice else None
    if first.startswith(("GPU-", "MIG-")):
        return None
    digits = re.fullmatch(r"[\[(]?((?:(?:/?(?:device:)?gpu|cuda):?)?\s*\d+(?:\s*,\s*(?:gpu|cuda)?:?\d+)*)[\])]?", word)
    meant = ",".join(re.findall(r"\d+", digits[1])) if digits is not None else ""
    return BadValue("visible", meant)


def _plain(name: str) -> str:
    """Return a name as it looks: without invisible characters, and with plain letters in place of look-alikes."""
    if name.isascii() and name.strip() == name and name.isprintable():
        return name
    import unicodedata  # imported only if needed: nearly no file needs it

    seen = "".join(
        character
        for character in unicodedata.normalize("NFKC", name)
        if unicodedata.category(character) not in ("Cf", "Cc")
    )
    return seen.translate(_LOOKALIKES).strip()


def _purpose_of_real(name: str) -> Purpose:
    purposes = {
        GROWTH: Purpose.GROWTH,
        ALLOCATOR: Purpose.ALLOCATOR,
        VISIBLE: Purpose.VISIBLE,
        "TF_PER_DEVICE_MEMORY_LIMIT_MB": Purpose.LIMIT,
    }
    return purposes.get(name, Purpose.OTHER)


def _nearest(name: str) -> str | None:
    """Return the one real variable about GPUs that a name misspells."""
    upper = name.upper()
    if "_" not in upper or upper in _REAL or not upper.startswith(("TF_", "CUDA_", "CUDAVIS", "CUDA-")):
        return None
    words = upper.split("_")
    near = [real for real in _REAL if _about_gpus(real) and _is_misspelt(words, real.split("_"))]
    return near[0] if len(near) == 1 else _in_another_place(name)


def _in_another_place(name: str) -> str | None:
    """Return the real variable about GPUs that has the words of a made-up one, but for a word that other variables of
    TensorFlow have there (``TF_CPP_GPU_THREAD_MODE``), or without the unit at its end."""
    if name in _REAL or named.named(name) is not None or not name.startswith("TF_"):
        return None
    plain = name.replace("TF_CPP_", "TF_", 1)
    same = [real for real in _REAL if _about_gpus(real) and _without_unit(real) == _without_unit(plain)]
    return same[0] if len(same) == 1 and len(plain.split("_")) > 2 else None


def _without_unit(name: str) -> str:
    return re.sub(r"(?:_IN)?(?:_MBS?|_MIB|_BYTES|_GB)?$", "", name)


def _extends_a_real_name(name: str) -> bool:
    """Return True if a name starts with the whole name of a real variable about GPUs, or about its asynchronous
    allocator, and continues: ``TF_CUDA_MALLOC_ASYNC_SUPPORTED_PREALLOC_SIZE_BYTES``."""
    if not name.startswith("TF_"):
        return False
    begins = ("TF_CUDA_MALLOC_ASYNC", *(real for real in _REAL if _about_gpus(real) and real.startswith("TF_")))
    return any(name.startswith(f"{real}_") for real in begins)


def _about_gpus(name: str) -> bool:
    moment = environment.read_at(name)
    gpu_moments = (environment.Moment.LISTING, environment.Moment.DEVICES, environment.Moment.CONVOLUTION)
    return name == ORDER or moment in gpu_moments


def _is_misspelt(words: list[str], real: list[str]) -> bool:
    if len(real) < 3:
        return False
    if len(words) == len(real) and sorted(words) == sorted(real):
        # The right words in another order: TF_FORCE_ALLOW_GPU_GROWTH.
        return len(real) > 3
    wrong = 0
    for word, meant in zip_longest(words, real, fillvalue=""):
        if word == meant:
            continue
        if {word, meant} & _UNLIKE or not _is_near(word, meant):
            return False
        wrong += 1
    return wrong == 1


def _is_near(word: str, meant: str) -> bool:
    """Return True if ``word`` differs from ``meant`` by one letter added, missing, wrong, or swapped (two letters if
    long)."""
    most_edits = 2 if len(meant) >= 7 else 1
    return len(meant) > 3 and _distance(word, meant, most_edits) <= most_edits


def _distance(left: str, right: str, most_edits: int) -> int:
    """Return the number of letters to change, add, drop or swap with a neighbour; at most ``most_edits + 1``."""
    if abs(len(left) - len(right)) > most_edits:
        return most_edits + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, character in enumerate(left, 1):
        last, row, older = row, [i], before
        for j, other in enumerate(right, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (character != other))
            if i > 1 and j > 1 and character == right[j - 2] and left[i - 2] == other:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        before = last
    return row[-1]
