"""What becomes of ``NAME=VALUE`` in the environment of a program that uses TensorFlow, wherever it is written: in
Python, a Dockerfile, a shell script, a compose file.

These are plain functions of two strings. What a program does besides (whether it reads the variable itself, whether it
uses JAX) is for whoever asks. Sources: `knowledge.environment` (measured), and on values the runs of
``tests/verify/claim_scenarios.py`` on the simulated driver. What CUDA makes of ``CUDA_VISIBLE_DEVICES`` is as NVIDIA
describes it: entries up to the first invalid one count, and a card that is named twice hides all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import zip_longest
from typing import NamedTuple

from tfmemlint.knowledge import environment, named
from tfmemlint.model.intent import Wish

GROWTH = "TF_FORCE_GPU_ALLOW_GROWTH"
ALLOCATOR = "TF_GPU_ALLOCATOR"
VISIBLE = "CUDA_VISIBLE_DEVICES"

TRUE_WORDS = frozenset({"true", "1", "yes", "on", "y", "t", "enable", "enabled"})
FALSE_WORDS = frozenset({"false", "0", "no", "off", "n", "f", "disable", "disabled"})

_DEFAULT_ALLOCATORS = frozenset({"", "bfc", "gpu_bfc", "default"})
_NO_GPU = frozenset({"", "-1", "none", "no", "null", "cpu", "void", "nodevfiles", "false", "off"})
_REAL = ("CUDA_DEVICE_ORDER", *environment.VARIABLES)
_UNLIKE = frozenset({"CPU", "GPU", "TPU", "XPU", "NPU", "IPU", "HIP", "CUDA", "ROCR", "MUSA", "TF", "XLA", "CPP"})
"""Words that stand for different things, however alike they are written."""
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
"""Words, in small letters, that speak of who owns a variable."""
_NO_SIGN = r"XLA_PYTHON_CLIENT_\w+|PYTORCH_(?!VER)\w+|TF_MEMORY_\w+|(?i:ajax|chexpert)"
"""What has such words in it and speaks of nobody: the variables themselves, which are there in any case (but where a
release of PyTorch is named, PyTorch is there), and words that only look so."""


class BadName(NamedTuple):
    """A variable that TensorFlow does not read under this name.

    Attributes:
        kind: ``invisible`` (characters that can't be seen, or look like others), ``typo`` (nearly the name of a real
            one), ``made-up``, ``foreign`` (another library's).
        wish: what was wanted. real: the variable that was meant, "" where TensorFlow has none for it.
        owner: whose a foreign one is.
    """

    kind: str
    wish: Wish
    real: str = ""
    owner: str = ""


class BadValue(NamedTuple):
    """A value that has no effect, or another one than it seems to.

    Attributes:
        kind: ``growth``, ``allocator``, ``visible``, ``twice`` (a card is named twice).
        meant: the value that was meant, "" where that isn't plain.
        harmless: what is in force without it is what the value asks for.
    """

    kind: str
    meant: str = ""
    harmless: bool = False


def judge_name(name: str) -> BadName | None:
    """What is wrong with the name of a variable; None where nothing is, or nothing is known."""
    if name in environment.VARIABLES or name.startswith("TF_CPP_"):
        return None
    plain = _plain(name)
    if plain != name and plain in _REAL:
        return BadName("invisible", _wish_of_real(plain), plain)
    wish = environment.wish_of(name)
    if wish is None and _nearest(name) is None:
        return BadName("made-up", Wish.OTHER) if _goes_on(name) and named.named(name) is None else None
    known = named.named(name)
    if known is not None and not (name in environment.MADE_UP and known.letters == "t"):
        # A message in 2.16 mentions XLA_PYTHON_CLIENT_MEM_FRACTION, which nothing there reads.
        return None
    if name in environment.OTHERS:
        return BadName("foreign", wish or Wish.OTHER, GROWTH if wish is Wish.GROWTH else "", environment.OTHERS[name])
    near = _nearest(name)
    if near is not None:
        return BadName("typo", _wish_of_real(near), near)
    real = GROWTH if wish is Wish.GROWTH else ""
    return BadName("made-up", wish or Wish.OTHER, real)


def shows_owner(text: str, owner: str) -> bool:
    """Whether a text, of whatever kind, speaks of the library ``owner`` (`BadName.owner`), or of one that is built on
    it: its variables are then set for that. In doubt it does."""
    words = _OWNERS[owner]
    # Nearly all texts have none of the words at all, which is told sooner.
    return _has(text, words) and _has(re.sub(_NO_SIGN, "", text), words)


def _has(text: str, words: Iterable[str]) -> bool:
    small = text.lower()
    return any(word in small for word in words)


def judge_value(name: str, value: str) -> BadValue | None:
    """What is wrong with a value of a real variable; None where nothing is, or nothing is known."""
    if run_together(name, value):
        return None
    if name == GROWTH and value not in ("true", "false", ""):
        return _growth_value(value)
    if name == ALLOCATOR and value not in (environment.allowed(name) or ()):
        word = re.sub(r"[^a-z]", "", value.lower())
        if word in {name.replace("_", "") for name in _DEFAULT_ALLOCATORS}:
            return None
        meant = {value.replace("_", ""): value for value in environment.allowed(name) or ()}.get(word, "")
        return BadValue("allocator", meant)
    if name == VISIBLE:
        return _visible_value(value)
    return None


def wants_growth(name: str, value: str | None) -> bool | None:
    """Whether the value of a variable about growth asks for it; None where no word says so. JAX's variable asks whether
    all memory is to be taken at once, which is the opposite."""
    word = (value or "").strip().lower()
    asked = True if word in TRUE_WORDS else False if word in FALSE_WORDS else None
    return (not asked if asked is not None else None) if name.endswith("_PREALLOCATE") else asked


def run_together(name: str, value: str) -> tuple[tuple[str, str], ...]:
    """The settings that one value holds, as ``(name, value)`` each; empty where it is one setting, as it should be."""
    if environment.read_at(name) is None or name.endswith("_FLAGS") or "=" not in value:
        return ()
    parts = _SETTING.split(value)
    found = [(name, parts[0].strip().strip("'\""))]
    for other, given in zip(parts[1::2], parts[2::2], strict=True):
        if environment.read_at(other) is None and named.named(other) is None:
            return ()
        found.append((other, given.strip().strip("'\"")))
    return tuple(found) if len(found) > 1 else ()


_SETTING = re.compile(r"(?:^|[\s,;&]+)(?:export\s+)?((?:TF|CUDA|XLA|NCCL)_[A-Z0-9_]+)\s*=")


def hides_all(value: str) -> bool:
    """Whether somebody who writes this value of ``CUDA_VISIBLE_DEVICES`` wants no GPU at all."""
    word = value.strip().strip("'\"").lower()
    return word in _NO_GPU or word.startswith("-")


def shown(value: str) -> tuple[str, ...] | None:
    """The cards that a value of ``CUDA_VISIBLE_DEVICES`` shows, in the order in which TensorFlow numbers them; None
    where that can't be told (UUIDs, what is no number)."""
    entries = tuple(part.strip() for part in value.split(","))
    if all(part.isascii() and part.isdigit() for part in entries) and len(set(entries)) == len(entries):
        return tuple(str(int(part)) for part in entries)
    return None


def _growth_value(value: str) -> BadValue:
    word = value.strip().strip("'\"").lower()
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
    """A name as it looks: without what can't be seen, and with plain letters for those that look like them."""
    if name.isascii() and name.strip() == name and name.isprintable():
        return name
    import unicodedata  # a library of its own, which nearly no file needs

    seen = "".join(
        character
        for character in unicodedata.normalize("NFKC", name)
        if unicodedata.category(character) not in ("Cf", "Cc")
    )
    return seen.translate(_LOOKALIKES).strip()


def _wish_of_real(name: str) -> Wish:
    wishes = {
        GROWTH: Wish.GROWTH,
        ALLOCATOR: Wish.ALLOCATOR,
        VISIBLE: Wish.VISIBLE,
        "TF_PER_DEVICE_MEMORY_LIMIT_MB": Wish.LIMIT,
    }
    return wishes.get(name, Wish.OTHER)


def _nearest(name: str) -> str | None:
    """The one real variable about GPUs that a name is a misspelling of."""
    upper = name.upper()
    if "_" not in upper or upper in _REAL or not upper.startswith(("TF_", "CUDA_", "CUDAVIS", "CUDA-")):
        return None
    words = upper.split("_")
    near = [real for real in _REAL if _about_gpus(real) and _is_misspelt(words, real.split("_"))]
    return near[0] if len(near) == 1 else None


def _goes_on(name: str) -> bool:
    """Whether a name begins with the whole name of a real variable about GPUs, or about its asynchronous allocator, and
    says more: ``TF_CUDA_MALLOC_ASYNC_SUPPORTED_PREALLOC_SIZE_BYTES``."""
    if not name.startswith("TF_"):
        return False
    begins = ("TF_CUDA_MALLOC_ASYNC", *(real for real in _REAL if _about_gpus(real) and real.startswith("TF_")))
    return any(name.startswith(f"{real}_") for real in begins)


def _about_gpus(name: str) -> bool:
    moment = environment.read_at(name)
    return name == "CUDA_DEVICE_ORDER" or moment in (environment.Moment.LISTING, environment.Moment.DEVICES)


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
    """Whether a word is another one with a letter too many, too few, wrong, or with two of them swapped (two letters of
    a long word)."""
    most = 2 if len(meant) >= 7 else 1
    return len(meant) > 3 and _distance(word, meant, most) <= most


def _distance(left: str, right: str, most: int) -> int:
    """How many letters are to be changed, added, dropped or swapped with their neighbour; more than ``most`` is not
    told apart."""
    if abs(len(left) - len(right)) > most:
        return most + 1
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
