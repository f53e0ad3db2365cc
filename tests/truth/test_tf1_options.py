"""The table of TF1's options has every field of the installed TensorFlow's messages, and its counterparts set them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tools.make_tf1 import FIELDS

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

GENERIC = ("gpu_options", "graph_options", "rpc_options", "experimental", "device_count")
"""Fields that are messages or mappings; the table lists what is in them."""

_PROGRAM = """
import json, sys
import tensorflow as tf
from tensorflow.python.eager import context

fields = [field.name for field in tf.compat.v1.ConfigProto.DESCRIPTOR.fields]
fields += ["gpu_options." + field.name for field in tf.compat.v1.GPUOptions.DESCRIPTOR.fields]
for counterpart in json.loads(sys.argv[1]):
    exec(counterpart)
set_there = context.context().config
print(json.dumps({"fields": fields, "text": str(set_there)}))
"""


def _seen() -> dict[str, object]:
    counterparts = [field.today for field in FIELDS if field.today.endswith(")") and "gpu" not in field.today]
    command = [sys.executable, "-c", _PROGRAM, json.dumps(counterparts)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(seen, dict)
    return seen


def test_the_table_has_every_field_and_its_counterparts_set_them() -> None:
    seen = _seen()
    listed = {field.name.partition("[")[0] for field in FIELDS}
    fields = seen["fields"]
    assert isinstance(fields, list)
    wanted = {name for name in fields if name not in GENERIC and not name.endswith(".experimental")}
    # `rpc_options` and the like stand in the table with one of their fields.
    assert {name for name in wanted if not any(each.startswith(name) for each in listed)} == set()
    text = str(seen["text"])
    for field in FIELDS:
        last = field.name.rpartition(".")[2].partition("[")[0]
        if field.today.endswith(")") and "gpu" not in field.today and field.value not in ("True", "0"):
            assert f"{last}: {field.value}" in text or f"{last}: ON" in text or f"{last}: OFF" in text, (field, text)
