"""Configuration files: Dockerfiles, shell scripts, environment files, YAML. What they set becomes a program that does
nothing but set variables, which the rules about variables judge; what they start is joined with the program that is
started (`tfmemlint.deployment.launches`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfmemlint.sources.documents import blocks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfmemlint.deployment.launches import Launch
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.configuration import ConfigurationRead
    from tfmemlint.sources import Source

__all__ = ["program_of", "read", "starts_of"]


def read(language: str, text: str) -> ConfigurationRead | None:
    """Read what a text sets and starts, if its language is one of configuration files (`blocks`).

    Return None for any other language. Never raises.
    """
    match language:
        case blocks.DOCKERFILE:
            from tfmemlint.deployment.dockerfile import read_dockerfile

            return read_dockerfile(text)
        case blocks.SHELL | blocks.CONSOLE:
            from tfmemlint.deployment.shell.script import read_shell

            return read_shell(text)
        case blocks.ENV:
            from tfmemlint.deployment.dotenv import read_dotenv

            return read_dotenv(text)
        case blocks.YAML:
            from tfmemlint.deployment.yaml.reader import read_yaml

            return read_yaml(text)
    return None


def program_of(source: Source, language: str, target: Target) -> Program | None:
    """A configuration file as a program that sets its variables; None where it is in no language that is understood."""
    from tfmemlint.deployment.events import program

    found = read(language, source.text)
    if found is None:
        return None
    if any(lost.why == "unexported" for lost in found.lost):
        # In a document, a reader may have exported the variable by an example further up.
        lines = re.findall(r"\bexport[ \t][^\n]*", getattr(source, "whole", ""))
        exported = {word for line in lines for word in re.findall(r"\w+", line)}
        found.lost = [lost for lost in found.lost if lost.why != "unexported" or lost.setting.name not in exported]
    return program(source, found, target)


def starts_of(paths: Iterable[str]) -> dict[str, tuple[Launch, ...]]:
    """The environments in which the configuration files among ``paths`` start the project's programs, by the path of
    each program."""
    from tfmemlint.deployment.launches import launches_of as found

    return found(paths)
