#!/usr/bin/env python3
"""Put into ``docs/from-tf1.md`` what ``fix --unsafe-fixes`` makes of each option of a TF1 session.

Each option is set in a small program, which is fixed. ``tests/truth/test_tf1_options.py`` holds that the list has every
field of the messages of the installed TensorFlow, and that the counterparts set the same field. ``--check`` writes
nothing and ends with 1 where the page is out of date.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tfmemlint.engine.check_source import check_source  # noqa: E402
from tfmemlint.fixes.compute_fix import Options  # noqa: E402
from tfmemlint.fixes.loop import fix_source  # noqa: E402
from tfmemlint.knowledge.releases import Target  # noqa: E402
from tfmemlint.model.finding import Severity  # noqa: E402
from tfmemlint.rulekit.rule import Rule, rules  # noqa: E402
from tfmemlint.sources import Source  # noqa: E402

PAGE = ROOT / "docs" / "from-tf1.md"
GPU_MEMORY_MIB = 16384.0
GROWTH = "gpu_options.allow_growth"
ALONE = (GROWTH, "gpu_options.per_process_gpu_memory_fraction", "gpu_options.visible_device_list")
"""Options about GPU memory: each is tried by itself, all others beside memory growth."""
NO_COUNTERPART = "nothing"


@dataclass(frozen=True, slots=True)
class Field:
    """An option of a session.

    Attributes:
        name: the field, from ``ConfigProto`` on.
        value: a value for it, as code.
        today: the code that sets the same in TensorFlow 2, or words.
    """

    name: str
    value: str
    today: str = NO_COUNTERPART


FIELDS = (
    Field(GROWTH, "True", "tf.config.experimental.set_memory_growth(gpu, True)"),
    Field("gpu_options.per_process_gpu_memory_fraction", "0.4", "a limit in MiB (`--gpu-memory`)"),
    Field("gpu_options.visible_device_list", '"0"', 'tf.config.set_visible_devices(gpus[0], "GPU")'),
    Field("gpu_options.experimental.virtual_devices", "", "tf.config.set_logical_device_configuration"),
    Field("gpu_options.experimental.use_cuda_malloc_async", "True", "TF_GPU_ALLOCATOR=cuda_malloc_async"),
    Field("gpu_options.experimental.gpu_host_mem_limit_in_mb", "1024", "TF_GPU_HOST_MEM_LIMIT_IN_MB=1024"),
    Field("gpu_options.allocator_type", '"BFC"'),
    Field("gpu_options.deferred_deletion_bytes", "1024"),
    Field("gpu_options.force_gpu_compatible", "True"),
    Field("gpu_options.polling_active_delay_usecs", "10"),
    Field("gpu_options.polling_inactive_delay_msecs", "1"),
    Field("gpu_options.experimental.use_unified_memory", "True"),
    Field("gpu_options.experimental.num_dev_to_dev_copy_streams", "2"),
    Field("allow_soft_placement", "True", "tf.config.set_soft_device_placement(True)"),
    Field("log_device_placement", "True", "tf.debugging.set_log_device_placement(True)"),
    Field("intra_op_parallelism_threads", "4", "tf.config.threading.set_intra_op_parallelism_threads(4)"),
    Field("inter_op_parallelism_threads", "2", "tf.config.threading.set_inter_op_parallelism_threads(2)"),
    Field('device_count["CPU"]', "1", "the default"),
    Field('device_count["GPU"]', "0", 'tf.config.set_visible_devices([], "GPU")'),
    Field("graph_options.optimizer_options.global_jit_level", "1", "tf.config.optimizer.set_jit(True)"),
    Field(
        "graph_options.rewrite_options.layout_optimizer",
        "2",
        'tf.config.optimizer.set_experimental_options({"layout_optimizer": False})',
    ),
    Field("experimental.enable_mlir_bridge", "True", "tf.config.experimental.enable_mlir_bridge()"),
    Field("use_per_session_threads", "True"),
    Field("session_inter_op_thread_pool", ""),
    Field("placement_period", "10"),
    Field("operation_timeout_in_ms", "1000"),
    Field("device_filters", ""),
    Field("cluster_def", "", "tf.distribute"),
    Field("rpc_options.use_rpc_for_inprocess_master", "True"),
    Field("isolate_session_state", "True"),
    Field("share_cluster_devices_in_session", "True"),
    Field("pluggable_device_options", "", "as for gpu_options"),
)
"""The fields of ``ConfigProto`` and ``GPUOptions``, those about memory first. Fields of ``experimental`` are listed
where they are about GPU memory or have a counterpart."""

_PLACE = re.compile(r"(<!-- options -->\n).*?(<!-- end of options -->)", re.DOTALL)


def main() -> int:
    """Write the table, or compare it; the exit code."""
    parser = argparse.ArgumentParser(prog="tools/make_tf1.py", description="Write the table of docs/from-tf1.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the page is out of date")
    check = parser.parse_args().check
    text = PAGE.read_text(encoding="utf-8")
    new = _PLACE.sub(lambda place: place[1] + table() + place[2], text)
    if new == text:
        return 0
    print(f"{'out of date' if check else 'written'}: docs/from-tf1.md")
    if not check:
        PAGE.write_text(new, encoding="utf-8", newline="\n")
    return int(check)


def table() -> str:
    """Return the rows: an option, the counterpart, what a fix does."""
    head = ["| option of `ConfigProto` | in TensorFlow 2 | `tfmemlint fix --unsafe-fixes` |", "|---|---|---|"]
    rows = [f"| `{field.name}` | {_today(field)} | {_fix(field)} |" for field in FIELDS]
    return "\n".join([*head, *rows]) + "\n"


def program(field: Field) -> str:
    """Return a program that sets an option."""
    growth = "" if field.name in ALONE else f"config.{GROWTH} = True\n"
    return (
        f"import tensorflow as tf\n\nconfig = tf.compat.v1.ConfigProto()\n{growth}config.{field.name} = {field.value}\n"
        "session = tf.compat.v1.Session(config=config)\n\nprint(tf.zeros([1]))\n"
    )


def _today(field: Field) -> str:
    if field.today == NO_COUNTERPART:
        return "no counterpart"
    return f"`{field.today}`" if field.today.startswith(("tf.", "TF_")) else field.today


def _fix(field: Field) -> str:
    if not field.value:
        return "not tried: a message of its own"
    text = program(field)
    chosen, target = _rules(), Target.newest()
    fixed = fix_source(
        Source("train.py", text),
        rules=chosen,
        target=target,
        check=lambda source: check_source(source, chosen, target),
        options=Options(unsafe=True, gpu_memory_mib=GPU_MEMORY_MIB),
    )
    if fixed.text == text:
        reasons = [finding.withheld for finding in fixed.findings if finding.withheld]
        assert reasons, f"{field.name}: neither fixed nor withheld"
        return f"leaves the session: *{reasons[0].replace('_', chr(92) + '_')}*"
    if field.name not in ALONE and _statements(fixed.text) == _statements(_grown()):
        return "takes it out"
    added = [line.strip() for line in fixed.text.splitlines() if line.strip().startswith(("tf.config", "tf.debugging"))]
    called = next(line for line in reversed(added) if field.name in ALONE or "set_memory_growth" not in line)
    return f"writes `{called.partition('(')[0]}`"


def _grown() -> str:
    """Return the program with memory growth alone, fixed."""
    return 'import tensorflow as tf\nfor gpu in tf.config.list_physical_devices("GPU"):\n' + (
        "    tf.config.experimental.set_memory_growth(gpu, True)\nprint(tf.zeros([1]))\n"
    )


def _statements(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


@lru_cache(maxsize=1)
def _rules() -> tuple[Rule, ...]:
    return tuple(rule for rule in rules() if rule.severity is not Severity.ADVICE)


if __name__ == "__main__":
    sys.exit(main())
