"""A program finds the configuration files that it reads, as it would where it belongs, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixes.projects import make
from tests.verify.programs import TF, limited
from tfmemlint.knowledge.releases import Target
from tfmemlint.sources import Source
from tfmemlint.verify.edge import Edge
from tfmemlint.verify.prove import Proof, prove
from tfmemlint.verify.run_options import RunOptions

INI = "import configparser\n\nconfig = configparser.ConfigParser()\nconfig.read({name!r})\n"
JSON = "import json\n\nwith open({name!r}) as file:\n    config = json.load(file)\n"
YAML = "import yaml\n\nconfig = yaml.safe_load(open({name!r}))\n"


SIZE = "int(config['gpu']['limit'])"


def proved(edge: Edge, path: str, *, whole: bool = False, cwd: str | None = None) -> Proof:
    """The proof of a program that lies in the working directory."""
    source = Source(path, Path(path).read_text(encoding="utf-8"))
    return prove(source, edge, RunOptions(host_mib=None, whole=whole, cwd=cwd), Target.newest())


def kinds(proof: Proof) -> list[str]:
    return [verdict.kind.value for verdict in proof.verdicts]


@pytest.mark.parametrize(
    ("reads", "name", "text"),
    [
        (YAML, "gpu.yaml", "gpu:\n  limit: 2048\n"),
        (JSON, "gpu.json", '{"gpu": {"limit": 2048}}'),
        (INI, "gpu.ini", "[gpu]\nlimit = 2048\n"),
    ],
)
@pytest.mark.parametrize(
    ("main", "place", "named"),
    [
        ("train.py", "{}", "{}"),
        ("train.py", "conf/{}", "conf/{}"),
        ("src/train.py", "src/{}", "{}"),
        ("src/train.py", "{}", "../{}"),
        ("src/train.py", "conf/{}", "conf/{}"),
    ],
)
@pytest.mark.parametrize("whole", [False, True])
def test_a_file_is_found_as_it_would_be(
    reads: str, name: str, text: str, main: str, place: str, named: str, whole: bool,
    edge: Edge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    pytest.importorskip("yaml")
    code = reads.format(name=named.format(name)) + TF + limited(SIZE)
    make(tmp_path, {"setup.py": "", place.format(name): text, main: code})
    monkeypatch.chdir(tmp_path)
    proof = proved(edge, main, whole=whole)
    assert kinds(proof) == ["takes effect"]
    assert "2048 MiB" in proof.verdicts[0].configuration


def test_what_is_not_there_is_said_with_the_way_to_it(
    edge: Edge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"limit = int(open('limit.txt').read())\n{TF}{limited('limit')}"
    make(tmp_path, {"setup.py": "", "limit.txt": "2048", "train.py": code})
    monkeypatch.chdir(tmp_path)
    proof = proved(edge, "train.py")
    assert kinds(proof) == ["not provable here"]
    assert any("--cwd" in note for note in proof.runs[0].notes)
    assert kinds(proved(edge, "train.py", cwd=".")) == ["takes effect"]


def test_what_a_program_writes_over_is_a_copy(edge: Edge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '{"gpu": {"limit": 2048}}'
    reads = JSON.format(name="gpu.json") + "open('gpu.json', 'w').write('lost')\n"
    make(tmp_path, {"setup.py": "", "gpu.json": text, "train.py": reads + TF + limited(SIZE)})
    monkeypatch.chdir(tmp_path)
    assert kinds(proved(edge, "train.py", whole=True)) == ["takes effect"]
    assert (tmp_path / "gpu.json").read_text() == text


@pytest.mark.parametrize("name", ["../secret.json", "~/secret.json"])
def test_no_file_outside_of_the_project_is_taken(
    name: str, edge: Edge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, {"secret.json": '{"gpu": {"limit": 2048}}'})
    make(tmp_path / "project", {"setup.py": "", "train.py": JSON.format(name=name) + TF + limited(SIZE)})
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "project")
    assert kinds(proved(edge, "train.py")) == ["not provable here"]
