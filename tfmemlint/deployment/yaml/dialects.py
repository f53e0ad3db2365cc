"""The kinds of YAML files that the tool reads, in one table: how each is recognised, read, and searched for launches.

To add a kind, write a module with its reader and one entry here. This module imports neither PyYAML nor the readers:
`tfmemlint.deployment.launches` asks it about files that need not be parsed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from tfmemlint.model.records import dataclass

RootKeys = Mapping[str, frozenset[str]]
"""The keys of a file's root mapping, each with the keys of its value (empty unless the value is a mapping)."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One kind of YAML file.

    Attributes:
        name: the kind, for people.
        reader: ``module:function`` of a function that takes a `YamlFile` and a root node, and adds to ``YamlFile.out``.
        recognises: a test of a file's root keys. The first entry of `DIALECTS` whose test is true reads the file.
        launch_marker: a text without which such a file starts no program; "" if the programs that it starts are not
            followed.
        folder: the folder below the repository's root that such files are in, with ``/``; "" if they may be anywhere.
            Programs are started in the repository's root.
    """

    name: str
    reader: str
    recognises: Callable[[RootKeys], bool]
    launch_marker: str = ""
    folder: str = ""


DIALECTS = (
    Dialect(
        "Compose file",
        "tfmemlint.deployment.yaml.compose:read",
        lambda keys: bool(keys.get("services")),
        launch_marker="services:",
    ),
    Dialect(
        "Kubernetes manifest",
        "tfmemlint.deployment.yaml.kubernetes:read",
        lambda keys: "apiVersion" in keys and "kind" in keys,
    ),
    Dialect(
        "GitHub workflow",
        "tfmemlint.deployment.yaml.actions:read",
        lambda keys: "jobs" in keys or ("runs" in keys and "name" in keys),
        launch_marker="jobs:",
        folder=".github/workflows",
    ),
    Dialect(
        "GitLab CI file",
        "tfmemlint.deployment.yaml.gitlab:read",
        lambda keys: any("script" in inner or ("extends" in inner and "include" in keys) for inner in keys.values()),
        launch_marker="script:",
    ),
    Dialect(
        "conda environment",
        "tfmemlint.deployment.yaml.conda:read",
        lambda keys: "dependencies" in keys,
    ),
)
"""Every kind, in the order in which they are tried."""


def dialect_of(keys: RootKeys) -> Dialect | None:
    """Return the kind of a file with these root keys; None if it is not known."""
    return next((dialect for dialect in DIALECTS if dialect.recognises(keys)), None)


def may_launch(text: str) -> bool:
    """True if a YAML file with this text may start a program that is followed."""
    return any(dialect.launch_marker and dialect.launch_marker in text for dialect in DIALECTS)


def launch_directory(path: str, project: str) -> str:
    """Return the directory in which the file at ``path`` starts programs: the repository's root, else ``project``."""
    directory = os.path.dirname(path)
    for dialect in DIALECTS:
        parts = dialect.folder.split("/") if dialect.folder else []
        if parts and directory.endswith(os.path.join(*parts)):
            for _ in parts:
                directory = os.path.dirname(directory)
            return directory
    return project
