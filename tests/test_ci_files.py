"""Hooks, the action, the templates and the plug-in: each in the hands of the program that it is for."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.checkout import ROOT
from tests.longest_files import LONGEST_FIRST, TESTS
from tfmemlint.cli.main import main

LATE = """\
import tensorflow as tf

tf.zeros([1])
gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)
"""


def vendored(name: str) -> Any:
    """Return a schema of check-jsonschema's, which has those of the schema store."""
    pytest.importorskip("check_jsonschema")
    file = resources.files("check_jsonschema") / "builtin_schemas" / "vendor" / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("file", "schema"), [("action.yml", "github-actions"), ("ci/gitlab.yml", "gitlab-ci")])
def test_what_is_published_for_a_ci_is_valid(file: str, schema: str) -> None:
    content = yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))
    made = vendored(schema)
    jsonschema.validators.validator_for(made)(made).validate(content)


def test_no_script_of_the_action_has_an_input_in_its_text() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    assert scripts and not any("${{" in script for script in scripts)


def test_the_steps_of_the_action_run(tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    script = next(step["run"] for step in action["runs"]["steps"] if step.get("id") == "check")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "late.py").write_text(LATE)
    bin_folder = tmp_path / "tfmemlint" / "bin"
    bin_folder.mkdir(parents=True)
    tool = bin_folder / "tfmemlint"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tfmemlint "$@"\n')
    tool.chmod(0o755)
    environment = {
        **os.environ,
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "PATHS": "late.py",
        "ARGUMENTS": "--min-severity warning",
        "SUMMARY": "true",
    }
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=tmp_path / "code", env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("::error file=")
    sarif = Path((tmp_path / "output").read_text().strip().removeprefix("sarif="))
    assert json.loads(sarif.read_text())["runs"][0]["results"][0]["ruleId"] == "TFM101"
    assert "| error | late.py:5 |" in (tmp_path / "summary.md").read_text()


def test_the_lines_of_the_gitlab_template_run(tmp_path: Path) -> None:
    job = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text(encoding="utf-8"))["tfmemlint"]
    (tmp_path / "late.py").write_text(LATE)
    lines = [line.replace("tfmemlint check", f"{sys.executable} -m tfmemlint check") for line in job["script"][1:]]
    environment = {**os.environ, **job["variables"]}
    done = [
        subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True).returncode
        for line in lines
    ]
    assert done == [0, 0, 1]
    assert all((tmp_path / name).stat().st_size for name in job["artifacts"]["reports"].values())


def test_the_image_runs_the_command_as_nobody() -> None:
    dockerfile = pytest.importorskip("dockerfile")
    commands = dockerfile.parse_file(str(ROOT / "ci/Dockerfile"))
    names = [command.cmd.upper() for command in commands]
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert [command.value for command in commands if command.cmd.upper() == "ENTRYPOINT"] == [("tfmemlint",)]


def test_the_hooks_take_what_check_looks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    files = {
        "late.py": LATE,
        "script": f"#!/usr/bin/env python3\n{LATE}",
        ".env": "TF_FORCE_GPU_ALLOW_GROWTH=yes\n",
        ".env.local": "TF_FORCE_GPU_ALLOW_GROWTH=yes\n",
        "train.sbatch": "#!/bin/bash\nexport TF_FORCE_GPU_ALLOW_GROWTH=yes\npython late.py\n",
        "LICENSE": "Permission is hereby granted: TF_FORCE_GPU_ALLOW_GROWTH\n",
        "notes.txt": "tf.config.experimental.set_memory_limit(gpu, 1)\n",
        "settings.ini": "[tf]\nTF_FORCE_GPU_ALLOW_GROWTH=yes\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    quick = next(hook for hook in hooks if hook["id"] == "tfmemlint")
    arguments = quick["entry"].split()[1:]
    assert main([*arguments, "--no-cache", "--output-format", "json", *sorted(files)]) == 1
    found = {Path(finding["filename"]).name for finding in json.loads(capsys.readouterr().out)}
    assert found == {"late.py", "script", ".env", ".env.local", "train.sbatch"}
    identify = pytest.importorskip("identify.identify")
    assert all(set(quick["types"]) <= identify.tags_from_path(name) for name in found)
    whole = next(hook for hook in hooks if hook["id"] == "tfmemlint-project")
    assert whole["pass_filenames"] is False and "--force-exclude" not in whole["entry"]


def test_flake8_shows_the_findings(tmp_path: Path) -> None:
    pytest.importorskip("flake8")
    (tmp_path / "late.py").write_text(LATE)
    (tmp_path / "silenced.py").write_text(LATE.replace("True)", "True)  # noqa: TFM101"))
    (tmp_path / "setup.cfg").write_text("[flake8]\nselect = TFM\n")
    done = subprocess.run([sys.executable, "-m", "flake8", "."], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert re.fullmatch(r"\./late\.py:5:1: TFM101 set_memory_growth after the runtime has started.*\n", done.stdout)


def test_the_plug_in_is_announced() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points."flake8.extension"]\nTFM = "tfmemlint.cli.flake8_plugin:Plugin"' in text


def test_ruff_keeps_our_comments_if_told(tmp_path: Path) -> None:
    page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    assert 'external = ["TFM"]' in page
    (tmp_path / "late.py").write_text("x = 1  # noqa: TFM101\n")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "RUF", "late.py"]
    alone = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    told = subprocess.run(
        [*command, "--config", 'lint.external = ["TFM"]'], cwd=tmp_path, capture_output=True, text=True
    )
    assert "TFM101" in alone.stdout + alone.stderr
    assert told.returncode == 0 and "TFM101" not in told.stdout


def test_the_files_that_come_first_are_there() -> None:
    missing = [name for name in LONGEST_FIRST if not (TESTS / name).is_file()]
    assert not missing, "tests/longest_files.py names them"
