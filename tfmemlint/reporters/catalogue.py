"""A catalogue of gettext whose message ids may be templates with fields."""

from __future__ import annotations

import gettext
import re
from functools import cache, lru_cache
from importlib.resources import files

_FIELD = re.compile(r"\{(\w+)\}")
_NUMBER, _NAME = r"\d[\d,.]*", r"(?:\S+|\S*\[.*\]\S*|\S+\(.*\)\S*)"
_CONTENTS = {
    **dict.fromkeys(("row", "n", "more", "fixed", "left", "number"), _NUMBER),
    **dict.fromkeys(("name", "call", "setting", "variable", "inner", "outer", "file"), _NAME),
    "place": r"\S+:\d+",
}
"""The patterns for fields of these names; anything may stand in others."""
SENTENCES = ("fix", "reason", "what")
"""Fields that hold sentences."""
_MAX_DEPTH = 3
"""Fields in fields: a sentence, an intent in it, the devices in that."""


class Catalogue(gettext.GNUTranslations):
    """The translations into one language."""

    def translate(self, text: str, depth: int = 0) -> str:
        """Return the translation of a text, or of the texts in its fields; the text itself if there is none."""
        found = self.template_of(text)
        if found is None:
            return text
        template, values = found
        translated = self.gettext(template)
        if depth < _MAX_DEPTH:
            values = {name: self.translate(value, depth + 1) for name, value in values.items()}
        return _FIELD.sub(lambda field: values.get(field[1], field[0]), translated)

    @staticmethod
    def fields(text: str) -> list[str]:
        """Return the names of the fields in a template or in its translation, sorted."""
        return sorted(_FIELD.findall(text))

    @staticmethod
    def own_letters(template: str) -> int:
        """Return how many characters of a template are outside of its fields."""
        return len(_FIELD.sub("", template))

    def fits(self, template: str, text: str) -> bool:
        """Return True if a text fits a template."""
        return _pattern(template).fullmatch(text) is not None

    def is_whole(self, text: str) -> bool:
        """Return True if nothing of a text stays English, but names and TensorFlow's own messages."""
        found = self.template_of(text)
        return found is not None and all(self.is_whole(found[1][name]) for name in SENTENCES if name in found[1])

    def template_of(self, text: str) -> tuple[str, dict[str, str]] | None:
        """Return the template with most letters of its own that a text fits, and what stands in its fields."""
        for template, pattern in self._patterns():
            match = pattern.fullmatch(text)
            if match is not None:
                return template, match.groupdict()
        return None

    def templates(self) -> list[str]:
        """Return all message ids."""
        entries: dict[object, str] = self._catalog  # type: ignore[attr-defined]
        return [key for key in entries if isinstance(key, str) and key]

    @lru_cache(maxsize=1)  # noqa: B019 - there is one catalogue a language
    def _patterns(self) -> list[tuple[str, re.Pattern[str]]]:
        ordered = sorted(self.templates(), key=lambda template: (-self.own_letters(template), template))
        return [(template, _pattern(template)) for template in ordered]


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
    path = files("tfmemlint") / "locale" / folder / "LC_MESSAGES" / "tfmemlint.mo"
    with path.open("rb") as file:
        return Catalogue(file)
