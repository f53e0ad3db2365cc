"""The options of a project: ``tfmemlint.toml``, or ``[tool.tfmemlint]`` in ``pyproject.toml``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tfmemlint.config.selection import ConfigError, Layer, Selection
from tfmemlint.sources.regular import read_regular

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.rule import Rule

__all__ = ["Config", "ConfigError", "Layer", "Selection", "load", "parse_memory", "read"]


@dataclass(frozen=True, slots=True)
class Config:
    """The options of a configuration file; None or empty for those that it does not set.

    Attributes:
        root: the directory of the file, which its patterns are relative to; the working directory without a file.
        path: the file, or None.
        select, extend_select, ignore, extend_ignore: rule selectors.
        per_file_ignores: selectors by file pattern.
        exclude: patterns of files to leave out, instead of the default ones.
        extend_exclude: further patterns of files to leave out.
        kinds: the kinds of files to look for, instead of the default ones.
        extend_kinds: further kinds.
        ignore_kinds: kinds not to look for.
        respect_gitignore: leave out files that git ignores.
        respect_gitattributes: leave out files that are marked as generated or vendored.
        target_version: the TensorFlow release to judge for.
        gpu_memory_mib: the memory of one GPU, in MiB.
        read_gpu_memory: fixes may add code that asks NVML for the memory of a GPU.
    """

    root: str = field(default_factory=os.getcwd)
    path: str | None = None
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
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

    def selection(self, rules: Sequence[Rule], command_line: Layer | None = None) -> Selection:
        """Return the rules that this file and, after it, the command line enable.

        Raises:
            ConfigError: a selector matches no rule.
        """
        origin = self.path or ""
        file = Layer(origin, self.select, self.extend_select, self.ignore, self.extend_ignore)
        layers = [file] if command_line is None else [file, command_line]
        return Selection.resolve(rules, layers, self.per_file_ignores, root=self.root, origin=origin)

    def file_kinds(self, usual: Collection[str] | None = None) -> frozenset[str]:
        """Return the kinds of files to look for (`tfmemlint.sources.kinds`).

        ``usual`` are the kinds if the file does not say; None for the default ones.
        """
        from tfmemlint.sources.kinds import DEFAULT

        chosen = self.kinds if self.kinds is not None else DEFAULT if usual is None else usual
        return frozenset((*chosen, *self.extend_kinds)) - frozenset(self.ignore_kinds)

    def target_and_memory(
        self, target_version: str | None, gpu_memory: str | None
    ) -> tuple[Target | None, float | None]:
        """Return the release to judge for, None if none is stated, and the memory of one GPU in MiB, None if it is
        unknown. The command line takes precedence over the file.

        Args:
            target_version: the value of ``--target-version``.
            gpu_memory: the value of ``--gpu-memory``.

        Raises:
            ConfigError: an option is invalid.
        """
        target, memory, option = self.target_version, self.gpu_memory_mib, "--target-version"
        try:
            if target_version is not None:
                from tfmemlint.knowledge.releases import Target

                target = Target.parse(target_version)
            option = "--gpu-memory"
            if gpu_memory is not None:
                memory = parse_memory(gpu_memory)
        except ValueError as error:
            raise ConfigError("", f"{option}: {error}") from None
        return target, memory


def load(start: str | os.PathLike[str] | None = None) -> Config:
    """Return the options of the nearest configuration file, in ``start`` (default: the working directory) or above.

    In one directory ``tfmemlint.toml`` takes precedence over ``pyproject.toml``; a ``pyproject.toml`` without a
    ``[tool.tfmemlint]`` table is skipped.

    Raises:
        ConfigError: the file cannot be read, or has an invalid option.
    """
    directory = os.path.abspath(start) if start is not None else os.getcwd()
    while True:
        for name in ("tfmemlint.toml", "pyproject.toml"):
            path = os.path.join(directory, name)
            if os.path.isfile(path):
                config = read(path)
                if config is not None:
                    return config
        above = os.path.dirname(directory)
        if above == directory:
            return Config()
        directory = above


_MAX_CONFIG_BYTES = 2**20
"""Options written by a person take a small part of it."""


def read(path: str | os.PathLike[str]) -> Config | None:
    """Return the options in one file; None for a ``pyproject.toml`` that has no ``[tool.tfmemlint]``.

    Raises:
        ConfigError: as for `load`.
    """
    shown = os.fspath(path)
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
    return Config(root=os.path.dirname(shown), path=shown, **_options(shown, table))


def _parse(shown: str, data: bytes) -> Any:
    import importlib

    toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        return toml.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigError(shown, f"is not UTF-8: {error.reason} at byte {error.start}") from error
    except (toml.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(shown, f"is not TOML: {' '.join(str(error).split())}") from error


def _options(shown: str, table: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _OPTIONS:
            raise ConfigError(shown, f"unknown option {key!r}{_nearest(key)}")
        name, convert = _OPTIONS[key]
        try:
            found[name] = convert(value)
        except ValueError as error:
            raise ConfigError(shown, f"{key}: {error}") from error
    return found


def _nearest(key: str) -> str:
    import difflib

    near = difflib.get_close_matches(key.replace("_", "-").lower(), _OPTIONS, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(_OPTIONS)}"


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"expected a list of strings, found {_kind(value)}")
    return tuple(value)


def _table(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a table of file patterns and lists of rules, found {_kind(value)}")
    return {pattern: _strings(selectors) for pattern, selectors in value.items()}


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, found {_kind(value)}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a string, found {_kind(value)}")
    return value


def _format(value: object) -> str:
    from tfmemlint.reporters.formats import format_named

    return format_named(_text(value)).name


def _target(value: object) -> Target:
    from tfmemlint.knowledge.releases import Target

    return Target.parse(_text(value))


def _memory(value: object) -> float:
    return parse_memory(str(value) if isinstance(value, int | float) and not isinstance(value, bool) else _text(value))


def _kinds(value: object) -> tuple[str, ...]:
    from tfmemlint.sources.kinds import checked

    return checked(_strings(value))


def _kind(value: object) -> str:
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "a table",
    }
    if isinstance(value, list):
        return next((f"{_kind(each)} in it" for each in value if not isinstance(each, str)), "a list")
    return names.get(type(value), type(value).__name__)


_OPTIONS: dict[str, tuple[str, Callable[[object], object]]] = {
    "select": ("select", _strings),
    "extend-select": ("extend_select", _strings),
    "ignore": ("ignore", _strings),
    "extend-ignore": ("extend_ignore", _strings),
    "per-file-ignores": ("per_file_ignores", _table),
    "exclude": ("exclude", _strings),
    "extend-exclude": ("extend_exclude", _strings),
    "target-version": ("target_version", _target),
    "output-format": ("output_format", _format),
    "unsafe-fixes": ("unsafe_fixes", _flag),
    "gpu-memory": ("gpu_memory_mib", _memory),
    "read-gpu-memory": ("read_gpu_memory", _flag),
    "respect-gitignore": ("respect_gitignore", _flag),
    "respect-gitattributes": ("respect_gitattributes", _flag),
    "kinds": ("kinds", _kinds),
    "extend-kinds": ("extend_kinds", _kinds),
    "ignore-kinds": ("ignore_kinds", _kinds),
}

_MIB = 1024 * 1024
_UNITS: dict[str, float] = {
    **{name: 1024.0**power for power, letter in enumerate("kmgt", 1) for name in (letter, f"{letter}ib")},
    **{f"{letter}b": 1000.0**power for power, letter in enumerate("kmgt", 1)},
}
"""Bytes of a unit: ``GiB`` and, as Docker and Java have it, ``g`` are 1024 MiB; ``GB`` is a billion bytes."""
_MEMORY = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", re.IGNORECASE)


def parse_memory(text: str) -> float:
    """Return an amount of memory (``16GiB``, ``16GB``, ``16384MiB``, ``16g``) in MiB.

    Raises:
        ValueError: it is no amount, has no unit, or is not more than zero.
    """
    match = _MEMORY.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not an amount of memory; write it as in 16GiB")
    number, unit = float(match[1]), match[2].lower()
    if not unit:
        meant = f"{match[1]}MiB" if number >= 1024 else f"{match[1]}GiB"
        raise ValueError(f"{text!r} has no unit; write {meant if number else '16GiB'}")
    if unit not in _UNITS:
        raise ValueError(f"{text!r} has an unknown unit; write GiB, GB, MiB or MB")
    amount = number * _UNITS[unit] / _MIB
    if not 0 < amount < float("inf"):
        raise ValueError(f"{text!r} is not an amount of memory that a GPU can have; write it as in 16GiB")
    return amount
