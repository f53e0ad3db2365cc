"""What is written about the rules is what the rules say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.fixture_files import FIXTURES, read_text, strip_markers
from tfmemlint.rulekit.rule import codes

WRITTEN = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/ci.md",
    "docs/formats.md",
    "docs/options.md",
    "docs/plan.md",
)


def test_the_pages_of_the_rules_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "tools/make_docs.py", "--check"], cwd=ROOT, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_of_what_is_found_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "tools/make_recall.py", "--check"], cwd=ROOT, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", WRITTEN)
def test_links_within_the_repository_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    missing = [each for each in targets if "://" not in each and not (ROOT / name).parent.joinpath(each).exists()]
    assert missing == []


@pytest.mark.parametrize("name", WRITTEN)
def test_rules_that_are_named_exist(name: str) -> None:
    named = set(re.findall(r"\bTFM\d*\b", (ROOT / name).read_text(encoding="utf-8")))
    assert {each for each in named if not any(code.startswith(each) for code in codes())} == set()


def test_the_version_is_the_same_everywhere() -> None:
    from tfmemlint import __version__

    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.findall(r"^## \[(\d.*?)\](?: - (\d{4}-\d\d-\d\d))?$", changes, re.MULTILINE)[0]
    assert newest[0] == __version__
    assert newest[1], "a release has the day of its making"
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "ci").iterdir(), ROOT / "action.yml"]
    named = {
        (path.name, version)
        for path in pages
        for version in re.findall(r"(?:tfmemlint@|rev: )v(\d[\w.]*)", path.read_text(encoding="utf-8"))
    }
    assert {version for _, version in named} == {__version__}, sorted(named)


def test_the_page_of_the_options_has_those_of_the_tool() -> None:
    text = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    shown = "".join(
        subprocess.run([sys.executable, "-m", "tfmemlint", command, "--help"], capture_output=True, text=True).stdout
        for command in ("check", "fix", "rule", "verify", "plan", "fit", "doctor", "server", "mcp")
    )
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", shown)) - {"--help"}
    assert sorted(option for option in options if option not in text) == []


def test_the_readme_can_be_read_in_one_go() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 180


def test_the_diff_in_the_readme_is_what_the_tool_prints(tmp_path: Path) -> None:
    article = strip_markers(read_text(FIXTURES / "articles" / "a05_strategy_first.py"))[0]
    (tmp_path / "train.py").write_text(article, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "tfmemlint",
        "fix",
        "--diff",
        "--unsafe-fixes",
        "--gpu-memory",
        "16GiB",
        "train.py",
    ]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    (shown,) = re.findall(r"```diff\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert shown.rstrip("\n") == printed.rstrip("\n")


@pytest.mark.parametrize(
    ("name", "shown"), [("check.svg", ["TFM202"]), ("everywhere.svg", ["TFM202", "TFM307", "TFM403"])]
)
def test_the_pictures_are_there(name: str, shown: list[str]) -> None:
    picture = (ROOT / "docs" / "images" / name).read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert all(code in picture for code in shown)


def test_a_license_is_whole() -> None:
    text = Path(ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert "APPENDIX: How to apply the Apache License to your work." in text


def test_the_tests_that_hold_expectations_exist() -> None:
    text = (ROOT / "docs" / "expectations.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)
    assert len(named) > 50
    for file, test in named:
        source = (ROOT / file).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in source, f"{file} has no test {test}"
