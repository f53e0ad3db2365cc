"""conda's environment files: ``variables``, which are set whenever the environment is activated.

Source: conda's "Managing environments", "Setting environment variables in environment.yml".
"""

from __future__ import annotations

from typing import Any

from tfmemlint.deployment.yaml.reader import File, get

Node = Any


def read(file: File, node: Node) -> None:
    """Read an environment file. What conda makes of booleans is not told anywhere."""
    file.out.settings += file.mapping(get(node, "variables"), (), booleans=False)
