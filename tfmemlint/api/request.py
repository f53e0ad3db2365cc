"""The arguments of the library's functions: what is to be looked at, and with which options."""

from __future__ import annotations

import dataclasses
import io
import os
import threading
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from tfmemlint.config.files import Config, ConfigError, Table, load
from tfmemlint.config.nearest import Nearest
from tfmemlint.config.options import OPTIONS
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.front_end import find_files
from tfmemlint.engine.options_by_file import OptionsByFile
from tfmemlint.interpreter.modules import ModuleStore
from tfmemlint.sources.kinds import PYTHON, kind_of

Paths = os.PathLike[str] | Iterable[os.PathLike[str]]
"""One path or several."""
Codes = str | Sequence[str]
"""Codes of rules or their beginnings: ``"TFM1"``, ``"TFM101,TFM202"``, ``["TFM101", "TFM202"]``."""

UNNAMED = "<text>"
"""The name of a text that was given without a path."""

_ANALYSIS = threading.RLock()
"""Held while the analysis runs: it keeps the files of the projects that it reads in caches of this process."""


@contextmanager
def analysis() -> Iterator[None]:
    """Enter alone, and let Python's parser not print warnings about the style of the code that is read."""
    with _ANALYSIS, warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """The options that `check`, `fix` and `plan` have in common, as they were given.

    Attributes:
        select: the rules to run in place of the usual ones; None for those of the configuration file.
        extend_select: rules to run besides.
        ignore: rules not to run.
        target_version: the TensorFlow release to judge for, such as ``2.15``.
        gpu_memory: the memory of one GPU, such as ``16GiB``.
        isolated: read no configuration file.
        unsafe: apply unsafe fixes, too.
    """

    select: Codes | None = None
    extend_select: Codes = ()
    ignore: Codes = ()
    target_version: str | None = None
    gpu_memory: str | None = None
    isolated: bool = False
    unsafe: bool = False

    def config_at(self, path: str) -> Config:
        """Return the options of the configuration file that is nearest to a path.

        Raises:
            ConfigError: that file can't be used.
        """
        if self.isolated:
            return Config()
        return load(path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path)))

    def context(self, config: Config, open_texts: Mapping[str, bytes] | None = None) -> RunContext:
        """Return the context of a run with these options.

        Raises:
            ConfigError: an option can't be followed.
        """
        options = OptionsByFile(Nearest(config, [self._table()], single=self.isolated))
        return RunContext(
            **options.options_of(options.nearest.top),
            by_file=options,
            in_process=True,
            modules=ModuleStore(open_texts=open_texts or {}),
        )

    def _table(self) -> Table:
        """Return the options in the form of those of a configuration file.

        Raises:
            ConfigError: an option can't be followed.
        """
        values: dict[str, object] = {}
        for key, given in (("target-version", self.target_version), ("gpu-memory", self.gpu_memory)):
            if given is not None:
                try:
                    values[key] = OPTIONS[key].from_text(given)
                except ValueError as error:
                    raise ConfigError("", f"--{key}: {error}") from None
        if self.select is not None:
            values["select"] = _codes(self.select)
        values |= {"extend-select": _codes(self.extend_select), "ignore": _codes(self.ignore)}
        if self.unsafe:
            values["unsafe-fixes"] = True
        return Table("", os.getcwd(), values)


def _codes(given: Codes) -> tuple[str, ...]:
    parts = (given,) if isinstance(given, str) else given
    return tuple(code.strip() for part in parts for code in part.split(",") if code.strip())


@dataclasses.dataclass(frozen=True, slots=True)
class Text:
    """A text that was given.

    Attributes:
        data: its bytes.
        path: the file that it stands for, or `UNNAMED`.
    """

    data: bytes
    path: str = UNNAMED

    @property
    def stands_for_file(self) -> bool:
        """True if it is judged as the content of a file, with the project around it."""
        return self.path != UNNAMED


def parse_source(source: str | Paths, path: str | os.PathLike[str] | None) -> Text | list[str]:
    """Return the text, or the paths, that a caller means.

    Raises:
        TypeError: it is neither a text nor a path, or ``path`` comes with paths.
        ValueError: the text is the name of a file: a mistake that would find nothing in silence.
        FileNotFoundError: a path is not there.
    """
    if isinstance(source, str):
        return _text(source, None if path is None else os.fspath(path))
    if path is not None:
        raise TypeError("path= names a text: it can't be given with paths")
    given = [source] if isinstance(source, os.PathLike) else list(source)
    if not all(isinstance(each, os.PathLike) for each in given):
        raise TypeError("expected a text, a pathlib.Path, or several of them")
    paths = [os.fspath(each) for each in given]
    for each in paths:
        if not os.path.lexists(each):
            raise FileNotFoundError(2, os.strerror(2), each)
    return paths


def _text(text: str, path: str | None) -> Text:
    if "\n" not in text and text.strip() and path is None and _names_a_file(text):
        raise ValueError(f"{text!r} is taken for a text, and it looks like a path: pass pathlib.Path({text!r})")
    kind = PYTHON if path is None else kind_of(os.path.basename(path)) or PYTHON
    data = encode_python(text) if kind == PYTHON else text.encode("utf-8", "surrogatepass")
    return Text(data, UNNAMED if path is None else path)


def _names_a_file(text: str) -> bool:
    if len(text) > 4096 or "\0" in text:
        return False
    return kind_of(os.path.basename(text)) is not None or os.path.exists(text)


def encode_python(text: str) -> bytes:
    """Return a text in the encoding that it declares, which is how it will be read."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data if encoding == "utf-8-sig" else text.encode(encoding)
    except (SyntaxError, ValueError, LookupError):
        return data


@dataclasses.dataclass(frozen=True, slots=True)
class Group:
    """The paths that have one configuration file in common.

    Attributes:
        config: its options.
        paths: as they were given.
        isolated: no configuration file is read.
    """

    config: Config
    paths: list[str]
    isolated: bool = False

    @property
    def nearest(self) -> Nearest:
        """The options of each directory: below the group's own, those of nearer files."""
        return Nearest(self.config, single=self.isolated)


def groups_of(paths: Sequence[str], options: Options) -> list[Group]:
    """Return paths by their nearest configuration files.

    Raises:
        ConfigError: such a file can't be used.
    """
    found: dict[str | None, Group] = {}
    for path in dict.fromkeys(paths):
        config = options.config_at(path)
        found.setdefault(config.path, Group(config, [], options.isolated)).paths.append(path)
    return list(found.values())


def files_of(group: Group) -> tuple[list[tuple[str, bool]], list[tuple[str, str]], list[str]]:
    """Return the files of a group, each with whether it was named itself; paths with their problems; and the files that
    an interrupted run may have left."""
    walk, files = find_files(group.paths, group.nearest, leave_out_named=True)
    return files, walk.problems, walk.litter


__all__ = ["ConfigError", "Group", "Options", "Text", "analysis", "files_of", "groups_of", "parse_source"]
