"""A catalogue of gettext whose message ids may be templates with fields."""

from __future__ import annotations

import gettext
import re
from functools import cache, lru_cache
from importlib.resources import files

_FIELD = re.compile(r"\{(\w+)\}")
_NUMBER, _NAME = r"\d[\d,.]*", r"(?:\S+|\S*\[.*\]\S*|\S+\(.*\)\S*)"
_CHINESE, _OTHER = re.compile("[\u4e00-\u9fff]"), re.compile(r"[!-~]")
_CONTENTS = {
    **dict.fromkeys(("row", "n", "more", "fixed", "left", "number"), _NUMBER),
    **dict.fromkeys(("name", "call", "setting", "variable", "inner", "outer", "file"), _NAME),
    "place": r"\S+:\d+",
}
"""The patterns for fields of these names; anything may stand in others."""
SENTENCES = ("fix", "reason", "what")
"""Fields that hold sentences."""
LISTS = ("counts", "frames")
"""Fields that hold several sentences with commas between them."""
_FRAMED = ("fix", "reason")
"""Fields whose templates say something of a whole message: ``{fix} (unsafe)``, ``withheld: {reason}``."""
_MAX_DEPTH = 4
"""Fields in fields: the package that a fix needs, its risk, the sentence, an intent in it, the devices in that."""


class Catalogue(gettext.GNUTranslations):
    """The translations into one language.

    Attributes:
        other: the catalogue that is asked for what this one lacks.
    """

    other: Catalogue | None = None

    def translate(self, text: str, depth: int = 0) -> str:
        """Return the translation of a text, or of the texts in its fields; the text itself if there is none."""
        found = self.template_of(text)
        if found is None:
            return text if self.other is None else self.other.translate_sentence(text, depth)
        template, values = found
        translated = self.gettext(template)
        if depth < _MAX_DEPTH:
            values = {
                name: "，".join(self.translate(part, depth + 1) for part in value.split(", "))
                if name in LISTS
                else self.translate(value, depth + 1)
                for name, value in values.items()
            }
        text = ""
        for number, part in enumerate(_FIELD.split(translated)):
            text = _joined(text, values.get(part, f"{{{part}}}") if number % 2 else part)
        return text

    def translate_sentence(self, text: str, depth: int = 0) -> str:
        """Return the translation of a text that may be a sentence without its capital letter."""
        translated = self.translate(text, depth)
        capital = text[:1].upper() + text[1:]
        if translated != text or capital == text or self.template_of(capital) is None:
            return translated
        return self.translate(capital, depth)

    @staticmethod
    def fields(text: str) -> list[str]:
        """Return the names of the fields in a template or in its translation, sorted."""
        return sorted(_FIELD.findall(text))

    @staticmethod
    def own_letters(template: str) -> int:
        """Return how many characters of a template are outside of its fields."""
        return len(_FIELD.sub("", template))

    @classmethod
    def rank(cls, template: str) -> tuple[bool, int]:
        """Return what decides between the templates that a text fits, the highest first: what stands around a fix, or
        around the reason for none, then most letters outside of fields."""
        return any(name in cls.fields(template) for name in _FRAMED), cls.own_letters(template)

    def fits(self, template: str, text: str) -> bool:
        """Return True if a text fits a template."""
        return _pattern(template).fullmatch(text) is not None

    def is_whole(self, text: str) -> bool:
        """Return True if nothing of a text stays English, but names and TensorFlow's own messages."""
        found = self.template_of(text)
        if found is None and self.other is not None:
            return self.other.is_whole(text) or self.other.is_whole(text[:1].upper() + text[1:])
        return found is not None and all(self.is_whole(found[1][name]) for name in SENTENCES if name in found[1])

    def template_of(self, text: str) -> tuple[str, dict[str, str]] | None:
        """Return the template that a text fits best, and what stands in its fields."""
        for template, pattern in self._patterns():
            match = pattern.fullmatch(text)
            if match is not None:
                return template, match.groupdict()
        return None

    def templates(self) -> list[str]:
        """Return all message ids."""
        entries: dict[object, str] = self._catalog  # type: ignore[attr-defined]
        return [key for key in entries if isinstance(key, str) and key]

    @lru_cache(maxsize=4)  # noqa: B019 - there are two catalogues a language
    def _patterns(self) -> list[tuple[str, re.Pattern[str]]]:
        ordered = sorted(
            self.templates(), key=lambda template: (*(-number for number in self.rank(template)), template)
        )
        return [(template, _pattern(template)) for template in ordered]


def _joined(before: str, after: str) -> str:
    """Return two texts as one: a space between Chinese and other letters, none between Chinese and Chinese."""
    if before.endswith(" ") and _CHINESE.match(before[-2:-1]) and _CHINESE.match(after):
        return before[:-1] + after
    if _CHINESE.match(before[-1:]) and after.startswith(" ") and _CHINESE.match(after[1:]):
        return before + after[1:]
    apart = (_CHINESE.match(before[-1:]), _OTHER.match(after)), (_OTHER.match(before[-1:]), _CHINESE.match(after))
    return f"{before} {after}" if any(map(all, apart)) else before + after


@cache
def _pattern(template: str) -> re.Pattern[str]:
    parts, seen = [], set()
    for number, part in enumerate(_FIELD.split(template)):
        if number % 2 == 0:
            parts.append(re.escape(part))
        else:
            parts.append(f"(?P={part})" if part in seen else f"(?P<{part}>{_CONTENTS.get(part, '.+?')})")
            seen.add(part)
    return re.compile("".join(parts), re.DOTALL)


@lru_cache(maxsize=4)
def catalogue(folder: str) -> Catalogue:
    """Return the catalogue in a folder of ``tfmemlint/locale``."""
    return _read(folder, "tfmemlint")


@lru_cache(maxsize=4)
def of_reports(folder: str) -> Catalogue:
    """Return the catalogue of the reports of ``plan``, ``verify``, ``fit`` and ``doctor``.

    It asks that of the rules' messages for what it lacks.
    """
    known = _read(folder, "reports")
    known.other = catalogue(folder)
    return known


def _read(folder: str, domain: str) -> Catalogue:
    path = files("tfmemlint") / "locale" / folder / "LC_MESSAGES" / f"{domain}.mo"
    with path.open("rb") as file:
        return Catalogue(file)
