"""Files that a project has marked as not its own: generated or vendored, by ``.gitattributes`` as GitHub's linguist
reads it, and directories that linguist takes for vendored by their names.

Patterns are those of ``gitattributes(5)``: like those of ``.gitignore``, but one that names a directory says nothing
about what is inside, and none is negative. Of several that match the last one counts, those of deeper directories after
those above. Only the two marks are looked at: ``linguist-documentation`` and the rest do not say whose code it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from tfmemlint.sources.regular import read_text

MARKS = ("linguist-generated", "linguist-vendored")

VENDORED = re.compile(r"(?:bower_components|\.yarn|[Vv]endors?|(?:3rd|[Tt]hird)[-_]?[Pp]arty)\Z")
"""Names of directories that hold other people's code. Source: ``lib/linguist/vendor.yml`` of linguist, of which only
what is plainly a copy of somebody's library is taken: its ``cache/``, ``deps/``, ``env/``, ``testdata/``,
``tests/fixtures/`` and ``.github/`` may well be a project's own work."""

_FILE = ".gitattributes"
_MACRO = "[attr]"


class Marks:
    """The marks of the files below a directory, and of those above it up to the repository's root.

    Args:
        top: the directory that a walk begins in.
    """

    def __init__(self, top: str) -> None:
        self._macros: dict[str, list[str]] = {}
        self._rules: list[tuple[str, list[_Rule]]] = []
        self._info: list[tuple[str, list[_Rule]]] = []
        self._load_above(os.path.abspath(top))

    def enter(self, directory: str, entries: Iterable[os.DirEntry[str]]) -> None:
        """Read the attributes of a directory on the way down."""
        if any(entry.name == _FILE for entry in entries):
            self._load(os.path.join(directory, _FILE), os.path.abspath(directory), self._rules)

    def leaves_out(self, path: str) -> bool:
        """Whether a file is marked as generated or vendored."""
        return any(self.of(path, mark) for mark in MARKS)

    def leaves_out_directory(self, path: str) -> bool:
        """Whether a directory is other people's by its name, and nothing says that it is not."""
        if VENDORED.match(os.path.basename(path)) is None:
            return False
        # Somebody who wants such a directory looked at says so of it, or of what is in it.
        inside = os.path.join(path, "file")
        return self.of(path, "linguist-vendored") is not False and self.of(inside, "linguist-vendored") is not False

    def of(self, path: str, mark: str) -> bool | None:
        """What is said of a path: that it has a mark, or that it has not; None where nothing is said."""
        if not self._rules and not self._info:
            return None
        full = os.path.abspath(path).replace(os.sep, "/")
        said: bool | None = None
        for base, rules in (*self._rules, *self._info):
            if not full.startswith(base):
                continue
            relative = full[len(base) :]
            for rule in rules:
                if mark in rule.says and rule.matches(relative):
                    said = rule.says[mark]
        return said

    def _load_above(self, top: str) -> None:
        root, above = repository(top)
        if root is None:
            return
        self._load(os.path.join(root, ".git", "info", "attributes"), root, self._info)
        for directory in above:
            self._load(os.path.join(directory, _FILE), directory, self._rules)

    def _load(self, file: str, base: str, rules: list[tuple[str, list[_Rule]]]) -> None:
        content = read_text(file)
        if "linguist-" not in content and not self._macros:
            return
        found = list(self._read(content))
        if found:
            rules.append((base.replace(os.sep, "/").rstrip("/") + "/", found))

    def _read(self, content: str) -> Iterator[_Rule]:
        for line in content.splitlines():
            pattern, words = _parts(line)
            if not pattern:
                continue
            if pattern.startswith(_MACRO):
                self._macros[pattern.removeprefix(_MACRO)] = words
                continue
            says: dict[str, bool | None] = {}
            for word in self._expanded(words):
                says.update(_said(word))
            if says:
                yield _Rule(pattern, says)

    def _expanded(self, words: list[str]) -> Iterator[str]:
        for word in words:
            yield from self._macros.get(word, ())
            yield word


class _Rule:
    """One line: a pattern, and what it says of the marks."""

    def __init__(self, pattern: str, says: dict[str, bool | None]) -> None:
        self.says = says
        self._whole = "/" in pattern
        try:
            self._pattern = re.compile(_regex(pattern.removeprefix("/")), re.DOTALL)
        except re.error:
            # A range that ends before it begins: nothing is like it.
            self._pattern = re.compile(r"(?!)")

    def matches(self, relative: str) -> bool:
        """Whether the pattern is one of this path, which is relative to its directory."""
        return self._pattern.fullmatch(relative if self._whole else relative.rpartition("/")[2]) is not None


def _parts(line: str) -> tuple[str, list[str]]:
    """The pattern and the attributes of a line; a pattern with spaces stands in quotes."""
    line = line.strip()
    if not line or line.startswith(("#", "!")):
        return "", []
    quoted = re.match(r'"((?:[^"\\]|\\.)*)"(?:\s|$)', line)
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted[1]), line[quoted.end() :].split()
    pattern, *words = line.split()
    return pattern, words


def _said(word: str) -> Iterator[tuple[str, bool | None]]:
    """What one attribute says of a mark: it is set, unset (``-``), or said nothing of any more (``!``)."""
    name, _, value = word.lstrip("-!").partition("=")
    if name in MARKS:
        if word[0] == "!":
            yield name, None
        else:
            yield name, word[0] != "-" and value != "false"


def _regex(pattern: str) -> str:
    """A pattern as a regular expression: ``*`` and ``?`` stop at a slash, ``**`` between slashes does not."""
    if pattern == "**":
        return ".*"
    out = []
    for token in re.findall(r"\*\*/|/\*\*\Z|\*+|\?|\[[!^]?\]?[^\]]*\]|\\.|.", pattern, re.DOTALL):
        if token == "**/":
            out.append("(?:.*/)?")
        elif token == "/**":
            out.append("/.+")
        elif token[0] == "*":
            out.append("[^/]*")
        elif token == "?":
            out.append("[^/]")
        elif len(token) > 2 and token[0] == "[":
            inside = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            out.append(f"[^/{inside[1:]}]" if inside[0] in "!^" else f"[{inside}]")
        else:
            out.append(re.escape(token[-1]))
    return "".join(out)


def repository(top: str) -> tuple[str | None, list[str]]:
    """The root of the repository that a directory is in, None without one; and the directories from there down to the
    one above it."""
    root, chain = top, []
    while not os.path.exists(os.path.join(root, ".git")):
        parent = os.path.dirname(root)
        if parent == root:
            return None, []
        chain.append(parent)
        root = parent
    return root, chain[::-1]
