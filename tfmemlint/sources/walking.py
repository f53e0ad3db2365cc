"""Find files as git would: ignore files respected, environments and caches left out, each file once."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from tfmemlint.sources.gitattributes import Marks, repository
from tfmemlint.sources.kinds import PYTHON, kind_of
from tfmemlint.sources.regular import read_text

TYPE_CHECKING = False  # `typing` and `dataclasses` take longer to import than a small file takes to be searched
if TYPE_CHECKING:
    from typing import Any

LEFT_OUT = frozenset(
    {
        ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox",
        ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode",
        "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
    }
)  # fmt: skip
"""Directories that are never entered: ruff's list."""

NEVER_READ = frozenset(name for name in LEFT_OUT if name.startswith("."))
"""Those of which nothing is read: no module can be in them either, as their names are none that Python imports."""

CONFIGURATIONS = (".tfmemlint.toml", "tfmemlint.toml", "pyproject.toml")
"""The names of configuration files, in the order of their precedence in one directory."""

LITTER = ".tfmemlint-"
"""Begins the names of files that are being written (`tfmemlint.fixes.write`)."""


class Excluding:
    """Patterns of files to leave out, as in ignore files, and the directory that they are relative to."""

    __slots__ = ("patterns", "root")

    def __init__(self, root: str, patterns: tuple[str, ...]) -> None:
        self.root = root
        self.patterns = patterns

    def __repr__(self) -> str:
        return f"Excluding({self.root!r}, {self.patterns!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Excluding) and (self.root, self.patterns) == (other.root, other.patterns)

    def __hash__(self) -> int:
        return hash((self.root, self.patterns))


class Choice:
    """The files to look for, below a directory until another choice holds.

    Attributes:
        kinds: the kinds of files (`tfmemlint.sources.kinds`).
        exclude: patterns of files to leave out.
        respect_gitignore: leave out files that git ignores.
        respect_gitattributes: leave out what a project marks as generated or vendored.
    """

    __slots__ = ("exclude", "kinds", "respect_gitattributes", "respect_gitignore")

    def __init__(
        self,
        kinds: Collection[str] = (PYTHON,),
        exclude: tuple[Excluding, ...] = (),
        respect_gitignore: bool = True,
        respect_gitattributes: bool = True,
    ) -> None:
        self.kinds = kinds
        self.exclude = exclude
        self.respect_gitignore = respect_gitignore
        self.respect_gitattributes = respect_gitattributes


class Walk:
    """The result of a walk over the given paths.

    Attributes:
        files: those that were looked for. empty: directories that hold no such file.
        problems: paths, each with what is wrong with it.
        marked: the number of files that were left out because the project marks them as generated or vendored, and of
            directories that are vendored by their names.
        litter: files that an interrupted run of the tool may have left.
        links: links to directories that were not followed, as they lead into what is walked anyway, or above it.
        outside: those of the files that are reached by a link that leads out of all given paths.
        foreign: those of them that are not read (`tfmemlint.engine.front_end`).
    """

    __slots__ = ("empty", "files", "foreign", "links", "litter", "marked", "outside", "problems")

    def __init__(self) -> None:
        self.files: list[str] = []
        self.empty: list[str] = []
        self.problems: list[tuple[str, str]] = []
        self.marked = 0
        self.litter: list[str] = []
        self.links: list[str] = []
        self.outside: list[str] = []
        self.foreign: frozenset[str] = frozenset()


def walk(paths: Sequence[str], choose: Choice | Callable[[str], Choice] | None = None) -> Walk:
    """Return the files under ``paths``, sorted within each path, each once, as they are shown to the user.

    A file that is named itself is taken whatever it is called and whatever the ignore files and the marks say, unless
    ``exclude`` names it. Links to directories are followed where they lead to something new: not into what is walked
    anyway, nor above it, so that a loop of links ends there.

    Args:
        paths: files and directories.
        choose: the files to look for, or a function that returns them for a directory: it is asked again below it
            where a configuration file is. All files of Python by default.
    """
    found = Walk()
    everywhere = choose if isinstance(choose, Choice) else Choice()
    in_directory = choose if callable(choose) else lambda _: everywhere
    walker = _Walker(in_directory, found)
    seen: set[str] = set()
    given = tuple(map(os.path.realpath, paths))
    for path in paths:
        if not os.path.lexists(path):
            found.problems.append((path, "no such file or directory"))
        elif os.path.isdir(path):
            files = list(walker.directory(path))
            if not files:
                found.empty.append(path)
            _add(found, files, seen, given)
        elif os.path.isfile(path):
            if not walker.excluded(in_directory(os.path.dirname(path)))(path):
                _add(found, [path], seen, given)
        elif os.path.islink(path):
            found.problems.append((path, "a link that leads nowhere"))
        else:
            found.problems.append((path, "neither a file nor a directory"))
    return found


def leads_outside(path: str, named: Iterable[str]) -> bool:
    """True if a file is reached by a link that leads out of everything that was named, and is not named itself.

    Args:
        named: the paths of the command line.
    """
    real = os.path.realpath(path)
    given = {os.path.realpath(place): os.path.abspath(place) for place in named}
    if any(_is_within(real, place) for place in given):
        return False
    if any(_is_within(os.path.abspath(path), place) for place in given.values()):
        return True
    # A module of a program that was named: it may be anywhere, as long as no link leads there.
    return real != os.path.normpath(os.path.join(os.path.realpath("."), path))


def _is_within(path: str, place: str) -> bool:
    return path == place or path.startswith(os.path.join(place, ""))


def _add(found: Walk, files: Iterable[str], seen: set[str], given: tuple[str, ...]) -> None:
    directories: dict[str, str] = {}
    within = tuple(os.path.join(place, "") for place in given)
    for file in files:
        # What a directory really is, is asked once: asking for each file takes longer than the walk.
        directory, name = os.path.split(file)
        real = os.path.realpath(file) if os.path.islink(file) else os.path.join(_real(directory, directories), name)
        if real not in seen:
            seen.add(real)
            found.files.append(file)
            if not real.startswith(within) and real not in given:
                found.outside.append(file)


def _real(directory: str, known: dict[str, str]) -> str:
    """Return the real path of a directory, given those that are ``known``; adds it, and those above it.

    `os.path.realpath` asks about each directory above anew: on a path of 400 directories, that is the square of them.
    """
    pending = []
    while directory not in known:
        above, name = os.path.split(directory)
        if not above or name in ("", os.curdir, os.pardir) or os.path.islink(directory):
            known[directory] = os.path.realpath(directory)
        else:
            pending.append((directory, name))
            directory = above
    real = known[directory]
    for inner, name in reversed(pending):
        real = known[inner] = os.path.join(real, name)
    return real


class _Walker:
    """Walks through directories.

    Attributes:
        choose: returns what holds in a directory.
        found: what comes of it.
    """

    def __init__(self, choose: Callable[[str], Choice], found: Walk) -> None:
        self.choose = choose
        self.found = found
        self._excluded: dict[tuple[Excluding, ...], _Excluded] = {}

    def excluded(self, choice: Choice) -> _Excluded:
        """Return what says whether a file is left out by its patterns."""
        if choice.exclude not in self._excluded:
            self._excluded[choice.exclude] = _Excluded(choice.exclude)
        return self._excluded[choice.exclude]

    def directory(self, top: str) -> Iterator[str]:
        """Yield the files under one directory, in the order of their names."""
        found = self.found
        choice = self.choose(top)
        ignored = _Ignored(top)
        marks = Marks(top)
        entered = [os.path.join(os.path.realpath(top), "")]
        pending = [(top, choice)]
        while pending:
            directory, choice = pending.pop()
            try:
                with os.scandir(directory) as scan:
                    entries = sorted(scan, key=lambda entry: entry.name, reverse=True)
            except OSError as error:
                found.problems.append((directory, error.strerror or str(error)))
                continue
            if directory is not top and any(entry.name in CONFIGURATIONS for entry in entries):
                choice = self.choose(directory)
            excluded, kinds = self.excluded(choice), choice.kinds
            if choice.respect_gitignore:
                ignored.enter(directory, entries)
            if choice.respect_gitattributes:
                marks.enter(directory, entries)
            files: list[str] = []
            for entry in entries:
                path = _join(directory, entry.name)
                try:
                    is_directory = entry.is_dir()
                except OSError:
                    # A link in a loop of links.
                    continue
                if is_directory:
                    if entry.name in LEFT_OUT or excluded(path) or (choice.respect_gitignore and ignored(path, True)):
                        continue
                    if entry.is_symlink():
                        real = os.path.join(os.path.realpath(path), "")
                        if any(real.startswith(known) or known.startswith(real) for known in entered):
                            found.links.append(path)
                            continue
                        entered.append(real)
                    if os.path.exists(_join(path, "pyvenv.cfg")):
                        continue
                    if choice.respect_gitattributes and marks.leaves_out_directory(path):
                        found.marked += 1
                        continue
                    pending.append((path, choice))
                elif (
                    kind_of(entry.name) in kinds
                    and entry.is_file()
                    and not excluded(path)
                    and not (choice.respect_gitignore and ignored(path, False))
                ):
                    if choice.respect_gitattributes and marks.leaves_out(path):
                        found.marked += 1
                        continue
                    files.append(path)
                elif entry.name.startswith(LITTER):
                    found.litter.append(path)
            yield from reversed(files)


def _join(directory: str, name: str) -> str:
    return name if directory in (".", "./") else os.path.join(directory, name)


class _Excluded:
    """Patterns of files to leave out: gitignore's, each relative to its directory."""

    def __init__(self, exclude: Sequence[Excluding]) -> None:
        self.specs = [(os.path.abspath(each.root or "."), _spec(each.patterns)) for each in exclude if each.patterns]

    def __call__(self, path: str) -> bool:
        for root, spec in self.specs:
            relative = os.path.relpath(os.path.abspath(path), root).replace(os.sep, "/")
            if spec.match_file(relative) or (os.path.isdir(path) and spec.match_file(relative + "/")):
                return True
        return False


class _Ignored:
    """The ignore files of a repository: those above the start, and those met on the way down."""

    def __init__(self, top: str) -> None:
        self.specs: list[tuple[str, Any]] = []
        self._load_above(os.path.abspath(top))

    def _load_above(self, top: str) -> None:
        """The ignore files from the repository's root down to the start."""
        root, above = repository(top)
        if root is None:
            return
        self._load(os.path.join(root, ".git", "info", "exclude"), root)
        for directory in above:
            self._load(os.path.join(directory, ".gitignore"), directory)

    def enter(self, directory: str, entries: Sequence[os.DirEntry[str]]) -> None:
        """Read the directory's own ignore file."""
        if any(entry.name == ".gitignore" for entry in entries):
            self._load(os.path.join(directory, ".gitignore"), os.path.abspath(directory))

    def _load(self, file: str, base: str) -> None:
        lines = read_text(file).splitlines()
        patterns = [line for line in lines if line.strip() and not line.startswith("#")]
        if patterns:
            self.specs.append((base + os.sep, _spec(patterns)))

    def __call__(self, path: str, is_directory: bool) -> bool:
        if not self.specs:
            return False
        full = os.path.abspath(path)
        for base, spec in reversed(self.specs):
            if full.startswith(base):
                relative = full[len(base) :].replace(os.sep, "/") + ("/" if is_directory else "")
                verdict = spec.check_file(relative).include
                if verdict is not None:
                    return bool(verdict)
        return False


def _spec(patterns: Sequence[str]) -> Any:
    # Imported only where there are patterns: most of the time of a small run would go into the import.
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)
