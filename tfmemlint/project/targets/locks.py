"""The release of TensorFlow in lock files, as far as the project itself is run with it.

A lock file has every package that any of the project's extras and groups may need: what only an extra of another
package asks for says nothing of the project, and what only tests need says little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field

from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass
from tfmemlint.project.targets.markers import may_apply
from tfmemlint.project.targets.stated import PACKAGES, Stated, package
from tfmemlint.project.targets.tables import DOCS, WEAK
from tfmemlint.project.targets.versions import exactly

_LOCKED = late_pattern(
    r"""^(?:-\s+)?name\s*[=:]\s*["']?(?P<name>[A-Za-z0-9_.-]+)["']?\s*\r?\n(?:[ \t]*[a-z_]+\s*[:=].*\r?\n){0,3}?
    [ \t]*version\s*[=:]\s*["']?(?P<version>[0-9][^\s"']*)""",
    re.MULTILINE | re.VERBOSE,
)
_NEXT = late_pattern(r"^(?:\[\[packages?\]\]|- name\s*:)", re.MULTILINE)
_OPTIONAL = late_pattern(r"^[ \t]*optional\s*[=:]\s*true\b", re.MULTILINE)
_CATEGORY = late_pattern(r"^[ \t]*category\s*[=:]\s*[\"']?(?P<names>[\w.-]+)", re.MULTILINE)
_GROUPS = late_pattern(r"^groups\s*=\s*\[(?P<names>[^\]\n]*)\]", re.MULTILINE)
_MARKER = late_pattern(r"^markers?\s*=\s*(?:'(?P<single>[^'\n]*)'|\"(?P<double>(?:[^\"\\\n]|\\.)*)\")", re.MULTILINE)
_PLATFORM = late_pattern(r"^[ \t]+platform\s*:\s*(?P<name>\S+)", re.MULTILINE)
_EXTRAS = late_pattern(r"^\[extras\][ \t]*\r?\n(?P<entries>(?:(?!\[\w).*\n)*)", re.MULTILINE)
_WORD = late_pattern(r"[\w.-]+")

_SECTION = late_pattern(r"\[package\.(?P<name>[\w-]+)\]")
_LIST = late_pattern(r"(?P<name>[\w.\"-]+) = \[")
_NEEDED = late_pattern(r"\{ name = \"(?P<name>[^\"]+)\"(?P<rest>[^{}\n]*)\}")
_EXTRA_ASKED = late_pattern(r"extra = \[(?P<names>[^\[\]\n]*)\]")
_MARKER_OF_NEEDED = late_pattern(r"marker = \"(?P<marker>(?:[^\"\\]|\\.)*)\"")
_OWN = late_pattern(r"source = \{ (?:editable|virtual|directory|workspace) = ")

_Need = tuple[str, frozenset[str]]
"""A package, and the extras of it that are asked for."""


def of_lock(path: str, text: str) -> Iterator[Stated]:
    """Yield the releases in a lock file of Poetry, uv, PDM, conda-lock or pip (``pylock.toml``): all of them write the
    version of a package right after its name."""
    needed: _Needed | None = None
    for match in _LOCKED.finditer(text):
        name = package(match["name"])
        if name is None or PACKAGES[name] == "nightly":
            continue
        following = _NEXT.search(text, match.end())
        block = text[match.start() : following.start() if following is not None else len(text)]
        weak = _weakness(block, text, name)
        if weak is None:
            continue
        if path.endswith("uv.lock"):
            needed = needed if needed is not None else _needed_by_the_project(text)
            weak = weak or needed.weakness(match["name"])
            if needed.weakness(match["name"]) is None:
                continue
        row = text.count("\n", 0, match.start("version")) + 1
        yield Stated(path, row, f"{match['name']} {match['version']}", exactly(match["version"]), weak=bool(weak))


def _weakness(block: str, text: str, name: str) -> bool | None:
    """Return True if an entry is for tests, development or other machines; None if it is only for the documentation, or
    for an extra of another package."""
    if _OPTIONAL.search(block) is not None:
        extras = _EXTRAS.search(text)
        if extras is not None and not any(package(word) == name for word in _WORD.findall(extras["entries"])):
            return None
    found = _GROUPS.search(block) or _CATEGORY.search(block)
    groups = _WORD.findall(found["names"]) if found is not None else []
    if groups and all(map(DOCS.search, groups)):
        return None
    marker, platform = _MARKER.search(block), _PLATFORM.search(block)
    elsewhere = marker is not None and not may_apply(
        marker["single"] or re.sub(r"\\(.)", r"\1", marker["double"] or "")
    )
    elsewhere = elsewhere or (platform is not None and not platform["name"].strip("\"'").startswith("linux"))
    return elsewhere or (bool(groups) and all(DOCS.search(group) or WEAK.search(group) for group in groups))


@dataclass(slots=True)
class _Entry:
    """A package of a lock file of uv. ``needs``: lists of what it needs, by their section (dependencies,
    optional-dependencies, dev-dependencies) and their name."""

    needs: dict[tuple[str, str], list[_Need]] = field(default_factory=dict)
    is_own: bool = False


@dataclass(slots=True)
class _Needed:
    """The packages that a project is run with, and those that it is tested with; all where it isn't known."""

    run_with: set[str] | None = None
    tested_with: set[str] = field(default_factory=set)

    def weakness(self, name: str) -> bool | None:
        """Return False for a package that the project is run with, True for one of its tests, None for others."""
        if self.run_with is None or name in self.run_with:
            return False
        return True if name in self.tested_with else None


def _needed_by_the_project(text: str) -> _Needed:
    entries = _entries(text)
    own = [entry for entry in entries.values() if entry.is_own]
    if not own:
        return _Needed()
    asked = [need for entry in own for need in entry.needs.get(("dependencies", ""), ())]
    run_with = _closure(entries, asked)
    tested_with: set[str] = set()
    for entry in own:
        for (section, group), needs in entry.needs.items():
            if section == "optional-dependencies" and not DOCS.search(group):
                # Of an extra of the project, what it names itself: not what others of its packages can do with.
                (tested_with if WEAK.search(group) else run_with).update(name for name, _ in needs)
            elif section == "dev-dependencies" and not DOCS.search(group):
                tested_with |= _closure(entries, needs)
    return _Needed(run_with, tested_with)


def _closure(entries: dict[str, _Entry], asked: Iterable[_Need]) -> set[str]:
    """Return the packages that are installed where some are asked for."""
    seen: set[_Need] = set()
    level = list(asked)
    while level:
        need = level.pop()
        if need in seen:
            continue
        seen.add(need)
        name, extras = need
        entry = entries.get(name, _Entry())
        for (section, group), needs in entry.needs.items():
            if section == "dependencies" or (section == "optional-dependencies" and group in extras):
                level += needs
    return {name for name, _ in seen}


def _entries(text: str) -> dict[str, _Entry]:
    """Return the packages of a lock file of uv, which has each of them in one form."""
    found: dict[str, _Entry] = {}
    entry, section, listed = _Entry(), "", ""
    for line in text.splitlines():
        if line == "[[package]]":
            entry, section = _Entry(), ""
        elif (head := _SECTION.match(line)) is not None:
            section = head["name"]
        elif line.startswith('name = "'):
            entry = found.setdefault(line[8:].partition('"')[0], entry)
        elif _OWN.match(line):
            entry.is_own = True
        else:
            begins = _LIST.match(line)
            listed = begins["name"].strip('"') if begins is not None else listed
            where = (section or listed, listed if section else "")
            for need in _NEEDED.finditer(line):
                marker = _MARKER_OF_NEEDED.search(need["rest"])
                if marker is None or may_apply(marker["marker"]):
                    extras = _EXTRA_ASKED.search(need["rest"])
                    asked = frozenset(_WORD.findall(extras["names"]) if extras is not None else ())
                    entry.needs.setdefault(where, []).append((need["name"], asked))
    return found
