"""The page of every rule: its examples are found by the command line, and what it offers instead is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixture_files import ROOT, is_chosen
from tests.fixture_runs import CommandRun, command
from tfmemlint.reporters.page import markdown
from tfmemlint.rulekit.rule import Rule, rules

PAGES = [rule for rule in rules() if is_chosen([rule.code])]
ABOUT_THE_RUN = "TFM9"
"""Rules about the run itself: their pages have no examples of code."""
FILES = {"python": "example.py", "dockerfile": "Dockerfile", "sh": "run.sh", "yaml": "compose.yaml"}
"""The name under which an example in a language is put on disk."""

each_page = pytest.mark.parametrize("rule", PAGES, ids=lambda rule: rule.code)


def _check(rule: Rule, language: str, text: str, folder: Path) -> CommandRun:
    (folder / "pyproject.toml").touch()
    path = folder / FILES[language]
    path.write_text(text, encoding="utf-8")
    return command("check", "--no-cache", "--select", rule.code, "--gpu-memory", "16GiB", path.name)


@each_page
def test_the_examples_of_a_page_are_found(rule: Rule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = [(language, text) for language in FILES for text in rule.page().code("Example", language)]
    assert blocks or rule.code.startswith(ABOUT_THE_RUN), "the page has no example in a language that is known here"
    for language, text in blocks:
        run = _check(rule, language, text, tmp_path)
        assert f" {rule.code} " in run.out, f"{text}{run.out}{run.err}"


@each_page
def test_what_a_page_offers_instead_is_not_found(rule: Rule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for language in FILES:
        for text in rule.page().code("Use instead", language):
            run = _check(rule, language, text, tmp_path)
            assert (run.code, run.err) == (0, ""), f"{text}{run.out}{run.err}"


@each_page
def test_the_published_page_is_what_the_rule_says(rule: Rule) -> None:
    published = ROOT / "docs" / "rules" / f"{rule.code}.md"
    assert published.read_text(encoding="utf-8").startswith(markdown(rule)), (
        "write it down: python3 tools/run.py update"
    )
