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
HIDDEN += [
    f"def f():\n    assert tf.__version__.startswith('1.')\n    return {OLD}\nf()\n",
    f"def needs_1():\n    assert tf.__version__.startswith('1.')\ndef f():\n    needs_1()\n    return {OLD}\nf()\n",
    f"from elsewhere import IS_TF1\ndef f():\n    assert IS_TF1\n    return {OLD}\n",
    "from flags import is_tf2\nclass A:\n    def get(self):\n        if is_tf2():\n            return None\n"
    f"        return self._old()\n    def _old(self):\n        return {OLD}\n",
    "from flags import is_tf2\ndef get():\n    if is_tf2():\n        raise NotImplementedError\n    return old()\n"
    f"def old():\n    return {OLD}\n",
    "from flags import IS_TF2\ndef only_1(f):\n    def inner(*a):\n        if IS_TF2:\n"
    "            raise NotImplementedError\n        return f(*a)\n    return inner\n@only_1\n"
    f"def get():\n    return {OLD}\n",
    f"import json\nc = json.load(open('c.json'))\nif c['framework'] == 'tf1':\n    {OLD}\n",
    f"CONFIG = {{'framework': 'tf1'}}\nif CONFIG['framework'].lower() == 'tf1':\n    {OLD}\n",
    f"import yaml\nc = yaml.safe_load(open('c'))\nif c.get('tf_version', 2) == 1:\n    {OLD}\n",
    f"import yaml\nc = yaml.safe_load(open('c'))\nif c.backend in ('tf1', 'tensorflow-v1'):\n    {OLD}\n",
    f"import yaml\nc = yaml.safe_load(open('c'))\nif c.backend == 'tf2':\n    pass\nelse:\n    {OLD}\n",
    f"import yaml\nc = yaml.safe_load(open('c'))\nif c.backend != 'tf1':\n    pass\nelse:\n    {OLD}\n",
    "import os, json\nc = json.load(open('c'))\ntf.config.list_logical_devices('GPU')\n"
    "if c['framework'] == 'torch':\n    os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n",
    "import os, json\nc = json.load(open('c'))\ntf.config.list_logical_devices('GPU')\n"
    "if c['framework'] == 'tf1':\n    os.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = 'true'\n",
]
REPORTED = [
    f"import json\nc = json.load(open('c.json'))\nif c['framework'] == 'tf2':\n    {OLD}\n",
    f"import json\nc = json.load(open('c.json'))\nif c['model'] == 'tf1':\n    {OLD}\n",
    f"import json\nc = json.load(open('c.json'))\nif c['framework'] != 'torch':\n    {OLD}\n",
    f"import json\nc = json.load(open('c.json'))\nif c['framework'] == 'tensorflow':\n    {OLD}\n",
    f"assert tf.__version__.startswith('2.')\n{OLD}\n",
    "from flags import is_tf2\ndef get():\n    if is_tf2():\n        return None\n    return _old()\n"
    f"def _old():\n    return {OLD}\n_old()\n",
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


def test_a_setting_for_another_release_is_silent_where_settings_are_files(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project / "settings.yml", "framework: tf1\n")
    text = "import os, yaml\ncfg = yaml.safe_load(open('settings.yml'))\nx = tf.constant(1)\n"
    text += f"if cfg['framework'] == 'tf1':\n    os.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = 'true'\n    {OLD}\n"
    assert found(project, capsys, text) == set()
