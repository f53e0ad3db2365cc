"""Imports of Keras' old backend in a ``try``: which of them are reported.

These are no fixtures, as ``plan`` does not know that such an import raises: it shows what stands behind it.
"""

from __future__ import annotations

import pytest

from tfmemlint.api import check

PROGRAM = """\
import tensorflow as tf

try:
    import keras.backend.tensorflow_backend as backend

    {0}
except ImportError:
    pass
{1}
print(tf.config.list_physical_devices("GPU"))
"""
PATCH = "backend._manual_variable_initialization = True"
OWN_IMPORT = """\
def devices():
    try:
        import keras.backend.tensorflow_backend as backend
    except ImportError:
        return []
    return backend._LOCAL_DEVICES
"""
SILENT = {"a patch": (PATCH, ""), "a function with an import of its own": (PATCH, OWN_IMPORT)}
REPORTED = {
    "growth": ('tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)', ""),
    "a variable": ('__import__("os").environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"', ""),
    "a session": ("backend.set_session(tf.compat.v1.Session())", ""),
    "a name that other code uses": (PATCH, "print(backend)"),
}


@pytest.mark.parametrize(("block", "after"), [*SILENT.values(), *REPORTED.values()], ids=[*SILENT, *REPORTED])
def test_an_import_in_a_try_is_reported_where_something_depends_on_it(block: str, after: str) -> None:
    found = {finding.code for finding in check(PROGRAM.format(block, after), target_version="2.15").findings}
    assert ("TFM509" in found) is ((block, after) in REPORTED.values())
