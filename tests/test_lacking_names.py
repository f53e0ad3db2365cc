"""How a name that a release lacks is told of: never there, there for a time, moved, not there yet, old."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tfmemlint.config.selection import Layer, Selection
from tfmemlint.engine.check_source import check_source
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding
from tfmemlint.rulekit.missing_names import of_lack
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import Source

CODES = ("TFM201", "TFM202", "TFM206", "TFM209", "TFM604", "TFM705", "TFM706")
RULES = [rule for rule in rules() if rule.code in CODES]


def only(line: str, release: str) -> Finding:
    """The one finding in a line, judged for a release."""
    source = Source("program.py", f"import tensorflow as tf\n{line}\n")
    findings = check_source(source, RULES, Target.parse(release))
    assert len(findings) == 1, [f"{finding.code} {finding.message}" for finding in findings]
    return findings[0]


@pytest.mark.parametrize(
    ("line", "release", "code", "message", "advice"),
    [
        (
            "print(tf.config.has_gpus())",
            "2.21",
            "TFM201",
            "tf.config.has_gpus exists in no TensorFlow release",
            "",
        ),
        (
            "tf.config.list_physical_device('GPU')",
            "2.21",
            "TFM201",
            "tf.config.list_physical_device exists in no TensorFlow release",
            "The nearest real name is tf.config.list_physical_devices",
        ),
        (
            "tf.math.reduce_meen([1.0])",
            "2.21",
            "TFM209",
            "tf.math.reduce_meen exists in no TensorFlow release from 1.13 on",
            "The nearest real name is tf.math.reduce_mean",
        ),
        (
            "tf.keras.mixed_precision.experimental.Policy('mixed_float16')",
            "2.21",
            "TFM206",
            "tf.keras.mixed_precision.experimental is not in TensorFlow 2.21: only 1.14 to 2.8 had it",
            "The nearest name that 2.21 has is tf.keras.mixed_precision.Policy",
        ),
        (
            "tf.keras.experimental.LinearModel()",
            "2.21",
            "TFM206",
            "tf.keras.experimental is not in TensorFlow 2.21: its last release was 2.15",
            "",
        ),
        (
            "tf.config.experimental.get_memory_info('GPU:0')",
            "2.4",
            "TFM206",
            "tf.config.experimental.get_memory_info is not in TensorFlow 2.4: it comes with 2.5",
            "The nearest name that 2.4 has is tf.config.experimental.get_memory_usage",
        ),
        (
            "tf.config.experimental.enable_mlir_graph_optimization()",
            "2.21",
            "TFM206",
            "tf.config.experimental.enable_mlir_graph_optimization is not in TensorFlow 2.21: only 2.3 to 2.11 had it",
            None,
        ),
        (
            "tf.keras.utils.multi_gpu_model(None, 2)",
            "2.21",
            "TFM206",
            "tf.keras.utils.multi_gpu_model is not in TensorFlow 2.21: its last release was 2.3",
            None,
        ),
        (
            "tf.random_normal([4])",
            "2.21",
            "TFM206",
            "tf.random_normal is not in TensorFlow 2.21: its last release was 1.15, and it is tf.random.normal now",
            "In 2.21 it is tf.random.normal",
        ),
        (
            "tf.placeholder(tf.float32)",
            "2.21",
            "TFM206",
            "tf.placeholder is not in TensorFlow 2.21: its last release was 1.15, and tf.compat.v1 has it still",
            "In 2.21 it is tf.compat.v1.placeholder",
        ),
        (
            "tf.config.list_physical_devices('GPU')",
            "2.0",
            "TFM206",
            "tf.config.list_physical_devices is not in TensorFlow 2.0: it comes with 2.1",
            "In 2.0 it is tf.config.experimental.list_physical_devices",
        ),
        (
            "tf.config.gpu.set_per_process_memory_growth(True)",
            "2.21",
            "TFM202",
            "tf.config.gpu.set_per_process_memory_growth exists in no TensorFlow release; only 2.0.0-alpha0 had it",
            None,
        ),
        (
            "tf.config.experimental.get_memory_usage('GPU:0')",
            "2.21",
            "TFM604",
            "get_memory_usage is deprecated",
            "Use get_memory_info(device)['current']",
        ),
        (
            "tf.config.experimental.list_physical_devices('GPU')",
            "2.21",
            "TFM705",
            "tf.config.experimental.list_physical_devices is now tf.config.list_physical_devices",
            "Use tf.config.list_physical_devices",
        ),
    ],
)
def test_the_words_tell_what_became_of_a_name(
    line: str, release: str, code: str, message: str, advice: str | None
) -> None:
    finding = only(line, release)
    assert (finding.code, finding.message) == (code, message)
    assert advice is None or finding.advice == advice


def of_several(line: str, oldest: str, newest: str) -> list[str]:
    """The messages about a line that is for several releases."""
    target = replace(Target.parse(newest), oldest=Target.parse(oldest))
    source = Source("program.py", f"import tensorflow as tf\n{line}\n")
    return [one.message for one in check_source(source, [rule for rule in RULES if rule.code == "TFM206"], target)]


def test_a_name_that_only_some_of_the_releases_lack_says_which() -> None:
    line = "tf.config.experimental.get_memory_info('GPU:0')"
    name = "tf.config.experimental.get_memory_info"
    assert of_several(line, "2.3", "2.15") == [
        f"{name} is not in every release that this code is for: of 2.3 to 2.15, 2.3 to 2.4 lack it; it comes with 2.5"
    ]
    assert of_several(line, "2.4", "2.15") == [
        f"{name} is not in every release that this code is for: of 2.4 to 2.15, 2.4 lacks it; it comes with 2.5"
    ]
    assert of_several(line, "2.5", "2.15") == []
    assert of_several(line, "2.3", "2.4") == [f"{name} is not in TensorFlow 2.4: it comes with 2.5"]


def test_a_name_that_the_newest_of_the_releases_lacks_says_which_others_do() -> None:
    name = "tf.config.experimental.enable_mlir_graph_optimization"
    assert of_several(f"{name}()", "2.9", "2.15") == [
        f"{name} is not in TensorFlow 2.15: only 2.3 to 2.11 had it (of 2.9 to 2.15, 2.12 to 2.15 lack it)"
    ]
    assert of_several(f"{name}()", "2.1", "2.15") == [
        f"{name} is not in TensorFlow 2.15: only 2.3 to 2.11 had it"
        " (of 2.1 to 2.15, 2.1 to 2.2 and 2.12 to 2.15 lack it)"
    ]
    assert of_several(f"{name}()", "2.13", "2.15") == [f"{name} is not in TensorFlow 2.15: only 2.3 to 2.11 had it"]


def test_what_is_behind_a_question_for_the_name_is_left_alone_in_every_release() -> None:
    line = "if hasattr(tf.config.experimental, 'get_memory_info'): tf.config.experimental.get_memory_info('GPU:0')"
    assert of_several(line, "2.3", "2.15") == []


@pytest.mark.parametrize(("select", "expected"), [(("TFM209",), ["TFM209"]), (("TFM2",), ["TFM209"]), (None, [])])
def test_a_file_without_a_word_about_memory_is_read_where_that_is_asked_for(
    select: tuple[str, ...] | None, expected: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    path.write_text("import tensorflow as tf\nprint(tf.math.average([1.0]))\n")
    selection = Selection.resolve(rules(), [Layer(select=select)] if select else [])
    (outcome,) = run([(str(path), False)], RunContext(target=Target.newest(), selection=selection))
    assert [finding.code for finding in outcome.findings] == expected


def test_what_keras_did_with_sessions_is_left_out_not_renamed() -> None:
    target = Target.newest()
    for name in ("tf.keras.backend.get_session", "tf.compat.v1.keras.backend.set_session"):
        assert of_lack(name, target, None).startswith("Keras uses no session: ")
