"""GPUs by name, the search for a batch, and two results compared."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT
from tfmemlint.cli.main import main
from tfmemlint.fit.compare import compare, load, show
from tfmemlint.fit.find_batch import FIRST, MAX_BATCH, MAX_RUNS, Trial, search, with_batch
from tfmemlint.fit.gpu_models import GPU_MODELS, gpu_model

MIB = 1 << 20


@pytest.mark.parametrize("name", ["A100-40", "a100 40gb", "NVIDIA A100-40GB", "Tesla_A100-40"])
def test_a_gpu_is_known_in_any_spelling(name: str) -> None:
    found = gpu_model(name)
    assert found is not None
    assert (found.name, found.memory_mib) == ("A100-40", 40339)


def test_every_gpu_has_less_than_its_name_says_and_a_source() -> None:
    said = {"T4": 16, "A10": 24, "H100": 80, "L4": 24, "L40S": 48, "RTX4090": 24, "RTX5090": 32}
    for known in GPU_MODELS:
        size = said.get(known.name) or int(known.name.rpartition("-")[2])
        assert 0.88 * size * 1024 < known.memory_mib < size * 1024
        assert known.source
    assert len({known.name for known in GPU_MODELS}) == len(GPU_MODELS)


def test_the_page_has_the_gpus_of_the_tool() -> None:
    page = (ROOT / "docs" / "fit.md").read_text(encoding="utf-8")
    rows = [line for line in page.partition("## GPUs by name")[2].partition("\n## ")[0].splitlines() if "| `" in line]
    assert rows == [f"| `{known.name}` | {known.memory_mib:,} | {known.source} |" for known in GPU_MODELS]


@pytest.mark.parametrize("text", ["16GiB", "40", "8192MiB", " 2.5GB"])
def test_an_amount_is_no_gpu_model(text: str) -> None:
    assert gpu_model(text) is None


@pytest.mark.parametrize(("name", "words"), [("A100", "A100-40 or A100-80"), ("K99", "nor one of"), ("", "nor one of")])
def test_an_unknown_gpu_is_said(name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        gpu_model(name)


@pytest.mark.parametrize("largest", [1, 2, 3, 5, 31, 32, 33, 100, 127, 128, 1000, 4097, 100_000])
def test_the_largest_batch_is_found(largest: int) -> None:
    found = search(lambda batch: Trial(batch, batch <= largest))
    assert found.fits is not None
    assert found.fails is not None
    assert found.fits <= largest < found.fails
    assert found.fails - found.fits <= max(found.fits // 32, 1)
    assert len(found.trials) <= MAX_RUNS
    assert len({trial.batch for trial in found.trials}) == len(found.trials)


def test_where_no_batch_fits_and_where_all_do_the_search_ends() -> None:
    nothing = search(lambda batch: Trial(batch, False))
    assert (nothing.fits, nothing.fails) == (None, 1)
    everything = search(lambda batch: Trial(batch, True))
    assert (everything.fits, everything.fails) == (MAX_BATCH, None)


def test_another_failure_ends_the_search() -> None:
    found = search(lambda batch: Trial(batch, batch < 100, problem="" if batch < 100 else "it failed: ValueError"))
    assert (found.fits, found.fails) == (64, None)
    assert found.problem == "with a batch of 128 it failed: ValueError"
    assert search(lambda batch: Trial(batch, False, problem="no")).trials == [Trial(FIRST, False, problem="no")]


def test_a_batch_that_takes_no_more_ends_the_search() -> None:
    # The data has 100 examples.
    found = search(lambda batch: Trial(batch, True, min(batch, 100) * 1000))
    assert [trial.batch for trial in found.trials] == [32, 64, 128, 256]
    assert found.problem.startswith("a batch of 256 takes no more than one of 128")


def test_the_batch_goes_where_the_braces_are() -> None:
    assert with_batch(["--batch-size={}", "{}", "x"], 7) == ("--batch-size=7", "7", "x")


def _result(peak: int, **roles: int) -> dict[str, Any]:
    groups = [
        {"role": role, "what": f"the {role}", "type": "float32", "shape": "[1]", "bytes": size}
        for role, size in roles.items()
    ]
    device = {"name": "GPU:0", "peak": peak, "peak_of_requests": None, "held_at_peak": roles, "allocations": groups}
    return {"gpu_memory_mib": 16384, "outcome": "fits", "devices": [device]}


def test_the_differences_of_two_results() -> None:
    before, after = _result(300 * MIB, a=200 * MIB, b=100 * MIB), _result(150 * MIB, a=50 * MIB, b=100 * MIB)
    (device,) = compare(before, after)["devices"]
    assert device["peak"] == [300 * MIB, 150 * MIB]
    assert next(iter(device["held_at_peak"].items())) == ("a", [200 * MIB, 50 * MIB])
    assert [group["what"] for group in device["allocations"]] == ["the a"]
    page = io.StringIO()
    show(("x.json", "y.json"), compare(before, after), page)
    said = page.getvalue()
    assert "300 MiB      150 MiB  -150 MiB (-50%)" in said
    assert "not known    not known" in said


def test_an_operation_of_another_batch_is_the_same_one() -> None:
    before, after = _result(100 * MIB, a=100 * MIB), _result(200 * MIB, a=200 * MIB)
    after["devices"][0]["allocations"][0]["shape"] = "[2]"
    (group,) = compare(before, after)["devices"][0]["allocations"]
    assert (group["shape"], group["bytes"]) == ("[1] → [2]", [100 * MIB, 200 * MIB])


def test_what_the_runs_differ_in_is_said() -> None:
    before, after = _result(100, a=100), {**_result(100, b=100), "jit": False, "tensorflow": "2.21.0"}
    found = compare({**before, "jit": True, "tensorflow": "2.15.1"}, after)
    page = io.StringIO()
    show(("x.json", "y.json"), found, page)
    lines = page.getvalue().splitlines()
    assert lines[2:4] == ["TensorFlow: 2.15.1 → 2.21.0", "XLA: on → off"]
    assert any(line.endswith("  b") and "(new)" in line for line in lines)
    assert any(line.endswith("  a") and "(gone)" in line for line in lines)


def test_a_device_that_one_result_lacks_is_there() -> None:
    before, after = _result(1, a=1), _result(2, a=2)
    after["devices"].append({**after["devices"][0], "name": "GPU:1"})
    _, second = compare(before, after)["devices"]
    assert (second["name"], second["peak"]) == ("GPU:1", [None, 2])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"devices": []}', "\0"])
def test_what_is_no_result_is_said(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"x\.json"):
        load(str(path))


def test_the_command_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, peak in (("a.json", 200 * MIB), ("b.json", 300 * MIB)):
        (tmp_path / name).write_text(json.dumps(_result(peak, a=peak)))
    before, after = str(tmp_path / "a.json"), str(tmp_path / "b.json")
    assert main(["fit", "--compare", before, after]) == 0
    assert "+100 MiB (+50%)" in capsys.readouterr().out
    assert main(["fit", "--compare", before, after, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["devices"][0]["peak"] == [200 * MIB, 300 * MIB]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--compare", "a", "absent.json"], "No such file"),
        (["x.py", "--compare", "a", "b"], "runs nothing"),
        ([], "name the script"),
        (["x.py", "--find-batch"], "put {} for the batch size"),
        (["x.py", "--gpu-memory", "A100"], "A100-40 or A100-80"),
        (["x.py", "--write", "absent"], "is no directory"),
        (["x.py", "--env", "TFMEMLINT_UNSET"], "is not set"),
        (["x.py", "--no-sandbox", "--network"], "about the sandbox"),
    ],
)
def test_what_can_not_be_followed_is_said(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.py").write_text("")
    assert main(["fit", *arguments]) == 2
    assert words in capsys.readouterr().err
