"""Numbers that JSON does not have, and texts that UTF-8 does not have, leave every format for programs readable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import pytest

from tfmemlint.cli.main import main

NUMBERS = (
    "1j",
    "float('nan')",
    "float('inf')",
    "-float('inf')",
    "1e400",
    "-1e400",
    "10 ** 400",
    "9" * 4_000,
    "9" * 400,
    f"-{2**1023}",
    f"{2**1023 - 1}",
    "-0.0",
    "~0",
)
TEXTS = (r"'\ud800'", r"'\x00\x1b[31m'", r"b'\xff'", "'\\N{RIGHT-TO-LEFT OVERRIDE}'", "...")
LINES = """\
tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit={value})])
tf.config.experimental.set_memory_growth(gpus[0], {value})
tf.config.set_memory_limit({value})
tf.config.threading.set_intra_op_parallelism_threads({value})
tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction={value})
os.environ["CUDA_VISIBLE_DEVICES"] = {value}
os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = {value}
"""
COMMANDS = (
    ["check", "--no-cache", "--output-format", "json"],
    ["check", "--no-cache", "--output-format", "corrections"],
    ["check", "--no-cache", "--output-format", "json", "--statistics"],
    ["fix", "--diff", "--unsafe-fixes", "--no-cache", "--output-format", "json"],
    ["plan", "--json"],
)


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is no JSON")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_number_is_valid_json(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, value in enumerate((*NUMBERS, *TEXTS)):
        path = tmp_path / f"train{number}.py"
        head = "import os\nimport tensorflow as tf\ngpus = tf.config.list_physical_devices('GPU')\n"
        path.write_text(head + LINES.format(value=value))
        assert main([*command, str(path)]) in (0, 1)
        out, err = capsys.readouterr()
        text = err if command[0] == "fix" else out
        document = text[: text.rindex("]" if text.startswith("[") else "}") + 1]
        assert json.loads(document, parse_constant=_refuse), (value, text)
        document.encode("utf-8")
