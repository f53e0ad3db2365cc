"""The regular expressions of the tool, and texts on which one that backtracks takes the square of its length."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import tfmemlint

try:
    from re import _constants as sre  # type: ignore[attr-defined]
    from re import _parser  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_constants as sre
    import sre_parse as _parser

SOURCES = Path(tfmemlint.__file__).parent
NOT_OF_STRANGERS = (".verify", ".doctor", ".fit", ".testing", "__main__", ".templates")
"""Parts that read what the tool itself, TensorFlow or the system has written."""
LONG = 50
"""Repeats up to this many times cost a constant, not a power of the text's length."""
ONLY_MATCHED = {"tfmemlint.sources.documents.prompts._OTHER_SHELL", "tfmemlint.text_checks.variables._SPACED"}
"""Patterns that are passed on under another name, and matched at one place there."""
METHODS = ("search", "finditer", "findall", "sub", "subn", "split", "match", "fullmatch")
ENDS = ("", "\0")
"""What is put after a text so that a pattern may fail there, and tries all other ways."""
_SAMPLES_OF_EACH = 2
_SAMPLES = "a0 \n\t_-.,:;=()[]{}<>'\"#$%&*+/\\|@^`~!?AZz\u00e9\u4e00"


class Use(NamedTuple):
    """A pattern, as a module uses it: to search from every place of a text, or at its start."""

    name: str
    pattern: re.Pattern[Any]
    method: str

    def on(self, text: Any) -> None:
        """Apply it to a text."""
        if self.method == "search":
            for _ in self.pattern.finditer(text):
                pass
        else:
            getattr(self.pattern, self.method)(text)


def uses() -> list[Use]:
    """Return the patterns that modules of the tool have in their names, each with the methods that are called."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCES.rglob("*.py"))}
    called: dict[tuple[str, str], set[str]] = {}
    for path, text in texts.items():
        for name, method in re.findall(rf"\b(\w+)\.({'|'.join(METHODS)})\b", text):
            for where in (str(path), ""):
                called.setdefault((where, name), set()).add(method)
    found: dict[tuple[re.Pattern[Any], str], Use] = {}
    for module in pkgutil.walk_packages([str(SOURCES)], "tfmemlint."):
        if any(part in module.name for part in NOT_OF_STRANGERS):
            continue
        imported = importlib.import_module(module.name)
        for name, pattern, method in _patterns(vars(imported)):
            own = called.get((str(imported.__file__), name)) or called.get(("", name)) or {"search"}
            for called_method in [method] if method else sorted(own):
                kind = called_method if called_method in ("match", "fullmatch") else "search"
                full = f"{module.name}.{name}"
                kind = "match" if full in ONLY_MATCHED else kind
                found.setdefault((pattern, kind), Use(full, pattern, kind))
    return list(found.values())


def _patterns(names: Mapping[str, Any]) -> Iterator[tuple[str, re.Pattern[Any], str]]:
    """Yield each pattern that a module or a class has under a name, with the method where that is what it has."""
    for name, value in list(names.items()):
        values: Iterable[Any] = [value]
        if isinstance(value, dict):
            values = itertools.chain(value, value.values())
        elif isinstance(value, (list, tuple, set, frozenset)):
            values = value
        elif isinstance(value, type) and value.__module__ == names.get("__name__"):
            yield from _patterns({key: each for key, each in vars(value).items() if not isinstance(each, type)})
        for each in values:
            if type(each).__name__ == "_LatePattern":
                each = re.compile(*each._asked)
            owner = getattr(each, "__self__", None)
            if isinstance(each, re.Pattern):
                yield name, each, ""
            elif isinstance(owner, re.Pattern):
                yield name, owner, each.__name__


def attacks(pattern: re.Pattern[Any], length: int) -> Iterator[Any]:
    """Yield texts of about ``length`` characters, each of which repeats what the pattern may repeat.

    There are three kinds: what is before a repeat once, then what is repeated; both again and again; and what is
    before it again and again, from where a search begins anew each time.
    """
    seen: set[tuple[str, str]] = set()
    chance = random.Random(0)
    try:
        tree = _parser.parse(
            pattern.pattern, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
        )
    except re.error:
        return
    for before, body in _repeats(list(tree), []):
        for _ in range(_SAMPLES_OF_EACH):
            start, unit = _sample(before, chance), _sample(body, chance)
            for head, again in ((start, unit), ("", start + unit), ("", start)):
                if again and (head, again) not in seen:
                    seen.add((head, again))
                    text = head + again * (length // len(again))
                    for end in ENDS:
                        yield (text + end).encode("utf-8") if isinstance(pattern.pattern, bytes) else text + end


def _repeats(nodes: list[Any], before: list[Any]) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield each repeat without a small limit: what is before it, and what it repeats."""
    before = list(before)
    for node in nodes:
        kind, about = node
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, getattr(sre, "POSSESSIVE_REPEAT", None)):
            _, most, body = about
            if most > LONG:
                yield before, list(body)
            yield from _repeats(list(body), before)
        elif kind is sre.SUBPATTERN:
            yield from _repeats(list(about[3]), before)
        elif kind is getattr(sre, "ATOMIC_GROUP", None):
            yield from _repeats(list(about), before)
        elif kind is sre.BRANCH:
            for branch in about[1]:
                yield from _repeats(list(branch), before)
        elif kind in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _repeats(list(about[1]), before)
        before.append(node)


def _sample(nodes: Iterable[Any], chance: random.Random) -> str:
    """Return a text that some nodes of a pattern match, as far as that is easy to say."""
    made = ""
    for kind, about in nodes:
        if kind is sre.LITERAL:
            made += chr(about)
        elif kind is sre.NOT_LITERAL:
            made += chance.choice([sign for sign in _SAMPLES if sign != chr(about)])
        elif kind is sre.ANY:
            made += chance.choice("a (")
        elif kind is sre.IN:
            made += chance.choice([sign for sign in _SAMPLES if _is_in(sign, about)] or [_first(about)])
        elif kind is sre.BRANCH:
            made += _sample(chance.choice(about[1]), chance)
        elif kind is sre.SUBPATTERN:
            made += _sample(about[3], chance)
        elif kind is getattr(sre, "ATOMIC_GROUP", None):
            made += _sample(about, chance)
        elif kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, getattr(sre, "POSSESSIVE_REPEAT", None)):
            least, most, body = about
            times = least if least or chance.random() < 0.5 else min(most, 1)
            made += "".join(_sample(body, chance) for _ in range(min(times, LONG)))
    return made


def _first(about: list[Any]) -> str:
    kind, what = about[-1]
    return chr(what) if kind is sre.LITERAL else chr(what[0]) if kind is sre.RANGE else "a"


_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}


def _is_in(sign: str, about: list[Any]) -> bool:
    negated, inside = False, False
    for kind, what in about:
        if kind is sre.NEGATE:
            negated = True
        elif kind is sre.LITERAL:
            inside |= ord(sign) == what
        elif kind is sre.RANGE:
            inside |= what[0] <= ord(sign) <= what[1]
        elif kind is sre.CATEGORY:
            inside |= re.match(_CATEGORIES[what], sign) is not None
    return inside != negated
