"""The values of configuration files: with their rows, without running anything, in bounded time."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.processor_time import assert_costs_at_most, measured
from tfmemlint.sources.config_files.values import (
    ENV,
    INI,
    JSON,
    KINDS,
    MAX_CHARACTERS,
    MAX_DEPTH,
    TOML,
    YAML,
    Setting,
    read_values,
)

LONG: dict[str, tuple[str, Callable[[int], str]]] = {
    "blanks in the name of a table": (TOML, lambda n: f"[{' ' * n}\n"),
    "blanks around the name of a table": (TOML, lambda n: f"[{' ' * n}x{' ' * n}\n"),
    "blanks after a key": (TOML, lambda n: f"a{' ' * n}\n"),
    "parts of a key": (TOML, lambda n: f"{'a.' * n}\n"),
    "parts of a key in a table": (TOML, lambda n: f"x = {{{'a . ' * n}a = 1}}\n"),
    "blanks in an option": (INI, lambda n: f"[a]\na{' ' * n}b\n"),
    "blanks in a value": (ENV, lambda n: f"X=a{' ' * n}b\n"),
    "blanks in quotes": (ENV, lambda n: f"A='x{' ' * n}y' #\n"),
    "blanks before a line that goes on": (INI, lambda n: f"[a]\nb = 1\n {' ' * n}c\n"),
    "blanks before a variable": (ENV, lambda n: f"{' ' * n}X\n"),
    "blanks after a word": (ENV, lambda n: f"export{' ' * n}1\n"),
    "a quote that does not end": (ENV, lambda n: f"X='{'a ' * n}\n"),
    "lists": (JSON, lambda n: "[" * n),
    "escapes": (JSON, lambda n: '"' + "\\" * n),
    "mappings": (YAML, lambda n: "{a: " * n),
    "a number of minutes": (YAML, lambda n: f"a: {'1:' * n}1\n"),
    "a number": (YAML, lambda n: f"a: {'1' * n}\n"),
}
"""Texts that a reader may take the square of their length for, or more."""


def plain(setting: Setting | None) -> Any:
    """Return the values alone."""
    if setting is None:
        return None
    if isinstance(setting.value, dict):
        return {key: plain(item) for key, item in setting.value.items()}
    return tuple(map(plain, setting.value)) if isinstance(setting.value, tuple) else setting.value


@pytest.mark.parametrize(
    ("kind", "text", "row"),
    [
        (YAML, 'name: net\ngpu:\n  limit: "4096"\n', 3),
        (JSON, '{"name": "net",\n "gpu": {\n\n  "limit": "4096"}}', 4),
        (TOML, 'name = "net"\n[gpu]\n# in MiB\nlimit = "4096"\n', 4),
        (TOML, 'name = "net"\ngpu.limit = "4096"\n', 2),
        (INI, "[net]\nlimit = 1\n\n[gpu]\nLimit: 4096\n", 5),
    ],
)
def test_a_value_has_its_row(kind: str, text: str, row: int) -> None:
    found = read_values(kind, text)
    assert found is not None
    assert found.value["gpu"].value["limit"] == Setting("4096", row)


def test_values_are_of_the_types_that_the_program_gets() -> None:
    text = "a: 4096\nb: 0.5\nc: yes\nd: 'yes'\ne: ~\nf: 4GB\ng: [0, 1]\nh: 0x10\n"
    assert plain(read_values(YAML, text)) == {
        "a": 4096,
        "b": 0.5,
        "c": True,
        "d": "yes",
        "e": None,
        "f": "4GB",
        "g": (0, 1),
        "h": 16,
    }
    assert plain(read_values(ENV, 'export A="1 2" # x\nB=cuda:0 # y\nC=$A\n')) == {"A": "1 2", "B": "cuda:0"}
    assert plain(read_values(INI, "[DEFAULT]\nx = 1\n[gpu]\ny = 2\n"))["gpu"] == {"x": "1", "y": "2"}


def test_a_tag_of_yaml_makes_no_object() -> None:
    assert plain(read_values(YAML, "a: !!python/object/apply:os.system [ls]\nb: !!python/name:os.system x\n")) == {
        "a": ("ls",),
        "b": "x",
    }


def test_merged_mappings_and_aliases_are_followed() -> None:
    text = "base: &base\n  limit: 1\nsmall:\n  <<: *base\n  growth: 2\nagain: *base\n"
    assert plain(read_values(YAML, text)) == {
        "base": {"limit": 1},
        "small": {"limit": 1, "growth": 2},
        "again": {"limit": 1},
    }


def test_a_file_that_would_grow_without_bound_has_no_values() -> None:
    names = "abcdefghij"
    bomb = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in itertools.pairwise(names)
    )
    assert read_values(YAML, bomb) is None
    assert read_values(YAML, "a: &a [*a]\n") is None
    for kind, opening, closing in ((YAML, "[", "]"), (JSON, "[", "]"), (JSON, '{"a":', "}")):
        deep = MAX_DEPTH + 5
        inner = "1" if opening != "[" else ""
        assert read_values(kind, opening * deep + inner + closing * deep) is None
        assert read_values(kind, opening * 100_000) is None
    assert read_values(JSON, "1" + " " * MAX_CHARACTERS) is None


@pytest.mark.parametrize(
    ("kind", "text"),
    [(YAML, "a: [1"), (YAML, "--- 1\n--- 2\n"), (JSON, "{'a': 1}"), (TOML, "a = "), (INI, "limit = 1\n"), (YAML, "")],
)
def test_what_is_not_of_its_kind_has_no_values(kind: str, text: str) -> None:
    assert read_values(kind, text) is None


@pytest.mark.parametrize(
    "text",
    [
        '!!int ""',
        "!!int '-'",
        "!!int _",
        '!!float ""',
        "!!bool maybe",
        "!!null 3",
        "!!float 1:x",
        "!!int [1]",
        "!!bool {}",
    ],
)
def test_a_tag_that_does_not_fit_its_text_has_no_value(text: str) -> None:
    assert plain(read_values(YAML, f"a: {text}\nb: 1\n")) in (
        None,
        {"a": None, "b": 1},
        {"a": (1,), "b": 1},
        {"a": {}, "b": 1},
    )


@pytest.mark.parametrize(
    ("kind", "text"),
    [(YAML, "a: 0x{0}"), (YAML, "[1, 0x{0}]"), (YAML, "0x{0}: 1"), (TOML, "a = 0x{0}"), (TOML, "a = [0x{0}]")],
)
def test_a_number_that_cannot_be_printed_is_none(kind: str, text: str) -> None:
    assert read_values(kind, text.format("f" * 16)) is not None
    for digits in (300, 5_000):
        assert read_values(kind, text.format("f" * digits)) is None


@given(st.sampled_from(sorted(set(KINDS.values()))), st.text(alphabet="ab[]{}:,\"'=\n -&*#1.\\$!<|>%\t", max_size=60))
def test_no_text_raises(kind: str, text: str) -> None:
    read_values(kind, text)


_JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9999, 9999) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(_JSON_VALUES, st.sampled_from([None, 1]))
def test_json_is_read_as_python_reads_it(value: Any, indent: int | None) -> None:
    import json

    def tuples(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: tuples(inner) for key, inner in item.items()}
        return tuple(map(tuples, item)) if isinstance(item, list) else item

    assert plain(read_values(JSON, json.dumps(value, indent=indent))) == tuples(value)


@pytest.mark.slow
@pytest.mark.parametrize("kind", LONG)
def test_what_is_long_takes_no_long_time(kind: str) -> None:
    language, attack = LONG[kind]
    for count in (MAX_CHARACTERS // 10, MAX_CHARACTERS // 5, MAX_CHARACTERS // 2 - 100):
        read = partial(read_values, language, attack(count))
        assert_costs_at_most(20, measured(read)[1], read)
