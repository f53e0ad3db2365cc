"""Packages that never ran with Keras 3 tell the release of the programs that import them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.trees import put, write
from tfmemlint.project.targets.find import Finder

SESSION = """\
import tensorflow as tf

config = tf.compat.v1.ConfigProto()
config.gpu_options.allow_growth = True
tf.compat.v1.keras.backend.set_session(tf.compat.v1.Session(config=config))
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, ".git/")
    return tmp_path


def _release(path: str) -> str:
    return str(Finder().of_file(str(path)).judged)


@pytest.mark.parametrize(
    "line",
    [
        "import tensorflow_federated as tff",
        "import tensorflow_addons as tfa",
        "from tensorflow_addons.optimizers import AdamW",
        "import os, tensorflow_addons",
    ],
)
def test_a_package_of_keras_2_tells_the_release(repository: Path, line: str) -> None:
    assert _release(write(repository / "train.py", f"{line}\n{SESSION}")) == "2.15"


@pytest.mark.parametrize(
    "line",
    [
        "import tensorflow_datasets as tfds",
        "import tensorflow_addons_of_ours",
        "from ours import tensorflow_addons",
        "# import tensorflow_federated as tff",
        "try:\n    import tensorflow_addons as tfa\nexcept ImportError:\n    tfa = None",
    ],
)
def test_another_package_does_not(repository: Path, line: str) -> None:
    assert _release(write(repository / "train.py", f"{line}\n{SESSION}")) == "2.21"


def test_a_project_that_states_a_release_decides(repository: Path) -> None:
    write(repository / "requirements.txt", "tensorflow==2.17\n")
    assert _release(write(repository / "train.py", f"import tensorflow_addons\n{SESSION}")) == "2.17"
