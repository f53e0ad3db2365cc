"""Read a YAML file: its kind is known by the keys of its root (`tfmemlint.deployment.yaml.dialects`).

This module imports PyYAML; it is imported only for a file that mentions a variable that a rule is about.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

import yaml

from tfmemlint.deployment.yaml import servers
from tfmemlint.deployment.yaml.dialects import RootKeys, dialect_of
from tfmemlint.deployment.yaml.variables import YamlFile
from tfmemlint.model.configuration import ConfigurationRead
from tfmemlint.sources.config_files.templates import is_templated, masked
from tfmemlint.sources.config_files.yaml_nodes import Node, documents, pairs, scalar

_OF_CONTAINERS = ("Compose file", "Kubernetes manifest")


def read_yaml(text: str) -> ConfigurationRead:
    """Return what a YAML file sets and starts: nothing if its kind is not known."""
    shown = masked(text)
    file = YamlFile(shown)
    try:
        nodes = list(documents(shown))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if not is_templated(text):
            mark = getattr(error, "problem_mark", None)
            words = getattr(error, "problem", None) or str(error).partition("\n")[0]
            row = file.places.place(min(mark.index, len(shown)))[0] if mark is not None else 1
            file.out.problems.append((row, str(words)))
        return file.out
    for node in nodes:
        dialect = dialect_of(_root_keys(node))
        if dialect is not None:
            module, _, function = dialect.reader.partition(":")
            read: Callable[[YamlFile, Node], None] = getattr(importlib.import_module(module), function)
            read(file, node)
            if dialect.name in _OF_CONTAINERS:
                servers.read(file, node)
    return file.out


def _root_keys(node: Node) -> RootKeys:
    return {
        name: frozenset(inner for inner_key, _ in pairs(value) if (inner := scalar(inner_key)) is not None)
        for key, value in pairs(node)
        if (name := scalar(key)) is not None
    }
