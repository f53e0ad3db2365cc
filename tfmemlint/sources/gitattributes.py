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

from tfmemlint.model.patterns import late_pattern
from tfmemlint.sources.regular import read_text

MARKS = ("linguist-generated", "linguist-vendored")

VENDORED = late_pattern(r"(?:bower_components|\.yarn|[Vv]endors?|(?:3rd|[Tt]hird)[-_]?[Pp]arty)\Z")
"""Names of directories that hold other people's code. Source: ``lib/linguist/vendor.yml`` of linguist, of which only
what is plainly a copy of somebody's library is taken: its ``cache/``, ``deps/``, ``env/``, ``testdata/``,
``tests/fixtures/`` and ``.github/`` may well be a project's own work."""

_Said = tuple[str, bool | None]
"""An attribute and its state: set, unset (``-``), or None for unspecified (``!``)."""
_FILE = ".gitattributes"
_MACRO = "[attr]"


class Marks:
    """The marks of the files below a directory, and of those above it up to the repository's root.

    Args:
        top: the directory that a walk begins in.
    """

    def __init__(self, top: str) -> None:
        self._macros: dict[str, list[_Said]] = {}
        self._rules: list[tuple[str, list[_Rule]]] = []
        self._info: list[tuple[str, list[_Rule]]] = []
        self._load_above(os.path.abspath(top))

    def enter(self, directory: str, entries: Iterable[os.DirEntry[str]]) -> None:
        """Read the attributes of a directory on the way down."""
        if any(entry.name == _FILE for entry in entries):
            self._load(os.path.join(directory, _FILE), os.path.abspath(directory), self._rules)

    def leaves_out(self, path: str) -> bool:
        """True if a file is marked as generated or vendored."""
        return any(self.of(path, mark) for mark in MARKS)

    def leaves_out_directory(self, path: str) -> bool:
        """True if a directory is other people's by its name, and nothing says that it is not."""
        if VENDORED.match(os.path.basename(path)) is None:
            return False
        # Somebody who wants such a directory looked at says so of it, or of what is in it.
        inside = os.path.join(path, "file")
        return self.of(path, "linguist-vendored") is not False and self.of(inside, "linguist-vendored") is not False

    def of(self, path: str, mark: str) -> bool | None:
        """Return True or False if a path is said to have a mark or not to have it, and None if nothing is said."""
        if not self._rules and not self._info:
            return None
        full = os.path.abspath(path).replace(os.sep, "/")
        known: dict[str, bool | None] = {}
        for base, rules in reversed((*self._rules, *self._info)):
            if not full.startswith(base):
                continue
            relative = full[len(base) :]
            for rule in reversed(rules):
                if rule.matches(relative):
                    self._fill(known, rule.said)
                    if mark in known:
                        return known[mark]
        return None

    def _fill(self, known: dict[str, bool | None], said: list[_Said]) -> None:
        """Add what a line says of attributes of which no later line says anything; a macro that is set says more."""
        for name, value in reversed(said):
            if name not in known:
                known[name] = value
                if value is True:
                    self._fill(known, self._macros.get(name, []))

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
        lines = [_parts(line) for line in content.splitlines()]
        for pattern, words in lines:
            if pattern.startswith(_MACRO):
                self._macros[pattern.removeprefix(_MACRO)] = [_said(word) for word in words]
        for pattern, words in lines:
            said = [(name, value) for name, value in map(_said, words) if name in MARKS or name in self._macros]
            if said and not pattern.startswith(_MACRO):
                yield _Rule(pattern, said)


class _Rule:
    """One line: a pattern, and what it says of the marks."""

    def __init__(self, pattern: str, said: list[_Said]) -> None:
        self.said = said
        self._whole = "/" in pattern
        try:
            self._pattern = re.compile(_regex(pattern.removeprefix("/")), re.DOTALL)
        except re.error:
            # A range that ends before it begins: nothing is like it.
            self._pattern = re.compile(r"(?!)")

    def matches(self, relative: str) -> bool:
        """True if the pattern matches this path, which is relative to its directory."""
        return self._pattern.fullmatch(relative if self._whole else relative.rpartition("/")[2]) is not None


def _parts(line: str) -> tuple[str, list[str]]:
    """Return the pattern and the attributes of a line; a pattern with spaces is in quotes."""
    line = line.strip()
    if not line or line.startswith(("#", "!")):
        return "", []
    quoted = re.match(r'"((?:[^"\\]|\\.)*)"(?:\s|$)', line)
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted[1]), line[quoted.end() :].split()
    pattern, *words = line.split()
    return pattern, words


def _said(word: str) -> _Said:
    """Return the name of an attribute, and its state. linguist takes any value but ``false`` for true."""
    name, _, value = word.lstrip("-!").partition("=")
    return name, None if word[0] == "!" else word[0] != "-" and value != "false"


def _regex(pattern: str) -> str:
    """Return a pattern as a regular expression: ``*`` and ``?`` stop at a slash, ``**`` between slashes does not."""
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
    """Return the root of the repository that a directory is in, or None, and the directories from there down to its
    parent."""
    root, chain = top, []
    while not os.path.exists(os.path.join(root, ".git")):
        parent = os.path.dirname(root)
        if parent == root:
            return None, []
        chain.append(parent)
        root = parent
    return root, chain[::-1]
