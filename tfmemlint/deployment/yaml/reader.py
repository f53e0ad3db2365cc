"""YAML files that set variables: compose files, Kubernetes manifests, workflows of GitHub Actions, conda environments.

PyYAML's ``compose`` gives the nodes with their places; it is small, has wheels for all platforms and works without its
C part. (ruamel.yaml keeps comments as well, which is not needed: only the characters of a value are ever changed.) It
is imported where such a file has a variable of interest in it.

What an unquoted ``yes`` or ``on`` comes to differs by reader (YAML 1.1 takes them for booleans, 1.2 for strings): such
values are not judged. ``true`` is refused by the first Compose and by Kubernetes, and comes to ``"true"`` for later
ones and for GitHub. Sources: the Compose specification ("environment"), Kubernetes' API reference (``EnvVar``),
GitHub's "Workflow syntax", conda's "Managing environments".
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml.parser import ParserError

from tfmemlint.deployment.templates import is_templated, masked
from tfmemlint.model.configuration import (
    HIDDEN,
    LIST,
    MAPPING,
    ConfigurationRead,
    Places,
    VariableSetting,
    asked,
    is_name,
)

Node = Any
"""A node of PyYAML."""
_MOST_MERGED = 100
"""Mappings that one is merged from."""
_DEEPEST = 200
"""Lists and mappings within others."""
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)")


class File:
    """One file, as its readers have it: the places of its nodes, and numbers for its pieces."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.places = Places(text)
        self.numbers = itertools.count(1)
        self.out = ConfigurationRead(asked=asked(text))

    def span(self, node: Node) -> Any:
        """Where a node stands."""
        return self.places.span(node.start_mark.index, node.end_mark.index)

    def raw(self, node: Node) -> str:
        """A node as it is written."""
        return self.text[node.start_mark.index : node.end_mark.index]

    def mapping(self, node: Node, scope: tuple[int, ...], *, booleans: bool) -> list[VariableSetting]:
        """The variables of a mapping. booleans: what ``true`` comes to is known."""
        return [
            one for key, value in pairs(node) if (one := self.entry(key, value, scope, booleans=booleans)) is not None
        ]

    def entry(self, key: Node, node: Node, scope: tuple[int, ...], *, booleans: bool) -> VariableSetting | None:
        """A variable whose name and value are nodes of their own."""
        name = scalar(key)
        return self.named(key, name, node, scope, None, booleans=booleans) if name is not None else None

    def named(
        self, key: Node, name: str, node: Node, scope: tuple[int, ...], whole: Node | None, *, booleans: bool = False
    ) -> VariableSetting | None:
        """The variable of this name, which is given at ``key``; ``whole`` is what the two stand in, if that is
        known."""
        if not is_name(name):
            return None
        raw = self.raw(key)
        shift = 1 if raw[:1] in ("'", '"') else 0
        if raw[shift : len(raw) - shift] != name:
            return None
        place = self.places.span(key.start_mark.index + shift, key.end_mark.index - shift)
        value, given, quote = None, None, None
        outside = isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null") and not node.style
        if isinstance(node, yaml.ScalarNode) and not outside:
            value = plain_value(node, booleans=booleans)
            given, quote = self._given(node, value)
        first = key if whole is None else whole
        statement = self.places.span(first.start_mark.index, max(key.end_mark.index, self._end(node)))
        # What is handed on from outside is not set here, and may be another than what an image has.
        return VariableSetting(name, value, place, given, statement, MAPPING, quote, scope, passed=not outside)

    def _end(self, node: Node) -> int:
        end: int = node.end_mark.index
        while end > node.start_mark.index and self.text[end - 1 : end] in " \t\r\n":
            end -= 1
        return end

    def _given(self, node: Node, value: str | None) -> tuple[Any, str | None]:
        raw = self.raw(node)
        if "\n" in raw or node.style in ("|", ">"):
            return None, None
        if node.style in ("'", '"'):
            return self.span(node), node.style if raw[1:-1] == node.value else None
        return self.span(node), "" if raw == node.value and value is not None else None

    def listed(self, node: Node, scope: tuple[int, ...]) -> list[VariableSetting]:
        """The variables of a list of ``NAME=value``: all behind the sign is the value, quotes included."""
        found = []
        for item in node.value if isinstance(node, yaml.SequenceNode) else ():
            text = scalar(item)
            if text is None:
                continue
            name, equals, value = text.partition("=")
            raw = self.raw(item)
            shift = 1 if raw[:1] in ("'", '"') else 0
            if raw[shift : len(raw) - shift] != text or not is_name(name):
                continue
            start = item.start_mark.index + shift
            behind = start + len(name) + len(equals)
            known = bool(equals) and HIDDEN not in text and "$" not in value
            found.append(
                VariableSetting(
                    name,
                    value if known else None,
                    self.places.span(start, start + len(name)),
                    self.places.span(behind, behind + len(value)) if equals else None,
                    self.span(item),
                    LIST,
                    "" if known else None,
                    scope,
                    passed=bool(equals),
                )
            )
        return found

    def script(self, node: Node) -> tuple[str, Places] | None:
        """The text of a script that is a node, with the places of its characters; None where they can't be told."""
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


def read_yaml(text: str) -> ConfigurationRead:
    """What a YAML file sets and starts. A kind of file that isn't known has nothing to say."""
    from tfmemlint.deployment.yaml import actions, compose, conda, kubernetes

    shown = masked(text)
    file = File(shown)
    try:
        nodes = list(_composed(shown))
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


def _composed(text: str) -> Iterator[Node]:
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    events: Iterator[Any] = yaml.parse(text, Loader=loader)
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            # PyYAML's C part goes down by recursion: the process would end where its stack does.
            raise ParserError(None, None, "it is nested too deeply", event.start_mark)
    for node in yaml.compose_all(text, Loader=loader):
        if node is not None:
            yield node


def pairs(node: Node, left: list[None] | None = None) -> list[tuple[Node, Node]]:
    """The entries of a mapping, with those that it merges (``<<``) behind; none for any other node. ``left``: as many
    items as mappings may still be merged."""
    left = [None] * _MOST_MERGED if left is None else left
    if not isinstance(node, yaml.MappingNode) or not left:
        return []
    left.pop()
    own: list[tuple[Node, Node]] = []
    merged: list[tuple[Node, Node]] = []
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode) and key.value == "<<" and not key.style:
            for one in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                merged += pairs(one, left)
        else:
            own.append((key, value))
    names = {scalar(key) for key, _ in own}
    return own + [(key, value) for key, value in merged if scalar(key) not in names]


def get(node: Node, *names: str) -> Node | None:
    """The value of an entry, of an entry of that, and so on; None where there is none."""
    for name in names:
        node = next((value for key, value in pairs(node) if scalar(key) == name), None)
        if node is None:
            return None
    return node


def items(node: Node) -> list[Node]:
    """The items of a list; none for any other node."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def scalar(node: Node) -> str | None:
    """The text of a scalar; None for any other node."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) else None


def known(node: Node) -> str | None:
    """The text of a scalar in which nothing is left open; None for any other."""
    text = scalar(node)
    return text if text is not None and HIDDEN not in text and "$" not in text else None


def plain_value(node: Node, *, booleans: bool) -> str | None:
    """What a program finds in a variable that has this scalar for a value; None where that can't be told."""
    text = str(node.value)
    if HIDDEN in text or "$" in text:
        return None
    kind = node.tag.rpartition(":")[2]
    if node.style or kind == "str":
        return text
    if kind == "int" and _NUMBER.fullmatch(text):
        return text
    if kind == "bool" and booleans and text.lower() in ("true", "false"):
        return text.lower()
    return None
