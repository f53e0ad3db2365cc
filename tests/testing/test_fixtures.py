"""`tfmemlint.testing.check_fixture`: what it accepts, and that it says what is not so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checkout import ROOT
from tfmemlint import ConfigError
from tfmemlint.testing import check_fixture, examine_fixture, fixtures_in

NUMBERS = """\
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
tf.config.set_logical_device_configuration(gpus[0], [4096])  # expect: TFM305
"""
FIXED = """\
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
tf.config.set_logical_device_configuration(
    gpus[0],
    [tf.config.LogicalDeviceConfiguration(memory_limit=4096)],
)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the fixtures of a rule, with one that is right."""
    folder = tmp_path / "fixtures" / "TFM305"
    folder.mkdir(parents=True)
    (folder / "bad_numbers.py").write_text(NUMBERS)
    (folder / "bad_numbers.fixed.py").write_text(FIXED)
    return folder


def test_a_right_fixture_passes(folder: Path) -> None:
    check_fixture(folder / "bad_numbers.py")
    result = examine_fixture(str(folder / "bad_numbers.py"))
    assert (result.expected, result.fixed, result.problems) == (((4, "TFM305"),), FIXED, ())
    assert [finding.code for finding in result.findings] == ["TFM305"]


@pytest.mark.parametrize("path", fixtures_in(ROOT / "fixtures" / "TFM305"), ids=lambda path: path.name)
def test_the_fixtures_of_a_rule_of_the_tool_pass(path: Path) -> None:
    check_fixture(path)


def test_the_files_that_are_fixtures(folder: Path) -> None:
    for name in ("ok_b.py", "ok_a.ipynb", "helper.py", "bad_c.fixed.py"):
        (folder / name).touch()
    assert [path.name for path in fixtures_in(folder.parent)] == ["bad_numbers.py", "ok_a.ipynb", "ok_b.py"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("bad_a.py", "import os\n", "a bad_ fixture of TFM305 has a line"),
        ("bad_b.py", "import os  # expect: TFM305\n", "line 1: TFM305 is expected, and is not found"),
        ("ok_c.py", NUMBERS.replace("  # expect: TFM305", ""), "line 4: TFM305 is found, and is not expected"),
        ("ok_d.py", NUMBERS, "an ok_ fixture of TFM305 has no line"),
        ("bad_e.py", NUMBERS, "the fix changes it, and there is no bad_e.fixed.py"),
    ],
)
def test_what_is_not_so_is_said(folder: Path, name: str, text: str, said: str) -> None:
    (folder / name).write_text(text)
    with pytest.raises(AssertionError, match=said):
        check_fixture(folder / name)


def test_another_fixed_text_is_shown(folder: Path) -> None:
    (folder / "bad_numbers.fixed.py").write_text(FIXED.replace("4096", "2048"))
    with pytest.raises(AssertionError, match=r"\+ +\[tf.*4096"):
        check_fixture(folder / "bad_numbers.py")


def test_the_header_counts(folder: Path) -> None:
    old = "import tensorflow as tf\n\nconfig = tf.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
    old += "session = tf.Session(config=config)\n"
    (folder / "ok_old.py").write_text(old)
    assert examine_fixture(folder / "ok_old.py").findings
    (folder / "ok_old.py").write_text("# target: 1.15\n" + old)
    check_fixture(folder / "ok_old.py")


def test_a_claim_that_cannot_be_read_is_an_error(folder: Path) -> None:
    (folder / "bad_x.py").write_text("import os  # expect: everything\n")
    with pytest.raises(ValueError, match="everything"):
        check_fixture(folder / "bad_x.py")


def test_an_unknown_rule_is_an_error(folder: Path) -> None:
    with pytest.raises(ConfigError, match="XYZ9"):
        check_fixture(folder / "bad_numbers.py", rule="XYZ9")
