from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.config.selection import ConfigError, FileIgnores, Layer, Selection
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import Rule


def rule(code: str, severity: Severity = Severity.ERROR, name: str = "") -> Rule:
    def check(self: Rule, program: Any) -> Iterator[Finding]:
        return iter(())

    members = {"code": code, "name": name or code.lower(), "severity": severity, "check": check}
    made: Rule = type(code, (Rule,), members)()
    return made


RULES = [
    rule("TFM101", name="growth-after-init"),
    rule("TFM102"),
    rule("TFM201", Severity.WARNING),
    rule("TFM406", Severity.ADVICE),
    rule("TFM901"),
]


def codes(*layers: Layer) -> set[str]:
    return {code.removeprefix("TFM") for code in Selection.resolve(RULES, layers).codes}


def layer(
    select: str | None = None, extend_select: str = "", ignore: str = "", extend_ignore: str = "", origin: str = ""
) -> Layer:
    wanted = None if select is None else tuple(select.split())
    return Layer(origin, wanted, tuple(extend_select.split()), tuple(ignore.split()), tuple(extend_ignore.split()))


DEFAULT = "101 102 201 901"


@pytest.mark.parametrize(
    ("layers", "enabled"),
    [
        ([], DEFAULT),
        ([layer()], DEFAULT),
        ([layer("")], ""),
        # advice has to be asked for
        ([layer("TFM")], "101 102 201 406 901"),
        ([layer("ALL")], "101 102 201 406 901"),
        ([layer("TFM4")], "406"),
        ([layer(extend_select="TFM406")], f"{DEFAULT} 406"),
        # prefixes
        ([layer("TFM1")], "101 102"),
        ([layer("TFM101 TFM2")], "101 201"),
        ([layer(ignore="TFM1")], "201 901"),
        ([layer(ignore="ALL")], ""),
        # the more specific selector wins, and of equals the one that ignores
        ([layer("TFM1", ignore="TFM101")], "102"),
        ([layer("TFM101", ignore="TFM1")], "101"),
        ([layer("TFM101", ignore="TFM101")], ""),
        ([layer("ALL", ignore="TFM")], ""),
        ([layer("TFM", ignore="TFM1", extend_select="TFM102")], "102 201 406 901"),
        ([layer("TFM1", extend_ignore="TFM101")], "102"),
        ([layer(extend_select="TFM101", ignore="TFM1")], "101 201 901"),
        # the command line comes after the file
        ([layer("TFM1"), layer("TFM2")], "201"),
        ([layer(ignore="TFM1"), layer("TFM101")], "101"),
        ([layer("TFM1"), layer(ignore="TFM101")], "102"),
        ([layer("TFM101"), layer(ignore="TFM")], ""),
        ([layer("TFM1", ignore="TFM101"), layer(extend_select="TFM1")], "101 102"),
        ([layer("TFM1"), layer(extend_select="TFM406")], "101 102 406"),
        ([layer("TFM1"), layer()], "101 102"),
        # names, and any letter case
        ([layer("tfm1")], "101 102"),
        ([layer("growth-after-init all", ignore="TFM1")], "101 201 406 901"),
        ([layer("Growth_After_Init")], "101"),
    ],
)
def test_precedence(layers: list[Layer], enabled: str) -> None:
    assert codes(*layers) == set(enabled.split())


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ("TFM109", "TFM10"),
        ("TFM190", "TFM10"),
        ("TFM3", "TFM"),
        ("growth-after-start", "growth-after-init"),
        ("TF", "TFM"),
        ("TFM1011", "TFM101"),
    ],
)
def test_an_unknown_selector_is_an_error_with_the_nearest_real_one(selector: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        codes(layer(selector))
    message = str(caught.value)
    assert message.startswith(f"unknown rule selector {selector!r} in --select; did you mean {hint}")
    assert "\n" not in message


@pytest.mark.parametrize("selector", ["", "T", "E501", "!", "TFM1*"])
def test_what_is_no_prefix_of_a_code_is_refused(selector: str) -> None:
    with pytest.raises(ConfigError):
        Selection.resolve(RULES, [Layer(select=(selector,))])


@pytest.mark.parametrize("option", ["select", "extend-select", "ignore", "extend-ignore"])
def test_an_unknown_selector_names_the_file_and_the_option(option: str) -> None:
    with pytest.raises(ConfigError) as caught:
        codes(layer(**{option.replace("-", "_"): "XYZ"}, origin="/p/pyproject.toml"))
    assert str(caught.value).startswith(f"/p/pyproject.toml: unknown rule selector 'XYZ' in {option}")


def off(pattern: str, path: str, root: Path) -> bool:
    selection = Selection.resolve(RULES, [], [FileIgnores(pattern, ("TFM1",), str(root))])
    assert selection.enabled(RULES[2], path)
    return not selection.enabled(RULES[0], path)


@pytest.mark.parametrize(
    ("pattern", "path", "ignored"),
    [
        ("tests/*", "tests/a.py", True),
        ("tests/*", "tests/deep/a.py", True),
        ("tests/*", "src/tests/a.py", False),
        ("tests/", "tests/deep/a.py", True),
        ("./tests/*", "tests/a.py", True),
        ("**/tests/*", "src/tests/a.py", True),
        ("**/tests/*", "tests/a.py", True),
        ("conftest.py", "deep/conftest.py", True),
        ("conftest.py", "deep/my_conftest.py", False),
        ("*.ipynb", "deep/a.ipynb", True),
        ("*.ipynb", "deep/a.py", False),
        ("test_?.py", "test_a.py", True),
        ("test_[ab].py", "test_b.py", True),
        ("test_[!ab].py", "test_b.py", False),
        ("{one,two}.py", "two.py", True),
        ("{one,two}.py", "three.py", False),
        ("a.py", "aXpy", False),
        ("!src/*", "tests/a.py", True),
        ("!src/*", "src/a.py", False),
        ("src/../tests/*", "tests/a.py", False),
        ("tests/*", "src/../tests/a.py", True),
    ],
)
def test_per_file_ignores(
    pattern: str, path: str, ignored: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert off(pattern, path, tmp_path) is ignored
    assert off(pattern, str(tmp_path / path), tmp_path) is ignored


def test_per_file_patterns_are_relative_to_the_configuration_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tests").mkdir()
    monkeypatch.chdir(tmp_path / "tests")
    assert off("tests/*", "a.py", tmp_path)
    assert off(f"{tmp_path}/tests/*", "a.py", tmp_path)
    assert not off("tests/*", "a.py", tmp_path / "elsewhere")


def test_an_unknown_selector_in_per_file_ignores_is_an_error() -> None:
    with pytest.raises(ConfigError, match="unknown rule selector 'TFM7' in per-file-ignores of 'tests/"):
        Selection.resolve(RULES, [], [FileIgnores("tests/*", ("TFM7",), origin="pyproject.toml")])


def test_a_selection_travels_to_another_process() -> None:
    selection = Selection.resolve(RULES, [layer("TFM1")], [FileIgnores("tests/*", ("TFM101",), "/p")])
    assert pickle.loads(pickle.dumps(selection)) == selection
