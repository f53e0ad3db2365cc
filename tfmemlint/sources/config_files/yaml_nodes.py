"""YAML as nodes with their places in the text.

PyYAML's ``compose`` gives the nodes with their places; it is small, has wheels for all platforms and works without its
C part. (ruamel.yaml keeps comments as well, which is not needed: only the characters of a value are ever changed.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml.parser import ParserError

from tfmemlint.model.finding import Span
from tfmemlint.sources.config_files.templates import HIDDEN
from tfmemlint.sources.config_files.text_places import Places

Node = Any
"""A node of PyYAML."""
_MAX_MERGED_MAPPINGS = 100
"""Mappings that ``<<`` merges into one: more only come from a text that refers to itself many times over."""
_MAX_DEPTH = 200
"""Lists and mappings within others."""


class YamlText:
    """A YAML text with the places of its nodes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.places = Places(text)

    def span(self, node: Node) -> Span:
        """Return the place of a node."""
        return self.places.span(node.start_mark.index, node.end_mark.index)

    def raw(self, node: Node) -> str:
        """Return a node as it is written."""
        return self.text[node.start_mark.index : node.end_mark.index]

    def script(self, node: Node) -> tuple[str, Places] | None:
        """Return the text of a script that is a node, with the places of its characters; None if they are unknown."""
        if not isinstance(node, yaml.ScalarNode):
            return None
        start, end = node.start_mark.index, node.end_mark.index
        if node.style in ("|", ">"):
            return self._block(start, end, folded=node.style == ">")
        raw = self.text[start:end]
        shift = 1 if node.style in ("'", '"') else 0
        if raw[shift : len(raw) - shift] != node.value:
            return None
        return str(node.value), self.places.shifted(start + shift, len(node.value))

    def _block(self, start: int, end: int, *, folded: bool) -> tuple[str, Places]:
        first = self.text.find("\n", start, end)
        header = self.text[start : first if first >= 0 else end]
        explicit = re.search(r"[1-9]", header.partition("#")[0])
        lines: list[tuple[int, str]] = []
        at = first + 1 if first >= 0 else end
        while at < end:
            stop = self.text.find("\n", at)
            stop = stop if 0 <= stop < end else end
            lines.append((at, self.text[at:stop]))
            at = stop + 1
        depth = min((len(line) - len(line.lstrip(" ")) for _, line in lines if line.strip()), default=0)
        if explicit is None:
            depth = next((len(line) - len(line.lstrip(" ")) for _, line in lines if line.strip()), 0)
        parts: list[str] = []
        offsets: list[int] = []
        for at, line in lines:
            cut = min(depth, len(line) - len(line.lstrip(" ")))
            parts.append(line[cut:] + (" " if folded and line.strip() else "\n"))
            offsets.extend(range(at + cut, at + len(line) + 1))
        return "".join(parts), self.places.of_part(offsets)


def documents(text: str) -> Iterator[Node]:
    """Yield the root node of each document.

    Raises:
        yaml.YAMLError, RecursionError, ValueError: the text is not YAML, or is nested too deeply.
    """
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    events: Iterator[Any] = yaml.parse(text, Loader=loader)
    for event in _not_too_deep(events):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            # PyYAML's C part goes down by recursion: the process would end where its stack does.
            raise _too_deep(event.start_mark)
    for node in yaml.compose_all(text, Loader=loader):
        if node is not None:
            yield node


def _not_too_deep(events: Iterator[Any]) -> Iterator[Any]:
    """Yield the events; where a release of PyYAML has a limit of its own (6.0.4 has), it is called what ours is."""
    try:
        yield from events
    except yaml.MarkedYAMLError as error:
        if "nesting depth" in (error.problem or ""):
            raise _too_deep(error.problem_mark) from None
        raise


def _too_deep(mark: Any) -> ParserError:
    return ParserError(None, None, "it is nested too deeply", mark)


def pairs(node: Node, left: list[None] | None = None) -> list[tuple[Node, Node]]:
    """Return the entries of a mapping, followed by those that it merges (``<<``); none for any other node.

    Args:
        left: has one item for each mapping that may still be merged.
    """
    left = [None] * _MAX_MERGED_MAPPINGS if left is None else left
    if not isinstance(node, yaml.MappingNode) or not left:
        return []
    left.pop()
    own: list[tuple[Node, Node]] = []
    merged: list[tuple[Node, Node]] = []
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode) and key.value == "<<" and not key.style:
            for mapping in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                merged += pairs(mapping, left)
        else:
            own.append((key, value))
    names = {scalar(key) for key, _ in own}
    return own + [(key, value) for key, value in merged if scalar(key) not in names]


def get(node: Node, *names: str) -> Node | None:
    """Return the value of an entry, of an entry of that, and so on; None if there is none."""
    for name in names:
        node = next((value for key, value in pairs(node) if scalar(key) == name), None)
        if node is None:
            return None
    return node


def items(node: Node) -> list[Node]:
    """Return the items of a list; none for any other node."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def scalar(node: Node) -> str | None:
    """Return the text of a scalar; None for any other node."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) else None


def known(node: Node) -> str | None:
    """Return the text of a scalar without templates and expansions; None for any other node."""
    text = scalar(node)
    return text if text is not None and HIDDEN not in text and "$" not in text else None
