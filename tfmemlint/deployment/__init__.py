"""Configuration files: Dockerfiles, shell scripts, environment files and YAML.

A file becomes a program that only sets the file's variables, which the rules about variables judge. Its launches are
joined with the programs that they start (`tfmemlint.deployment.launches`).
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tfmemlint.sources.documents import blocks
from tfmemlint.sources.kinds import kind_of

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.configuration import ConfigurationRead
    from tfmemlint.sources import Source

__all__ = ["READERS", "program_of", "read"]

READERS: Mapping[str, str] = {
    blocks.DOCKERFILE: "tfmemlint.deployment.dockerfile:read_dockerfile",
    blocks.SHELL: "tfmemlint.deployment.shell.script:read_shell",
    blocks.CONSOLE: "tfmemlint.deployment.shell.script:read_shell",
    blocks.ENV: "tfmemlint.deployment.dotenv:read_dotenv",
    blocks.MAKEFILE: "tfmemlint.deployment.makefile:read_makefile",
    blocks.YAML: "tfmemlint.deployment.yaml.reader:read_yaml",
}
"""The languages of configuration files, each with ``module:function`` of its reader: a function that takes a text and
returns a `ConfigurationRead`, and never raises. `tfmemlint.deployment.yaml.dialects` has the kinds of YAML files."""


def read(language: str, text: str) -> ConfigurationRead | None:
    """Read the variables that a text sets and the programs that it starts.

    Return None if the language is not one of configuration files. Never raises.
    """
    if language not in READERS:
        return None
    module, _, function = READERS[language].partition(":")
    reader: Callable[[str], ConfigurationRead] = getattr(importlib.import_module(module), function)
    return reader(text)


def program_of(source: Source, language: str, target: Target) -> Program | None:
    """Return a configuration file as a program that sets its variables; None if its language is not understood."""
    from tfmemlint.deployment.events import program

    found = read(language, source.text)
    if found is None:
        return None
    if any(lost.why == "unexported" for lost in found.lost):
        # In a document, an example further up may have exported the variable.
        lines = re.findall(r"\bexport[ \t][^\n]*", getattr(source, "whole", ""))
        exported = {word for line in lines for word in re.findall(r"\w+", line)}
        found.lost = [lost for lost in found.lost if lost.why != "unexported" or lost.setting.name not in exported]
    if found.piped and kind_of(os.path.basename(source.path)) == language:
        from tfmemlint.deployment.shell.piped_files import lost_of_files

        found.lost += lost_of_files(source.path, found.piped)
    return program(source, found, target)
