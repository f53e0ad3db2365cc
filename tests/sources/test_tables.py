"""TOML and INI files: what would take their parsers any time or memory is refused, and nothing that people write."""

from __future__ import annotations

import configparser

import pytest

from tfmemlint.sources.config_files.tables import MAX_BLANKS, MAX_KEY_PARTS, parse_ini, parse_toml

LONG = MAX_KEY_PARTS + 1


@pytest.mark.parametrize(
    "text",
    [
        f"{'.'.join('a' * LONG)} = 1\n",
        f"{' . '.join('a' * LONG)} = 1\n",
        f"[{'.'.join(['bc-d_e'] * LONG)}]\n",
        f"[[{'.'.join(['1'] * LONG)}]]\n",
        "x = { " + ".".join(['"a b"'] * LONG) + " = 1 }\n",
        "x = { " + ".".join(["''"] * LONG) + " = 1 }\n",
        "[" * 100_000,
        "x = " + "[" * 10_000,
        "x = " + "9" * 10_000,
    ],
)
def test_what_takes_too_much_is_no_toml(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_toml(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{'.'.join('a' * MAX_KEY_PARTS)} = 1\n",
        f"# {'.' * 1000}\nx = '{'. ' * 1000}'\n",
        f"x = [{'1.5, ' * 1000}]\n",
        "".join(f"a{row} = '1.2.3'\n" for row in range(100)),
        "".join(f"[tool.a.b{row}]\nc.d = 1.0\n" for row in range(100)),
        "x = " + repr("A sentence, with a name.of.a.module. " * 100) + "\n",
    ],
)
def test_what_people_write_is_toml(text: str) -> None:
    assert parse_toml(text)


def test_blanks_of_an_ini_file() -> None:
    parser = configparser.ConfigParser()
    parse_ini(f"[a]\nb ={' ' * MAX_BLANKS}1\n", parser)
    assert parser["a"]["b"] == "1"
    for text in (f"[a]\nb ={' ' * (MAX_BLANKS + 1)}1\n", "a = 1\n", "[a]\nb\n"):
        with pytest.raises(ValueError, match=r"."):
            parse_ini(text, configparser.ConfigParser())
