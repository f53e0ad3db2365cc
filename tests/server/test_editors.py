"""docs/editors.md: the set-ups of editors. Neovim runs its own, where it is installed; the others are read."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.api.texts import LATE, NUMBERS
from tests.checkout import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found]

pytestmark = pytest.mark.slow
pytest.importorskip("pygls")

PAGE = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
LEAST_NEOVIM = (0, 11)
WIDE = """\
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
名 = "显存不足😀"; tf.config.set_logical_device_configuration(gpus[0], [4096])
"""


def setup(language: str) -> str:
    """Return the set-up in the page that is written in this language."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return str(text)


def neovim() -> str:
    """Return the path of a Neovim that reads the set-up, or skip the test."""
    path = shutil.which("nvim")
    if path is None:
        pytest.skip("Neovim is not installed")
    printed = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"NVIM v(\d+)\.(\d+)", printed)
    if not match or (int(match[1]), int(match[2])) < LEAST_NEOVIM:
        pytest.skip(f"the set-up is for Neovim 0.11 or newer: {printed.splitlines()[0]}")
    return path


def used(folder: Path, text: str, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what Neovim shows of a file with this text, and after the code action of that kind."""
    project = folder / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    (project / "train.py").write_text(text, encoding="utf-8")
    (folder / "init.lua").write_text(setup("lua"), encoding="utf-8")
    home = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    script = str(Path(__file__).with_name("neovim.lua"))
    done = subprocess.run(
        [neovim(), "--headless", "-u", str(folder / "init.lua"), "-l", script, "train.py", kind],
        cwd=project,
        env={**os.environ, **home, "PATH": path, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 2, done.stdout + done.stderr
    before, after = map(json.loads, lines)
    assert before["clients"] == ["tfmemlint"]
    return before, after


def test_neovim_shows_a_finding_and_applies_its_fix(tmp_path: Path) -> None:
    before, after = used(tmp_path, LATE, "quickfix")
    assert before["diagnostics"] == [{"row": 5, "byte": 4, "code": "TFM101", "source": "tfmemlint"}]
    assert len(after["actions"]) == 2
    assert "unsafe" in after["actions"][0] and "silence" in after["actions"][1]
    assert after["text"].index("set_memory_growth") < after["text"].index("tf.zeros")
    assert after["diagnostics"] == []


def test_neovim_applies_all_safe_fixes(tmp_path: Path) -> None:
    _, after = used(tmp_path, NUMBERS, "source.fixAll.tfmemlint")
    assert "tf.config.LogicalDeviceConfiguration(memory_limit=4096)" in after["text"]
    assert after["diagnostics"] == []


def test_neovim_counts_bytes_where_python_counts_characters(tmp_path: Path) -> None:
    row = WIDE.splitlines()[3]
    before, after = used(tmp_path, WIDE, "quickfix")
    (found,) = before["diagnostics"]
    assert found["row"] == 4
    assert row.encode()[found["byte"] :].decode().startswith("[4096]")
    assert "[tf.config.LogicalDeviceConfiguration(memory_limit=4096)]" in after["text"]
    assert '名 = "显存不足😀"' in after["text"]


def test_the_other_set_ups_start_the_server() -> None:
    code = json.loads(setup("json"))
    assert [code["glspc.server.command"], *code["glspc.server.commandArguments"]] == ["tfmemlint", "server"]
    assert "python" in code["glspc.server.languageId"]
    helix = tomllib.loads(setup("toml"))
    server = helix["language-server"]["tfmemlint"]
    assert [server["command"], *server["args"]] == ["tfmemlint", "server"]
    (language,) = helix["language"]
    assert language["name"] == "python" and "tfmemlint" in language["language-servers"]
