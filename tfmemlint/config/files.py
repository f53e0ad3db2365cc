"""The options of a project, from all places that give some: configuration files, variables, the command line.

A configuration file is ``.tfmemlint.toml``, ``tfmemlint.toml``, or ``[tool.tfmemlint]`` in ``pyproject.toml``.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from tfmemlint.config.memory import parse_memory
from tfmemlint.config.options import EXTEND, OPTIONS, PREFIX, option_named
from tfmemlint.config.selection import ConfigError, FileIgnores, Layer, Selection
from tfmemlint.model.finding import Severity
from tfmemlint.model.records import dataclass
from tfmemlint.sources.regular import read_regular
from tfmemlint.sources.walking import CONFIGURATIONS, Excluding

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.rule import Rule

__all__ = ["Config", "ConfigError", "Layer", "Selection", "Table", "load", "parse_memory", "read", "tables_of"]

_MAX_CONFIG_BYTES = 2**20
"""Options written by a person take a small part of it."""
MAX_EXTENDED_FILES = 20
"""Files that extend each other. A bound without a deeper reason; circles are found before."""


@dataclass(frozen=True, slots=True)
class Table:
    """The options that one place gives.

    Attributes:
        origin: the file, or the variable; "" for the command line.
        root: the directory that its patterns are relative to.
        values: converted values, by the names of options.
    """

    origin: str
    root: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Config:
    """All options that hold for some files; None or empty for those that nothing sets.

    Attributes:
        root: the directory of the nearest configuration file; the working directory without one.
        path: that file, or None.
        layers: the selectors of each place, in the order of their precedence.
        per_file_ignores: selectors by file pattern.
        exclude: patterns of files to leave out.
        severity: the severities that are set, by selector, each with its place.
        min_severity: what is less grave is left out.
        kinds: the kinds of files to look for, instead of the default ones.
        extend_kinds: further kinds.
        ignore_kinds: kinds not to look for.
        respect_gitignore: leave out files that git ignores.
        respect_gitattributes: leave out files that are marked as generated or vendored.
        target_version: the TensorFlow release to judge for.
        gpu_memory_mib: the memory of one GPU, in MiB.
        read_gpu_memory: fixes may add code that asks NVML for the memory of a GPU.
        baseline: the path of the file with the known findings.
        tables: the places that it was made of.
    """

    root: str = field(default_factory=os.getcwd)
    path: str | None = None
    layers: tuple[Layer, ...] = ()
    per_file_ignores: tuple[FileIgnores, ...] = ()
    exclude: tuple[Excluding, ...] = ()
    severity: tuple[tuple[str, str, Severity], ...] = ()
    min_severity: Severity = Severity.ADVICE
    target_version: Target | None = None
    output_format: str | None = None
    unsafe_fixes: bool = False
    gpu_memory_mib: float | None = None
    read_gpu_memory: bool = False
    respect_gitignore: bool = True
    respect_gitattributes: bool = True
    kinds: tuple[str, ...] | None = None
    extend_kinds: tuple[str, ...] = ()
    ignore_kinds: tuple[str, ...] = ()
    baseline: str | None = None
    tables: tuple[Table, ...] = ()

    @classmethod
    def of(cls, tables: Sequence[Table], *, root: str | None = None, path: str | None = None) -> Config:
        """Return what ``tables`` say together; each takes precedence over those before it."""
        found: dict[str, Any] = {}
        ignores: list[FileIgnores] = []
        exclude: list[Excluding] = []
        severity: list[tuple[str, str, Severity]] = []
        for table in tables:
            values = table.values
            if "per-file-ignores" in values:
                ignores = []
            for key in ("per-file-ignores", "extend-per-file-ignores"):
                for pattern, selectors in values.get(key, {}).items():
                    ignores.append(FileIgnores(pattern, selectors, table.root, table.origin))
            if "exclude" in values:
                exclude = []
            for key in ("exclude", "extend-exclude"):
                if values.get(key):
                    exclude.append(Excluding(table.root, values[key]))
            severity += [(table.origin, selector, word) for selector, word in values.get("severity", {}).items()]
            if "kinds" in values:
                found |= {"extend_kinds": (), "ignore_kinds": (), "kinds": values["kinds"]}
            for key in ("extend-kinds", "ignore-kinds"):
                name = key.replace("-", "_")
                found[name] = (*found.get(name, ()), *values.get(key, ()))
            if "baseline" in values:
                found["baseline"] = os.path.relpath(os.path.join(table.root, values["baseline"]))
            found |= {name: values[key] for key, name in _SINGLE.items() if key in values}
        return cls(
            root=os.getcwd() if root is None else root,
            path=path,
            layers=tuple(layer for layer in map(_layer, tables) if layer != Layer(layer.origin)),
            per_file_ignores=tuple(ignores),
            exclude=tuple(exclude),
            severity=tuple(severity),
            tables=tuple(tables),
            **found,
        )

    @property
    def has_selection(self) -> bool:
        """True if something is said about which rules run."""
        return bool(self.layers or self.per_file_ignores)

    def origin(self, key: str) -> str:
        """Return the place that sets an option last; "" for the command line, or if none does."""
        return next((table.origin for table in reversed(self.tables) if key in table.values), "")

    def selection(self, rules: Sequence[Rule]) -> Selection:
        """Return the rules that are enabled.

        Raises:
            ConfigError: a selector matches no rule.
        """
        return Selection.resolve(rules, self.layers, self.per_file_ignores)

    def severities(self, rules: Sequence[Rule]) -> dict[str, Severity]:
        """Return the severities that are set, by code; a more specific selector counts more, then the later one.

        Raises:
            ConfigError: a selector matches no rule.
        """
        from tfmemlint.config.selection import codes_of, specificity

        found: dict[str, Severity] = {}
        for origin, selector, word in sorted(self.severity, key=lambda item: specificity(item[1], rules)):
            found |= dict.fromkeys(codes_of(selector, rules, origin, "severity"), word)
        return found

    def file_kinds(self, usual: Collection[str] | None = None) -> frozenset[str]:
        """Return the kinds of files to look for (`tfmemlint.sources.kinds`).

        ``usual`` are the kinds if nothing is said; None for the default ones.
        """
        from tfmemlint.sources.kinds import DEFAULT

        chosen = self.kinds if self.kinds is not None else DEFAULT if usual is None else usual
        return frozenset((*chosen, *self.extend_kinds)) - frozenset(self.ignore_kinds)


_SINGLE = {
    "min-severity": "min_severity",
    "target-version": "target_version",
    "output-format": "output_format",
    "unsafe-fixes": "unsafe_fixes",
    "gpu-memory": "gpu_memory_mib",
    "read-gpu-memory": "read_gpu_memory",
    "respect-gitignore": "respect_gitignore",
    "respect-gitattributes": "respect_gitattributes",
}
"""Options of which the last place that sets one counts, and the attributes of `Config`."""


def _layer(table: Table) -> Layer:
    values = table.values
    return Layer(
        table.origin,
        values.get("select"),
        values.get("extend-select", ()),
        values.get("ignore", ()),
        values.get("extend-ignore", ()),
    )


def find(directory: str) -> str | None:
    """Return the configuration file in a directory, without looking above it; None if there is none."""
    for name in CONFIGURATIONS:
        path = os.path.join(directory, name)
        if os.path.isfile(path) and (name != CONFIGURATIONS[-1] or _own_table(path) is not None):
            return path
    return None


def load(start: str | os.PathLike[str] | None = None) -> Config:
    """Return the options of the nearest configuration file, in ``start`` (default: the working directory) or above.

    Raises:
        ConfigError: a file can't be read, or an option in it can't be followed.
    """
    directory = os.path.abspath(start if start is not None else os.getcwd())
    if not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    while True:
        path = find(directory)
        if path is not None:
            return Config.of(tables_of(path), root=directory, path=path)
        above = os.path.dirname(directory)
        if above == directory:
            return Config()
        directory = above


def read(path: str | os.PathLike[str]) -> Config | None:
    """Return the options in a file, and in those that it extends; None for a ``pyproject.toml`` without any.

    Raises:
        ConfigError: a file can't be read, or an option in it can't be followed.
    """
    shown = os.path.abspath(path)
    return None if _own_table(shown) is None else Config.of(tables_of(shown), root=os.path.dirname(shown), path=shown)


def tables_of(path: str, *, root: str | None = None, _below: tuple[str, ...] = ()) -> list[Table]:
    """Return the options of a file and of those that it extends, which come first.

    Args:
        path: the absolute path of the file.
        root: the directory that patterns in it are relative to; None for its own.

    Raises:
        ConfigError: a file can't be read, has no options, or one in it can't be followed.
    """
    table = _own_table(path)
    if table is None:
        raise ConfigError(path, "has no table [tool.tfmemlint]")
    above: list[Table] = []
    values = {}
    for key, value in table.items():
        if key == EXTEND:
            above = tables_of(_extended(path, value, _below), _below=(*_below, path))
            continue
        try:
            values[key] = option_named(key).convert(value)
        except ValueError as error:
            where = "" if key not in OPTIONS else f"{key}: "
            raise ConfigError(path, f"{where}{error}") from error
    return [*above, Table(path, os.path.dirname(path) if root is None else root, values)]


def _extended(path: str, value: object, below: tuple[str, ...]) -> str:
    """Return the absolute path of the file that the one at ``path`` extends."""
    if not isinstance(value, str):
        raise ConfigError(path, f"{EXTEND}: expected the path of a configuration file")
    other = os.path.normpath(os.path.join(os.path.dirname(path), os.path.expanduser(value)))
    if other in (*below, path) or len(below) >= MAX_EXTENDED_FILES:
        raise ConfigError(path, f"{EXTEND}: {value} extends this file in turn")
    if not os.path.isfile(other):
        raise ConfigError(path, f"{EXTEND}: {value}: no such file")
    return other


def from_environment(environment: Mapping[str, str]) -> tuple[list[Table], list[str]]:
    """Return the options that variables give, and what is to be said about variables that are none.

    Raises:
        ConfigError: the value of a variable can't be followed.
    """
    known = {option.variable: option for option in OPTIONS.values()}
    tables, remarks = [], []
    for name, text in environment.items():
        if not name.startswith(PREFIX) or name in _OTHER_VARIABLES or name.startswith(_SIMULATED):
            continue
        option = known.get(name)
        if option is None:
            remarks.append(f"{name} is no variable of tfmemlint{_nearest_variable(name, [*known, *_OTHER_VARIABLES])}")
            continue
        try:
            tables.append(Table(name, os.getcwd(), {option.key: option.from_text(text)}))
        except ValueError as error:
            raise ConfigError(name, str(error)) from None
    return sorted(tables, key=lambda table: table.origin), remarks


_OTHER_VARIABLES = (f"{PREFIX}CACHE_DIR", f"{PREFIX}CONFIG", f"{PREFIX}LANG")
_SIMULATED = f"{PREFIX}SIM_"
"""Begins the variables of the simulated driver, which this tool's own processes set."""


def _nearest_variable(name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def inline(text: str) -> Table:
    """Return the options of ``KEY = VALUE``, as ``--config`` takes them.

    Raises:
        ConfigError: the text is not TOML, or an option can't be followed.
    """
    values = {}
    for key, value in _parse("--config", text.encode()).items():
        try:
            values[key] = option_named(key).convert(value)
        except ValueError as error:
            raise ConfigError("--config", f"{key}: {error}" if key in OPTIONS else str(error)) from None
    return Table("--config", os.getcwd(), values)


def _own_table(shown: str) -> dict[str, Any] | None:
    """Return the options of one file as TOML has them; None for a ``pyproject.toml`` without any."""
    try:
        data = read_regular(shown, _MAX_CONFIG_BYTES)
    except OSError as error:
        raise ConfigError(shown, f"cannot be read: {error.strerror or error}") from error
    shared = os.path.basename(shown) == "pyproject.toml"
    if shared and b"tfmemlint" not in data:
        return None  # without a TOML parser: most of these files are about other tools
    table = _parse(shown, data)
    if shared:
        table = table.get("tool", {})
        table = table.get("tfmemlint") if isinstance(table, dict) else None
        if table is None:
            return None
        if not isinstance(table, dict):
            raise ConfigError(shown, "tool.tfmemlint is not a table")
    assert isinstance(table, dict)
    return table


def _parse(shown: str, data: bytes) -> Any:
    from tfmemlint.sources.config_files.tables import parse_toml

    try:
        return parse_toml(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigError(shown, f"is not UTF-8: {error.reason} at byte {error.start}") from error
    except ValueError as error:
        raise ConfigError(shown, f"is not TOML: {' '.join(str(error).split())}") from error
