"""What stands for the CUDA toolkit and for cuDNN on the simulated driver."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.verify.test_driver import NEWEST, cuda, needs_compiler, variables
from tfmemlint.verify import driver
from tfmemlint.verify.driver import build

pytestmark = pytest.mark.slow


@needs_compiler
@pytest.mark.parametrize("release", ["2.12.1", NEWEST])
def test_the_programs_of_the_toolkit_make_a_file(release: str, tmp_path: Path) -> None:
    folder = driver.libraries(release)
    for name in build.PROGRAMS:
        program = str(folder / build.TOOLKIT / "bin" / name)
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        # What XLA looks for in it.
        assert re.search(r"\bV(\d+)\.(\d+)\.(\d+)\b", said)
        result = tmp_path / name
        subprocess.run([program, "in.ptx", "-o", str(result), "-arch=sm_90", "--warn-on-spills"], check=True)
        assert result.read_bytes().startswith(b"\x7fELF")
    assert (folder / build.TOOLKIT / "nvvm" / "libdevice" / "libdevice.10.bc").is_file()


@needs_compiler
def test_a_convolution_has_the_kind_of_arithmetic_that_was_set() -> None:
    code = """
import ctypes
cudnn = ctypes.CDLL("libcudnn.so.8")
convolution, kind = ctypes.c_void_p(), ctypes.c_int(-1)
assert cudnn.cudnnCreateConvolutionDescriptor(ctypes.byref(convolution)) == 0
found = []
for wanted in (0, 1, 3):
    assert cudnn.cudnnSetConvolutionMathType(convolution, wanted) == 0
    assert cudnn.cudnnGetConvolutionMathType(convolution, ctypes.byref(kind)) == 0
    found.append(kind.value)
print(json.dumps(found))
"""
    env = variables(gpus=1) | driver.server_environment(driver.libraries("2.15.1"))
    assert cuda(code, env) == [0, 1, 3]


def test_the_toolkit_comes_after_the_program_s_own_flags(tmp_path: Path) -> None:
    own = "--xla_gpu_cuda_data_dir=/usr/local/cuda"
    flags = driver.environment(tensorflow=NEWEST, xla_flags=own, libraries=tmp_path)["XLA_FLAGS"].split()
    assert flags[0] == own
    assert flags[-1] == f"--xla_gpu_cuda_data_dir={tmp_path / build.TOOLKIT}"


@pytest.mark.parametrize(("release", "first"), [("2.12.1", True), ("2.15.1", True), ("2.16.2", False)])
def test_an_older_xla_finds_the_programs_before_those_of_the_machine(release: str, first: bool, tmp_path: Path) -> None:
    variables = driver.environment(tensorflow=release, libraries=tmp_path, path="/opt/cuda/bin")
    expected = f"{tmp_path / build.TOOLKIT / 'bin'}{os.pathsep}/opt/cuda/bin"
    assert variables.get("PATH") == (expected if first else None)
