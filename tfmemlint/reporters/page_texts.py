"""The texts of rules' pages in other languages: a catalogue of gettext with a message for each paragraph.

The catalogue of the messages that `check` prints is another one (`catalogue.py`), which stays small and quick.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gettext import GNUTranslations

_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"``.*?``|`[^`]*`|\"[^\"]*\"")
_PROSE = re.compile(r"[A-Za-z] [a-z]")


def page_text(text: str, folder: str) -> str:
    """Return a Markdown text in the language of a folder of ``tfmemlint/locale``, its blocks of code as they are.

    The text itself is returned for the folder "", and a paragraph that has no translation stays English.
    """
    if not folder:
        return text
    known = _catalogue(folder)
    parts = (part if is_code else known.gettext(" ".join(part.split())) for is_code, part in _parts(text))
    return "\n\n".join(parts)


def untranslated(text: str, folder: str) -> list[str]:
    """Return the paragraphs of a Markdown text that stay English, but those that are code alone."""
    known = _catalogue(folder)
    paragraphs = (" ".join(part.split()).lstrip("# ") for is_code, part in _parts(text) if not is_code)
    return [each for each in paragraphs if known.gettext(each) == each and _PROSE.search(_CODE.sub("", each))]


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the blocks of code and the paragraphs of a Markdown text, each with True if it is code."""
    for number, part in enumerate(_FENCE.split(text)):
        if number % 2:
            yield True, part
        else:
            yield from ((False, paragraph) for paragraph in part.split("\n\n") if paragraph.strip())


@lru_cache(maxsize=2)
def _catalogue(folder: str) -> GNUTranslations:
    from gettext import GNUTranslations
    from importlib.resources import files

    path = files("tfmemlint") / "locale" / folder / "LC_MESSAGES" / "rules.mo"
    with path.open("rb") as file:
        return GNUTranslations(file)
