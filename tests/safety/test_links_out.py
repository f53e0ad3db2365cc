"""What a link leads to, out of what was named, is not shown: a stranger's tree can name any file of this machine so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.cli.main import main

CALL = "tf.config.gpu.set_per_process_memory_growth()"
CODE = f'KEY = "secret"\nimport tensorflow as tf\n{CALL}\nWORD = "secret"\n'
OUTSIDE = {
    ".env": "KEY=secret\nTF_FORCE_GPU_ALLOW_GROWTH=maybe\nWORD=secret\n",
    "run.sh": "KEY=secret\nexport TF_FORCE_GPU_ALLOW_GROWTH=maybe\nWORD=secret\n",
    "compose.yaml": "services:\n  a:\n    environment:\n      KEY: secret\n      TF_FORCE_GPU_ALLOW_GROWTH: maybe\n",
    "Dockerfile": "ENV KEY=secret\nENV TF_FORCE_GPU_ALLOW_GROWTH=maybe\nENV WORD=secret\n",
    "config.py": CODE,
    "notes.md": f"secret\n```python\n{CODE}```\n",
}
SETTINGS = [".env", "run.sh", "compose.yaml", "Dockerfile"]
COMMANDS = [
    ["check"],
    ["check", "-v"],
    ["check", "--output-format", "json"],
    ["check", "--output-format", "sarif"],
    ["fix", "--diff", "--unsafe-fixes", "--show-fixes"],
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make files outside of a project, which is the working directory; return where they are."""
    home = tmp_path / "home"
    project = tmp_path / "project"
    for folder in (home, project):
        folder.mkdir()
    for name, text in OUTSIDE.items():
        (home / name).write_text(text)
    (project / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    monkeypatch.chdir(project)
    return home


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("folder", ["", "folder"])
def test_nothing_of_it_is_quoted(
    name: str, command: list[str], folder: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = Path(folder or name)
    link.symlink_to(home if folder else home / name)
    main([*command, "--no-cache", "."])
    out, err = capsys.readouterr()
    assert "secret" not in out + err
    if name in SETTINGS:
        assert f"{Path(folder, name)}: not read, as a link there leads out of the project" in err
    elif command == ["check"]:
        assert f"{Path(folder, name)}:" in out
    assert (home / name).read_text() == OUTSIDE[name]


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_named_is_quoted(name: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(name).symlink_to(home / name)
    assert main(["check", "--no-cache", ".", name]) == 1
    out, err = capsys.readouterr()
    assert "secret" in out
    assert "not read" not in err


@pytest.mark.parametrize("name", SETTINGS)
def test_a_link_within_the_project_is_followed(name: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(name).write_text(OUTSIDE[name])
    Path("part").mkdir()
    Path("part", name).symlink_to(f"../{name}")
    assert main(["check", "--no-cache", "part"]) == 1
    out, err = capsys.readouterr()
    assert f"{Path('part', name)}:" in out
    assert "not read" not in err


@pytest.mark.parametrize("linked", [False, True])
def test_a_linked_configuration_file_starts_no_program(
    linked: bool, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grow = "    tf.config.experimental.set_memory_growth(gpu, True)\n"
    Path("train.py").write_text(
        f"import tensorflow as tf\n\nfor gpu in tf.config.list_physical_devices('GPU'):\n{grow}"
    )
    run = home / "run.sh" if linked else Path("run.sh")
    run.write_text("export TF_FORCE_GPU_ALLOW_GROWTH=false\npython train.py\n")
    if linked:
        Path("run.sh").symlink_to(run)
    main(["check", "--no-cache", "train.py"])
    assert ("TFM403" in capsys.readouterr().out) is not linked
