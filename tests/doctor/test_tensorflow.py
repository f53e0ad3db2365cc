"""What an interpreter's TensorFlow is: real, missing, broken, crashing or hanging."""

from __future__ import annotations

import ast
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.fakes import CPU_BUILD, GPU_BUILD, package, python
from tfmemlint.doctor import tensorflow
from tfmemlint.doctor.cuda_libraries import complaints, tried
from tfmemlint.doctor.tensorflow import CudaLibrary, InterpreterError, ListedGpu, probe

pytestmark = [pytest.mark.skipif(os.name == "nt", reason="the interpreters are shell scripts"), pytest.mark.slow]


@pytest.mark.tensorflow
def test_this_interpreters_own_tensorflow_is_found_and_not_imported_here() -> None:
    found = probe()
    assert found.path == sys.executable
    assert found.version == tuple(sys.version_info[:3])
    assert found.trouble is None
    assert found.tensorflow is not None
    assert found.tensorflow.release >= (2, 12)
    assert found.tensorflow.distribution.startswith("tensorflow")
    assert (Path(found.tensorflow.folder) / "__init__.py").is_file()
    names = [library.name for library in found.tensorflow.libraries]
    assert ("libcuda.so.1" in names) is found.tensorflow.cuda_build


def test_a_cpu_build_needs_no_libraries_and_lists_no_gpu(tmp_path: Path) -> None:
    found = probe(python(tmp_path, package(CPU_BUILD, version="2.15.1")))
    assert found.trouble is None
    assert found.tensorflow is not None
    assert (found.tensorflow.version, found.tensorflow.release) == ("2.15.1", (2, 15))
    assert (found.tensorflow.cuda_build, found.tensorflow.libraries, found.tensorflow.gpus) == (False, (), ())
    assert found.tensorflow.folder == str(tmp_path / "packages/tensorflow")


def test_a_gpu_build_is_told_with_what_it_lists_and_what_its_log_says_of_the_libraries(tmp_path: Path) -> None:
    log = (
        "I0000 00:00:1.2 13 dso_loader.cc:133] Successfully opened dynamic library libcuda.so.1\n"
        "I0000 00:00:1.2 13 dso_loader.cc:144] Could not load dynamic library 'libcudnn.so.9';"
        " dlerror: libcudnn.so.9: file too short; LD_LIBRARY_PATH: /opt\n"
        "W0000 00:00:1.2 13 gpu_device.cc:2431] Cannot dlopen some GPU libraries. Skipping registering GPU devices...\n"
    )
    found = probe(python(tmp_path, package(GPU_BUILD, gpus=1, log=log))).tensorflow
    assert found is not None
    assert (found.cuda_build, found.cuda, found.cudnn) == (True, "12.5.1", "9")
    assert found.capabilities == ("sm_80", "compute_90")
    assert [(gpu.name, gpu.model, gpu.capability) for gpu in found.gpus] == [("GPU:0", "NVIDIA H100", (9, 0))]
    libraries = {library.name: library for library in found.libraries}
    assert libraries["libcuda.so.1"] == CudaLibrary("libcuda.so.1", True, by_tensorflow=True)
    assert libraries["libcudnn.so.9"] == CudaLibrary("libcudnn.so.9", False, "libcudnn.so.9: file too short", True)
    assert not libraries["libcublas.so.12"].by_tensorflow, "its log is silent about it, so it was tried for it"
    assert "libcurand.so.10" not in libraries, "this release does not need it"
    assert found.said == ("Cannot dlopen some GPU libraries. Skipping registering GPU devices...",)


def test_a_missing_tensorflow_is_told_with_what_to_install(tmp_path: Path) -> None:
    path = python(tmp_path)
    found = probe(path)
    assert found.tensorflow is None
    assert found.version == tuple(sys.version_info[:3])
    assert found.trouble is not None
    assert found.trouble.what == f"TensorFlow is not installed for {path}"
    assert found.trouble.do == f"{path} -m pip install tensorflow"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("import nothing_of_this_name", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("raise ImportError('numpy is\\n  too new')", "ImportError: numpy is too new"),
        ("pass", "AttributeError: module 'tensorflow' has no attribute '__version__'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_a_tensorflow_that_can_not_be_imported_is_told_on_one_line(tmp_path: Path, text: str, what: str) -> None:
    found = probe(python(tmp_path, text))
    assert found.tensorflow is None
    assert found.trouble is not None
    assert found.trouble.what == f"TensorFlow failed while being imported: {what}"
    assert "import tensorflow" in found.trouble.do


CRASH = """\
import os, signal, sys
sys.stderr.write("F tensorflow/core/lib.cc:1] Check failed\\n")
sys.stderr.flush()
os.kill(os.getpid(), signal.{})
"""


@pytest.mark.parametrize(("signal", "do"), [("SIGABRT", "import tensorflow"), ("SIGILL", "lacks instructions")])
def test_a_crash_is_told_with_its_signal_and_last_words(tmp_path: Path, signal: str, do: str) -> None:
    found = probe(python(tmp_path, CRASH.format(signal)))
    assert found.tensorflow is None
    assert found.trouble is not None
    expected = f"TensorFlow crashed while being imported ({signal}): F tensorflow/core/lib.cc:1] Check failed"
    assert found.trouble.what == expected
    assert do in found.trouble.do


def test_a_crash_while_devices_are_listed_keeps_what_was_found_before(tmp_path: Path) -> None:
    text = package(GPU_BUILD) + "config.list_physical_devices = lambda kind: os.abort()\n"
    found = probe(python(tmp_path, text))
    assert found.tensorflow is not None
    assert found.tensorflow.version == "2.21.0"
    assert found.trouble is not None
    assert found.trouble.what.startswith("TensorFlow crashed while listing its devices (SIGABRT)")


def test_an_error_while_devices_are_listed_is_told(tmp_path: Path) -> None:
    text = package(GPU_BUILD) + "def fail(kind):\n    raise RuntimeError('no')\nconfig.list_physical_devices = fail\n"
    trouble = probe(python(tmp_path, text)).trouble
    assert trouble is not None
    assert trouble.what == "TensorFlow failed while listing its devices: RuntimeError: no"


def test_an_import_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    mark, end = tmp_path / "alive", tmp_path / "slept to the end"
    text = f"""\
import os, subprocess, time
subprocess.Popen(['sh', '-c', 'sleep 3; touch {mark}'])
time.sleep(60)
open({str(end)!r}, "w")
"""
    found = probe(python(tmp_path, text), seconds=1.5)
    assert not end.exists()
    assert found.trouble is not None
    assert found.trouble.what == "TensorFlow did not finish being imported within 1.5 s"
    assert "--timeout" in found.trouble.do
    time.sleep(2.5)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("absent", None, "there is no"),
        ("plain", "not executable", "can't be executed"),
        (
            "other",
            "#!/bin/sh\necho no such option >&2\nexit 2\n",
            "does not run as Python 3.7 or newer: no such option",
        ),
        ("nowhere", "#!/nowhere/at/all\n", "can't be run"),
        ("stuck", "#!/bin/sh\nsleep 30\n", "gave no answer within 0.5 s"),
    ],
)
def test_what_is_no_interpreter_is_refused(tmp_path: Path, name: str, text: str | None, message: str) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)
    with pytest.raises(InterpreterError, match=message):
        probe(str(path), seconds=0.5)


def test_a_folder_in_place_of_its_interpreter_is_refused_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(InterpreterError, match="is a folder; name the interpreter in it"):
        probe(str(tmp_path))


def test_a_file_of_that_name_in_the_current_folder_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tensorflow.py", "json.py"):
        (tmp_path / name).write_text("raise RuntimeError('the wrong one')\n")
    monkeypatch.chdir(tmp_path)
    trouble = probe(python(tmp_path)).trouble
    assert trouble is not None
    assert "is not installed" in trouble.what


def test_which_gpu_is_which_is_not_claimed_where_tensorflow_leaves_cards_out() -> None:
    facts: dict[str, dict[str, Any]] = {
        "tensorflow": {
            "version": "2.21.0",
            "folder": "/site/tensorflow",
            "distribution": "tensorflow",
            "and_cuda": True,
            "build": GPU_BUILD,
        },
        "devices": {"gpus": [{"name": "GPU:0", "model": "A", "capability": [9, 0]}]},
        "uuids": {"uuids": ["GPU-1", "GPU-2"]},
    }
    assert tensorflow._tensorflow(facts, "").gpus == (ListedGpu("GPU:0", "A", (9, 0), ""),)
    facts["uuids"] = {"uuids": ["GPU-1"]}
    assert tensorflow._tensorflow(facts, "").gpus == (ListedGpu("GPU:0", "A", (9, 0), "GPU-1"),)


def test_what_runs_in_the_other_interpreter_is_python_3_7() -> None:
    text = Path(tensorflow.__file__).with_name("child.py").read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 7))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= sys.stdlib_module_names


def test_the_logs_of_all_releases_are_understood() -> None:
    log = """\
2026-01-01 10:20:26.572462: I external/local_tsl/tsl/platform/default/dso_loader.cc:59] Successfully opened dynamic library libcuda.so.1
2026-01-01 10:20:26.572463: I external/local_tsl/tsl/platform/default/dso_loader.cc:70] Could not load dynamic library 'libnvinfer.so.8.6.1'; dlerror: libnvinfer.so.8.6.1: cannot open shared object file: No such file or directory
2026-01-01 10:20:26.572464: I external/local_tsl/tsl/platform/default/dso_loader.cc:70] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /opt/lib
2026-01-01 10:20:18.336447: E external/local_xla/xla/stream_executor/cuda/cuda_platform.cc:51] failed call to cuInit: INTERNAL: CUDA error
E0000 00:00:1795256437.704774   13947 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error
"""  # noqa: E501
    assert tried(log) == {
        "libcuda.so.1": "",
        "libcudnn.so.8": "libcudnn.so.8: cannot open shared object file: No such file or directory",
    }
    assert complaints(log) == ("failed call to cuInit: INTERNAL: CUDA error",)
