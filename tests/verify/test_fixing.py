"""Fixes are proven on TensorFlow before they are written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixes.helpers import code
from tests.fixes.projects import make
from tests.fixes.repaired_deep import REPAIRED
from tfmemlint.cli.main import main
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.results import Unproven
from tfmemlint.engine.run import run
from tfmemlint.sources import Source, decode
from tfmemlint.verify.fixing import Prover, prover

pytestmark = pytest.mark.tensorflow

Prove = Prover


@pytest.fixture(scope="module", name="prove")
def _prove() -> Iterator[Prove]:
    with prover("edge", None) as prove:
        yield prove


def source(text: str) -> Source:
    return decode("train.py", text.encode())


LIMITED = code("""
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    tf.config.experimental.set_memory_limit(gpus[0], 1024)
    print("ready")
    """)
FIXED = LIMITED.replace(
    "tf.config.experimental.set_memory_limit(gpus[0], 1024)",
    "tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=1024)])",
)


def test_what_takes_effect_is_proven(prove: Prove) -> None:
    assert prove(source(LIMITED), FIXED) == []


def test_what_would_still_raise_is_told_by_the_line_that_it_had(prove: Prove) -> None:
    (found,) = prove(source(LIMITED), FIXED.replace("memory_limit=1024", "memory=1024"))
    assert (found.span.row, found.before) == (4, False)
    assert "TypeError" in found.reason


def test_what_would_come_too_late_has_no_proof(prove: Prove) -> None:
    (found,) = prove(source(LIMITED), FIXED.replace("gpus =", "x = tf.constant(1)\ngpus ="))
    assert "RuntimeError" in found.reason


def test_what_worked_before_and_is_lost_is_told(prove: Prove) -> None:
    (found,) = prove(source(FIXED), FIXED.replace("gpus =", "x = tf.constant(1)\ngpus ="))
    assert (found.span.row, found.before) == (4, True)


def test_a_growth_that_never_had_an_effect_may_go(prove: Prove) -> None:
    old = FIXED.replace("tf.config.set_l", "tf.config.experimental.set_memory_growth(gpus[0], True)\ntf.config.set_l")
    assert prove(source(old), FIXED) == []


def test_a_program_without_wishes_has_nothing_to_prove(prove: Prove) -> None:
    text = "import tensorflow as tf\nprint(tf.config.experimental.list_physical_devices('GPU'))\n"
    assert prove(source(text), text.replace(".experimental", "")) == []


@pytest.mark.slow
def test_the_command_writes_what_is_proven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(LIMITED)
    assert main(["fix", "--verify", "--device", "edge", "--show-fixes", "train.py"]) == 0
    assert "memory_limit=1024" in Path("train.py").read_text()
    assert "1 file changed, 1 fix." in capsys.readouterr().out


def test_a_fix_that_does_nothing_is_withheld(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prove: Prove) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(LIMITED)

    class Wrong(Prover):
        """As if the rule wrote what TensorFlow doesn't take."""

        def __call__(self, source: Source, text: str) -> list[Unproven]:
            return prove(source, text.replace("memory_limit=", "limit="))

    wrong = Wrong(prove.ground, prove.target)
    (outcome,) = run([("train.py", True)], RunContext(fix=True, write=True, prove=wrong))
    assert Path("train.py").read_text() == LIMITED
    assert [one.withheld.split(":")[0] for one in outcome.findings] == ["on TensorFlow it would still raise"]


def test_a_change_of_several_files_is_proven_on_a_copy_of_the_program(
    prove: Prover, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = REPAIRED["configuration is taken out of a class in another file"]
    make(tmp_path, project.files)
    monkeypatch.chdir(tmp_path)
    after = {path: code(text) for path, text in project.after.items()}
    assert prove.program(".", "train.py", after) == ""
    late = {**after, "train.py": code(project.files["train.py"])}
    assert "Physical devices cannot be modified" in prove.program(".", "train.py", late)
    assert (tmp_path / "train.py").read_text("utf-8") == code(project.files["train.py"])
