"""Texts that name a release of TensorFlow without saying that the code beside them runs on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.trees import put, write
from tfmemlint.project.targets.find import Finder
from tfmemlint.project.targets.prose import of_prose

CLAIM_NOTHING = [
    "TensorFlow version: 1.15.0 is what the issue reported",
    "The code may be modified to run with TensorFlow2",
    "The code can be modified to run with TensorFlow 2.0",
    "The code could be adapted to TensorFlow 2.x",
    "It should be easy to update to TensorFlow 2.x",
    "It might work with TensorFlow 2.3",
    "may work with TF 2.3 as well",
    "This should probably work on TensorFlow 2.4",
    "TF2 version: see branch X",
    "TF2 version: see the tf2 folder",
    "For a TensorFlow 2 version, see [here](https://github.com/x/y)",
    "A TensorFlow 2 implementation is available [here](https://github.com/x/y)",
    "TensorFlow 2 support is planned",
    "TensorFlow 2.x support coming soon",
    "Support for TensorFlow 2.0 will be added",
    "We plan to move to TensorFlow 2.0",
    "We will release a TF2 version",
    "A TF2 version will be released soon",
    "- [ ] TensorFlow 2.0 support",
    "- [ ] Support TF2",
    "Not supported: TensorFlow 2.x",
    "does not support TensorFlow 2.x",
    "TensorFlow 2.x: not tested",
    "untested with TensorFlow 2.3",
    "We haven't tested TensorFlow 2.4",
    "TensorFlow 2.0 fails with an error",
    "crashes with TensorFlow 2.5",
    "broken on TensorFlow 2.6",
    "Does this work with TensorFlow 2.0?",
    "Changed since TensorFlow 1.15: the API",
    "Since TensorFlow 2.1, tensorflow and tensorflow-gpu are the same",
    "As of TensorFlow 2.1, GPU support is included",
    "Starting with TensorFlow 2.1, pip installs GPU support",
    "In TensorFlow 1.x, sessions were used",
    "In TF 1.x you had to write sessions",
    "Unlike TensorFlow 1.x, eager execution is the default",
    "compared to TensorFlow 1.14, it is faster",
    "faster than TensorFlow 1.14",
    "TensorFlow 2.0 vs TensorFlow 1.14",
    "Previously tested with TensorFlow 1.8",
    "formerly on TensorFlow 1.8",
    "used to work with TensorFlow 1.8",
    "v0.3 (2019): TensorFlow 1.14 support",
    "* 2019-10-01: upgrade to TensorFlow 2.0",
    "Fixed a crash with TensorFlow 2.0",
    "Added support for TensorFlow 2.0",
    "  title = {Learning TensorFlow 2.0},",
    "@book{geron, title={Hands-On Machine Learning with TensorFlow 2}}",
    "> TensorFlow 1.15 gives an error",
    "ImportError: this needs TensorFlow 2.3",
    "AttributeError: module 'tensorflow' has no attribute 'Session' (TensorFlow 2.0)",
    "2019-08-05 12:12:12.123: I tensorflow/core/platform TensorFlow 1.14",
    "FutureWarning: TensorFlow 1.14",
    "NotImplementedError: TensorFlow 2.0",
    "Our baseline was trained with TensorFlow 1.4 by the authors",
    "The official implementation (TensorFlow 1.4) of the paper",
    "The authors' code uses TensorFlow 1.4",
    "See also the TensorFlow 2.0 guide",
    "[TensorFlow 2.0 migration guide](https://www.tensorflow.org/guide/migrate)",
    "[Effective TensorFlow 2.0](https://www.tensorflow.org/guide/effective_tf2)",
    "Learn more in the [TensorFlow 2.0 tutorial](https://www.tensorflow.org/tutorials)",
    "CUDA 10.0 is required by TensorFlow 1.14",
    "Note: TensorFlow 2.0 changed the API",
    "either PyTorch 1.4 or ...",
    "# pip install tensorflow==1.14",
    "<!-- TensorFlow 1.14 -->",
    "- ~~TensorFlow 1.14~~",
    "We recommend moving to TensorFlow 2.0",
    "for those with TensorFlow 2.x, use the following",
    "Users of TensorFlow 2.x should use",
    "On TensorFlow 2.x use v2 of this package",
    "For TensorFlow 1.x, use version 0.2",
    "for TF 1.x use `pip install foo==0.2`",
    "When using TensorFlow 1.15, set X",
    "Unless you have TensorFlow 1.15",
    "except TensorFlow 2.3",
    "without TensorFlow 2.0",
    "TensorFlow 2.0 removed contrib",
    "a TF2 rewrite is under way",
    "Work in progress: TensorFlow 2",
    "未来将支持TensorFlow 2.0",
    "暂不支持 TensorFlow 2.x",
    "后续会更新TensorFlow 2.x版本",
    "可以修改为TensorFlow 2.x",
    "以前使用TensorFlow 1.14",
]
CLAIM = [
    "TensorFlow 1.15.2",
    "Tested with TensorFlow 1.14 and 1.15",
    "The code was tested on Ubuntu 16.04 with TensorFlow 1.14",
    "This code requires TensorFlow 2.3",
    "TensorFlow version: 1.15.0",
    "- tensorflow (tested with 1.7+)",
    "- TensorFlow (tested on 1.12)",
    "Prerequisites: TensorFlow 2.x",
    "Install TensorFlow 1.15 for GPU",
    "This repo should be run with TensorFlow 1.14",
    "We used TensorFlow 1.12 for all experiments",
    "The models were trained with TensorFlow 1.12",
    "Supports TensorFlow 2.x",
    "You need TensorFlow 1.4 or higher",
    "The code is written in TensorFlow 2",
    "can be run with TensorFlow 1.14",
    "We recommend TensorFlow 1.14",
    "This package works with TensorFlow 1.15",
    "Make sure you have TensorFlow 2.3 installed",
    "It may take long. Requires TensorFlow 2.3",
    "It should work with any TensorFlow 1.x version",
    "Should work with TensorFlow 2.2+",
    "> **Note:** tested with TensorFlow 2.3",
    "> Requires TensorFlow 2.3",
    "Update 2020: the code now runs on TensorFlow 2.3",
    "本代码使用TensorFlow 1.14",
]


def _spans(text: str) -> list[str]:
    return [statement.span for statement in of_prose("README.md", text)]


@pytest.mark.parametrize("line", CLAIM_NOTHING)
def test_a_sentence_that_leaves_the_release_open(line: str) -> None:
    assert _spans(line) == []


@pytest.mark.parametrize("line", CLAIM)
def test_a_sentence_that_claims_a_release(line: str) -> None:
    assert _spans(line)


@pytest.mark.parametrize(
    ("line", "span"),
    [
        ("Tested with TensorFlow 1.14, but may work with other versions.", "1.14"),
        ("Tested with TensorFlow 1.14 (other versions may work, too).", "1.14"),
        ("It may take long. Requires TensorFlow 2.3.", "2.3"),
        ("Errors? Ask us. Requires TensorFlow 2.3. Planned: a GUI.", "2.3"),
        ("- TensorFlow (tested on 1.14)", "1.14"),
    ],
)
def test_only_the_sentence_of_the_release_counts(line: str, span: str) -> None:
    assert _spans(line) == [span]


NOT_OF_THE_CODE = {
    "a change log": "# Tool\n\n## Changelog\n\n- runs on TensorFlow 1.15\n\n### 0.2\n\nNeeds TensorFlow 1.15\n",
    "a change log with underlines": "Tool\n====\n\nRelease notes\n-------------\n\nNeeds TensorFlow 1.15\n",
    "questions": "# Tool\n\n## FAQ\n\nIt runs with TensorFlow 1.15.\n",
    "a reference": "# Tool\n\n```\n@misc{x,\n  title = {Deep learning},\n  note = {TensorFlow 1.15}\n}\n```\n",
    "an output": "# Tool\n\nThe script prints:\n\n```\nTensorFlow version: 1.15.0\n```\n",
    "a block of output": "# Tool\n\n```output\nTensorFlow version: 1.15.0\n```\n",
    "a session": "# Tool\n\n```\n$ python train.py\nTensorFlow version: 1.15.0\n```\n",
    "a Python session": "# Tool\n\n```python\n>>> print('TensorFlow', tf.__version__)\nTensorFlow 1.15.0\n```\n",
    "a traceback": "# Tool\n\n```\nTraceback (most recent call last):\n  x\nTensorFlow 1.15.0\n```\n",
    "a log": "# Tool\n\n```\n2019-10-01 10:10:10.123 x\nTensorFlow 1.15.0\n```\n",
    "a comment": "# Tool\n\n<!-- a template:\nRequires TensorFlow 1.15\n-->\n",
    "a report": "# Tool\n\n> It crashes here.\n> Environment: TensorFlow 1.15\n",
}


@pytest.mark.parametrize("text", NOT_OF_THE_CODE.values(), ids=NOT_OF_THE_CODE)
def test_a_passage_about_something_else(text: str) -> None:
    assert _spans(text) == []


OF_THE_CODE = {
    "the section behind a change log": "# Tool\n\n## Changelog\n\n- x\n\n## Install\n\nNeeds TensorFlow 1.15\n",
    "a title": "# A comparison of optimizers\n\nNeeds TensorFlow 1.15\n",
    "a block of requirements": "# Tool\n\n```\npython 3.6\ntensorflow 1.15\n```\n",
    "a command at a prompt": "# Tool\n\n```\n$ pip install tensorflow==1.15\n$ python train.py\n```\n",
    "a command against errors": "# Tool\n\nTo avoid errors:\n\n```\npip install tensorflow==1.15\n```\n",
    "a quoted remark": "# Tool\n\n> Requires TensorFlow 1.15\n",
    "a comment that ends": "<!-- x -->\n# Tool\n\nNeeds TensorFlow 1.15\n",
}


@pytest.mark.parametrize("text", OF_THE_CODE.values(), ids=OF_THE_CODE)
def test_a_passage_about_the_code(text: str) -> None:
    assert _spans(text) == ["1.15"]


def test_a_badge_decides() -> None:
    badge = "![](https://img.shields.io/badge/TensorFlow-1.x-orange)\n"
    assert _spans(badge + "The TF2 code is the newest.\n") == ["1.13 to 1.15"]
    assert _spans(badge + "Tested on TensorFlow 1.14.\n") == ["1.13 to 1.15", "1.14"]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, ".git/")
    write(tmp_path / "train.py", "print(1)\n")
    return tmp_path


def _release(root: Path) -> str:
    found = Finder().of_file(str(root / "train.py"))
    return f"{found.first}-{found.last}" if found.target is not None else "nothing"


POETRY = '[[package]]\nname = "tensorflow"\nversion = "1.15.5"\n%s\n[extras]\n%s\n[metadata]\nlock-version = "2.0"\n'


@pytest.mark.parametrize(
    ("lines", "extras", "expected"),
    [
        ("optional = false", "", "1.15-1.15"),
        ("optional = true", 'tf = ["tensorflow"]', "1.15-1.15"),
        ("optional = true", 'all = ["other", "rl"]', "nothing"),
        ('optional = false\ngroups = ["dev"]', "", "1.15-1.15"),
        ('optional = false\ngroups = ["docs"]', "", "nothing"),
        ('optional = false\ncategory = "docs"', "", "nothing"),
    ],
)
def test_what_an_extra_of_another_package_locks_says_nothing(
    repository: Path, lines: str, extras: str, expected: str
) -> None:
    write(repository / "poetry.lock", POETRY % (lines, extras))
    assert _release(repository) == expected


@pytest.mark.parametrize("lines", ['groups = ["dev"]', "markers = \"sys_platform == 'darwin'\"", 'category = "dev"'])
def test_what_is_locked_for_tests_or_other_machines_is_weak(repository: Path, lines: str) -> None:
    write(repository / "poetry.lock", POETRY % (lines, ""))
    write(repository / "requirements.txt", "tensorflow==2.9\n")
    assert _release(repository) == "2.9-2.9"


UV = """\
version = 1

[[package]]
name = "project"
version = "0.1"
source = { editable = "." }
dependencies = [
    { name = "rl"%s },
]
%s
[package.metadata]
requires-dist = [{ name = "tensorflow", marker = "extra == 'x'" }]

[[package]]
name = "rl"
version = "3.0"
source = { registry = "https://pypi.org/simple" }
dependencies = [
    { name = "numpy" },
]

[package.optional-dependencies]
tf = [
    { name = "tensorflow" },
]

[[package]]
name = "tensorflow"
version = "1.15.5"
source = { registry = "https://pypi.org/simple" }
"""


@pytest.mark.parametrize(
    ("asked", "more", "expected"),
    [
        ("", "", "nothing"),
        (', extra = ["tf"]', "", "1.15-1.15"),
        ("", '[package.optional-dependencies]\ntf = [\n    { name = "tensorflow" },\n]\n', "1.15-1.15"),
        ("", '[package.optional-dependencies]\nall = [\n    { name = "rl", extra = ["tf"] },\n]\n', "nothing"),
        ("", '[package.dev-dependencies]\ndev = [\n    { name = "tensorflow" },\n]\n', "1.15-1.15"),
        ("", '[package.dev-dependencies]\ndocs = [\n    { name = "tensorflow" },\n]\n', "nothing"),
    ],
)
def test_a_lock_file_of_uv_tells_who_asks(repository: Path, asked: str, more: str, expected: str) -> None:
    write(repository / "uv.lock", UV.replace('"rl"%s', f'"rl"{asked}').replace("%s\n", more + "\n"))
    assert _release(repository) == expected


def test_a_lock_file_of_conda_has_other_platforms(repository: Path) -> None:
    entry = "- name: tensorflow\n  version: {}\n  manager: conda\n  platform: {}\n"
    write(
        repository / "conda-lock.yml",
        "package:\n" + entry.format("2.9.1", "linux-64") + entry.format("2.4.0", "osx-64"),
    )
    assert _release(repository) == "2.9-2.9"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM tensorflow/tensorflow:1.15.0 AS convert\nRUN x\nFROM python:3.9\nRUN pip install y\n", "nothing"),
        ("FROM tensorflow/tensorflow:1.15.0 AS base\nRUN x\nFROM base\nRUN pip install y\n", "1.15-1.15"),
        ("FROM tensorflow/tensorflow:1.15.0 AS tf\nFROM python\nCOPY --from=tf /usr /usr\n", "1.15-1.15"),
        ("FROM tensorflow/tensorflow:1.15.0\nFROM python\nCOPY --from=0 /usr /usr\n", "1.15-1.15"),
        ("FROM tensorflow/tensorflow:1.15.0 AS a\nFROM python\nRUN pip install tensorflow==2.9\n", "2.9-2.9"),
        ("# FROM tensorflow/tensorflow:1.15.0\nFROM python\n", "nothing"),
    ],
)
def test_the_last_stage_of_a_dockerfile_counts(repository: Path, text: str, expected: str) -> None:
    write(repository / "Dockerfile", text)
    assert _release(repository) == expected
