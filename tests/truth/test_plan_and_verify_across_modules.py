"""Programs of two and three modules: plan, rules and a run on the installed TensorFlow say the same of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.fixes.projects import make
from tests.verify.programs import GROW, TF, indented, limited
from tfmemlint.engine.check_source import check_source
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.knowledge.releases import Target
from tfmemlint.plans.model import PredictionKind as Planned
from tfmemlint.plans.read import plan_of
from tfmemlint.sources import Source
from tfmemlint.verify.edge import Edge
from tfmemlint.verify.prove import Proof, RunOptions, prove
from tfmemlint.verify.verdict import VerdictKind

pytestmark = pytest.mark.slow

CONFIGURE = f"{TF}def configure():\n{indented(GROW)}"
SMALL = "SIZES['small']"
LATE = "RuntimeError: Physical devices cannot be modified after being initialized"
OPTIONS = (
    f"{TF}def options():\n    config = tf.compat.v1.ConfigProto()\n    grow(config.gpu_options)\n    return config\n"
    "def grow(options):\n    options.allow_growth = True\n"
)
SESSION = (
    "import tensorflow as tf\nfrom setup import options\ntf.compat.v1.disable_eager_execution()\n"
    "session = tf.compat.v1.Session(config=options())\nprint(session.graph)\n"
)

HOLDING: Mapping[str, tuple[dict[str, str], tuple[str, int, str]]] = {
    "growth that a function of another module sets": (
        {"main.py": "from setup import configure\nconfigure()\n", "setup.py": CONFIGURE},
        ("setup.py", 4, "allow_growth=True"),
    ),
    "growth that an import sets": (
        {"main.py": f"import setup\n{TF}x = tf.constant(1)\n", "setup.py": TF + GROW},
        ("setup.py", 3, "allow_growth=True"),
    ),
    "a limit that a third module knows": (
        {
            "main.py": "import setup\nsetup.limit()\n",
            "setup.py": f"{TF}from sizes import SMALL\ndef limit():\n{indented(limited('SMALL'))}",
            "sizes.py": "SMALL = 256\n",
        },
        ("setup.py", 5, "GPU 0: 256 MiB (2 %)"),
    ),
    "a limit that the program changes in the module": (
        {
            "main.py": "import setup, sizes\nsizes.SMALL = 512\nsetup.limit()\n",
            "setup.py": f"{TF}import sizes\ndef limit():\n{indented(limited('sizes.SMALL'))}",
            "sizes.py": "SMALL = 256\n",
        },
        ("setup.py", 5, "GPU 0: 512 MiB (3 %)"),
    ),
    "a limit in a dictionary that is taken from a module": (
        {
            "main.py": "from sizes import SIZES\nimport setup\nsame = SIZES\nsame['small'] = 512\nsetup.limit()\n",
            "setup.py": f"{TF}from sizes import SIZES\ndef limit():\n{indented(limited(SMALL))}",
            "sizes.py": "SIZES = {'small': 256}\n",
        },
        ("setup.py", 5, "GPU 0: 512 MiB (3 %)"),
    ),
    "a limit that an object of another module holds": (
        {
            "main.py": "from setup import Setup\nsetup = Setup()\nsetup.size = 512\nsetup.limit()\n",
            "setup.py": f"{TF}class Setup:\n    def __init__(self):\n        self.size = 256\n    def limit(self):\n"
            + indented(indented(limited("self.size"))),
        },
        ("setup.py", 7, "GPU 0: 512 MiB (3 %)"),
    ),
    "growth in a function that goes on for ever": (
        {
            "main.py": "from train import train\ntrain()\n",
            "train.py": f"{TF}import time\ndef train():\n{indented(GROW)}    while True:\n        time.sleep(1)\n",
        },
        ("train.py", 5, "allow_growth=True"),
    ),
    "growth before the module that starts the runtime": (
        {
            "main.py": "import setup\nimport model\n",
            "setup.py": TF + GROW,
            "model.py": f"{TF}weight = tf.Variable(1.0)\n",
        },
        ("setup.py", 3, "allow_growth=True"),
    ),
    "growth beside a module that starts the runtime when it is called": (
        {
            "main.py": "from model import build\nfrom setup import configure\nconfigure()\nbuild()\n",
            "setup.py": CONFIGURE,
            "model.py": f"{TF}def build():\n    return tf.Variable(1.0)\n",
        },
        ("setup.py", 4, "allow_growth=True"),
    ),
    "options that another module makes, and a third function fills": (
        {"main.py": SESSION, "setup.py": OPTIONS},
        ("main.py", 4, "allow_growth=True"),
    ),
    "a variable that an import sets": (
        {
            "main.py": f"import setup\n{TF}x = tf.constant(1)\n",
            "setup.py": "import os\nos.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = 'true'\n",
        },
        ("setup.py", 2, "allow_growth=True, TF_FORCE_GPU_ALLOW_GROWTH=true"),
    ),
    "growth in a package that is run by relative imports": (
        {
            "pack/__init__.py": "",
            "pack/setup.py": f"from .names import KIND\n{TF}def configure():\n"
            + indented(GROW.replace('"GPU"', "KIND")),
            "pack/names.py": "KIND = 'GPU'\n",
            "pack/__main__.py": "from .setup import configure\nconfigure()\n",
        },
        ("pack/setup.py", 5, "allow_growth=True"),
    ),
    "growth in a package below src, by a command": (
        {
            "pyproject.toml": '[project]\nname = "pack"\nversion = "1"\n[project.scripts]\ngo = "pack.cli:main"\n',
            "src/pack/__init__.py": "",
            "src/pack/cli.py": "from pack.setup import configure\ndef main():\n    configure()\n",
            "src/pack/setup.py": CONFIGURE,
        },
        ("src/pack/setup.py", 4, "allow_growth=True"),
    ),
    "growth in a module that is imported in a function": (
        {"main.py": "def go():\n    import setup\n    setup.configure()\ngo()\n", "setup.py": CONFIGURE},
        ("setup.py", 4, "allow_growth=True"),
    ),
    "a module in another place": (
        {
            "main.py": "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'more'))\n"
            f"import setup\n{TF}{GROW}",
            "more/setup.py": "",
            "setup.py": f"{TF}weight = tf.Variable(1.0)\n",
        },
        ("main.py", 6, "allow_growth=True"),
    ),
}
FAILING: Mapping[str, tuple[dict[str, str], tuple[str, int, str]]] = {
    "growth behind a module that starts the runtime": (
        {"main.py": f"import model\n{TF}{GROW}", "model.py": f"{TF}weight = tf.Variable(1.0)\n"},
        ("main.py", 4, LATE),
    ),
    "growth by a module behind one that starts the runtime": (
        {
            "main.py": "import model\nfrom setup import configure\nconfigure()\n",
            "setup.py": CONFIGURE,
            "model.py": f"{TF}weight = tf.Variable(1.0)\n",
        },
        ("setup.py", 4, LATE),
    ),
    "a module that imports one which starts the runtime": (
        {
            "main.py": f"import layers\n{TF}{GROW}",
            "layers.py": "import model\n",
            "model.py": f"{TF}weight = tf.Variable(1.0)\n",
        },
        ("main.py", 4, LATE),
    ),
    "a variable that a module sets behind the listing of another": (
        {
            "main.py": f"import listed\nimport setup\n{TF}print(tf.constant(1))\n",
            "setup.py": "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n",
            "listed.py": f"{TF}gpus = tf.config.list_physical_devices('GPU')\n",
        },
        ("setup.py", 2, "it was read before this line set it"),
    ),
    "a share in the place of MiB, in another module": (
        {
            "main.py": "import setup\nsetup.limit()\n",
            "setup.py": f"{TF}from sizes import HALF\ndef limit():\n{indented(limited('HALF'))}",
            "sizes.py": "HALF = 0.5\n",
        },
        ("setup.py", 5, "memory_limit is in MiB, not a share of the memory"),
    ),
}


def _start(root: Path, files: Mapping[str, str]) -> str:
    make(root, dict(files))
    return next(name for name in files if name in ("main.py", "pack/__main__.py", "src/pack/cli.py"))


def _proof(edge: Edge, path: str, **conditions: object) -> Proof:
    source = Source(path, Path(path).read_text(encoding="utf-8"))
    return prove(source, edge, RunOptions(timeout=20.0, **conditions), Target.newest())  # type: ignore[arg-type]


def _planned(path: str) -> list[tuple[str, int, Planned]]:
    plan = plan_of(Source(path, Path(path).read_text(encoding="utf-8")), Target.newest(), gpus=1)
    return [(*plan.where(one.place.span.row), one.prediction.kind) for entry in plan.entries for one in entry.intents]


def _reported(files: Mapping[str, str]) -> list[tuple[str, int]]:
    outcomes = run([(name, True) for name in files if name.endswith(".py")], RunContext(explain_fixes="never"))
    return [(finding.path, finding.span.row) for outcome in outcomes for finding in outcome.findings]


AT_USER = {"a variable that a module sets behind the listing of another": "main.py"}
"""The file in which the rules report what a module that is right by itself does too late."""


@pytest.mark.parametrize("whole", [False, True], ids=["slice", "whole"])
@pytest.mark.parametrize("case", HOLDING)
def test_what_takes_effect_is_planned_and_seen(
    case: str, whole: bool, edge: Edge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, (path, row, shown) = HOLDING[case]
    if whole and "for ever" in case:
        pytest.skip("the program itself never ends")
    monkeypatch.chdir(tmp_path)
    start = _start(tmp_path, files)
    assert _planned(start) == [(path, row, Planned.HAPPENS)]
    proof = _proof(edge, start, whole=whole)
    assert proof.rows is not None
    seen = [
        (*proof.rows.place(verdict.stated.span.row), verdict.kind, verdict.configuration) for verdict in proof.verdicts
    ]
    assert seen == [(path, row, VerdictKind.HOLDS, shown)], [run.failure for run in proof.runs]
    assert not _reported(files)


@pytest.mark.parametrize("whole", [False, True], ids=["slice", "whole"])
@pytest.mark.parametrize("case", FAILING)
def test_what_does_not_take_effect_is_planned_seen_and_reported(
    case: str, whole: bool, edge: Edge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, (path, row, shown) = FAILING[case]
    monkeypatch.chdir(tmp_path)
    start = _start(tmp_path, files)
    assert _planned(start) == [(path, row, Planned.FAILS)]
    (verdict,) = (proof := _proof(edge, start, whole=whole)).verdicts
    assert proof.rows is not None
    assert proof.rows.place(verdict.stated.span.row) == (path, row)
    assert (verdict.kind in (VerdictKind.NOTHING, VerdictKind.RAISES), verdict.reason) == (True, shown)
    assert {one for one, _ in _reported(files)} == {AT_USER.get(case, path)}


def test_a_module_that_needs_what_is_missing_here_is_cut_to_what_matters(
    edge: Edge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "main.py": "from setup import configure, shown\nconfigure()\nprint(shown)\n",
        "setup.py": f"import nowhere\n{CONFIGURE}shown = nowhere.shown\n",
    }
    monkeypatch.chdir(tmp_path)
    proof = _proof(edge, _start(tmp_path, {**files, "setup.py": files["setup.py"].replace(", shown", "")}))
    assert [verdict.kind for verdict in proof.verdicts] == [
        VerdictKind.UNPROVEN
    ]  # what is imported by name has to be there
    make(tmp_path, {"main.py": "import setup\nsetup.configure()\nprint(setup.shown)\n"})
    proof = _proof(edge, "main.py")
    assert [verdict.kind for verdict in proof.verdicts] == [VerdictKind.HOLDS]
    ((note,),) = [run.notes for run in proof.runs]
    assert note == "left out, because it fails here (ModuleNotFoundError: No module named 'nowhere'): setup.py:1: " + (
        "import nowhere"
    )


def test_what_is_read_of_a_file_alone_is_what_check_finds_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, (path, row, _) = FAILING["growth behind a module that starts the runtime"]
    monkeypatch.chdir(tmp_path)
    _start(tmp_path, files)
    source = Source(path, files[path])
    plan = plan_of(source, Target.newest(), gpus=1, alone=True)
    assert [one.prediction.kind for entry in plan.entries for one in entry.intents] == [Planned.HAPPENS]
    assert not check_source(source, [], Target.newest())
    assert _planned(path) == [(path, row, Planned.FAILS)]
