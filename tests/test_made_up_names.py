"""Made-up names that nobody has seen before: found by the inventory, and read by their words and arguments."""

from __future__ import annotations

import pytest

from tfmemlint.engine.check_source import check_source
from tfmemlint.fixes.compute_fix import Options, compute
from tfmemlint.fixes.loop import fix_source
from tfmemlint.knowledge import purposes
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Applicability, Finding
from tfmemlint.model.intent import Purpose
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import Source

RULES = [rule for rule in rules() if rule.code in ("TFM201", "TFM202", "TFM203")]
HEAD = "import tensorflow as tf\ngpus = tf.config.list_physical_devices('GPU')\n"

GROWTH = {
    "tf.config.experimental.enable_gpu_growth()": True,
    "tf.config.turn_on_memory_growth(gpus)": True,
    "tf.gpu.growth(True)": True,
    "tf.config.experimental.allow_gpu_to_grow()": True,
    "tf.config.gpus.enable_dynamic_memory()": True,
    "tf.config.set_dynamic_memory_allocation(True)": True,
    "tf.config.experimental.allocate_memory_on_demand(True)": True,
    "tf.config.experimental.disable_memory_growth()": False,
    "tf.config.disable_gpu_memory_growth(gpus[0])": False,
    "tf.config.set_memory_preallocation(False)": True,
    "tf.config.experimental.disable_gpu_memory_preallocation()": True,
    "tf.config.preallocate_gpu_memory()": False,
    "tf.keras.backend.set_gpu_growth(1)": 1,
    "tf.test.experimental.set_gpu_growth(True)": True,
}
LIMITS = {
    "tf.config.experimental.set_gpu_memory_cap(gpus[0], 2048)": ("mib", 2048, "GPU 0"),
    "tf.config.gpu.limit_memory('GPU:0', gb=4)": ("gib", 4, "GPU 0"),
    "tf.config.limit_gpu_memory(2048)": ("mib", 2048, "every GPU"),
    "tf.config.restrict_gpu_memory(gpus[0], limit_mb=3000)": ("mib", 3000, "GPU 0"),
    "tf.config.experimental.cap_vram(gpus[0], max_gb=2)": ("gib", 2, "GPU 0"),
    "tf.gpu.set_memory_limit_gb(0, 4)": ("gib", 4, "GPU 0"),
    "tf.memory.set_limit(4 * 1024**3)": ("bytes", 4 * 1024**3, "every GPU"),
    "tf.config.set_gpu_memory(gpus[0], 2048)": ("mib", 2048, "GPU 0"),
    "tf.config.experimental.set_gpu_memory_mb(512)": ("mib", 512, "every GPU"),
    "tf.config.experimental.apply_memory_quota(4096, device='/device:GPU:1')": ("mib", 4096, "GPU 1"),
    "tf.cuda.set_memory_budget(4096, gpus[0])": ("mib", 4096, "GPU 0"),
    "tf.config.gpuMemoryLimit(1024)": ("mib", 1024, "every GPU"),
}
SHARES = {
    "tf.config.set_vram_fraction(0.5)": (0.5, "every GPU"),
    "tf.config.experimental.set_gpu_mem_frac(gpus[0], 0.25)": (0.25, "GPU 0"),
    "tf.config.experimental.set_memory_percentage(gpus[0], 50)": (0.5, "GPU 0"),
    "tf.gpu.set_memory_ratio(0.3)": (0.3, "every GPU"),
    "tf.config.limit_gpu_memory(gpus[0], 0.5)": (0.5, "GPU 0"),
    "tf.config.limit_gpu_memory(fraction=0.5)": (0.5, "every GPU"),
    "tf.config.gpu_memory_share('GPU:0', percent=40)": (0.4, "GPU 0"),
}
REPORTS = {
    "print(tf.gpu.get_used_memory())": "current",
    "print(tf.gpu.memory_allocated())": "current",
    "print(tf.cuda.max_memory_allocated())": "peak",
    "print(tf.config.experimental.get_gpu_memory_consumption('GPU:0'))": "current",
    "print(tf.config.query_vram_peak(gpus[0]))": "peak",
    "print(tf.memory.get_total())": "total",
    "print(tf.config.gpu.get_free_memory())": "free",
}
RELEASES = (
    "tf.memory.cleanup()",
    "tf.gpu.reclaim_memory()",
    "tf.config.experimental.purge_gpu_memory()",
    "tf.cuda.empty_cache()",
    "tf.keras.backend.deallocate_gpu_memory()",
)
UNREADABLE = (
    "tf.config.set_gpu_memory_limit_gb(0, 4096)",
    "tf.config.set_memory_percentage(gpus[0], 5000)",
    "tf.config.experimental.set_gpu_memory_cap(gpus[0], '4GB')",
)
WITHOUT_A_PURPOSE = (
    "print(tf.gpu.count())",
    "tf.config.memory.defragment()",
    "tf.test.has_gpu_with_tensor_cores()",
    "tf.distribute.get_gpu_topology()",
)


def found(line: str) -> list[Finding]:
    """What is found in a line."""
    return check_source(Source("program.py", HEAD + line + "\n"), RULES, Target.newest())


def fixed(line: str, mib: float | None = None) -> str:
    """What the fix makes of a line, with what stands around it."""
    options = Options(unsafe=True, gpu_memory_mib=mib)
    text = HEAD + line + "\n"

    def look(source: Source) -> list[Finding]:
        return check_source(source, RULES, Target.newest())

    return fix_source(Source("program.py", text), rules=RULES, target=Target.newest(), check=look, options=options).text


def only(line: str) -> Finding:
    """The one finding in a line."""
    findings = found(line)
    assert [finding.code for finding in findings] == ["TFM202"], [finding.message for finding in findings]
    assert "exists in no TensorFlow release" in findings[0].message
    return findings[0]


def test_none_of_these_names_is_on_the_list() -> None:
    lines = (*GROWTH, *LIMITS, *SHARES, *REPORTS, *RELEASES, *UNREADABLE)
    assert len(lines) >= 40
    for line in lines:
        name = line.removeprefix("print(").partition("(")[0]
        made_up = purposes.purpose_of(name)
        assert made_up is not None and not made_up.listed, name


@pytest.mark.parametrize("line", GROWTH)
def test_growth_is_read(line: str) -> None:
    intent = only(line).intent
    assert intent is not None and (intent.purpose, intent.value) == (Purpose.GROWTH, GROWTH[line])


@pytest.mark.parametrize("line", LIMITS)
def test_a_limit_is_read_with_its_unit_and_its_device(line: str) -> None:
    finding = only(line)
    intent = finding.intent
    assert intent is not None and intent.purpose is Purpose.LIMIT
    unit, value, devices = LIMITS[line]
    assert (finding.details["unit"], intent.value, intent.devices) == (unit, value, devices)


@pytest.mark.parametrize("line", SHARES)
def test_a_share_is_read_however_it_is_written(line: str) -> None:
    intent = only(line).intent
    assert intent is not None and (intent.purpose, intent.value) == (Purpose.FRACTION, SHARES[line][0])
    assert intent.devices == SHARES[line][1]


@pytest.mark.parametrize("line", REPORTS)
def test_a_report_says_which_number_was_wanted(line: str) -> None:
    intent = only(line).intent
    assert intent is not None and (intent.purpose, intent.value) == (Purpose.REPORT, REPORTS[line])


@pytest.mark.parametrize("line", RELEASES)
def test_a_release_is_read_and_nothing_stands_in_its_place(line: str) -> None:
    finding = only(line)
    assert finding.intent is not None and finding.intent.purpose is Purpose.RELEASE
    assert not finding.fixable and "child process" in finding.advice


@pytest.mark.parametrize("line", UNREADABLE)
def test_an_amount_that_can_not_be_meant_so_is_not_written_anew(line: str) -> None:
    assert only(line).details["unit"] == "?"
    assert fixed(line) == HEAD + line + "\n"


@pytest.mark.parametrize("line", WITHOUT_A_PURPOSE)
def test_what_says_no_purpose_is_found_all_the_same(line: str) -> None:
    assert [finding.code for finding in found(line)] == ["TFM201"]


@pytest.mark.parametrize("line", [*GROWTH, *LIMITS])
def test_the_guess_is_stated_and_its_rewrite_is_unsafe(line: str) -> None:
    finding = only(line)
    assert finding.advice.startswith("Its name suggests ")
    rule = next(one for one in RULES if one.code == "TFM202")
    computed = compute(Source("program.py", HEAD + line + "\n"), finding, rule, Target.newest(), Options(unsafe=True))
    if computed.fix is not None:
        assert computed.fix.applicability is Applicability.UNSAFE
        assert "if that is what the name means" in computed.fix.message


@pytest.mark.parametrize(
    ("line", "new"),
    [
        (
            "tf.config.experimental.enable_gpu_growth()",
            "for gpu in tf.config.list_physical_devices('GPU'):\n"
            "    tf.config.experimental.set_memory_growth(gpu, True)\n",
        ),
        (
            "tf.config.experimental.disable_memory_growth()",
            "for gpu in tf.config.list_physical_devices('GPU'):\n"
            "    tf.config.experimental.set_memory_growth(gpu, False)\n",
        ),
        (
            "tf.config.experimental.set_gpu_memory_cap(gpus[0], 2048)",
            "if gpus:\n    tf.config.set_logical_device_configuration(gpus[0],"
            " [tf.config.LogicalDeviceConfiguration(memory_limit=2048)])\n",
        ),
        (
            "tf.config.gpu.limit_memory('GPU:0', gb=4)",
            "for gpu in tf.config.list_physical_devices('GPU')[0:1]:\n"
            "    tf.config.set_logical_device_configuration(gpu,"
            " [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])\n",
        ),
        (
            "tf.config.set_memory_preallocation(False)",
            "for gpu in tf.config.list_physical_devices('GPU'):\n"
            "    tf.config.experimental.set_memory_growth(gpu, True)\n",
        ),
    ],
)
def test_the_purpose_is_written_with_the_functions_that_exist(line: str, new: str) -> None:
    written = fixed(line).removeprefix(HEAD)
    assert "".join(written.split()).replace(",)", ")") == "".join(new.split())


@pytest.mark.parametrize(
    ("line", "share"),
    [("tf.config.set_vram_fraction(0.5)", 4096), ("tf.config.experimental.set_memory_percentage(gpus[0], 50)", 4096)],
)
def test_a_share_becomes_that_share_of_the_memory_that_is_told(line: str, share: int) -> None:
    assert f"memory_limit={share}" in fixed(line, mib=8192)
