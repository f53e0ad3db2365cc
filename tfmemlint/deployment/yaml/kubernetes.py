"""Kubernetes manifests: the variables of each container, and its GPUs.

Source: Kubernetes' API reference (``Container``, ``EnvVar``: a value is a string, anything else is refused; ``$(NAME)``
is replaced), and "Schedule GPUs". The programs of containers are not followed: the contents of an image are not known.
"""

from __future__ import annotations

import yaml

from tfmemlint.deployment.yaml.variables import YamlFile, plain_value
from tfmemlint.model.configuration import ContainerGpus
from tfmemlint.sources.config_files.yaml_nodes import Node, get, items, known, pairs

_MAX_NODES = 100_000


def read(file: YamlFile, node: Node) -> None:
    """Read a manifest, with the containers anywhere in it."""
    pending = [node]
    seen: set[int] = set()
    while pending and len(seen) < _MAX_NODES:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        for name in ("containers", "initContainers"):
            for container in items(get(current, name)) if isinstance(current, yaml.MappingNode) else ():
                _container(file, container)
        if isinstance(current, yaml.MappingNode):
            pending += [value for _, value in reversed(pairs(current))]
        else:
            pending += reversed(items(current))


def _container(file: YamlFile, container: Node) -> None:
    scope = (next(file.numbers),)
    for item in items(get(container, "env")):
        name, value = get(item, "name"), get(item, "value")
        text = known(name)
        if text is None:
            continue
        if value is None:
            value = next((entry for key, entry in pairs(item) if entry is not name), None)
        if value is None or (
            isinstance(value, yaml.ScalarNode) and not value.style and plain_value(value, booleans=False) is None
        ):
            continue
        if isinstance(value, yaml.ScalarNode) and not value.style and not value.tag.endswith(":str"):
            # The server refuses a number by itself: nothing to report.
            continue
        setting = file.named(name, text, value, scope, item)
        if setting is not None:
            file.out.settings.append(setting)
    gpus = get(container, "resources", "limits", "nvidia.com/gpu")
    count = known(gpus)
    if count is not None and count.isdigit() and int(count):
        file.out.gpus.append(ContainerGpus(int(count), "", file.span(gpus), "nvidia.com/gpu", scope))
