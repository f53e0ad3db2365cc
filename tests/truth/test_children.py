"""The processes that a program starts have of its configuration what the interpreter takes them to have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.verify.edge import Edge

PROGRAM = """
import multiprocessing
import sys

import tensorflow as tf


def tell(results):
    threads = tf.config.threading.get_intra_op_parallelism_threads()
    try:
        tf.config.threading.set_intra_op_parallelism_threads(threads + 1)
    except RuntimeError:
        threads = -1
    results.put(threads)


if __name__ == "__main__":
    tf.config.threading.set_intra_op_parallelism_threads(3)
    if "started" in sys.argv:
        tf.zeros([2])
    context = multiprocessing.get_context(sys.argv[1])
    results = context.Queue()
    process = context.Process(target=tell, args=(results,))
    process.start()
    print(results.get(timeout=100))
    process.join()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["spawn"], "0"),  # nothing of what its parent has set
        (["forkserver"], "0"),
        (["fork"], "3"),  # all of it
        (["spawn", "started"], "0"),  # its own runtime has not started
        (["fork", "started"], "-1"),  # that of its parent has, and refuses
    ],
)
def test_a_new_process_has_what_its_start_method_gives_it(
    tmp_path: Path, edge: Edge, words: list[str], told: str
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    done = edge.run(PROGRAM, gpus=0, filename=str(program), cwd=tmp_path, argv=words, timeout=200)
    assert done.stdout.split()[-1:] == [told], done.stderr
