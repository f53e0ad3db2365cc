"""Requirements that commands of a shell install: ``pip install``, ``uv pip install``, ``conda install`` ..."""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import field, replace

from tfmemlint.model.records import dataclass
from tfmemlint.project.targets.conda import of_spec
from tfmemlint.project.targets.stated import CONCERNS, Stated, of_requirement
from tfmemlint.sources.config_files.shell.assignments import assignment
from tfmemlint.sources.config_files.shell.compound_commands import simple_commands
from tfmemlint.sources.config_files.shell.lexer import Lexer, Word
from tfmemlint.sources.config_files.shell.wrappers import SHELLS, unwrap
from tfmemlint.sources.config_files.text_places import Places

_PIP = re.compile(r"pip[23]?(?:\.\d+)?")
_CONDA = re.compile(r"conda|mamba|micromamba")
_WITH_VALUES = frozenset(
    {
        "-i", "-f", "-t", "-n", "-p", "-c", "-r", "--index-url", "--extra-index-url", "--find-links", "--requirement",
        "--constraint", "--target", "--prefix", "--root", "--src", "--trusted-host", "--cache-dir", "--no-binary",
        "--only-binary", "--progress-bar", "--platform", "--python-version", "--upgrade-strategy", "--proxy", "--log",
        "--timeout", "--retries", "--python", "--name", "--channel", "--file",
    }
)  # fmt: skip
"""Options of pip, uv and conda whose value is the next word."""
_PRINTING = frozenset({"echo", "printf", "cat", "grep", "sed", "awk", "logger", ":", "true", "false", "alias", "test"})
"""Commands that install nothing, whatever their words. Any other may run them, as ``retry 3 pip install ...`` does."""
MAX_EXPANDED_CHARACTERS = 4_096
"""Characters that variables stand for in one text: `X=$X$X` doubles X, and a release has a few of them."""
_VARIABLE = re.compile(r"\$(?:\{(?P<name>\w+)(?::?-(?P<default>[^}]{0,200}))?\}|(?P<bare>[A-Za-z_]\w*))")
_QUOTED = re.compile(r"['\"\\`]|\$\(")
_MAX_SHELL_DEPTH = 4
"""Shells within shells (``bash -c``) that are read."""


@dataclass(slots=True)
class Installs:
    """The packages that the scripts of one file install.

    Attributes:
        path: the file. variables: those whose value is known so far, which the scripts may change.
    """

    path: str
    variables: MutableMapping[str, str] = field(default_factory=dict)

    def of_script(self, script: str, places: Places, depth: int = 0) -> Iterator[Stated]:
        """Yield what a script installs; ``places`` are the places of its characters in the file."""
        if not CONCERNS.search(script.encode("utf-8", "replace")) and not self._names_tensorflow():
            return
        for words in simple_commands(script):
            yield from self.of_words(words, places, depth)

    def of_words(self, words: Sequence[Word], places: Places, depth: int = 0) -> Iterator[Stated]:
        """Yield what a command installs; an assignment is remembered."""
        if all(assignment(word) is not None for word in words):
            self._assign(words)
            return
        _, rest = unwrap([part for word in words for part in self._split(word)])
        if not rest:
            return
        texts = [self._text(word) for word in rest]
        program = texts[0].rpartition("/")[2]
        if program in ("export", "declare", "local", "readonly", "typeset"):
            self._assign(rest[1:])
        elif program in SHELLS:
            inline = self._inline(texts)
            if inline is not None and depth < _MAX_SHELL_DEPTH:
                row = places.span(rest[inline].start, rest[inline].end).row
                for inner in self.of_script(texts[inline], Places(texts[inline]), depth + 1):
                    yield replace(inner, row=row)
        elif program not in _PRINTING:
            found = _installing(texts)
            if found is None:
                return
            first, by_conda = found
            for number in _requirements(texts, first):
                row = places.span(rest[number].start, rest[number].end).row
                text = texts[number]
                stated = of_spec(text, self.path, row) if by_conda else of_requirement(text, self.path, row)
                if stated is not None:
                    yield stated

    def expanded(self, text: str) -> str:
        """Return a text with the values of the known variables, and with the defaults of the others.

        Variables for which there is no room within `MAX_EXPANDED_CHARACTERS` stay as they are written.
        """
        room = MAX_EXPANDED_CHARACTERS

        def value(match: re.Match[str]) -> str:
            nonlocal room
            known = self.variables.get(match["name"] or match["bare"])
            found = known if known is not None else (match["default"] or match[0])
            room -= len(found)
            return found if room >= 0 else match[0]

        return _VARIABLE.sub(value, text)

    def _names_tensorflow(self) -> bool:
        return any(CONCERNS.search(value.encode("utf-8", "replace")) for value in self.variables.values())

    def _assign(self, words: Sequence[Word]) -> None:
        for word in words:
            given = assignment(word)
            if given is not None:
                raw = word.raw[given.given - word.start : given.stop - word.start]
                self.variables[given.name] = given.value if given.value is not None else self._unquoted(raw)

    def _split(self, word: Word) -> list[Word]:
        """Return the words that a word becomes once its variables have their values: outside of quotes, several."""
        if word.value is not None or _QUOTED.search(word.raw):
            return [word]
        parts = self.expanded(word.raw).split()
        return [Word(word.start, word.end, None if "$" in part else part, part) for part in parts]

    def _text(self, word: Word) -> str:
        return word.value if word.value is not None else self._unquoted(word.raw)

    def _unquoted(self, raw: str) -> str:
        """Return a word with the values of its variables; as it is written, without its quotes, if one is unknown."""
        text = self.expanded(raw)
        tokens = Lexer(text).tokens()
        known = tokens[0].word.value if len(tokens) == 1 else None
        return known if known is not None else text.replace('"', "").replace("'", "")

    def _inline(self, texts: Sequence[str]) -> int | None:
        """Return the number of the word that ``bash -c`` runs."""
        for number, text in enumerate(texts[1:-1], 1):
            if not text.startswith("-"):
                break
            if re.fullmatch(r"-[a-z]*c", text):
                return number + 1
        return None


def _installing(texts: Sequence[str]) -> tuple[int, bool] | None:
    """Return the number of the first word behind ``pip install`` or ``conda install``, and True for conda."""
    for number, text in enumerate(texts):
        name = text.rpartition("/")[2]
        by_conda = _CONDA.fullmatch(name) is not None
        if not by_conda and _PIP.fullmatch(name) is None:
            continue
        verbs = ("install", "create") if by_conda else ("install",)
        at = next(iter(_requirements(texts, number + 1)), None)
        if at is not None and texts[at] in verbs:
            return at + 1, by_conda
    return None


def _requirements(texts: Sequence[str], first: int) -> Iterator[int]:
    """Yield the numbers of the words from ``first`` on that are neither options nor their values."""
    skip = False
    for number in range(first, len(texts)):
        text = texts[number]
        if skip or text.startswith("-"):
            skip = not skip and text in _WITH_VALUES
        else:
            yield number
