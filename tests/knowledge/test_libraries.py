"""What libraries do when they are imported and called: the table, the lookups, and a row measured anew."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.knowledge import libraries, tables
from tfmemlint.knowledge.effects import Effect
from tfmemlint.knowledge.libraries import LIBRARIES, Row, called, imported
from tfmemlint.knowledge.releases import KNOWN, Target

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
KERAS2, KERAS3 = Target(2, 15), Target(2, 18)
ROWS = libraries.rows()


def run(code: str) -> str:
    """What a fresh process prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_the_table_is_of_the_libraries_that_the_module_names() -> None:
    assert {row.name.partition(".")[0] for row in ROWS} == LIBRARIES


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.how} {row.name} {KNOWN[row.first]}")
def test_a_row_says_what_was_measured_with_which_versions(row: Row) -> None:
    assert row.how in ("import", "call")
    assert row.first <= row.last
    library = row.name.partition(".")[0]
    for one in row.doing.measured.split(", "):
        name, version, *words, tensorflow = one.split(" ")
        assert (name, words) == (library, ["with", "TensorFlow"])
        assert version[0].isdigit()
        assert row.first <= Target.parse(tensorflow).index <= row.last


def test_no_two_rows_speak_of_the_same_release() -> None:
    seen = [(row.name, row.how, place) for row in ROWS for place in range(row.first, row.last + 1)]
    assert len(seen) == len(set(seen))


def test_every_flag_in_the_table_is_known() -> None:
    lines = [line.split(" ") for line in tables.text("libraries.txt").splitlines() if line[0] != "#"]
    flags = {flag for line in lines for flag in line[5:] if not flag.startswith("env:")}
    assert flags <= {"growth", "eager-off", "limits", "visible", "with-gpu"}


def test_a_model_of_transformers_starts_the_runtime_and_its_tokenizer_does_not() -> None:
    for target in (KERAS2, KERAS3, None):
        model = called("transformers.TFBertModel", target)
        assert model is not None and model.effect is Effect.STARTS
        tokenizer = called("transformers.AutoTokenizer.from_pretrained", target)
        assert tokenizer is not None and tokenizer.harmless


def test_a_pattern_stands_for_names_of_the_same_kind_only() -> None:
    for name in ("TFElectraModel", "TFLongformerForTokenClassification", "TFElectraModel.from_pretrained"):
        found = called(f"transformers.{name}")
        assert found is not None and found.effect is Effect.STARTS
    for name in ("TFElectraConfig", "TFElectraModel().fit", "ElectraModel", "TFElectraModel.from_pretrained.x"):
        assert called(f"transformers.{name}") is None


def test_a_session_with_growth_is_told_of() -> None:
    found = called("gpt_2_simple.start_tf_sess", KERAS2)
    assert found is not None
    assert found.effect is Effect.ALLOCATES
    assert found.growth
    assert found.measured.startswith("gpt_2_simple 0.")


def test_eager_execution_switched_off_by_an_import_is_told_of() -> None:
    found = imported("gpt_2_simple", KERAS2)
    assert found is not None
    assert found.eager_off
    assert not found.harmless


def test_importing_a_module_counts_what_its_parents_do() -> None:
    child = imported("gpt_2_simple.nothing_of_this_name", KERAS2)
    assert child is not None
    assert child.eager_off
    assert child.effect is None


def test_a_harmless_parent_says_nothing_of_its_modules() -> None:
    parent = imported("tensorflow_hub", KERAS2)
    assert parent is not None and parent.harmless
    assert imported("tensorflow_hub.unknown", KERAS2) is None


def test_names_that_nobody_measured_are_unknown() -> None:
    for name in ("tensorflow_hub.unknown", "numpy.zeros", "tf.constant", "", "transformers2.TFBertModel"):
        assert called(name) is None
        assert imported(f"{name}.x") is None


def test_what_was_measured_with_keras_2_says_nothing_about_keras_3() -> None:
    assert called("tensorflow_addons.metrics.F1Score", KERAS2) is not None
    assert called("tensorflow_addons.metrics.F1Score", KERAS3) is None


def test_without_a_release_there_is_an_answer_only_where_all_releases_agree() -> None:
    old, new = (called("transformers.create_optimizer", target) for target in (Target(2, 4), KERAS2))
    assert old is not None and new is not None
    assert (old.effect, new.effect) == (Effect.NOTHING, Effect.STARTS)
    assert called("transformers.create_optimizer") is None


def test_variables_that_an_import_sets_are_told_of() -> None:
    faces = imported("deepface.DeepFace", KERAS2)
    assert faces is not None
    assert faces.environment["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"
    chosen = imported("setGPU", KERAS2)
    assert chosen is not None
    assert chosen.environment == {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": None}


def test_an_import_may_start_the_runtime() -> None:
    found = imported("tensorflow_quantum.layers", KERAS2)
    assert found is not None
    assert found.effect is Effect.STARTS


def test_the_table_is_read_only_for_names_of_its_libraries() -> None:
    code = """
import sys
from tfmemlint.knowledge import libraries, tables
tables.text = None  # can't be called
assert libraries.called("numpy.zeros") is None
assert libraries.imported("torch_geometric.nn") is None
assert not {"tensorflow", "libcst", "json", "importlib.metadata"} & set(sys.modules)
print("done")
"""
    assert run(code) == "done\n"


@pytest.mark.parametrize("library", ["keras", "tensorboard", "tensorflow_hub", "transformers"])
def test_an_installed_library_does_what_the_table_says(library: str) -> None:
    if importlib.util.find_spec("tensorflow") is None or importlib.util.find_spec(library) is None:
        pytest.skip(f"TensorFlow and {library} are not both installed")
    from importlib.metadata import version

    said = imported(library, Target.parse(version("tensorflow")))
    if said is None:
        pytest.skip("nothing is said of it with this TensorFlow")
    request = {"modules": [library], "groups": [], "first": False, "gpus": 1, "distribution": "tensorflow"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "knowledge" / "libraries_child.py")],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])["imports"][library]
    assert said.effect is not None
    assert (found["effect"], found.get("growth", False)) == (said.effect.value, said.growth)
