"""Measure the effects of calls on TensorFlow's runtime, each in a process of its own, forked right after the import.

Usage: python tools/knowledge/measure_effects.py calls.txt [calls.txt ...] > measured/2.21.txt

Runs under any Python from 3.7 on with any TensorFlow from 2.0 on, and needs nothing else. A line of ``calls.txt`` is an
expression that may use ``tf``, ``np`` and ``'DIR/...'`` (the files made by `prepare`). The answer has a line for each:
three letters and the call. A letter is ``S`` where the eager context had been started afterwards (also by a call that
failed then), ``l`` where only the physical devices had been listed, ``n`` where neither had happened, ``E`` where the
call failed without starting anything. The first letter is for eager mode; calls that start it are run again inside
``tf.Graph().as_default()`` (second letter) and after ``disable_eager_execution()`` (third letter), and those that start
it even there after ``disable_v2_behavior()`` (fourth letter); ``-`` is not run.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

LIMIT = 60
"""Seconds a call may take."""

MODES = {
    "": "",
    "graph": "scope = tf.Graph().as_default(); scope.__enter__()",
    "disabled": "tf.compat.v1.disable_eager_execution()",
    "v1": "tf.compat.v1.disable_v2_behavior()",
}


def in_child(work):
    """Run ``work()`` in a forked process; return its result, or an error's text if it failed or took too long."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        try:
            answer = json.dumps(work())
        except BaseException as error:
            answer = json.dumps({"error": type(error).__name__ + ": " + str(error)[:120]})
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], LIMIT)
    if not ready:
        os.kill(child, signal.SIGKILL)
    answer = b"" if not ready else os.read(reader, 1 << 16)
    os.close(reader)
    os.waitpid(child, 0)
    return json.loads(answer.decode()) if answer else {"error": "no answer"}


def run(call, mode, folder):
    """Run one call here, and say what it left behind."""
    import numpy as np
    import tensorflow as tf

    space = {"tf": tf, "np": np}
    exec(MODES[mode], space)
    state, error = runtime_state(), None
    if state["init"] or state["lists_physical"]:
        return {"error": "the mode itself did: %s" % state}  # noqa: UP031 (Python 3.7 reads this file)
    try:
        eval(call.replace("DIR", folder), space)
    except BaseException as caught:
        error = type(caught).__name__ + ": " + str(caught).split("\n")[0][:120]
    return dict(runtime_state(), error=error)


def runtime_state():
    """Return the state of this process: whether the eager context was started, and whether the physical devices were
    listed."""
    from tensorflow.python.eager import context

    there = context.context_safe() if hasattr(context, "context_safe") else context._context
    return {
        "init": there is not None and there._context_handle is not None,
        "lists_physical": there is not None and there._physical_devices is not None,
    }


def letter(result):
    """Return a result as one letter."""
    if result is None:
        return "-"
    if result.get("init"):
        return "S"
    if result.get("error"):
        return "E"
    return "l" if result["lists_physical"] else "n"


def prepare(folder):
    """Make the files that calls read: a picture, a table, records, saved models, a checkpoint."""

    def work():
        import tensorflow as tf

        Path(folder, "a.csv").write_text("a,b\n1,2\n3,4\n")
        Path(folder, "a.txt").write_text("one\ntwo\n")
        for label in ("x", "y"):
            os.makedirs(os.path.join(folder, "pictures", label))  # noqa: PTH103, PTH118
            picture = tf.image.encode_png(tf.zeros((4, 4, 3), tf.uint8)).numpy()
            Path(folder, "pictures", label, "a.png").write_bytes(picture)
            os.makedirs(os.path.join(folder, "texts", label))  # noqa: PTH103, PTH118
            Path(folder, "texts", label, "a.txt").write_text("words")
        with tf.io.TFRecordWriter(folder + "/a.tfrecord") as records:
            records.write(b"x")
        tf.saved_model.save(tf.Module(), folder + "/saved")
        tf.train.Checkpoint(step=tf.Variable(1)).save(folder + "/ck")
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
        model.save(folder + "/model.h5")
        model.save_weights(folder + "/model.weights.h5")
        if [int(part) for part in tf.__version__.split(".")[:2]] >= [2, 12]:
            model.save(folder + "/model.keras")
        return {}

    return in_child(work)


def main(paths):
    import tensorflow as tf

    if runtime_state()["init"]:
        raise SystemExit("importing TensorFlow started its runtime; nothing can be measured")
    calls = []
    for path in paths:
        calls += [line for line in Path(path).read_text().splitlines() if line and not line.startswith("#")]
    with tempfile.TemporaryDirectory() as folder:
        print("prepared:", prepare(folder), file=sys.stderr)
        results = {mode: {} for mode in MODES}
        began = time.time()
        for call in dict.fromkeys(calls):
            results[""][call] = found = in_child(lambda: run(call, "", folder))  # noqa: B023
            if found.get("init"):
                for mode in ("graph", "disabled"):
                    results[mode][call] = in_child(lambda: run(call, mode, folder))  # noqa: B023
            if results["graph"].get(call, {}).get("init"):
                results["v1"][call] = in_child(lambda: run(call, "v1", folder))  # noqa: B023
        print(len(results[""]), "calls in", round(time.time() - began), "s", file=sys.stderr)
    print("# TensorFlow", tf.__version__, "on Python", sys.version.split(" ")[0])
    for call in sorted(results[""]):
        print("".join(letter(results[mode].get(call)) for mode in MODES), call)


if __name__ == "__main__":
    main(sys.argv[1:])
