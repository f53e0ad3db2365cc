"""The release that a program is judged for where nothing states one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.trees import put, write
from tfmemlint.cli.main import main
from tfmemlint.project.targets.find import Finder
from tfmemlint.project.targets.found import Claim

OPTIONS = """\
import tensorflow as tf

config = tf.ConfigProto()
config.gpu_options.allow_growth = True
session = tf.Session(config=config)
"""
GRAPH = "import tensorflow as tf\n\nx = tf.placeholder(tf.float32)\n"
EAGER = "import tensorflow as tf\n\ntf.config.run_functions_eagerly(True)\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, ".git/")
    return tmp_path


def _claim(path: str | Path) -> tuple[Claim, str]:
    found = Finder().of_file(str(path))
    return found.claim, str(found.judged)


def _codes(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    main(["check", "--no-cache", "--quiet", "--output-format", "concise", *arguments])
    return [line.split()[2] for line in capsys.readouterr().out.splitlines()]


def test_a_program_of_tensorflow_1_is_judged_for_its_last_release(repository: Path) -> None:
    path = write(repository / "train.py", GRAPH)
    assert _claim(path) == (Claim.INFERRED, "1.15")


def test_an_image_of_every_night_says_nothing_of_old_code(repository: Path) -> None:
    write(repository / "Dockerfile", "FROM tensorflow/tensorflow:nightly-gpu\n")
    more = ["y = tf.get_variable('y', [1])", "z = tf.layers.dense(x, 1)", "w = tf.trainable_variables()"]
    many = GRAPH + "\n".join([*more, "with tf.Session() as session:", "    session.run(x)", ""])
    assert _claim(write(repository / "train.py", many)) == (Claim.INFERRED, "1.15")
    assert _claim(write(repository / "eager.py", EAGER)) == (Claim.FOUND, "2.21")


def test_a_package_of_every_night_says_nothing_of_options_beside_old_code(repository: Path) -> None:
    options = write(repository / "options.py", "import tensorflow as tf\nconfig = tf.ConfigProto()\nprint(config)\n")
    write(repository / "requirements.txt", "tf-nightly\n")
    assert _claim(options) == (Claim.FOUND, "2.21")
    more = ["y = tf.get_variable('y', [1])", "z = tf.layers.dense(x, 1)", "w = tf.trainable_variables()"]
    write(repository / "train.py", GRAPH + "\n".join([*more, ""]))
    assert _claim(options) == (Claim.INFERRED, "1.15")
    write(repository / "requirements.txt", "tf-nightly==2.19.0.dev20241001\n")
    assert _claim(options)[0] is not Claim.INFERRED


def test_a_module_is_judged_as_the_program_that_imports_it(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository / "train.py", "import gpu\n" + GRAPH)
    path = write(repository / "gpu.py", OPTIONS)
    assert _claim(path) == (Claim.INFERRED, "1.15")
    assert _codes(capsys) == []


@pytest.mark.parametrize(
    "guarded",
    [
        "if tf.__version__.startswith('1'):\n    x = tf.placeholder(tf.float32)\n",
        "if hasattr(tf, 'placeholder'):\n    x = tf.placeholder(tf.float32)\n",
        "try:\n    x = tf.placeholder(tf.float32)\nexcept AttributeError:\n    x = None\n",
        "def f():\n    if IS_TF2:\n        return None\n    return tf.placeholder(tf.float32)\n",
        "x = tf.Variable(0) if tf2.enabled() else tf.placeholder(tf.float32)\n",
        "tf.placeholder = make_one\nx = tf.placeholder(tf.float32)\n",
        "setattr(tf, 'placeholder', make_one)\nx = tf.placeholder(tf.float32)\n",
    ],
)
def test_what_is_guarded_tells_nothing(repository: Path, guarded: str) -> None:
    path = write(repository / "train.py", "import tensorflow as tf\n" + guarded)
    assert _claim(path) == (Claim.NOT_CLAIMED, "2.21")


def test_the_options_themselves_tell_nothing(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(repository / "train.py", OPTIONS)
    assert _claim(path) == (Claim.NOT_CLAIMED, "2.21")
    main(["check", "--no-cache", "--output-format", "concise"])
    (line, *_) = capsys.readouterr().out.splitlines()
    assert line.startswith("train.py:3:10: warning: TFM501 TF1 code: on TensorFlow 2.21 the options of lines 3, 5 ")


OLD_KERAS = "from keras.models import Sequential\n\nmodel = Sequential()\nmodel.fit_generator(None)\n"


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            "import torch\n\noptimizer = torch.optim.Adam(parameters, lr=0.1)\n", id="an optimizer of PyTorch"
        ),
        pytest.param("optimizer = Adam(lr=0.1, params=parameters)\n", id="its parameters by name"),
        pytest.param("optimizer = Adam(learning_rate=0.1)\n", id="a name that Keras 3 has"),
        pytest.param(
            "if tf.__version__ < '2':\n    model.fit_generator(None)\nelse:\n    model.fit(None)\n",
            id="behind a condition",
        ),
        pytest.param(
            "try:\n    model.fit_generator(None)\nexcept AttributeError:\n    model.fit(None)\n", id="in a try"
        ),
        pytest.param(
            "def fit_generator(data):\n    return data\n\n\nfit_generator([])\n", id="a function of the program"
        ),
    ],
)
def test_what_later_keras_has_too_does_not_make_options_evidence(repository: Path, code: str) -> None:
    assert _claim(write(repository / "train.py", OPTIONS + code))[0] == Claim.NOT_CLAIMED


@pytest.mark.parametrize(
    "code", [OLD_KERAS, "from keras.optimizers import Adam\n\noptimizer = Adam(lr=0.1)\n"], ids=["method", "keyword"]
)
def test_options_tell_how_old_code_is_that_other_names_show_to_be_old(
    repository: Path, capsys: pytest.CaptureFixture[str], code: str
) -> None:
    path = write(repository / "train.py", "import gpu\n" + code)
    module = write(repository / "gpu.py", OPTIONS)
    assert _claim(path) == _claim(module) == (Claim.INFERRED, "1.15")
    assert _codes(capsys) == []


def test_old_code_without_options_of_tensorflow_1_tells_nothing_more(repository: Path) -> None:
    options = OPTIONS.replace("tf.", "tf.compat.v1.")
    assert _claim(write(repository / "train.py", options + OLD_KERAS))[0] == Claim.NOT_CLAIMED


def test_the_module_that_keras_lost_and_the_options_are_one_finding(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        repository / "gpu.py", OPTIONS + "import keras.backend.tensorflow_backend as KTF\n\nKTF.set_session(session)\n"
    )
    assert _codes(capsys) == ["TFM504"]


def test_names_that_no_release_has_together_are_one_finding(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(repository / "train.py", OPTIONS + GRAPH + EAGER)
    assert _claim(path) == (Claim.CONTRADICTORY, "2.21")
    assert _codes(capsys) == ["TFM501"]
    main(["check", "--show-target"])
    assert "no release has all names that the program uses" in capsys.readouterr().out


OTHERS = GRAPH + "w = tf.get_variable('w', [2])\nstart = tf.global_variables_initializer()\n"
"""Three names that only TensorFlow 1 has."""


@pytest.mark.parametrize(
    ("code", "count"),
    [
        pytest.param(OPTIONS + OTHERS + EAGER, 2, id="a name of TensorFlow 2 besides"),
        pytest.param(OPTIONS + GRAPH, 2, id="one name may be a mistake"),
        pytest.param(OPTIONS, 2, id="only what is judged"),
    ],
)
def test_a_file_of_the_stated_release_has_a_finding_at_each_place(
    repository: Path, capsys: pytest.CaptureFixture[str], code: str, count: int
) -> None:
    write(repository / "requirements.txt", "tensorflow==2.3\n")
    write(repository / "train.py", code)
    assert _codes(capsys) == ["TFM501"] * count


def test_a_file_of_tensorflow_1_in_a_project_for_2_is_said_once(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository / "requirements.txt", "tensorflow==2.3\n")
    path = write(repository / "old" / "train.py", OPTIONS + OTHERS)
    main(["check", "--no-cache", "--quiet"])
    shown = capsys.readouterr().out
    assert shown.count("TFM501") == 1
    assert "warning: TFM501 TF1 code: on TensorFlow 2.3 the options of lines 3, 5 do not work" in shown
    assert "note: Other names in this file were removed in TensorFlow 2.0 as well" in shown
    main(["check", "--no-cache", "--show-target", str(path)])
    assert "contradictory: TensorFlow 2.3 lacks names that the file uses" in capsys.readouterr().out
    assert set(_codes(capsys, "--target-version", "2.3")) == {"TFM501", "TFM206"}


def test_names_say_more_than_a_text_of_the_whole_project(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repository / "README.md", "The models run on TensorFlow 2.x.\n")
    path = write(repository / "legacy" / "train.py", OPTIONS + OTHERS)
    assert _claim(path) == (Claim.INFERRED, "1.15")
    assert _codes(capsys) == []
    write(repository / "legacy" / "train.py", OPTIONS)
    assert _codes(capsys) == ["TFM501", "TFM501"]


@pytest.mark.parametrize("place", ["train/model.py", "train/layers/model.py", "model.py"])
def test_the_files_around_tell_what_sessions_are_for(
    repository: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    path = write(repository / "train" / "gpu.py", OPTIONS)
    write(repository / place, "import tensorflow as tf\n" + OTHERS)
    assert _claim(path) == (Claim.INFERRED, "1.15")
    assert _codes(capsys) == []


def test_a_file_that_configures_with_names_of_2_is_not_judged_by_modules_of_1(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository / "speech.py", "import tensorflow as tf\n" + OTHERS)
    code = "import speech\nimport tensorflow as tf\n\ntf.config.set_visible_devices([], 'GPU')\n"
    path = write(repository / "pretrain.py", code)
    assert _claim(path)[1] == "2.21"
    assert _codes(capsys) == []
    write(repository / "pretrain.py", code + OTHERS)
    assert _codes(capsys) == ["TFM206"]


@pytest.mark.parametrize(
    ("place", "code"),
    [
        pytest.param("train/model.py", GRAPH, id="one name may be a mistake"),
        pytest.param("train/model.py", OTHERS + EAGER, id="a name of TensorFlow 2 besides"),
        pytest.param("other/model.py", OTHERS, id="another directory"),
    ],
)
def test_few_names_around_tell_nothing(
    repository: Path, capsys: pytest.CaptureFixture[str], place: str, code: str
) -> None:
    path = write(repository / "train" / "gpu.py", OPTIONS)
    write(repository / "train" / "data.py", EAGER if place.startswith("other") else "")
    write(repository / place, "import tensorflow as tf\n" + code)
    assert _claim(path) == (Claim.NOT_CLAIMED, "2.21")
    assert _codes(capsys) == ["TFM501"]


def test_names_of_tensorflow_1_around_say_nothing_of_tf_config(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import tensorflow as tf\n\ntf.config.set_visible_devices([], 'GPU')\n"
    path = write(repository / "gpu.py", code)
    write(repository / "model.py", "import tensorflow as tf\n" + OTHERS)
    assert _claim(path)[1] == "2.21"
    assert _codes(capsys) == []


def test_names_of_tensorflow_2_make_the_options_wrong(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(repository / "train.py", OPTIONS + EAGER)
    assert _claim(path) == (Claim.INFERRED, "2.21")
    assert _codes(capsys) == ["TFM501", "TFM501"]


def test_a_session_without_options_is_for_who_asks(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repository / "requirements.txt", "tensorflow==2.9\n")
    write(repository / "train.py", GRAPH + "with tf.Session() as session:\n    session.run(x)\n")
    assert _codes(capsys) == []
    assert set(_codes(capsys, "--target-version", "2.9")) == {"TFM206", "TFM501"}
    assert set(_codes(capsys, "--select", "TFM206")) == {"TFM206"}


def test_what_only_compat_v2_has_is_there(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "import tensorflow.compat.v2 as tf\n\ntf.enable_v2_behavior()\nprint(tf.config)\n"
    path = write(repository / "train.py", text)
    assert _claim(path)[1] == "2.21"
    assert _codes(capsys, "--target-version", "2.15") == []
    write(repository / "train.py", text.replace(".compat.v2", ""))
    assert _codes(capsys, "--target-version", "2.15") == ["TFM206"]


@pytest.mark.parametrize(
    "shim",
    [
        "tf.Session = tf.compat.v1.Session\ntf.ConfigProto = dict\n",
        "setattr(tf, 'Session', 1)\nsetattr(tf, 'ConfigProto', 1)\n",
    ],
)
def test_a_module_of_the_program_may_put_the_name_there(
    repository: Path, capsys: pytest.CaptureFixture[str], shim: str
) -> None:
    write(repository / "shim.py", "import tensorflow as tf\n\n" + shim)
    write(repository / "train.py", "import shim\n" + OPTIONS)
    assert _codes(capsys, "--target-version", "2.15", "train.py") == []
    write(repository / "train.py", OPTIONS)
    assert set(_codes(capsys, "--target-version", "2.15", "train.py")) == {"TFM501"}


@pytest.mark.parametrize(("imported", "found"), [("tensorflow.compat.v1", []), ("tensorflow", ["TFM501", "TFM501"])])
def test_examples_in_a_module_have_its_names(
    repository: Path, capsys: pytest.CaptureFixture[str], imported: str, found: list[str]
) -> None:
    write(
        repository / "util.py",
        f'import {imported} as tf\n\n\ndef use(session):\n    """Use a session.\n\n'
        "    >>> use(tf.Session(config=tf.ConfigProto(allow_soft_placement=True)))\n"
        '    """\n    return session\n',
    )
    assert _codes(capsys, "--target-version", "2.15") == found


LATER = "import tensorflow as tf\n\ntf.config.set_visible_devices([], 'GPU')\n"
"""`tf.config.set_visible_devices` comes with 2.1."""


@pytest.mark.parametrize(
    "text", ["# Networks in TF 2.0\n", "Needs TensorFlow 1.14.\n", "pip install tensorflow==2.0\n"]
)
def test_a_name_that_came_later_says_more_than_a_text(
    repository: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    write(repository / "README.md", text)
    write(repository / "requirements.txt", "tensorflow-gpu\n")
    path = write(repository / "train.py", "import gpu\n" + EAGER)
    write(repository / "gpu.py", LATER)
    assert _claim(path) == (Claim.INFERRED, "2.3")
    assert _codes(capsys) == []
    main(["check", "--no-cache", "--show-target", str(path)])
    shown = capsys.readouterr().out
    assert "inferred: the first release after " in shown and "tf.config.run_functions_eagerly (2.3 to 2.21)" in shown


def test_a_name_that_came_later_says_more_than_a_text_where_the_program_contradicts_itself(repository: Path) -> None:
    write(repository / "README.md", "It runs on TensorFlow 2.0.\n")
    write(repository / "old.py", "import tensorflow as tf\n\ntf.contrib.layers.flatten(x)\n")
    code = "import old\nimport tensorflow as tf\n\nprint(tf.config.list_physical_devices('GPU'))\n"
    path = write(repository / "train.py", code)
    assert _claim(path) == (Claim.INFERRED, "2.1")


@pytest.mark.parametrize(
    ("code", "manifest", "claim"),
    [
        pytest.param(LATER, "tensorflow==2.0.0\n", (Claim.FOUND, "2.0"), id="a manifest says it"),
        pytest.param(LATER, "tensorflow<2.1\n", (Claim.FOUND, "2.0"), id="a manifest rules it out"),
        pytest.param("import tensorflow as tf\n", "", (Claim.FOUND, "2.0"), id="no name of a later release"),
        pytest.param(
            LATER.replace("tf.config.set", "if hasattr(tf.config, 'set_visible_devices'):\n    tf.config.set"),
            "",
            (Claim.FOUND, "2.0"),
            id="behind a test for the name",
        ),
        pytest.param(GRAPH + LATER, "", (Claim.FOUND, "2.0"), id="no release has all names"),
    ],
)
def test_a_text_holds_where_names_do_not_contradict_it(
    repository: Path, code: str, manifest: str, claim: tuple[Claim, str]
) -> None:
    write(repository / "README.md", "Needs TensorFlow 2.0.\n")
    if manifest:
        write(repository / "requirements.txt", manifest)
    assert _claim(write(repository / "train.py", code)) == claim


KERAS_2 = "from keras.models import Sequential\n\nmodel = Sequential()\nmodel.fit_generator(iter([]))\n"


def test_beside_code_for_keras_2_options_are_for_tensorflow_1(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(repository / "gpu.py", OPTIONS)
    write(repository / "train.py", KERAS_2)
    assert _claim(path) == (Claim.INFERRED, "1.15")
    assert _codes(capsys) == []


@pytest.mark.parametrize("beside", [KERAS_2 + EAGER, "import keras\n\nkeras.models.Sequential()\n"])
def test_beside_code_for_tensorflow_2_or_for_any_keras_they_are_not(
    repository: Path, capsys: pytest.CaptureFixture[str], beside: str
) -> None:
    path = write(repository / "gpu.py", OPTIONS)
    write(repository / "train.py", beside)
    assert _claim(path)[0] is Claim.NOT_CLAIMED
    assert _codes(capsys) == ["TFM501"]


def test_what_is_stated_says_more_than_code_for_keras_2_beside(repository: Path) -> None:
    write(repository / "requirements.txt", "tensorflow==2.4\n")
    write(repository / "train.py", KERAS_2)
    assert _claim(write(repository / "gpu.py", OPTIONS)) == (Claim.FOUND, "2.4")
