"""Sentences about TensorFlow: which names and values in them are spoken of."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.processor_time import assert_linear
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Severity
from tfmemlint.rulekit.rule import rules
from tfmemlint.text_checks import Mention, findings, in_comments, mentions

HEAD = "Notes on TensorFlow.\n\n"


def code_of(mention: Mention) -> str:
    """The code of the rule that reports a mention."""
    (rule,) = (rule for rule in rules() if mention.defect in rule.text_defects)
    return rule.code


def told(text: str, **more: object) -> list[Mention]:
    return mentions(HEAD + text, Target.newest(), **more)  # type: ignore[arg-type]


def codes(text: str) -> list[str]:
    return [code_of(one) for one in told(text)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Use tf.config.set_memory_limit.", "TFM208"),
        ("Use `tf.config.set_memory_limit()` for it.", "TFM208"),
        ("Use `tf.config.set_memory_limit(gpu, 512)` for it.", "TFM202"),
        ("Use tensorflow.config.experimental.set_gpu_memory_limit.", "TFM208"),
        ("To not take all the memory, use tf.config.set_memory_limit.", "TFM208"),
        ("If you want no growth, call tf.config.experimental.enable_memory_growth.", "TFM208"),
        ("The best way is **tf.config.experimental.set\\_memory\\_limit**.", "TFM208"),
        ("Write `tf.config.has_gpu(0)`.", "TFM201"),
        ("`tf.config.experimental.enable_memory_growth = True` is enough.", "TFM203"),
        ("Set TF_GPU_MEMORY_LIMIT=512 first.", "TFM207"),
        ("Set the environment variable TF_GPU_ALLOW_GROWTH.", "TFM207"),
        ("export TF_FORCE_ALLOW_GPU_GROWTH=true", "TFM207"),
        ("TF_FORCE_GPU_ALLOW_GROWTH=1 lets it grow.", "TFM307"),
        ("Set TF_FORCE_GPU_ALLOW_GROWTH to `True`.", "TFM307"),
        ('os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "yes" before it starts', "TFM307"),
        ("TF_GPU_ALLOCATOR=cuda-malloc-async", "TFM307"),
        ("CUDA_VISIBLE_DEVICES=all python train.py", "TFM307"),
        ("Set CUDA_VISIBLE_DEVICES to all.", "TFM307"),
        ("Call `tf.memory()` to see what is free.", "TFM208"),
        ("Set memory_limit=0.5 in tf.config.LogicalDeviceConfiguration.", "TFM301"),
        ("LogicalDeviceConfiguration(memory_limit='4GB')", "TFM302"),
        ("LogicalDeviceConfiguration(memory_limit=4294967296)", "TFM302"),
        ("LogicalDeviceConfiguration(memory_limit_mb=4096)", "TFM205"),
        ("per_process_gpu_memory_fraction = 50", "TFM304"),
        ("tf.config.experimental.get_device_details(gpu)['memory_total'] tells it", "TFM204"),
    ],
)
def test_what_is_wrong_has_the_code_of_its_rule(text: str, code: str) -> None:
    assert codes(text) == [code]


@pytest.mark.parametrize(
    "text",
    [
        "There is no tf.config.set_memory_limit.",
        "tf.config.set_memory_limit(1)\nx = tf.zeros(1)\n\nThis function never existed.",
        "In TensorFlow.js, `tf.memory()` tells how many tensors there are.",
        "With @tensorflow/tfjs-node: console.log(tf.memory().numTensors)",
        "Set CUDA_VISIBLE_DEVICES to all available cards.",
        "tf.config.set_memory_limit is not a function of TensorFlow.",
        "tf.config.set_memory_limit, which many posts use, does not exist.",
        "Use tf.config.set_logical_device_configuration instead of tf.config.set_memory_limit.",
        "Many use tf.config.set_memory_limit. It was made up.",
        "Many use tf.config.set_memory_limit. This raises AttributeError.",
        "Would tf.config.set_memory_limit work here?",
        "We propose to add tf.config.set_memory_limit.",
        "Don't call `tf.config.set_memory_limit(gpu, 1)`.",
        "Avoid tf.config.set_memory_limit.",
        "# Names that were invented\n\n- `tf.config.set_memory_limit`\n- `tf.gpu.set_memory_growth(True)`",
        "These do not exist:\n\n- `tf.config.set_memory_limit`\n- `tf.gpu.set_memory_growth(True)`",
        "| wrong | right |\n|---|---|\n| `tf.config.list_gpus()` | `tf.config.list_physical_devices('GPU')` |",
        "This fails:\n\n```\ntf.config.set_memory_limit(gpu, 1)\n```",
        "```\ntf.config.set_memory_limit(gpu, 1)\n```\n\nThis call never existed, whatever articles say.",
        "tf.config.set_memory_limit(gpu, 1)\nAttributeError: module 'tensorflow' has no attribute",
        'File "a.py", line 3\ntf.config.set_memory_limit(gpu, 1)',
        "TF_FORCE_GPU_ALLOW_GROWTH=1 is ignored.",
        "TF_GPU_MEMORY_LIMIT is read by nothing, it is made up.",
        "see tf.config.gpu_* and tf.memory.{used,free}, tools/tf.config.gpu_limits.py",
        "`memory_limit=0.5*16384`, `memory_limit=0.3 * total`, memory_limit=512.",
        "per_process_gpu_memory_fraction=0.5, per_process_gpu_memory_fraction=2.0",
        "tf.config.experimental.get_memory_info('GPU:0')['current']",
        "TF_GPU_ALLOCATOR=$ALLOCATOR TF_GPU_ALLOCATOR=<name> TF_GPU_ALLOCATOR=...",
        "echo $TF_GPU_MEMORY_LIMIT; TF_GPU_MEMORY_LIMIT=1",
        "torch.cuda.set_per_process_memory_fraction(0.5)",
        "TF_GPU_ALLOW_GROWTH = True  # a constant of our config.py",
        "Eine Funktion tf.config.set_memory_limit gibt es nicht.",
        "tf.config.set_memory_limit n'existe pas.",
        "TensorFlow 中不存在 tf.config.set_memory_limit。",
        "tf.config.set_memory_limit という関数は存在しません。",
    ],
)
def test_what_is_right_or_says_that_it_is_wrong_is_left_alone(text: str) -> None:
    assert codes(text) == []


def test_a_text_that_does_not_mention_tensorflow_is_left_alone() -> None:
    assert mentions("tf.config.set_memory_limit(1) and TF_GPU_MEMORY_LIMIT=1", Target.newest()) == []


def test_what_the_whole_text_is_about_counts_for_a_part_of_it() -> None:
    part = "XLA_PYTHON_CLIENT_PREALLOCATE=false"
    whole = f"With TensorFlow:\n{part}"
    assert [code_of(one) for one in mentions(part, Target.newest(), whole=whole)] == ["TFM207"]
    assert mentions(part, Target.newest(), whole=f"{whole}\nand JAX") == []
    assert mentions(part, Target.newest(), whole=f"{whole}\nand Equinox") == []


def test_a_name_is_pointed_at_in_characters_of_the_text() -> None:
    (finding,) = told("Nötig: **tf.config.set\\_memory\\_limit** oder so")
    line = "Nötig: **tf.config.set\\_memory\\_limit** oder so"
    assert finding.span.row == 3
    assert line[finding.span.column - 1 : finding.span.end_column - 1] == "tf.config.set\\_memory\\_limit"


def test_a_release_of_tensorflow_1_has_its_names() -> None:
    text = "TensorFlow 2: x = 1 with tf.Session() as sess: print(sess.run(tf.random_normal([1])))"
    assert mentions(text, Target.parse("1.15")) == []


def test_two_instructions_on_one_line_are_one_finding() -> None:
    (one,) = told("ENV NVIDIA_VISIBLE_DEVICES=all ENV TF_FORCE_GPU_ALLOW_GROWTH=true")
    assert code_of(one) == "TFM314"
    assert "Docker refuses" in one.outcome
    (one,) = told("ENV NVIDIA_VISIBLE_DEVICES all ENV TF_FORCE_GPU_ALLOW_GROWTH=true")
    assert "all the rest of the line" in one.outcome
    (one,) = told("export TF_FORCE_GPU_ALLOW_GROWTH=trueexport TF_GPU_ALLOCATOR=cuda_malloc_async")
    assert "'trueexport'" in one.outcome


def test_settings_that_belong_together_are_left_alone() -> None:
    assert codes("export TF_FORCE_GPU_ALLOW_GROWTH=true TF_GPU_ALLOCATOR=cuda_malloc_async") == []
    assert codes("ENV TF_FORCE_GPU_ALLOW_GROWTH=true TF_GPU_ALLOCATOR=cuda_malloc_async") == []


@pytest.mark.parametrize(
    "line",
    [
        "import tensorflow as tf gpus = tf.config.list_physical_devices('GPU')",
        "import tensorflow as tfgpus = tf.config.list_physical_devices('GPU')",
        "import os import tensorflow as tf",
        "gpus = tf.config.list_physical_devices('GPU') for gpu in gpus: print(gpu)",
        "x = tf.constant(1) print(x)",
        "with ***pat.v1.Session(config=config) as sess:",
        "gpus = ***.list_physical_devices('GPU')",
    ],
)
def test_damaged_code_is_one_finding(line: str) -> None:
    assert codes(line) == ["TFM901"]


@pytest.mark.parametrize(
    "line",
    [
        "import tensorflow as tf; print(tf.__version__)",
        "for gpu in tf.config.list_physical_devices('GPU'): print(gpu)",
        "python -c 'import tensorflow as tf; print(tf.constant(1))'",
        "TF_CPP_MIN_LOG_LEVEL=0 TF_CPP_VMODULE=loader=3 python train.py",
        'NUM_WORKERS=0 CUDA_VISIBLE_DEVICES=0,1 python -m launch --gpus="0,1" dp --pd train input.json',
        "import tensorflow as tf and then use it in the loop",
        "    [tf.config.LogicalDeviceConfiguration(memory_limit=512) for _ in range(2)])",
        "***tf.keras.Model(x)*** is bold",
        "the password is ***, see tf.keras.Model(x)",
        "x = [tf.constant(i) for i in range(3)]",
    ],
)
def test_code_that_can_be_read_is_not_damaged(line: str) -> None:
    assert codes(line) == []


@pytest.mark.parametrize(
    ("comment", "silent"),
    [
        ("<!-- tfmemlint: ignore[TFM208] -->", True),
        ("<!-- tfmemlint: ignore -->", True),
        ("<!-- tfmemlint: ignore[TFM101] -->", False),
        (".. tfmemlint: ignore[TFM2]", True),
    ],
)
def test_a_comment_above_a_paragraph_silences_it(comment: str, silent: bool) -> None:
    text = f"{HEAD}{comment}\n\nFor this\nuse tf.config.set_memory_limit.\n\nAnd use tf.config.list_gpus.\n"
    rows = [finding.span.row for finding in findings("a.md", text, rules(), Target.newest())]
    assert rows == ([8] if silent else [6, 8])


def test_findings_are_those_of_the_rules_that_run() -> None:
    text = f"{HEAD}Use tf.config.set_memory_limit, and TF_GPU_MEMORY_LIMIT=1.\n"
    some = [rule for rule in rules() if rule.code == "TFM207"]
    (finding,) = findings("a.md", text, some, Target.newest())
    assert (finding.code, finding.name, finding.path) == ("TFM207", "made-up-env-var", "a.md")


def test_comments_of_configuration_files_are_advice() -> None:
    text = (
        "FROM tensorflow/tensorflow\n  # limits: tf.config.set_memory_limit(gpu, 1)\n"
        "ENV A=1 # tf.config\nRUN tf.config.list_gpus\n"
    )
    (finding,) = in_comments("Dockerfile", text, rules(), Target.newest())
    assert (finding.code, finding.severity, finding.span.row, finding.span.column) == ("TFM208", Severity.ADVICE, 2, 13)
    assert in_comments("Dockerfile", "# There is no tf.config.list_gpus\n", rules(), Target.newest()) == []


PIECES = st.sampled_from(
    [
        *(
            "tf.config.set_memory_limit",
            "tensorflow",
            "TensorFlow",
            "(gpu, 1)",
            "()",
            "\\_",
            "TF_GPU_MEMORY_LIMIT",
            "=1",
            " ",
        ),
        *(
            "TF_FORCE_GPU_ALLOW_GROWTH",
            "=",
            "1",
            "'",
            '"',
            "`",
            "\n",
            "\n\n",
            "- ",
            "| ",
            "# ",
            "```\n",
            "not ",
            "import ",
        ),
        *(
            "import tensorflow as tf",
            "***pat.v1.Session(",
            "memory_limit=0.5",
            "LogicalDeviceConfiguration(",
            ")",
            "[",
            "]",
        ),
        *(
            "ENV A=1 ENV ",
            "é\u200b",
            "x = ",
            ".",
            "?",
            "AttributeError: ",
            "per_process_gpu_memory_fraction=50",
            "    ",
        ),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=25))
def test_whatever_the_text_mentions_stand_in_it(pieces: list[str]) -> None:
    text = "TensorFlow " + "".join(pieces)
    lines = text.split("\n")
    found = mentions(text, Target.newest())
    for one in found:
        span = one.span
        assert 1 <= span.row <= span.end_row <= len(lines)
        assert 1 <= span.column <= len(lines[span.row - 1]) + 1
        assert (span.row, span.column) < (span.end_row, span.end_column)
        assert span.end_column <= len(lines[span.end_row - 1]) + 1
    assert [finding.span for finding in found] == sorted(finding.span for finding in found)


@pytest.mark.parametrize(
    "text",
    [
        "tf" + ".a" * 50_000,
        "tf." * 30_000,
        "tf.config LogicalDeviceConfiguration " + "memory_limit=0.5 " * 700,
        "Use tf.config.set_memory_limit. " * 1_000,
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.slow
def test_the_cost_of_long_texts_grows_with_their_length(text: str) -> None:
    assert_linear(lambda: told(text), lambda: told(text + text))
