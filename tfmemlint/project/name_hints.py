"""The releases that a file may tell apart, read off its text: most files need no syntax tree to say that it is none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tfmemlint.facts.names import canonical
from tfmemlint.model.patterns import late_pattern
from tfmemlint.project.name_uses import (
    BEFORE_KERAS_3,
    EVERY_RELEASE,
    may_be_of_keras_2,
    releases_with,
    releases_with_memory_name,
)

MAX_IMPORT_CHARACTERS = 5_000
"""Characters of one import beyond which the file is parsed instead."""

# What begins with plain letters is found much faster than what begins with the edge of a word.
_DOTS = r"((?:[\s\\]*\.[\s\\]*\w+)*)"
_AS = r"(?:[\s\\]+as[\s\\]+(\w+))?"
_from = re.compile(rf"from(?<!\wfrom)[\s\\]+(tensorflow|tf)\b{_DOTS}[\s\\]*\bimport\b[\s\\]*").finditer
_plain = re.compile(r"import(?<!\wimport)[\s\\]+((?:\\\r?\n|[^\n;#])*)").finditer
_module = re.compile(rf"\b(tensorflow|tf)\b{_DOTS}{_AS}").finditer
_taken = re.compile(rf"\b(\w+){_AS}").finditer
_bracketed = re.compile(r"\([^)#]*(?:#[^\n]*\n[^)#]*)*\)").match
_line = re.compile(r"(?:\\\r?\n|[^\n;])*(?=[\n;]|\Z)").match
_comment = late_pattern(r"#[^\n]*")
_other = late_pattern(r"[^\w.]+")
_comment_in_name = re.compile(r"#[^\n#]*\n\s*\.|^[^#\n]*\.[\s\\]*#", re.MULTILINE).search


def telling_masks(data: bytes) -> frozenset[int] | None:
    """Return the releases that have each name which a file may use and some release lacks; None if only its tree tells.

    No name is missed that `tfmemlint.project.name_uses.names_in` finds. What stands in a comment, in a text, or behind
    a condition about the release is taken for a use here.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if _comment_in_name(text) is not None:
        # A name in brackets may go on after a comment.
        return None
    meanings = _meanings(text)
    if meanings is None:
        return None
    names = set(_prefixes(meanings))
    by_local: dict[str, list[str]] = {}
    for local, name in meanings:
        by_local.setdefault(local, []).append(name)
    by_local.pop("", None)
    if by_local:
        # The bracket is that of `(tf.config).experimental`.
        chains = re.findall(rf"\b({'|'.join(sorted(by_local))})((?:[\s\\)]*\.[\s\\]*\w+)+)", text)
        for local, chain in set(chains):
            names.update(_prefixes((local, base + _other.sub("", chain)) for base in by_local[local]))
    masks = {mask for name in names for mask in (releases_with(name), releases_with_memory_name(name))}
    if may_be_of_keras_2(data):
        masks.add(BEFORE_KERAS_3)
    return frozenset(masks - {0, EVERY_RELEASE})


def _prefixes(names: Iterator[tuple[str, str]] | set[tuple[str, str]]) -> Iterator[str]:
    """Yield each name with all names that it is in: the tree may have a call, say, where the text has a bracket."""
    for _, name in names:
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            whole = canonical(".".join(parts[:count]))
            if whole.startswith("tf."):
                yield whole


def _meanings(text: str) -> set[tuple[str, str]] | None:
    """Return the local names that imports may bind to parts of TensorFlow, each with that part; None if it is unclear.

    A module that is only imported has the local name "".
    """
    found: set[tuple[str, str]] = set()
    for match in _plain(text):
        if match.end() - match.start() > MAX_IMPORT_CHARACTERS:
            return None
        for module in _module(match[1]):
            name = module[1] + _other.sub("", module[2])
            found.update({(module[3], name)} if module[3] else {(module[1], module[1]), ("", name)})
    for match in _from(text):
        body = text[match.end() : match.end() + MAX_IMPORT_CHARACTERS]
        names = _bracketed(body) or _line(body)
        if names is None or (body.startswith("(") and not names[0].endswith(")")):
            return None
        place = match[1] + _other.sub("", match[2])
        for taken in _taken(_comment.sub("", names[0])):
            found.add((taken[2] or taken[1], f"{place}.{taken[1]}"))
    return found
