"""A fix sees the program that a file belongs to, and the text that a snippet stands in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.trees import put, write
from tfmemlint.cli.main import main

GRAPH = """\
import tensorflow as tf
from model import model

x = tf.placeholder(tf.float32, [None, 2])
y = model(x)
config = tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))
with tf.Session(config=config) as sess:
    print(sess.run(y, {x: [[1.0, 2.0]]}))
"""
MODEL = """\
import tensorflow as tf


def model(x):
    return tf.matmul(x, tf.get_variable("w", [2, 3]))
"""
CLASS = """\
import tensorflow as tf


class Net:
    def __init__(self):
        config = tf.ConfigProto()
        config.gpu_options.allow_growth = True
        self.x = tf.placeholder(tf.float32, [None])
        self.sess = tf.Session(config=config)

    def run(self, value):
        return self.sess.run(self.x, {self.x: value})
"""
KERAS = """\
import {backend} as K
import tensorflow as tf

{above}config = tf.ConfigProto()
config.gpu_options.allow_growth = True
K.set_session(tf.Session(config=config))
{below}"""
LOOP = """\
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, ".git/")
    return tmp_path


def fix(project: Path, *options: str) -> None:
    main(["fix", "-q", "--no-cache", "--unsafe-fixes", "--allow-dirty", *options])


def test_a_program_is_converted_as_a_whole(project: Path) -> None:
    write(project / "main.py", GRAPH)
    write(project / "model.py", MODEL)
    fix(project, "--migrate")
    new = (project / "main.py").read_text()
    assert "tf.compat.v1.disable_v2_behavior()" in new and "tf.Session" not in new
    assert "tf.compat.v1.get_variable" in (project / "model.py").read_text()


def test_a_program_of_which_one_file_must_stay_stays(project: Path) -> None:
    write(project / "main.py", GRAPH)
    write(project / "model.py", MODEL.replace("tf.matmul(x, ", "tf.contrib.layers.fully_connected(x, "))
    fix(project, "--migrate")
    assert (project / "main.py").read_text() == GRAPH


def test_a_file_is_not_converted_in_part(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project / "requirements.txt", "tensorflow==2.15\n")
    write(project / "main.py", GRAPH.replace("from model import model\n", "").replace("model(x)", "x * 2.0"))
    before = (project / "main.py").read_text()
    fix(project)
    assert (project / "main.py").read_text() == before
    assert "--migrate rewrites all of them together" in capsys.readouterr().out


def test_the_import_of_a_library_turns_nothing_on(project: Path) -> None:
    write(project / "net.py", CLASS)
    write(project / "main.py", "from net import Net\n\nprint(Net().run([1.0]))\n")
    fix(project, "--migrate")
    assert (project / "net.py").read_text() == CLASS


def test_a_library_of_a_program_in_graph_mode_is_converted_without_turning_it_on(project: Path) -> None:
    write(project / "net.py", CLASS)
    write(project / "main.py", "from net import Net\n" + GRAPH.replace("from model import model\n", ""))
    fix(project, "--migrate")
    new = (project / "net.py").read_text()
    assert "self.sess = tf.compat.v1.Session(config=config)" in new
    assert "disable_v2_behavior" not in new


def test_an_import_that_is_gone_is_not_left_above_the_new_code(project: Path) -> None:
    backend = "keras.backend.tensorflow_backend"
    write(project / "main.py", KERAS.format(backend=backend, above="", below="K.clear_session()\n"))
    fix(project, "--migrate")
    new = (project / "main.py").read_text()
    assert new == f"import keras.backend as K\nimport tensorflow as tf\n\n{LOOP}K.clear_session()\n"


def test_growth_that_is_set_already_is_not_set_again(project: Path) -> None:
    write(project / "main.py", KERAS.format(backend="keras.backend", above=LOOP, below="K.clear_session()\n"))
    fix(project, "--migrate")
    new = (project / "main.py").read_text()
    assert new.count("set_memory_growth") == 1
    assert "ConfigProto" not in new


def test_code_that_the_text_speaks_of_stays(project: Path) -> None:
    code = KERAS.format(backend="keras.backend", above="", below="")
    text = f"Keras gets a session in which `allow_growth` is on:\n\n```python\n{code}```\n"
    write(project / "README.md", text)
    fix(project, "--migrate")
    assert (project / "README.md").read_text() == text
    write(project / "README.md", text.replace("`allow_growth` is on", "memory grows"))
    fix(project, "--migrate")
    assert LOOP in (project / "README.md").read_text()
