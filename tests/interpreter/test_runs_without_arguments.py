"""Programs as they are started without arguments: what options, variables and files of settings are then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixes.projects import make
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.model.finding import Severity
from tfmemlint.sources import walk

HEAD = "import argparse, os, sys\nimport tensorflow as tf\nimport yaml\n"
LIMITED = """
gpus = tf.config.list_physical_devices("GPU")
tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=limit)])
"""
OPTIONS = "parser = argparse.ArgumentParser()\n{}\noptions = parser.parse_args()\n"


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def found(code: str, settings: str = "gpu: {total: 16, part: 0.5}\n") -> list[str]:
    """Return the codes of what is found, each of which is a warning, in a program that takes ``limit`` as a limit."""
    make(
        Path(),
        {"train.py": HEAD + code + LIMITED, "settings.yaml": settings, "pyproject.toml": "[project]\nname = 'one'\n"},
    )
    context = RunContext(explain_fixes="never", cache=False)
    findings = [
        each for result in run([(one, False) for one in walk(["."]).files], context) for each in result.findings
    ]
    assert {each.severity for each in findings} <= {Severity.WARNING}
    return [each.code for each in findings]


@pytest.mark.parametrize(
    "code",
    [
        OPTIONS.format('parser.add_argument("--total", type=float, required=True)') + "limit = options.total * 0.5",
        OPTIONS.format('parser.add_argument("total", type=float)') + "limit = options.total * 0.5",
        OPTIONS.format('parser.add_argument("--total", type=int, default=16)') + "limit = options.total * 512",
        OPTIONS.format('parser.add_argument("--total", type=int, default="16")') + "limit = options.total * 512",
        OPTIONS.format('parser.add_argument("--total", type=lambda text: int(text) * 1024, default="16")')
        + "limit = options.total // 2",
        OPTIONS.format('parser.add_argument("--small", action="store_true")')
        + "limit = (16 if options.small else 16384) * 0.5",
        OPTIONS.format('parser.add_argument("--large", action="store_false", dest="small")')
        + "limit = (16384 if options.small else 16) * 0.5",
        OPTIONS.format('parser.add_argument("--total", type=int)') + "limit = (options.total or 16384) // 2",
        "limit = float(sys.argv[1]) * 0.5",
        "limit = float(os.environ['TOTAL']) * 0.5",
        "limit = float(os.environ.get('TOTAL', '16384')) * 0.5",
        "limit = float(os.environ.get('SLURM_MEM_PER_GPU', '16')) * 0.5",
        "limit = (16 if len(sys.argv) > 1 else 16384) // 2",
        'gpu = yaml.safe_load(open(sys.argv[1]))["gpu"]\nlimit = gpu["total"] * gpu["part"]',
        'gpu = yaml.safe_load(open("settings.yaml"))["gpu"]\nlimit = gpu["total"] * gpu["part"] * 1024',
    ],
)
def test_nothing_is_wrong_without_arguments(code: str) -> None:
    assert found(code) == []


@pytest.mark.parametrize(
    "code",
    [
        OPTIONS.format('parser.add_argument("--total", type=int, default=16)') + "limit = options.total * 0.5",
        OPTIONS.format('parser.add_argument("--total", type=int, default="16")') + "limit = options.total * 0.5",
        OPTIONS.format('parser.add_argument("--parts", nargs="+", type=int, default=[4, 4])')
        + "limit = sum(options.parts)",
        OPTIONS.format('parser.add_argument("--large", action="store_false", dest="small")')
        + "limit = (16 if options.small else 16384) * 0.5",
        "def parse(argv=None):\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--total', default=16, type=int)\n    return parser.parse_args(argv)\n"
        "limit = parse().total * 0.5",
        "limit = (16384 if len(sys.argv) > 1 else 16) // 2",
        "words = sys.argv[1:] or ['16']\nlimit = int(words[0]) // 2",
        "from sys import argv\nlimit = (16384 if len(argv) > 1 else 16) // 2",
        "limit = float(os.environ.get('TOTAL', '16')) * 0.5",
        'gpu = yaml.safe_load(open("settings.yaml"))["gpu"]\nlimit = gpu["total"] * gpu["part"]',
        'path = sys.argv[1] if len(sys.argv) > 1 else "settings.yaml"\n'
        'gpu = yaml.safe_load(open(path))["gpu"]\nlimit = gpu["total"] * gpu["part"]',
        'gpu = yaml.safe_load(open("settings.yaml"))["gpu"]\nlimit = gpu["total"] * (gpu.get("share") or 0.5)',
    ],
)
def test_gigabytes_are_told_as_they_are_by_default(code: str) -> None:
    assert found(code) == ["TFM302"]


@pytest.mark.parametrize(("first", "codes"), [("plugins.tables", ["TFM102"]), ("plugins.gpus", [])])
def test_modules_are_imported_in_the_order_of_a_file(first: str, codes: list[str]) -> None:
    second = "plugins.gpus" if codes else "plugins.tables"
    make(
        Path(),
        {
            "plugins/__init__.py": "",
            "plugins/tables.py": "import tensorflow as tf\n\nTABLE = tf.zeros([2])\n",
            "plugins/gpus.py": "import tensorflow as tf\n\nlimit = 4096\n" + LIMITED.strip("\n"),
        },
    )
    code = (
        "from importlib import import_module\n"
        'for name in yaml.safe_load(open("settings.yaml"))["modules"]:\n    import_module(name)\n'
    )
    text = HEAD + code
    make(
        Path(),
        {
            "main.py": text,
            "settings.yaml": f"modules:\n  - {first}\n  - {second}\n",
            "pyproject.toml": "[project]\nname = 'one'\n",
        },
    )
    context = RunContext(explain_fixes="never", cache=False)
    results = run([(one, False) for one in walk(["."]).files], context)
    assert [(each.path, each.code) for result in results for each in result.findings] == [
        ("main.py", code) for code in codes
    ]
