"""conda's environment files: ``variables``, which are set whenever the environment is activated.

Source: conda's "Managing environments", "Setting environment variables in environment.yml".
"""

from __future__ import annotations

from tfmemlint.deployment.yaml.variables import YamlFile
from tfmemlint.sources.config_files.yaml_nodes import Node, get


def read(file: YamlFile, node: Node) -> None:
    """Read an environment file. conda does not document the value of a boolean, so it is not judged."""
    file.out.settings += file.mapping(get(node, "variables"), (), booleans=False)
