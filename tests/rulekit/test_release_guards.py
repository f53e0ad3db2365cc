"""Branches for another release: flags, calls and comparisons are evaluated, through modules as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.trees import put, write
from tfmemlint.cli.main import main

OLD = "tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)))"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, ".git/")
    write(
        tmp_path / "flags.py",
        "import tensorflow as tf\n"
        "from packaging import version\n"
        "IS_TF_1 = tf.__version__.startswith('1.')\n"
        "MAJOR = int(tf.__version__.split('.')[0])\n"
        "IS_TF2 = version.parse(tf.__version__) >= version.parse('2.0.0')\n"
        "try:\n"
        "    import tensorflow.contrib\n"
        "    HAS_CONTRIB = True\n"
        "except ImportError:\n"
        "    HAS_CONTRIB = False\n"
        "def is_tf2():\n"
        "    return MAJOR >= 2\n",
    )
    return tmp_path


def found(project: Path, capsys: pytest.CaptureFixture[str], text: str, *options: str) -> set[str]:
    write(project / "train.py", f"import tensorflow as tf\n{text}")
    main(["check", "--no-cache", "-q", "--output-format", "concise", "--target-version", "2.15", *options, "train.py"])
    return {line.split()[2] for line in capsys.readouterr().out.splitlines()}


HIDDEN = [
    f"from flags import IS_TF_1\nif IS_TF_1:\n    {OLD}\n",
    f"import flags\nif flags.IS_TF_1:\n    {OLD}\n",
    f"import flags as f\nif not f.is_tf2():\n    {OLD}\n",
    f"from flags import is_tf2\nif is_tf2():\n    pass\nelse:\n    {OLD}\n",
    f"from flags import MAJOR\nif MAJOR < 2:\n    {OLD}\n",
    f"from flags import HAS_CONTRIB\nif HAS_CONTRIB:\n    {OLD}\n",
    f"from flags import IS_TF2\ndef f():\n    if IS_TF2:\n        return None\n    return {OLD}\nf()\n",
    f"from tensorflow.python import tf2\nif not tf2.enabled():\n    {OLD}\n",
    f"if not tf.executing_eagerly():\n    {OLD}\n",
    f"if tuple(map(int, tf.__version__.split('.')[:2])) < (2, 0):\n    {OLD}\n",
    f"from elsewhere import IS_TF1\nif IS_TF1:\n    {OLD}\n",
    "import unittest\nfrom flags import IS_TF2\n@unittest.skipIf(IS_TF2, 'old')\nclass A(unittest.TestCase):\n"
    f"    def test_a(self):\n        {OLD}\n",
]
REPORTED = [
    f"from flags import IS_TF_1\nif not IS_TF_1:\n    {OLD}\n",
    f"import flags\nif flags.is_tf2():\n    {OLD}\n",
    f"from flags import MAJOR\nif MAJOR >= 2:\n    {OLD}\n",
    f"from flags import HAS_CONTRIB\nif not HAS_CONTRIB:\n    {OLD}\n",
    f"from flags import IS_TF_1\nif IS_TF_1:\n    pass\n{OLD}\n",
    f"import sys\nif len(sys.argv) > 1:\n    {OLD}\n",
]


@pytest.mark.parametrize("text", HIDDEN)
def test_a_branch_for_another_release_is_silent(project: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert found(project, capsys, text) == set()


@pytest.mark.parametrize("text", REPORTED)
def test_a_branch_for_the_release_is_judged(project: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert found(project, capsys, text) == {"TFM501"}


def test_a_safe_fix_leaves_the_branch_for_another_release(project: Path) -> None:
    text = "import tensorflow as tf\nfrom flags import IS_TF_1\nif IS_TF_1:\n    tf.saved_model.load_v2('x')\n"
    write(project / "train.py", text)
    main(["fix", "-q", "--unsafe-fixes", "--target-version", "2.15", "--allow-dirty", "train.py"])
    assert (project / "train.py").read_text() == text
