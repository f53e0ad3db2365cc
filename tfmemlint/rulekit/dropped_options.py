"""An option of a command line that no parser of the program declares, and that ``parse_known_args`` drops.

``python train.py --gpu-mem-limit 4096`` where the program declares ``--gpu-memory-limit``: this stays as it is by
default, and nothing is raised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from tfmemlint.interpreter.state.texts import OptionsDropped
from tfmemlint.model.intent import Purpose
from tfmemlint.model.records import record
from tfmemlint.rulekit.command_lines import drops_the_rest, texts_of

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program

_ABOUT_GPUS = re.compile(r"(?i)--[\w-]{0,60}(?:gpu|mem(?:ory)?(?![a-z])|cuda|device|vram|growth|frac)")
_CONFIGURES = re.compile(
    r"memory_growth|(?:logical|virtual|visible)_device|VISIBLE_DEVICES|(?i:allow_growth)|per_process_gpu_memory_fraction"
)
"""Finds modules that configure GPUs."""
_SAME = {
    "mem": "memory", "vram": "memory", "lim": "limit", "limits": "limit", "max": "limit", "maximum": "limit",
    "cap": "limit", "frac": "fraction", "share": "fraction", "ratio": "fraction", "grow": "growth", "gpus": "gpu",
    "cuda": "gpu", "device": "gpu", "devices": "gpu", "index": "id", "idx": "id",
}  # fmt: skip
"""Words that are written for each other."""
_AMOUNTS = frozenset({"limit", "fraction"})
_TELLING = frozenset({"memory", "growth", "visible", "id"}) | _AMOUNTS
"""One of these has to be in both names: a number of GPUs (``--gpus``) is no number of a GPU (``--gpu``)."""
_UNIMPORTANT = frozenset(
    {"gpu", "memory", "tf", "tensorflow", "per", "process", "allow", "enable", "use", "set", "mb", "mib"}
)
"""Names that differ by these are about the same."""
_WORD = re.compile(r"[a-z]+|[0-9]+")
_SIMILARITY = 0.8
"""That of two words of which one is a misspelling of the other: ``memroy`` and ``memory`` have 0.83."""
_MIN_LETTERS = 4
"""Letters of a word that may be misspelt: shorter ones are words of their own (``min`` and ``max``)."""


@record(frozen=True, slots=True)
class DroppedOptions:
    """Options that one call drops: as they are ``given``, and those that are ``meant``, in the same order."""

    event: OptionsDropped
    given: tuple[str, ...]
    meant: tuple[str, ...]


def dropped_options(program: Program) -> Iterator[DroppedOptions]:
    """Yield the calls that drop options about GPU memory for which the program has others that are alike."""
    events = list(program.of(OptionsDropped))
    if not events or program.gave_up or not any(_CONFIGURES.search(unit.source.text) for unit in program.units):
        return
    if not drops_the_rest([unit.tree for unit in program.units]):
        return
    texts = texts_of([unit.tree for unit in program.units])
    seen: set[object] = set()
    for event in events:
        pairs = [
            (name, meant)
            for name in event.given
            if _ABOUT_GPUS.match(name) and not _is_in(name, texts) and (meant := _meant(name, event))
        ]
        place = event.path, event.span
        if pairs and place not in seen:
            seen.add(place)
            yield DroppedOptions(event, tuple(given for given, _ in pairs), tuple(meant for _, meant in pairs))


def _is_in(name: str, texts: frozenset[str]) -> bool:
    """True if a text of the program is an option, is one that begins so, or is what it is called without dashes."""
    plain = name.lstrip("-")
    return bool({plain, plain.replace("-", "_")} & texts) or any(text.startswith(name) for text in texts)


def _meant(name: str, event: OptionsDropped) -> str:
    """Return the option that is alike, is about GPUs and is not given; "" if there is none, or several."""
    given = {(word or "").partition("=")[0] for word in event.words}
    found = []
    for names in event.declared:
        if any(each in given or any(len(word) > 2 and each.startswith(word) for word in given) for each in names):
            continue
        near = [each for each in names if each.startswith("--") and _ABOUT_GPUS.match(each) and _are_alike(name, each)]
        found += near[:1]
    return found[0] if len(found) == 1 else ""


def _are_alike(given: str, declared: str) -> bool:
    """True if two names of options are about one thing: the words are the same, or misspelt, or some say no more."""
    words, others = _WORD.findall(given.lower()), _WORD.findall(declared.lower())
    own, theirs = ({_SAME.get(word, word) for word in each} for each in (words, others))
    if not theirs & _TELLING:
        return False
    if "".join(words) == "".join(others) or (len(words) == len(others) and all(map(_is_misspelt, words, others))):
        return True
    differing = own ^ theirs
    if "gpu" in own & theirs and {"memory"} in (own & _TELLING, theirs & _TELLING) and len(differing & _AMOUNTS) == 1:
        # ``--gpu-memory`` is an amount, or a share.
        differing -= _AMOUNTS
    return bool(own & theirs & _TELLING) and differing <= _UNIMPORTANT


def _is_misspelt(word: str, other: str) -> bool:
    """True if two words are the same, or written for each other, or alike."""
    if _SAME.get(word, word) == _SAME.get(other, other):
        return True
    long = min(len(word), len(other)) >= _MIN_LETTERS and word.isalpha() and other.isalpha()
    return long and SequenceMatcher(None, word, other).ratio() >= _SIMILARITY


def purpose_of(option: str) -> Purpose:
    """Return what an option about GPUs is for, by its name."""
    words = {_SAME.get(word, word) for word in _WORD.findall(option.lower())}
    if "growth" in words:
        return Purpose.GROWTH
    if "fraction" in words:
        return Purpose.FRACTION
    return Purpose.LIMIT if words & {"memory", "limit"} else Purpose.VISIBLE
