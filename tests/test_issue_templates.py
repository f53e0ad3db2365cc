"""The forms for issues: they are of GitHub's shape, and name commands that exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.checkout import ROOT

FOLDER = ROOT / ".github" / "ISSUE_TEMPLATE"
FORMS = sorted(path for path in FOLDER.glob("*.yml") if path.name != "config.yml")
_INPUTS = {"checkboxes", "dropdown", "input", "markdown", "textarea"}


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_has_githubs_shape(path: Path) -> None:
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= form.keys() <= {"name", "description", "body", "labels", "title"}
    identifiers = [part["id"] for part in form["body"]]
    assert len(set(identifiers)) == len(identifiers)
    for part in form["body"]:
        assert part["type"] in _INPUTS and part["attributes"]["label"]


@pytest.mark.parametrize("name", ["bug.yml", "wrong-finding.yml"])
def test_a_form_asks_for_the_output_of_doctor(name: str) -> None:
    form = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    (doctor,) = (part for part in form["body"] if part["id"] == "doctor")
    assert "tfmemlint doctor" in doctor["attributes"]["label"] and doctor["validations"]["required"]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_the_commands_exist(path: Path) -> None:
    commands = set(re.findall(r"`tfmemlint ([a-z]+)", path.read_text(encoding="utf-8")))
    for command in commands:
        done = subprocess.run([sys.executable, "-m", "tfmemlint", command, "--help"], capture_output=True)
        assert done.returncode == 0, command


def test_other_channels_are_named() -> None:
    config = yaml.safe_load((FOLDER / "config.yml").read_text(encoding="utf-8"))
    assert all({"name", "url", "about"} == link.keys() for link in config["contact_links"])
