"""``NAME=value`` among the words of a command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tfmemlint.sources.config_files.names import NAME
from tfmemlint.sources.config_files.shell.lexer import Word

_UNQUOTED = re.compile(r"[^'\"]*")
_SEVERAL = re.compile(r",|\.\.")
_LOOKS_LIKE_NAME = re.compile(r"[^\x00-\x20\x7f!-/:-@\[-^`{-~]+(?=\+?=)")
"""Letters, digits and underscores, and whatever is not ASCII."""


class Given(NamedTuple):
    """A variable that a command sets: its name and value (None if unknown), and their places within the word: ``start``
    and ``end`` of the name, ``given`` and ``stop`` of the value."""

    name: str
    value: str | None
    start: int
    end: int
    given: int
    stop: int
    quote: str | None = ""
    how: str = "prefix"


def assignment(word: Word, how: str = "prefix") -> Given | None:
    """Return the assignment ``NAME=value`` of a word, with or without quotes around all of it; None for any other
    word."""
    raw, shift = word.raw, 0
    whole = ""
    if len(raw) > 1 and raw[0] in "'\"" and raw[-1] == raw[0] and raw[0] not in raw[1:-1]:
        whole, raw, shift = raw[0], raw[1:-1], 1
    name = _name(raw)
    if name is None:
        return _with_other_sign(word, how) if not whole and not raw.isascii() else None
    value = None
    after = name.end() + (2 if raw[name.end()] == "+" else 1)
    if word.value is not None and raw[name.end()] != "+":
        value = word.value[name.end() + 1 :] if word.value.startswith(name[0] + "=") else None
    given = raw[after:]
    if value is not None and not whole and _is_expanded(given):
        value = None
    start = word.start + shift
    quote: str | None = ""
    if whole:
        quote = whole if value == given else None
        return Given(name[0], value, start, start + name.end(), start + after, start + len(raw), _inner(quote), how)
    if given[:1] in ("'", '"') and len(given) > 1:
        quote = given[0] if given[-1] == given[0] and given[1:-1] == value else None
    elif value != given:
        quote = None
    return Given(name[0], value, start, start + name.end(), start + after, start + len(raw), quote, how)


_OTHER_SIGN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*[\uff1d\ufe66]", re.ASCII)
"""A name before a full-width or a small equals sign, which is a part of the word to a shell."""


def _with_other_sign(word: Word, how: str) -> Given | None:
    """Return what looks like an assignment and is none, for its sign is another character; the name has that sign."""
    name = _OTHER_SIGN.match(word.raw)
    if name is None:
        return None
    start, end = word.start, word.start + name.end()
    return Given(name[0], word.raw[name.end() :].strip("'\""), start, end, end, word.start + len(word.raw), None, how)


def disguised_export(words: Sequence[Word]) -> list[Given]:
    """Return the variables of an ``export`` that a shell does not know for one: in the word are invisible characters,
    or spaces that are none to it."""
    first = words[0].raw if words else ""
    if first.isascii():
        return []
    import unicodedata  # imported only if needed: nearly no file needs it

    plain = "".join(char for char in unicodedata.normalize("NFKC", first) if unicodedata.category(char) != "Cf")
    command, _, rest = plain.strip().partition(" ")
    if command not in ("export", "declare", "typeset", "readonly"):
        return []
    name, equals, value = rest.partition("=")
    found = [given for word in words[1:] if (given := assignment(word, "export")) is not None]
    if equals and NAME.fullmatch(name.strip()):
        start, end = words[0].start, words[0].start + len(first)
        found.insert(0, Given(name.strip(), value, start, end, start, end, None, "export"))
    return found


def _is_expanded(given: str) -> bool:
    """True if a shell expands a value before its first quote: ``~``, ``a:~``, ``{a,b}``."""
    match = _UNQUOTED.match(given)
    plain = match[0] if match is not None else ""
    if plain.startswith("~") or ":~" in plain:
        return True
    separator = _SEVERAL.search(plain, plain.find("{") + 1) if "{" in plain else None
    return separator is not None and "}" in plain[separator.end() :]


def _name(raw: str) -> re.Match[str] | None:
    """Match the name that a word assigns to: also one that merely looks like a name, with invisible or full-width
    characters in it, which a shell refuses (``not a valid identifier``)."""
    name = NAME.match(raw)
    if name is not None and raw.startswith(("=", "+="), name.end()):
        return name
    name = _LOOKS_LIKE_NAME.match(raw)
    if name is None or name[0].isascii():
        return None
    import unicodedata  # imported only if needed: nearly no file needs it

    plain = "".join(
        character
        for character in unicodedata.normalize("NFKC", name[0])
        if unicodedata.category(character) not in ("Cf", "Cc")
    )
    return name if NAME.fullmatch(plain) and plain != name[0] else None


def _inner(quote: str | None) -> str | None:
    """Return the quotes of a value inside larger quotes: it has none of its own."""
    return "" if quote is not None else None
