"""Servers of models that containers of a YAML file start: of a compose file, of a Kubernetes manifest."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from tfmemlint.deployment.servers import options_of, server_of, server_of_image
from tfmemlint.deployment.shell.script import read_shell
from tfmemlint.deployment.yaml.variables import YamlFile
from tfmemlint.knowledge.servers import PROGRAMS
from tfmemlint.sources.config_files.shell.lexer import WORD, Lexer, Word
from tfmemlint.sources.config_files.text_places import Places
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
    for name in _COMMANDS:
        given = get(node, name)
        if scalar(given) is not None:
            server = _command(file, *_split(file, given), server)
            continue
        words: list[Word] = []
        for item in items(given):
            text = scalar(item) or ""
            if " " in text and any(program in text for program in PROGRAMS):
                _script(file, item)
            elif scalar(item) is not None:
                words.append(Word(item.start_mark.index, item.end_mark.index, known(item), text))
        server = _command(file, words, file.places, server)


def _command(file: YamlFile, words: Sequence[Word], places: Places, server: str) -> str:
    """Add the options of a command, or of a part of it; return the server that has got them, "" if there is none."""
    started = server_of(words)
    server = started[0] if started is not None else server
    if server:
        file.out.servers.add(server)
        file.out.options += options_of(words, places.span, server)
    return server


def _script(file: YamlFile, item: Node) -> None:
    script = file.script(item)
    if script is not None:
        commands = read_shell(*script)
        file.out.servers |= commands.servers
        file.out.options += commands.options


def _split(file: YamlFile, item: Node) -> tuple[list[Word], Places]:
    """Return the words of a command that is one text, with the places of its characters."""
    text, places = file.script(item) or ("", file.places)
    return [token.word for token in Lexer(text).tokens() if token.kind == WORD], places
