"""JSON that strangers wrote: documents in which some values are of another type, huge, deep, or act on a terminal."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

ACTS = "\x1b[31m\n::error::broken"
"""A text that colours a terminal and is a command of GitHub's where it begins a line."""
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**31, 2**70, -(10**30), 1.5, float("nan"), float("inf"), "", "x" * 10_000, "a\0b"),
    *("../../../etc/hostname", "/etc/hostname", ACTS, "\ud800", [], {}, [[]], {"a": 1}, {"list": []}),
    *({"dict": [[{"list": []}, 1]]}, {"slice": [1, 2]}, {"complex": ["nan", 1]}, {"Span": [1, 2, 3, 4]}),
)


def broken(document: Any, chance: random.Random) -> Any:
    """Return a copy of a document of JSON with one to four values changed, added or taken away."""
    document = copy.deepcopy(document)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        places = list(_places(document))
        if not places:
            return document
        container, key = chance.choice(places)
        old = container[key]
        match chance.randrange(10):
            case 0 | 1 | 2 | 3:
                container[key] = copy.deepcopy(chance.choice(ODD))
            case 4 | 5 | 6 | 7:
                container[key] = chance.choice([odd for odd in ODD if type(odd) is type(old)] or ODD)
            case 8 if isinstance(container, list):
                container.append(old)
            case _:
                del container[key]
    return document


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container in a document, with each key or number of an item in it."""
    inner = list(enumerate(value)) if isinstance(value, list) else list(value.items()) if type(value) is dict else []
    for key, item in inner:
        yield value, key
        yield from _places(item)
