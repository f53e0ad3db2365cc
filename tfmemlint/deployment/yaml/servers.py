"""Servers of models that containers of a YAML file start: of a compose file, of a Kubernetes manifest."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from tfmemlint.deployment.servers import options_of, server_of, server_of_image
from tfmemlint.deployment.shell.script import read_shell
from tfmemlint.deployment.yaml.variables import YamlFile
from tfmemlint.knowledge.servers import PROGRAMS
from tfmemlint.sources.config_files.shell.lexer import Word
from tfmemlint.sources.config_files.yaml_nodes import Node, get, items, known, pairs, scalar

_MAX_NODES = 100_000
_COMMANDS = ("entrypoint", "command", "args")
"""The keys of a command, in the order of its words: a compose file has the first two, a manifest the last two."""


def read(file: YamlFile, root: Node) -> None:
    """Add the servers, and the options that they are given, anywhere in a file."""
    pending, seen = [root], set[int]()
    while pending and len(seen) < _MAX_NODES:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            _container(file, node)
            pending += [value for _, value in reversed(pairs(node))]
        else:
            pending += reversed(items(node))


def _container(file: YamlFile, node: Node) -> None:
    server = server_of_image(known(get(node, "image")) or "")
    words: list[Word] = []
    for name in _COMMANDS:
        given = get(node, name)
        listed: list[Node] = [given] if scalar(given) is not None else items(given)
        for item in listed:
            text = scalar(item) or ""
            if " " in text and any(program in text for program in PROGRAMS):
                _script(file, item)
            elif item is given:
                words += _split(file, item)
            elif scalar(item) is not None:
                words.append(Word(item.start_mark.index, item.end_mark.index, known(item), text))
    started = server_of(words)
    if started is not None or server:
        file.out.servers.add(started[0] if started is not None else server)
        file.out.options += options_of(words, file.places.span, server)


def _script(file: YamlFile, item: Node) -> None:
    script = file.script(item)
    if script is not None:
        read_ = read_shell(*script)
        file.out.servers |= read_.servers
        file.out.options += read_.options


def _split(file: YamlFile, item: Node) -> Iterator[Word]:
    """Yield the words of a command that is one text."""
    start, raw = item.start_mark.index, file.raw(item)
    for match in re.finditer(r"[^\s\"']+", raw):
        yield Word(start + match.start(), start + match.end(), match[0] if "$" not in match[0] else None, match[0])
