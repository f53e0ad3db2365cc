"""The part of a run's context that the nearest configuration file of each file decides."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tfmemlint.config.selection import ConfigError

if TYPE_CHECKING:
    from tfmemlint.config.files import Config
    from tfmemlint.config.nearest import Nearest
    from tfmemlint.engine.context import RunContext


class OptionsByFile:
    """Gives each file the context with the options of its nearest configuration file.

    Attributes:
        nearest: finds the options.
        migrate: without a stated release, code is judged for the newest one.
    """

    def __init__(self, nearest: Nearest, *, migrate: bool = False) -> None:
        self.nearest = nearest
        self.migrate = migrate
        self._known: dict[int, tuple[Config, dict[str, Any]]] = {}

    def at(self, path: str, context: RunContext) -> RunContext:
        """Return the context for one file: one of a program that nobody named may have options that can't be followed,
        which do not matter then."""
        try:
            config = self.nearest.of_file(path)
            if config is context.config:
                return context
            return dataclasses.replace(context, **self.options_of(config))
        except ConfigError:
            return context

    def validate(self, paths: Iterable[str]) -> None:
        """Read the options of all these files.

        Raises:
            ConfigError: an option can't be followed.
        """
        for config in {id(config): config for config in map(self.nearest.of_file, paths)}.values():
            self.options_of(config)

    def options_of(self, config: Config) -> dict[str, Any]:
        """Return the fields of `RunContext` that a configuration decides.

        Raises:
            ConfigError: a selector in it stands for no rule.
        """
        if id(config) not in self._known:
            self._known[id(config)] = config, self._options_of(config)
        return self._known[id(config)][1]

    def _options_of(self, config: Config) -> dict[str, Any]:
        selection, severities = None, {}
        if config.has_selection or config.severity:
            from tfmemlint.rulekit.rule import rules

            selection = config.selection(rules()) if config.has_selection else None
            severities = config.severities(rules())
        target = config.target_version
        if target is None and self.migrate:
            from tfmemlint.knowledge.releases import Target

            target = Target.newest()
        return {
            "config": config,
            "target": target,
            "selection": selection,
            "severities": severities,
            "min_severity": config.min_severity,
            "unsafe": config.unsafe_fixes,
            "gpu_memory_mib": config.gpu_memory_mib,
            "read_gpu_memory": config.read_gpu_memory,
            "kinds": config.file_kinds(),
        }
