"""Variables that are entries of a YAML mapping, or ``NAME=value`` items of a YAML list.

An unquoted ``yes`` or ``on`` differs by reader (a boolean in YAML 1.1, a string in 1.2): such values are not judged.
``true`` is refused by the first Compose and by Kubernetes, and becomes ``"true"`` in later Compose releases and on
GitHub. Sources: the Compose specification ("environment"), Kubernetes' API reference (``EnvVar``), GitHub's "Workflow
syntax", conda's "Managing environments".
"""

from __future__ import annotations

import itertools
import re
from typing import Any

import yaml

from tfmemlint.model.configuration import LIST, MAPPING, ConfigurationRead, VariableSetting, asked
from tfmemlint.sources.config_files.names import is_name
from tfmemlint.sources.config_files.templates import HIDDEN
from tfmemlint.sources.config_files.yaml_nodes import Node, YamlText, pairs, scalar

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)")


class YamlFile(YamlText):
    """One file that is being read: the results so far in ``out``, and numbers for its pieces."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.numbers = itertools.count(1)
        self.out = ConfigurationRead(asked=asked(text))

    def mapping(self, node: Node, scope: tuple[int, ...], *, booleans: bool) -> list[VariableSetting]:
        """Return the variables of a mapping.

        Args:
            booleans: True if the format defines the value of ``true`` and ``false``.
        """
        return [
            setting
            for key, value in pairs(node)
            if (setting := self.entry(key, value, scope, booleans=booleans)) is not None
        ]

    def entry(self, key: Node, node: Node, scope: tuple[int, ...], *, booleans: bool) -> VariableSetting | None:
        """Return a variable whose name and value are nodes; None if the name is not one of a variable."""
        name = scalar(key)
        return self.named(key, name, node, scope, None, booleans=booleans) if name is not None else None

    def named(
        self, key: Node, name: str, node: Node, scope: tuple[int, ...], whole: Node | None, *, booleans: bool = False
    ) -> VariableSetting | None:
        """Return the variable ``name``, which is written at ``key``.

        Args:
            whole: the node that contains name and value, if there is one.
        """
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
        # A variable without a value comes from outside: it is not set here, and may override the image's.
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
        """Return the variables of a list of ``NAME=value``: the value is everything after the sign, quotes included."""
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


def plain_value(node: Node, *, booleans: bool) -> str | None:
    """Return the value that a program gets for a variable with this scalar; None if unknown."""
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
