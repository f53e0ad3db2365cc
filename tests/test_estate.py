"""Many repositories: limits, resumption, outputs; and on a cluster whose workers are killed, all as in one row."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.safety.hostile_repositories import BAD, BUILDERS, committed, git
from tfmemlint.cli.main import main
from tfmemlint.estate.listing import repositories

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

CLEAN, FOUND, FAILED = 0, 1, 2
LATE = """\
import tensorflow as tf

tf.zeros([1])
gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)
"""
REPOSITORIES, KILLED_AT = 80, (10, 25, 40, 55)
"""The number of repositories, and after how many of them a worker, or what it checks with, is killed by turns."""
OUTPUTS = ("findings.parquet", "repositories.parquet", "estate.sarif", "index.html")


def estate(*words: str) -> int:
    return main(["estate", *words, "--exit-zero"])


def start(*words: str) -> subprocess.Popen[bytes]:
    """Start the command: its cluster talks through sockets, which a test may not."""
    return subprocess.Popen([sys.executable, "-m", "tfmemlint", "estate", *words, "--exit-zero"])


def rows(out: Path, name: str = "findings") -> list[dict[str, Any]]:
    from pyarrow import parquet

    found: list[dict[str, Any]] = parquet.read_table(out / f"{name}.parquet").to_pylist()
    return found


@pytest.fixture
def clones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three repositories: one with a finding, one with a program of several files, one without anything."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    make(tmp_path / "clones" / "late", {"late.py": LATE})
    make(tmp_path / "clones" / "bad", {"train.py": BAD, "sub/other.py": LATE})
    make(tmp_path / "clones" / "clean", {"clean.py": "print(1)\n"})
    return tmp_path / "clones"


def make(top: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, encoding="utf-8")


def test_what_check_finds_in_each_is_in_the_tables(clones: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["estate", "clones", "--out", "out", "--serial"]) == FOUND
    out = clones.parent / "out"
    found = Counter((row["repository"], row["path"], row["row"], row["code"]) for row in rows(out))
    expected: Counter[tuple[str, str, int, str]] = Counter()
    for repository in ("bad", "clean", "late"):
        monkeypatch.chdir(clones / repository)
        main(["check", "--no-cache", "--output-format", "json", "-o", "../report.json"])
        for entry in json.loads((clones / "report.json").read_text()):
            path = Path(entry["filename"]).relative_to(clones / repository).as_posix()
            expected[repository, path, entry["location"]["row"], entry["code"]] += 1
    assert found == expected and len(found) == 3
    (clones / "report.json").unlink()
    table = {row["repository"]: row for row in rows(out, "repositories")}
    assert {name: (row["outcome"], row["files"], row["findings"]) for name, row in table.items()} == {
        "bad": ("checked", 2, 2),
        "clean": ("checked", 1, 0),
        "late": ("checked", 1, 1),
    }
    assert table["bad"]["safe_fixes"] == 1


def test_the_log_is_valid_and_says_which_repository(clones: Path) -> None:
    sarif = pytest.importorskip("sarif_pydantic")

    estate("clones", "--out", "out", "--serial")
    text = (clones.parent / "out" / "estate.sarif").read_text()
    sarif.Sarif.model_validate_json(text)
    (run,) = json.loads(text)["runs"]
    assert len(run["invocations"]) == 3
    codes = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(run["results"]) == 3
    for result in run["results"]:
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert place["uriBaseId"] in run["originalUriBaseIds"]
        assert codes[result["ruleIndex"]] == result["ruleId"]
        assert Path(clones / result["properties"]["repository"] / place["uri"]).is_file()


@pytest.mark.slow
def test_a_second_run_says_what_has_changed(clones: Path) -> None:
    out = clones.parent / "out"
    estate("clones", "--out", "out", "--serial")
    assert "first run" in (out / "index.html").read_text()
    (clones / "late" / "late.py").write_text("import tensorflow as tf\n")
    (clones / "clean" / "clean.py").write_text(LATE + "tf.config.experimental.set_memory_growth(gpus[1], True)\n")
    estate("clones", "--out", "out", "--serial")
    assert "2 new</b>" in (out / "index.html").read_text() and "1 gone</b>" in (out / "index.html").read_text()
    estate("clones", "--out", "out", "--serial")
    assert "0 new</b>" in (out / "index.html").read_text()


@pytest.mark.slow
def test_a_run_that_was_cut_off_goes_on(
    clones: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tfmemlint.estate import run as running

    real, asked = running.run_serial, list[str]()

    def cut_off(repositories: Any, request: Any) -> Iterator[Any]:
        for record in real(repositories, request):
            yield record
            asked.append(record["name"])
            if len(asked) == 2:
                raise KeyboardInterrupt

    monkeypatch.setattr(running, "run_serial", cut_off)
    assert estate("clones", "--out", "out", "--serial") == FAILED
    assert not (clones.parent / "out" / "index.html").exists()
    assert estate("clones", "--out", "out", "--serial") == CLEAN
    assert "2 of 3 were checked before" in capsys.readouterr().err
    assert asked == ["bad", "clean", "late"]
    estate("clones", "--out", "other", "--serial")
    for name in OUTPUTS:
        assert (clones.parent / "out" / name).read_bytes() == (clones.parent / "other" / name).read_bytes(), name


@pytest.mark.slow
def test_other_options_begin_anew(clones: Path) -> None:
    estate("clones", "--out", "out", "--serial", "--select", "TFM101")
    assert {row["code"] for row in rows(clones.parent / "out")} == {"TFM101"}
    estate("clones", "--out", "out", "--serial")
    assert len({row["code"] for row in rows(clones.parent / "out")}) == 2


@pytest.mark.parametrize(("words", "outcome"), [(("--timeout", "0.000001"), "time"), (("--memory", "1"), "memory")])
def test_limits_end_a_repository_and_not_the_run(
    clones: Path, words: tuple[str, str], outcome: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert estate("clones", "--out", "out", "--serial", *words) == FAILED
    table = rows(clones.parent / "out", "repositories")
    assert [row["outcome"] for row in table] == [outcome] * 3
    assert "took" in capsys.readouterr().err and outcome in (clones.parent / "out" / "index.html").read_text()


def test_what_cannot_be_checked_is_said_and_the_rest_goes_on(clones: Path) -> None:
    (clones / "late" / "pyproject.toml").write_text("[tool.tfmemlint]\nselect = ['NONE1']\n")
    (clones.parent / "list.txt").write_text(
        "# ours\nclones/late\n\nclones/bad\nclones/gone\nclones/../clones/bad/sub\n"
    )
    assert estate("list.txt", "--out", "out", "--serial") == FAILED
    table = {row["repository"]: row for row in rows(clones.parent / "out", "repositories")}
    assert {name: row["outcome"] for name, row in table.items()} == {
        "bad": "checked",
        "gone": "missing",
        "late": "failed",
        "sub": "checked",
    }
    assert "NONE1" in table["late"]["problem"]


@pytest.mark.slow
def test_names_are_harmless(clones: Path) -> None:
    name = "<script>alert(1)<!--\udcff"
    make(clones / name, {"late.py": LATE})
    make(clones / "a" / "late", {"x.py": LATE})
    (clones.parent / "list.txt").write_text("clones/late\nclones/a/late\n")
    estate("clones", "--out", "out", "--serial")
    text = (clones.parent / "out" / "index.html").read_text()
    assert "<script" not in text and "&lt;script&gt;" in text
    estate("list.txt", "--out", "two", "--serial")
    assert [row["repository"] for row in rows(clones.parent / "two", "repositories")] == ["late", "late~2"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no repository"),
        ("https://example.com/a.git", "without --clone"),
        ("ext::sh -c touch% x", "are cloned"),
        ("fd::17/foo", "are cloned"),
        ("ftp://example.com/a", "are cloned"),
    ],
)
def test_lists_that_cannot_be_followed(clones: Path, text: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    (clones.parent / "list.txt").write_text(text)
    assert estate("list.txt", "--out", "out", "--serial", *(["--clone"] if "are cloned" in words else [])) == FAILED
    assert words in capsys.readouterr().err
    assert not (clones.parent / "out").exists()
    assert estate("nonexistent", "--out", "out", "--serial") == FAILED
    os.mkfifo("pipe")
    assert estate("pipe", "--out", "out", "--serial") == FAILED
    assert estate(os.devnull, "--out", "out", "--serial") == FAILED


@pytest.mark.parametrize("name", ["a_clean_filter", "hooks", "hooks_from_the_working_tree", "fsmonitor", "aliases"])
def test_cloning_runs_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    canary, top = tmp_path / "canary", tmp_path / "top"
    top.mkdir()
    BUILDERS[name](top, str(canary))
    canary.unlink(missing_ok=True)
    (tmp_path / "list.txt").write_text(f"file://{top}\n")
    assert main(["estate", "list.txt", "--out", "out", "--serial", "--clone"]) == FOUND
    assert not canary.exists()
    (row,) = rows(tmp_path / "out")
    assert row["path"] == "train.py" and row["commit"] == git(top, "rev-parse", "HEAD").strip()


def test_what_cannot_be_cloned_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    committed(tmp_path / "top")
    (tmp_path / "list.txt").write_text(f"file://{tmp_path}/gone\nfile://{tmp_path}/top\n")
    assert estate("list.txt", "--out", "out", "--serial", "--clone") == FAILED
    assert [row["outcome"] for row in rows(tmp_path / "out", "repositories")] == ["not cloned", "checked"]


def test_without_its_packages_it_says_what_to_install(
    clones: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert estate("clones", "--out", "out") == FAILED
    assert "pip install 'tfmemlint[estate]'" in capsys.readouterr().err


class _Killer(threading.Thread):
    """Kills workers of a command's cluster, and the processes that they check with, while it runs."""

    def __init__(self, command: int, state: Path, at: tuple[int, ...]) -> None:
        super().__init__(daemon=True)
        self.command = command
        self.records, self.at, self.killed = state / "records", at, 0
        self.stopped = threading.Event()

    def run(self) -> None:
        import psutil

        for number, done in enumerate(self.at):
            while not self.records.is_dir() or len(list(self.records.glob("*.json"))) < done:
                if self.stopped.wait(0.02):
                    return
            workers = [
                child
                for child in psutil.Process(self.command).children()
                if any("spawn_main" in word for word in child.cmdline())
            ]
            victims = workers if number % 2 else [inner for worker in workers for inner in worker.children()]
            for victim in victims[:1]:
                victim.kill()
                self.killed += 1


@pytest.mark.slow
def test_workers_that_are_killed_lose_nothing_and_repeat_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    for number in range(REPOSITORIES):
        top = tmp_path / "clones" / f"r{number:03}"
        text = LATE + f"tf.config.experimental.set_memory_growth(gpus[{number % 3}], True)\n" * (number % 4)
        make(top, {"late.py": text, "use.py": "import late\n", "README.md": f"# {number}\n"})
    assert estate("clones", "--out", "serial", "--serial", "-q") == CLEAN
    with start("clones", "--out", "out", "--workers", "3", "-q") as command:
        killer = _Killer(command.pid, tmp_path / "out" / "state", KILLED_AT)
        killer.start()
        code = command.wait()
        killer.stopped.set()
        killer.join()
    assert code == CLEAN
    assert killer.killed >= len(KILLED_AT) - 1
    assert len(list((tmp_path / "out" / "state" / "records").iterdir())) == REPOSITORIES
    for name in OUTPUTS:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "serial" / name).read_bytes(), name
    assert len(rows(tmp_path / "out", "repositories")) == REPOSITORIES
    assert max(Counter((row["repository"], row["fingerprint"]) for row in rows(tmp_path / "out")).values()) == 1


@pytest.mark.slow
def test_a_cluster_checks_as_one_process_does(clones: Path) -> None:
    with start("clones", "--out", "out", "--workers", "2") as command:
        assert command.wait() == CLEAN
    estate("clones", "--out", "serial", "--serial")
    for name in OUTPUTS:
        assert (clones.parent / "out" / name).read_bytes() == (clones.parent / "serial" / name).read_bytes(), name


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("https://example.com/..", "root"),
        ("https://example.com/../", "root"),
        ("https://example.com/a/...git", "root"),
        ("https://example.com/.", "root"),
        ("https://example.com/.git", "root"),
        ("git@example.com:..", "root"),
        (r"https://example.com/a\..", "root"),
        ("https://example.com/" + "\N{GRINNING FACE}" * 300, "\N{GRINNING FACE}" * 50),
        ("https://example.com/...a.git", "...a"),
    ],
)
def test_the_name_of_a_clone_is_one_folder(source: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(source, encoding="utf-8")
    (found,) = repositories(str(tmp_path / "list.txt"))
    assert (found.name, found.source) == (name, source)
