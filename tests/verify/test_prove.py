"""Whole proofs: a program in, a verdict for each of its intents out, as the real TensorFlow has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.verify.programs import GROW, GROWING, TF, indented, limited, program_of, proved, verdicts
from tfmemlint.intents import stated_intents
from tfmemlint.knowledge.releases import Target
from tfmemlint.sources import Source
from tfmemlint.verify.edge import Edge
from tfmemlint.verify.prove import prove_fixed
from tfmemlint.verify.report import GroundInfo, as_json, exit_code
from tfmemlint.verify.run_options import RunOptions, gpus_named
from tfmemlint.verify.verdict import VerdictKind

GROWS = ("takes effect", "allow_growth=True")
LATE = ("raises", "RuntimeError: Physical devices cannot be modified after being initialized")
NEEDS = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--size', type=int, required=True)\n"
NEEDS += f"arguments = parser.parse_args()\n{TF}{limited('arguments.size')}"


@pytest.mark.parametrize(
    "code",
    [
        GROWING,
        f"{TF}def main():\n{indented(GROW)}if __name__ == '__main__':\n    main()\n",
        f"import asyncio\n{TF}async def main():\n{indented(GROW)}asyncio.run(main())\n",
        f"import functools\n{TF}def told(of):\n    @functools.wraps(of)\n    def inner():\n        return of()\n"
        f"    return inner\n@told\ndef setup():\n{indented(GROW)}setup()\n",
        f"{TF}class Setup:\n    def __init__(self):\n        self.apply()\n    def apply(self):\n"
        f"{indented(indented(GROW))}Setup()\n",
        "import tensorflow as other\nfrom tensorflow.config import experimental as real\nchosen = other.config\n"
        "for one in chosen.list_physical_devices('GPU'):\n    real.set_memory_growth(one, True)\n",
        f"from __future__ import annotations\n{TF}def f(x: Nowhere) -> Nowhere:\n{indented(GROW)}f(1)\n",
        f"from absl import app\n{TF}def main(_):\n{indented(GROW)}app.run(main)\n",
        f"import threading\n{TF}def setup():\n{indented(GROW)}one = threading.Thread(target=setup)\none.start()\n",
        f"import unittest\n{TF}class Test(unittest.TestCase):\n    def test(self):\n{indented(indented(GROW))}"
        "unittest.main()\n",
    ],
)
def test_however_it_is_written_it_takes_effect(edge: Edge, code: str) -> None:
    assert verdicts(edge, code, whole=True) == [GROWS]


@pytest.mark.parametrize(
    "start",
    [
        "x = tf.constant(1)",
        "def build():\n    return tf.zeros([2])\nx = build()",
        "def build(x=tf.constant(1)):\n    return x",
        "class Model:\n    weight = tf.Variable(1.0)",
        "strategy = tf.distribute.MirroredStrategy()",
    ],
)
@pytest.mark.parametrize("whole", [False, True])
def test_what_comes_after_the_start_of_the_runtime_raises(edge: Edge, start: str, whole: bool) -> None:
    assert verdicts(edge, f"{TF}{start}\n{GROW}", whole=whole) == [LATE]


@pytest.mark.parametrize(
    ("before", "slice_alone"),
    [
        ("import nowhere", True),
        ("frame = open('data.csv').read()", True),
        ("import urllib.request\ndata = urllib.request.urlopen('http://127.0.0.1:1/').read()", True),
        ("name = input('name? ')", True),
        ("import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('data')\nparser.parse_args()", True),
        ("size = 1 / 0", True),
        ("import sys\nif len(sys.argv) < 2:\n    sys.exit('usage: program DATA')", False),
    ],
)
def test_what_the_configuration_does_not_need_can_not_stop_its_slice(
    edge: Edge, before: str, slice_alone: bool
) -> None:
    code = f"{before}\n{GROWING}"
    ((kind, reason),) = verdicts(edge, code, whole=True)
    assert kind == "not provable here"
    assert reason.startswith("never reached: ")
    if slice_alone:
        assert verdicts(edge, code) == [GROWS]


def test_arguments_are_the_program_s_own(edge: Edge) -> None:
    ((kind, reason),) = verdicts(edge, NEEDS)
    assert kind == "not provable here"
    assert "--size" in reason
    assert verdicts(edge, NEEDS, argv=("--size", "512")) == [("takes effect", "GPU 0: 512 MiB (3 %)")]


def test_a_module_of_the_project_that_starts_the_runtime_is_seen(edge: Edge, tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(f"{TF}weight = tf.Variable(1.0)\n")
    assert verdicts(edge, f"{TF}import models\n{GROW}", tmp_path / "program.py") == [LATE]


def test_a_module_of_the_project_that_can_not_be_imported_is_left_out_with_a_note(edge: Edge, tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text("import nowhere\n")
    proof = proved(edge, f"{TF}import models\n{GROW}", tmp_path / "program.py")
    assert [verdict.kind for verdict in proof.verdicts] == [VerdictKind.HOLDS]
    ((note,),) = [run.notes for run in proof.runs]
    assert note.startswith("left out, because it fails here (ModuleNotFoundError: No module named 'nowhere')")
    assert note.endswith("models.py:1: import nowhere")


@pytest.mark.parametrize("whole", [False, True])
def test_a_program_of_a_package_is_run_as_a_part_of_it(edge: Edge, tmp_path: Path, whole: bool) -> None:
    package = tmp_path / "package" / "part"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "sizes.py").write_text("SMALL = 256\n")
    (package.parent / "models.py").write_text(f"{TF}weight = tf.Variable(1.0)\n")
    code = f"{TF}from .sizes import SMALL\n{limited('SMALL')}"
    assert verdicts(edge, code, package / "program.py", whole=whole) == [("takes effect", "GPU 0: 256 MiB (2 %)")]
    assert verdicts(edge, f"{TF}from .. import models\n{GROW}", package / "other.py", whole=whole) == [LATE]


def test_a_function_that_nothing_calls_is_called_and_one_that_can_not_be_is_said(edge: Edge) -> None:
    code = f"{TF}def setup():\n{indented(GROW)}def of(number):\n{indented(GROW)}"
    proof = proved(edge, code)
    assert [(run.entry, [verdict.kind for verdict in run.verdicts]) for run in proof.runs] == [
        ("setup", [VerdictKind.HOLDS]),
        ("of", [VerdictKind.UNPROVEN]),
    ]
    assert "of(number) needs arguments" in proof.verdicts[1].reason
    assert {verdict.kind for verdict in proved(edge, code, whole=True).verdicts} == {VerdictKind.UNPROVEN}


def test_what_was_run_is_told_and_a_whole_program_stops_at_its_first_use_of_a_gpu(edge: Edge) -> None:
    code = f"{GROWING}print('configured')\nx = tf.constant(1)\nprint('used')\n1 / 0\n"
    (sliced,) = proved(edge, code).runs
    assert sliced.slice is not None and sliced.slice.rows == 3
    assert sliced.seen is not None and sliced.seen.result.stdout == ""
    (whole,) = proved(edge, code, whole=True).runs
    assert whole.slice is None
    assert whole.seen is not None and whole.seen.stopped
    assert whole.seen.result.stdout == "configured\n"
    assert whole.seen.start_line == 5


def test_what_a_program_said_is_shown_where_it_failed(edge: Edge) -> None:
    (run,) = proved(edge, f"{TF}print('here')\n{limited('1 // 0')}", whole=True).runs
    assert run.failure.startswith("here\n")
    assert run.failure.endswith("ZeroDivisionError: integer division or modulo by zero")


def test_the_machine_is_as_large_as_the_program_says_or_the_user(edge: Edge) -> None:
    code = f"{TF}gpus = tf.config.list_physical_devices('GPU')\n"
    code += "tf.config.experimental.set_memory_growth(gpus[2], True)\n"
    assert proved(edge, code).gpus == 3
    alone = proved(edge, code, gpus=1)
    assert [(verdict.kind, verdict.reason) for verdict in alone.verdicts] == [
        (VerdictKind.RAISES, "IndexError: list index out of range")
    ]
    share = f"{TF}{limited(4096)}"
    assert verdicts(edge, share, memory_mib=8192) == [("takes effect", "GPU 0: 4096 MiB (50 %)")]


@pytest.mark.parametrize(
    ("code", "number"),
    [
        (GROWING, 1),
        (f"import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0, 3'\n{GROWING}", 4),
        (f"{GROWING}with tf.device('/GPU:1'):\n    x = tf.constant(1)\n", 2),
        (f"{GROWING}print(gpus[500])\n", 8),
    ],
)
def test_so_many_gpus_a_program_names(code: str, number: int) -> None:
    program = program_of(code)
    assert gpus_named(program, stated_intents(program)) == number


def test_what_is_asked_for_counts_not_what_is_guessed(edge: Edge) -> None:
    code = f"class Settings: size = 1\nsettings = Settings()\nsetattr(settings, 'size', 512)\n{TF}"
    assert verdicts(edge, code + limited("settings.size")) == [("takes effect", "GPU 0: 512 MiB (3 %)")]


@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        ("import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'])\n", "not provable here"),
        ("", "no effect"),
        ("x = tf.ones([2])\nimport subprocess, sys\nsubprocess.run([sys.executable, 'child.py'])\n", "no effect"),
    ],
)
def test_a_variable_for_the_next_program_is_not_without_effect(edge: Edge, after: str, verdict: str) -> None:
    code = f"import os\n{TF}x = tf.zeros([2])\nos.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = 'true'\n{after}"
    ((found, _),) = verdicts(edge, code)
    assert found == verdict


def test_a_fix_is_proved_by_what_the_original_wanted(edge: Edge) -> None:
    late = f"{TF}x = tf.constant(1)\n{GROW}"
    early = f"{TF}{GROW}x = tf.constant(1)\n"
    proof = prove_fixed(Source("program.py", late), early, edge, RunOptions(), Target.newest(), 1)
    (run,) = proof.runs
    assert run.before is not None
    assert [one.kind for one in run.before] == [VerdictKind.RAISES]
    assert [verdict.kind for verdict in run.verdicts] == [VerdictKind.HOLDS]
    assert proof.fixes == 1


def test_a_fix_that_loses_the_purpose_is_found_out(edge: Edge) -> None:
    late = f"{TF}x = tf.constant(1)\n{GROW}"
    proof = prove_fixed(Source("program.py", late), f"{TF}x = tf.constant(1)\n", edge, RunOptions(), Target.newest(), 1)
    assert [verdict.kind for verdict in proof.verdicts] == [VerdictKind.NOTHING]


def fixed_kinds(edge: Edge, old: str, new: str, gpus: int = 1) -> list[VerdictKind]:
    """The verdicts on the intents of ``old`` once it has become ``new``."""
    proof = prove_fixed(Source("program.py", old), new, edge, RunOptions(gpus=gpus), Target.newest(), 1)
    return [verdict.kind for verdict in proof.verdicts]


def test_a_fixed_value_is_not_judged_by_the_old_one(edge: Edge) -> None:
    wrong = "import os\nos.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = 'True'\n" + TF
    assert fixed_kinds(edge, wrong, wrong.replace("'True'", "'true'")) == [VerdictKind.HOLDS]
    assert fixed_kinds(edge, TF + limited("4 * 1024**3"), TF + limited("4 * 1024")) == [VerdictKind.HOLDS]


def test_a_value_that_was_right_must_stay(edge: Edge) -> None:
    assert fixed_kinds(edge, TF + limited(2048), TF + limited(4096)) == [VerdictKind.NOTHING]


def test_an_intent_that_another_one_excludes_is_taken_out(edge: Edge) -> None:
    growth = "tf.config.experimental.set_memory_growth(gpus[0], True)\n"
    before, after = TF + limited(2048) + growth, TF + limited(2048)
    assert fixed_kinds(edge, before, after) == [VerdictKind.HOLDS, VerdictKind.REMOVED]


def test_a_program_whose_intents_are_all_taken_out_is_reported(edge: Edge) -> None:
    options = "options = tf.compat.v1.GPUOptions(allow_growth=True)\n"
    proof = prove_fixed(Source("program.py", TF + options), TF, edge, RunOptions(), Target.newest(), 1)
    assert [verdict.kind for verdict in proof.verdicts] == [VerdictKind.REMOVED]
    ground = GroundInfo("edge", "2.21.0", "python", 16384)
    (program,) = json.loads(as_json([proof], ground))["programs"]
    assert [intent["verdict"] for intent in program["entry_points"][0]["intents"]] == ["taken out"]
    assert exit_code([proof]) == 0


def test_a_program_that_wants_nothing_is_not_run(edge: Edge) -> None:
    assert proved(edge, "raise SystemExit(1)\n").runs == []
    with pytest.raises(SyntaxError):
        proved(edge, "def f(:\n")
