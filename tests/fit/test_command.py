"""The command line of ``fit``: what it refuses, and what it prints."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path

import pytest

from tfmemlint.fit import command
from tfmemlint.fit.child.limit_overrides import remove_limits, set_limits
from tfmemlint.fit.measure import gist, measure
from tfmemlint.fit.oom_messages import refused, refused_in_cudnn
from tfmemlint.fit.report import as_data, show
from tfmemlint.fit.runner import FitOptions
from tfmemlint.verify.ground import Ground

pytestmark = pytest.mark.slow


def run(*given: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    arguments = parser.parse_args(given)
    arguments.program_arguments = []
    return command.run(arguments)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--gpu-memory", "lots"], "--gpu-memory: 'lots' is not an amount"),
        (["--gpu-memory", "16"], "has no unit"),
        (["--gpu-memory", "1MiB"], "at least 512 MiB"),
        (["--in-use", "20GiB"], "no memory of the GPU would be left"),
        (["--gpus", "0"], "from 1 to 32"),
        (["--steps", "-1"], "0 or more"),
        (["--timeout", "0"], "more than 0 seconds"),
        (["--cwd", "nowhere"], "nowhere is no directory"),
        (["--python", "/nowhere/python"], "can't be started"),
    ],
)
def test_what_cannot_be_followed(
    options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.py"
    script.write_text("import tensorflow\n")
    assert run(str(script), *options) == 2
    assert words in capsys.readouterr().err


def test_scripts_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(tmp_path / "missing.py")) == 2
    assert "missing.py" in capsys.readouterr().err
    script = tmp_path / "script.py"
    script.write_text("x = (\n")
    assert run(str(script)) == 2
    assert "line 1: it can't be parsed" in capsys.readouterr().err


def test_a_missing_compiler_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.py"
    script.write_text("import tensorflow\n")
    monkeypatch.setattr("tfmemlint.verify.driver.setup.compiler", lambda: None)
    assert run(str(script)) == 2
    said = capsys.readouterr().err
    assert "no simulated driver" in said or "TensorFlow is not installed" in said


def test_the_report(ground: Ground) -> None:
    code = "import tensorflow as tf\nweights = tf.Variable(tf.zeros((1024, 1024)), name='weights')\n"
    found = measure(Path("train.py").resolve(), code, ground, FitOptions(memory_mib=8192), lambda words: None)
    page = io.StringIO()
    show("train.py", found, page)
    said = page.getvalue()
    assert "1 simulated GPU of 8 GiB" in said
    assert "fits (it took no training step)" in said
    assert "weights float32 [1024, 1024]" in said
    assert said.count("These figures leave out") == 1
    data = json.loads(json.dumps(as_data("train.py", found)))
    assert (data["outcome"], data["exit_code"]) == ("fits", 0)
    assert data["devices"][0]["held_at_peak"]["trained variables"] >= 4 << 20


def test_messages_of_tensorflow_are_understood() -> None:
    one = refused(
        "OOM when allocating tensor with shape[64,128] and type float on /job:localhost/replica:0/task:0/device:GPU:1 "
        "by allocator GPU_1_bfc\n\t [[{{node model/dense/MatMul}}]]"
    )
    assert (one.device, one.operation, one.what) == ("GPU:1", "model/dense/MatMul", "float [64,128]")
    assert refused("Out of memory while trying to allocate 1048576 bytes.").what == "1.0 MiB"


def test_limits_are_lifted_and_imposed() -> None:
    config_pb2 = pytest.importorskip("tensorflow.core.protobuf.config_pb2")
    config = config_pb2.ConfigProto()
    config.gpu_options.per_process_gpu_memory_fraction = 0.5
    set_limits(config, 100, 2)
    devices = config.gpu_options.experimental.virtual_devices
    assert [list(gpu.memory_limit_mb) for gpu in devices] == [[100], [100]]
    assert config.gpu_options.per_process_gpu_memory_fraction == 0
    devices[0].memory_limit_mb[:] = [10, 20]
    remove_limits(config)
    assert config.gpu_options.allow_growth
    assert len(devices[0].memory_limit_mb) == 2
    assert min(devices[0].memory_limit_mb) > 100_000


def test_an_error_is_one_line() -> None:
    assert gist("OOM when allocating\n\t [[{{node x}}]]") == "OOM when allocating"
    raised = (
        "Graph execution error:\n\nDetected at node a defined at (most recent call last):\n"
        '  File "train.py", line 4, in step\n\nNo compilation provider.\n\t [[{{node a}}]] [Op:__inference_step_9]'
    )
    assert gist(raised) == "Graph execution error: No compilation provider."
    assert gist('in user code:\n\n    File "t.py", line 8, in step  *\n        x\n\n    TypeError: no\n') == (
        "in user code: TypeError: no"
    )
    assert gist("") == ""
    assert gist("nothing follows:") == "nothing follows:"


def test_only_what_cudnn_could_not_get_is_taken_from_the_log() -> None:
    oom = "E0 dnn.cc:933] OOM when allocating tensor with shape[9] on device:GPU:0 by allocator GPU_0_bfc"
    said = "Graph execution error:\n\nFailed to call DoRnnBackward with model config: [rnn_mode"
    assert refused_in_cudnn(said, f"started\n{oom}\n") == oom
    assert refused_in_cudnn(said, "CUDNN_STATUS_EXECUTION_FAILED") == ""
    assert refused_in_cudnn("No compilation provider.", oom) == ""
