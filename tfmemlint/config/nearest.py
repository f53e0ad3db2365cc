"""The options that hold for each file: those of the nearest configuration file above it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tfmemlint.config.files import Config, ConfigError, Table, find, from_environment, inline, load, tables_of

VARIABLE = "TFMEMLINT_CONFIG"
"""Names the configuration file, as ``--config`` does."""


class Nearest:
    """Finds the options of each directory.

    Attributes:
        top: the options of the working directory, which hold for the run as a whole, and for files that have no
            configuration file above them.
    """

    def __init__(self, top: Config, after: Sequence[Table] = (), *, single: bool = False) -> None:
        """Take the options of the working directory.

        Args:
            top: the options of its configuration file.
            after: options that take precedence over every file.
            single: these are the options of every file; no other configuration file is looked for.
        """
        self._after = tuple(after)
        self._single = single
        self.top = self._with_precedence(top)
        self._by_directory: dict[str, Config] = {}
        self._by_file: dict[str, Config] = {} if self.top.path is None else {self.top.path: self.top}

    @classmethod
    def of(
        cls,
        *,
        config: Sequence[str] = (),
        isolated: bool = False,
        command_line: Table | None = None,
        environment: tuple[Sequence[Table], Sequence[str]] | None = None,
    ) -> Nearest:
        """Return what ``--config``, ``--isolated`` and other options ask for.

        Args:
            config: the values of ``--config``: paths of configuration files, and ``KEY = VALUE``.
            isolated: no configuration file is read.
            command_line: the options of the command line.
            environment: the options of variables; None to read them.

        Raises:
            ConfigError: an option can't be followed.
        """
        tables = list((from_environment(os.environ) if environment is None else environment)[0])
        path = os.environ.get(VARIABLE) if not isolated else None
        for value in config:
            if os.path.isfile(value) or "=" not in value:
                path = value
            else:
                tables.append(inline(value))
        if command_line is not None:
            tables.append(command_line)
        if isolated:
            if path is not None:
                raise ConfigError("", f"--isolated reads no configuration file, and --config names {path}")
            return cls(Config(), tables, single=True)
        if path is None:
            return cls(load(), tables)
        shown = os.path.abspath(path)
        if not os.path.isfile(shown):
            raise ConfigError(path, "no such configuration file")
        # As in ruff, the patterns of a file that is named are relative to the working directory.
        file = Config.of(tables_of(shown, root=os.getcwd()), path=shown)
        return cls(file, tables, single=True)

    def of_directory(self, directory: str) -> Config:
        """Return the options of the files in a directory.

        Raises:
            ConfigError: a configuration file can't be followed.
        """
        if self._single:
            return self.top
        known = self._by_directory.get(directory)
        if known is None:
            known = self._by_directory[directory] = self._found(os.path.abspath(directory))
        return known

    def of_file(self, path: str) -> Config:
        """Return the options of one file; ``-`` is in the working directory.

        Raises:
            ConfigError: a configuration file can't be followed.
        """
        return self.top if self._single else self.of_directory(os.path.dirname(path))

    @property
    def tables(self) -> list[tuple[Table, ...]]:
        """The tables of options of the working directory, and of all configuration files that were found so far."""
        return [config.tables for config in (self.top, *self._by_file.values())]

    def _found(self, directory: str) -> Config:
        path = find(directory)
        if path is not None:
            if path not in self._by_file:
                self._by_file[path] = self._with_precedence(Config.of(tables_of(path), root=directory, path=path))
            return self._by_file[path]
        above = os.path.dirname(directory)
        return self.top if above == directory else self.of_directory(above)

    def _with_precedence(self, config: Config) -> Config:
        if not self._after:
            return config
        return Config.of((*config.tables, *self._after), root=config.root, path=config.path)
