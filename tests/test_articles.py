"""The code of widely copied articles: what is found in it, and what the fixes make of it."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.articles import ARTICLES, fixed_article, found_in_article, read_article
from tfmemlint.cli.main import main

NAMES = sorted(path.name for path in ARTICLES.glob("*.py"))
SILENT = ("a09_profiler.py", "c06_env_first.py", "c07_throughput.py")
UNFIXED = (
    "a11_dynamic_allocator.py",
    "a17_run_together.py",
    "b01_hide_the_third.py",
    "b03_clear_session.py",
    "c04_masked.py",
    "c05_memory_limits.py",
    *SILENT,
)
"""What no rewrite can put right, or what is right already."""

MADE = {
    "a01_growth_loop.py": ["gpus = tf.config.list_physical_devices('GPU')"],
    "a02_virtual_device.py": ["tf.config.set_logical_device_configuration(", "[tf.config.LogicalDeviceConfiguration("],
    "a03_set_memory_limit.py": ["memory_limit=8192"],
    "a04_strategy_devices.py": ["gpus = tf.config.list_physical_devices('GPU')"],
    "a05_strategy_first.py": ["memory_limit=int(16384 * (0.3 if i % 2 == 0 else 0.7))"],
    "a06_fraction_option.py": ["memory_limit=6553"],
    "a06_session_of_tf1.py": ["memory_limit=6553"],
    "a06_options_after_the_model.py": ["memory_limit=8192"],
    "a07_memory_optimizer.py": ["optimizer = tf.keras.optimizers.Adam(learning_rate=0.001)\n"],
    "a12_device_details.py": ["total = 16384 * 1024**2", "used = tf.config.experimental.get_memory_info("],
    "a13_memory_guard.py": ['return tf.config.experimental.get_memory_info(device)["current"]'],
    "a14_reset_stats.py": ['reset_memory_stats(\n        "GPU:0" if'],
    "a15_env_late.py": ["= '0,1'\ngpus = tf.config.list_physical_devices('GPU')"],
    "b02_growth_and_info.py": ["set_memory_growth(gpu, True)\nfor ", "get_memory_info(f"],
    "b05_growth_then_limit.py": ["for gpu in gpus:\n    tf.config.set_logical_device_configuration("],
    "c01_session.py": ["tf.compat.v1.disable_v2_behavior()", "with tf.compat.v1.Session() as sess:"],
    "c02_random_normal.py": ["x = tf.random.normal([1000, 1000])"],
    "c03_report_memory.py": ["print(tf.config.experimental.get_memory_info(device)"],
    "c05_local_devices.py": [
        "[\n        x.name.replace('/physical_device:', '/device:')\n        for x in local_device_protos"
    ],
    "c05_print_loop.py": ["for device in tf.config.list_physical_devices():", "print(device.name.replace("],
}
"""Of each article that can be put right, code that has to be there afterwards."""
GONE = {
    "a05_strategy_first.py": ["set_memory_limit("],
    "a06_session_of_tf1.py": ["ConfigProto", "Session"],
    "a07_memory_optimizer.py": ["get_experimental_optimizer", "MemoryOptimizerOptions"],
    "b05_growth_then_limit.py": ["set_memory_growth"],
    "c03_report_memory.py": ["Session"],
    "c05_local_devices.py": ["device_lib"],
}


def test_every_article_is_spoken_of() -> None:
    assert {*MADE, *UNFIXED} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_together_finds_what_is_expected(name: str) -> None:
    text, expected = read_article(name)
    found = found_in_article(name, text)
    rows = Counter((finding.span.row, finding.code) for finding in found)
    assert rows == Counter((row, code) for row, codes in expected.items() for code in codes)


@pytest.mark.parametrize("name", SILENT)
def test_what_is_right_is_not_spoken_of(name: str) -> None:
    text, _ = read_article(name)
    assert not found_in_article(name, text)


@pytest.mark.parametrize("name", MADE)
def test_the_fix_is_the_named_one(name: str) -> None:
    text, _ = read_article(name)
    fixed = fixed_article(name, text)
    for code in MADE[name]:
        assert code in fixed.text
    for code in GONE.get(name, ()):
        assert code not in fixed.text


@pytest.mark.parametrize("name", NAMES)
def test_a_second_fix_changes_nothing(name: str) -> None:
    text, _ = read_article(name)
    once = fixed_article(name, text).text
    assert fixed_article(name, once).text == once


@pytest.mark.parametrize("name", UNFIXED)
def test_what_has_no_fix_stays_as_it_is(name: str) -> None:
    text, _ = read_article(name)
    assert fixed_article(name, text).text == text


@pytest.mark.parametrize("name", ("a03_set_memory_limit.py", "a05_strategy_first.py", "a06_fraction_option.py"))
def test_a_share_of_a_known_memory_becomes_a_number(name: str) -> None:
    text, _ = read_article(name)
    fixed = fixed_article(name, text, gpu_memory_mib=16384)
    assert "pynvml" not in fixed.text
    assert "16384" in fixed.text


def test_the_command_finds_it_in_the_files_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """The comments that say what is expected change nothing: the same is found with them."""
    files = [str(ARTICLES / name) for name in NAMES]
    assert main(["check", "--select", "TFM", "--quiet", "--output-format", "concise", *files]) == 1
    found = Counter(line.split(": ")[2].split()[0] for line in capsys.readouterr().out.splitlines())
    expected = Counter(code for name in NAMES for codes in read_article(name)[1].values() for code in codes)
    assert found == expected
