"""Configuration files as a person has them: comments that silence, code that reads a variable, changes between runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run

GROWTH = """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
x = tf.zeros((2, 2))
"""
SCRIPT = "#!/bin/sh\nexport TF_FORCE_GPU_ALLOW_GROWTH={}\npython train.py\n"


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)


def _write(**files: str) -> list[tuple[str, bool]]:
    names = {name.replace("_", "."): text for name, text in files.items()}
    for name, text in names.items():
        Path(name).write_text(text, encoding="utf-8", newline="")
    return [(name, False) for name in names]


def _found(files: list[tuple[str, bool]], job: RunContext | None = None) -> list[str]:
    outcomes = run(files, job or RunContext(explain_fixes="never"))
    return [f"{finding.path}:{finding.span.row} {finding.code}" for outcome in outcomes for finding in outcome.findings]


def test_a_comment_above_silences_an_instruction() -> None:
    text = "FROM x\n# tfmemlint: ignore[TFM307]\nENV TF_FORCE_GPU_ALLOW_GROWTH=1\nENV TF_GPU_ALLOCATOR=async\n"
    assert _found(_write(a_dockerfile=text)) == ["a.dockerfile:4 TFM307"]


def test_what_a_document_exports_further_up_is_exported() -> None:
    block = "```sh\n{}\n```\n\n"
    lost = block.format("CUDA_VISIBLE_DEVICES=1\npython train.py")
    assert _found(_write(a_md="# TensorFlow\n\n" + lost)) == ["a.md:4 TFM315"]
    exported = block.format("export CUDA_VISIBLE_DEVICES=0")
    assert _found(_write(a_md="# TensorFlow\n\n" + exported + lost)) == []


@pytest.mark.parametrize(
    "command",
    ["python -m pip install tensorflow", "python3 -m venv venv", "python setup.py install", "python check.py"],
)
def test_an_example_that_exports_at_its_end_is_for_what_follows(command: str) -> None:
    text = f"# TensorFlow\n\n```sh\n{command}\nexport TF_FORCE_GPU_ALLOW_GROWTH=true\n```\n"
    assert _found(_write(a_md=text)) == []


def test_a_comment_at_the_end_of_a_line_silences_it() -> None:
    text = "export TF_FORCE_GPU_ALLOW_GROWTH=1  # noqa: TFM307\nexport TF_GPU_ALLOCATOR=async\n"
    assert _found(_write(a_sh=text)) == ["a.sh:2 TFM307"]


def test_a_file_can_be_skipped() -> None:
    assert _found(_write(a_sh="# tfmemlint: skip-file\nexport TF_FORCE_GPU_ALLOW_GROWTH=1\n")) == []


@pytest.mark.parametrize(
    "code",
    [
        'import os\nlimit = os.environ["TF_GPU_MEMORY_LIMIT"]\n',
        'import os\nlimit = os.getenv("TF_GPU_MEMORY_LIMIT", "0")\n',
        "class Settings(BaseSettings):\n    tf_gpu_memory_limit: int = 0\n",
    ],
    ids=["environ", "getenv", "settings"],
)
def test_code_of_the_project_may_read_a_variable(code: str) -> None:
    files = _write(a_sh="export TF_GPU_MEMORY_LIMIT=4096\npython train.py\n")
    assert _found(files) == ["a.sh:1 TFM207"]
    assert _found(files + _write(read_py=code)) == []


def test_code_of_the_project_that_only_sets_it_does_not_read_it() -> None:
    files = _write(a_sh="export TF_GPU_MEMORY_LIMIT=4096\npython train.py\n")
    _write(set_py='import os\nos.environ["TF_GPU_MEMORY_LIMIT"] = "1"\n')
    assert _found(files) == ["a.sh:1 TFM207"]


def test_a_library_of_the_project_may_be_the_owner() -> None:
    files = _write(a_dockerfile="FROM tensorflow/tensorflow\nENV XLA_PYTHON_CLIENT_PREALLOCATE=false\n")
    assert _found(files) == ["a.dockerfile:2 TFM207"]
    _write(requirements_txt="tensorflow\njax[cuda12]\n")
    assert _found(files) == []
    _write(requirements_txt="tensorflow\n", read_py="from distrax import Normal\n")
    assert _found(files) == []


def test_the_cache_knows_of_the_environment() -> None:
    job = RunContext(explain_fixes="never", cache=True)
    files = _write(train_py=GROWTH, run_sh=SCRIPT.format("false"), **{f"m{i}_py": GROWTH for i in range(12)})
    assert _found(files, job) == _found(files, job) == ["train.py:4 TFM403"]
    _write(run_sh=SCRIPT.format("true"))
    assert _found(files, job) == []
    _write(run_sh=SCRIPT.format("false"))
    assert _found(files, job) == ["train.py:4 TFM403"]


def test_line_ends_and_all_else_stay() -> None:
    text = "\ufeffservices:\r\n  a:\r\n    environment:   # here\r\n      TF_FORCE_GPU_ALLOW_GROWTH:   '1'   # so\r\n\n"
    files = _write(a_yml=text)
    run(files, RunContext(fix=True, write=True, unsafe=True))
    assert Path("a.yml").read_bytes().decode() == text.replace("'1'", "'true'")


def test_yaml_that_is_none_is_one_finding() -> None:
    assert _found(_write(a_yml="services:\n  a: [\n  TF_FORCE_GPU_ALLOW_GROWTH: 1\n")) == ["a.yml:4 TFM901"]


@pytest.mark.parametrize("template", ["{{ x }}", "{% if x %}", "<%= x %>", "@VALUE@"])
def test_a_template_that_is_no_yaml_is_no_finding(template: str) -> None:
    assert _found(_write(a_yml=f"services: {template}\n  a: [\n  TF_FORCE_GPU_ALLOW_GROWTH: 1\n")) == []


def test_at_most_four_environments_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(f"CUDA_VISIBLE_DEVICES={number} python train.py\n" for number in range(20))
    _write(train_py=GROWTH, run_sh=lines)
    from tfmemlint.deployment.launches import launches_of

    (launches,) = launches_of(["run.sh"]).values()
    assert len(launches) == 4
