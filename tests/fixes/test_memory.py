"""A share of a device's memory: a number, a product, or a question to NVML."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.fixes.helpers import editor, span
from tfmemlint.engine.check_source import check_source
from tfmemlint.fixes.compute_fix import Options, compute
from tfmemlint.fixes.loop import fix_source
from tfmemlint.fixes.rewrites import memory_sizes
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Severity
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import Source

GIB = 1024


class Nvml(ModuleType):
    """A stand-in for pynvml with GPUs of these sizes in MiB."""

    def __init__(self, *sizes: int) -> None:
        super().__init__("pynvml")
        self.sizes, self.open = sizes, 0

    def nvmlInit(self) -> None:  # noqa: N802
        self.open += 1

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.sizes)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        assert self.open == 1
        return index

    def nvmlDeviceGetHandleByUUID(self, name: str) -> int | str:  # noqa: N802
        return name if name.startswith("MIG-") else int(name.removeprefix("GPU-").removesuffix("aaa"))

    def nvmlDeviceGetMemoryInfo(self, handle: int | str) -> Any:  # noqa: N802
        size = 5 * GIB if isinstance(handle, str) else self.sizes[handle]
        return SimpleNamespace(total=size * 2**20)


def asked(nvml: Nvml, number: int, **environment: str) -> float:
    import os

    scope: dict[str, Any] = {"os": os, "pynvml": nvml}
    exec(memory_sizes.helper(), scope)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"):
            patch.delenv(name, raising=False)
        for name, value in environment.items():
            patch.setenv(name, value)
        return float(scope["gpu_memory_mib"](SimpleNamespace(name=f"/physical_device:GPU:{number}")))


def test_unequal_gpus_in_an_unknown_order_are_refused() -> None:
    with pytest.raises(RuntimeError, match="CUDA_DEVICE_ORDER=PCI_BUS_ID"):
        asked(Nvml(8 * GIB, 16 * GIB), 0)


@pytest.mark.parametrize(
    ("sizes", "number", "environment", "size"),
    [
        ((8,), 0, {}, 8),
        ((8, 8), 1, {}, 8),
        ((8, 16), 1, {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, 16),
        ((8, 16), 0, {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": "1,0"}, 16),
        ((8, 16, 24), 1, {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": "0, 2,-1"}, 24),
        ((8, 16), 0, {"CUDA_VISIBLE_DEVICES": "GPU-1aaa"}, 16),
        ((80,), 0, {"CUDA_VISIBLE_DEVICES": "MIG-4f"}, 5),
    ],
)
def test_nvml_is_asked_for_the_device_that_tensorflow_means(
    sizes: tuple[int, ...], number: int, environment: dict[str, str], size: int
) -> None:
    assert asked(Nvml(*(one * GIB for one in sizes)), number, **environment) == size * GIB


def test_a_known_memory_and_a_literal_share_make_a_number_with_a_comment() -> None:
    text = "f(gpu, 0.5)\n"
    one = editor(text, 16384)
    one.replace(one.call_at(span(text, "f(gpu, 0.5)")), f"g({one.mib_of_share('gpu', '0.5')})")
    assert one.finish() == "g(8192)  # 0.5 of 16384 MiB\n"
    assert one.needs == set()


def test_a_known_memory_and_an_expression_make_a_product() -> None:
    one = editor("", 16384.0)
    assert one.mib_of_share("gpu", "0.3 if i % 2 == 0 else 0.7") == "int(16384 * (0.3 if i % 2 == 0 else 0.7))"
    assert one.mib_of_share("gpu", "share") == "int(16384 * share)"
    assert one.mib_of_share("gpu", "(a) + (b)") == "int(16384 * ((a) + (b)))"


def test_an_unknown_memory_is_asked_for_by_a_function_put_once() -> None:
    text = '"""Doc."""\nimport tensorflow as tf\nf(0)\nf(1)\n'
    one = editor(text, read=True)
    for part in ("f(0)", "f(1)"):
        one.replace(one.call_at(span(text, part)), one.mib_of_share("gpu", "0.5"))
    new = one.finish()
    assert new.startswith(
        '"""Doc."""\nimport os\n\nimport pynvml\nimport tensorflow as tf\n\n\ndef gpu_memory_mib(gpu):\n'
    )
    assert new.endswith("\n\n\nint(gpu_memory_mib(gpu) * 0.5)\nint(gpu_memory_mib(gpu) * 0.5)\n")
    assert new.count("def gpu_memory_mib") == 1
    assert one.needs == {"pynvml"}
    again = editor(new + "f(2)\n", read=True)
    again.replace(again.call_at(span(new + "f(2)\n", "f(2)")), again.mib_of_share("gpu", "0.5"))
    assert again.finish() == new + "int(gpu_memory_mib(gpu) * 0.5)\n"


def test_the_function_that_asks_nvml_has_a_dozen_lines_of_the_common_length() -> None:
    lines = memory_sizes.helper().strip().split("\n")
    assert len(lines) <= 12
    assert max(len(line) for line in lines) <= 88


def test_without_a_size_and_without_the_option_a_share_stays_as_it_is() -> None:
    one = editor("f(0)\n")
    with pytest.raises(Withheld, match="give --gpu-memory 16GiB"):
        one.mib_of_share("gpu", "0.5")
    with pytest.raises(Withheld, match="give --read-gpu-memory"):
        one.total_mib("gpu")


def test_the_message_of_a_fix_that_asks_nvml_says_the_package_first() -> None:
    source = Source("shares.py", SHARES.format("tf.config.set_memory_limit(gpu, 0.5)"))
    (finding,) = check_source(source, DEFAULT, Target.newest())
    rule = next(rule for rule in DEFAULT if rule.code == finding.code)
    fixed = compute(source, finding, rule, Target.newest(), Options(read_gpu_memory=True))
    assert fixed.fix is not None
    assert fixed.fix.message.startswith("Needs the package nvidia-ml-py (import pynvml): ")
    assert fixed.fix.needs == ("pynvml",)
    withheld = compute(source, finding, rule, Target.newest(), Options())
    assert withheld.fix is None
    assert "--gpu-memory 16GiB" in withheld.withheld


def test_names_that_are_taken_are_left_alone() -> None:
    text = "import os as o\ngpu_memory_mib = 3\nf(0)\n"
    one = editor(text, read=True)
    one.replace(one.call_at(span(text, "f(0)")), one.mib_of_share("gpu", "0.5"))
    new = one.finish()
    assert "def gpu_memory_mib_(gpu):" in new
    assert "o.environ.get" in new and " os.environ" not in new


WIDTH = 105
SHARES = """\
import tensorflow as tf

gpus = tf.config.list_physical_devices('GPU')
for i, gpu in enumerate(gpus):
    {}
"""


def written(line: str, mib: float | None = 16384) -> str:
    """What the fixes make of the last line, where a GPU has that much memory."""
    source = Source("shares.py", SHARES.format(line))
    fixed = fix_source(
        source,
        rules=rules(),
        target=Target.newest(),
        check=lambda one: check_source(one, DEFAULT, Target.newest()),
        options=Options(unsafe=True, gpu_memory_mib=mib, line_length_of=lambda _: WIDTH),
    )
    assert fixed.needs == set()
    return fixed.text.partition("enumerate(gpus):\n")[2]


DEFAULT = [rule for rule in rules() if rule.severity is not Severity.ADVICE]


@pytest.mark.parametrize(
    ("line", "limit", "note"),
    [
        ("tf.config.experimental.set_memory_limit(gpu, 0.5)", "8192", "  # 0.5 of 16384 MiB"),
        ("tf.config.set_memory_limit(gpu, 0.5)  # half", "8192", "  # half  # 0.5 of 16384 MiB"),
        ("tf.config.set_memory_limit(gpu, 1 / 3)", "int(16384 * (1 / 3))", ""),
        (
            "tf.config.set_memory_limit(gpu, 0.3 if i % 2 == 0 else 0.7)",
            "int(16384 * (0.3 if i % 2 == 0 else 0.7))",
            "",
        ),
        ("tf.config.set_memory_limit(gpu, 4096)", "4096", ""),
    ],
)
def test_a_made_up_limit_is_written_for_the_memory_that_is_told(line: str, limit: str, note: str) -> None:
    assert written(line) == (
        "    tf.config.set_logical_device_configuration(\n"
        "        gpu,\n"
        f"        [tf.config.LogicalDeviceConfiguration(memory_limit={limit})],\n"
        f"    ){note}\n"
    )


def test_a_share_as_a_limit_is_written_for_the_memory_that_is_told() -> None:
    line = "tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration({})])"
    expected = (
        "    tf.config.set_logical_device_configuration(\n"
        "        gpu,\n"
        "        [tf.config.LogicalDeviceConfiguration(memory_limit=2048)],\n"
        "    )  # 0.25 of 8192 MiB\n"
    )
    assert written(line.format("memory_limit=0.25"), 8192) == expected
    assert written(line.format("memory_fraction=0.25"), 8192) == expected


def test_a_share_of_a_device_out_of_sight_needs_no_more_than_the_memory() -> None:
    line = "part = tf.config.LogicalDeviceConfiguration(memory_limit=0.5)"
    assert written(line) == "    part = tf.config.LogicalDeviceConfiguration(memory_limit=8192)  # 0.5 of 16384 MiB\n"


def test_the_total_is_the_memory_that_is_told() -> None:
    line = "print(tf.config.experimental.get_device_details(gpu)['memory_total'])"
    assert written(line) == "    print(16384 * 1024**2)\n"


@pytest.mark.parametrize(
    ("amount", "mib"),
    [
        ("4294967296", "4096"),
        ("4 * 1024**3", "4 * 1024"),
        ("4 * 1024 * 1024 * 1024", "4 * 1024"),
        ("4 << 30", "4 * 1024"),
        ("1024 * 1024 * 512", "512"),
        ("512 * 2**20", "512"),
        ("int(4e9)", "int(4e9) // 1024**2"),
        ("size + 1024**2", "(size + 1024**2) // 1024**2"),
        ("size * 1024**3", "(size * 1024**3) // 1024**2"),
        ("1024**3", "(1024**3) // 1024**2"),
    ],
)
def test_bytes_become_mib(amount: str, mib: str) -> None:
    assert memory_sizes.bytes_in_mib(amount) == mib


def test_gibibytes_become_mib() -> None:
    assert memory_sizes.gib_in_mib("1.5") == "1536"
    assert memory_sizes.gib_in_mib("limit_gb") == "int(limit_gb * 1024)"
    assert memory_sizes.gib_in_mib("a + b") == "int((a + b) * 1024)"
