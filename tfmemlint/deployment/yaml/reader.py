"""YAML files that set variables: compose files, Kubernetes manifests, workflows of GitHub Actions, conda environments.

The kind of a file is known by the keys of its root. PyYAML is imported where such a file has a variable of interest
in it.
"""

from __future__ import annotations

import yaml

from tfmemlint.deployment.yaml import actions, compose, conda, kubernetes
from tfmemlint.deployment.yaml.variables import YamlFile
from tfmemlint.model.configuration import ConfigurationRead
from tfmemlint.sources.config_files.templates import is_templated, masked
from tfmemlint.sources.config_files.yaml_nodes import documents, pairs, scalar


def read_yaml(text: str) -> ConfigurationRead:
    """What a YAML file sets and starts. A kind of file that isn't known has nothing to say."""
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
        keys = {name for key, _ in pairs(node) if (name := scalar(key)) is not None}
        if "services" in keys:
            compose.read(file, node)
        elif {"apiVersion", "kind"} <= keys:
            kubernetes.read(file, node)
        elif "jobs" in keys or ("runs" in keys and "name" in keys):
            actions.read(file, node)
        elif "dependencies" in keys:
            conda.read(file, node)
    return file.out
