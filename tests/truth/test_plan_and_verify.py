"""What the plan says of a program and what a run shows of it: the two never contradict each other."""

from __future__ import annotations

import ast
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from tests.fixture_files import FIXTURES, blank_markers, fixture_paths, read_text, strip_markers
from tests.program_files import program_folders, read_program
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.knowledge.releases import Target
from tfmemlint.plans.model import FilePlan, PlannedIntent
from tfmemlint.plans.model import PredictionKind as Planned
from tfmemlint.plans.read import plan_of
from tfmemlint.sources import Source
from tfmemlint.verify.edge import Edge
from tfmemlint.verify.prove import Proof, RunOptions, prove
from tfmemlint.verify.verdict import Verdict, VerdictKind

pytestmark = pytest.mark.slow

MEMORY_MIB = 16384


def _programs() -> list[Path]:
    """Every program that goes wrong, and some of the others, which have less to disagree about."""
    bad = fixture_paths("bad")
    written = [*bad, *_one_of(3, fixture_paths("ok")), *sorted(FIXTURES.glob("articles/*.py"))]
    fixed = [path.with_name(f"{path.stem}.fixed.py") for path in _one_of(4, bad)]
    return [path for path in (*written, *fixed) if path.exists() and _is_python(path)]


def _one_of(number: int, paths: Iterable[Path]) -> list[Path]:
    """A part of some files, which a new one beside them does not change."""
    return [path for path in paths if zlib.crc32(_named(path).encode()) % number == 0]


def _is_python(path: Path) -> bool:
    try:
        ast.parse(read_text(path))
    except (SyntaxError, ValueError):
        return False  # that is what it is a fixture of
    return True


def _named(path: Path) -> str:
    return str(path.relative_to(FIXTURES))


def _header(path: Path) -> dict[str, str]:
    """The claims of a program; a fixed side has those of the side that it mends."""
    original = path.with_name(path.name.replace(".fixed.py", ".py"))
    return strip_markers(read_text(original))[2]


def contradictions(
    text: str, path: str, edge: Edge, gpus: int, *, unseen: bool = False, env: Mapping[str, str] | None = None
) -> list[str]:
    """Where the plan and the run of a program exclude each other, as sentences; ``unseen``: only an allocator shows
    that something fails, so that here it may seem to take effect."""
    return _contradictions(*_planned_and_proved(Source(path, text), edge, gpus, env or {}), gpus, unseen=unseen)


def _planned_and_proved(source: Source, edge: Edge, gpus: int, env: Mapping[str, str]) -> tuple[FilePlan, Proof]:
    """The plan of a program, and what a run shows of it."""
    target = Target.newest()
    plan = plan_of(source, target, gpus=gpus, memory=MEMORY_MIB)
    return plan, prove(source, edge, RunOptions(gpus=gpus, env=env), target)


def _contradictions(plan: FilePlan, proof: Proof, gpus: int, *, unseen: bool = False) -> list[str]:
    planned = {
        (intent.place.span, intent.purpose, intent.gpu, entry.name.rpartition(".")[2]): intent
        for entry in plan.entries
        for intent in entry.intents
    }
    found = []
    for proved in proof.verdicts:
        stated = proved.stated
        one = planned.pop((stated.span, stated.intent.purpose.value, stated.gpu, stated.entry), None)
        fails_unseen = unseen and one is not None and one.prediction.kind is Planned.FAILS
        if one is None or (_exclude(one, proved) and not fails_unseen):
            said = "nothing" if one is None else one.prediction.words
            shown = f"{proved.kind.value} ({proved.configuration}; {proved.reason})"
            found.append(f"line {stated.span.row}, {gpus} GPUs: {stated.intent.describe()}: {said!r}, but {shown}")
    return found + [
        f"line {value.place.span.row}: {value.words}: planned, but not looked at" for value in planned.values()
    ]


def _exclude(one: PlannedIntent, proved: Verdict) -> bool:
    happens = one.prediction.kind is Planned.HAPPENS and one.certain
    return (happens and proved.kind in (VerdictKind.NOTHING, VerdictKind.RAISES)) or (
        one.prediction.kind is Planned.FAILS and proved.kind is VerdictKind.HOLDS
    )


DISAGREE = {
    "TFM101/bad_forked_after_start.py": "verify does not look into the processes that a program starts",
    "TFM308/bad_number_of_an_actor.py": "the plan does not say what variables of the program's own are by default",
    "TFM402/bad_before_slice.py": "the plan does not ask which GPUs a slice leaves visible",
    "TFM509/bad_from_import.py": "verify cuts out an import that fails",
    "TFM509/bad_import.py": "verify cuts out an import that fails",
    "bad_conftest_hook_starts_the_runtime": "verify does not call the hooks of conftest.py",
    "ok_visible_narrowed_in_another_module": "the first setting has no effect, as it is meant: another narrows it",
    "ok_option_before_the_session_of_another_module": "verify does not see options that a module keeps in a message",
    "bad_release_flag_of_another_module": "the plan does not know that a name of another release ends the run",
}
"""The fixtures on which plan and verify do not say the same yet, and why."""


@pytest.mark.parametrize("path", _programs(), ids=_named)
def test_the_plan_and_the_run_agree(path: Path, edge: Edge, request: pytest.FixtureRequest) -> None:
    if _named(path) in DISAGREE:
        request.applymarker(pytest.mark.xfail(reason=DISAGREE[_named(path)], strict=True))
    header = _header(path)
    if "target" in header:
        pytest.skip(f"is about TensorFlow {header['target']}")
    # One number of GPUs each: what is claimed for several is the more likely to go wrong with several.
    named = [int(count) for count in header.get("gpus", "").split(",") if count]
    gpus = max(named, default=1 + len(path.name) % 2)
    unseen = header.get("ground", "").startswith("driver")
    found = contradictions(blank_markers(read_text(path)), str(path), edge, gpus, unseen=unseen)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", program_folders(), ids=lambda path: path.name)
def test_the_plan_the_run_and_the_rules_agree_on_programs_of_several_files(
    folder: Path, edge: Edge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    fixture = read_program(folder)
    if fixture.known and "suppressed" not in folder.name:  # what comments silence is no matter here
        request.applymarker(pytest.mark.xfail(reason=fixture.known, strict=True))
    if folder.name in DISAGREE:
        request.applymarker(pytest.mark.xfail(reason=DISAGREE[folder.name], strict=True))
    fixture.put(tmp_path)
    monkeypatch.chdir(tmp_path)
    # What is reported at the user of a module goes wrong in the module.
    reported = run([(name, True) for name in fixture.modules], RunContext(explain_fixes="never"))
    places = {
        (finding.path, finding.span.row): (finding.in_module.path, finding.in_module.span.row)
        for result in reported
        for finding in result.findings
        if finding.in_module is not None
    }
    wrong: set[tuple[str, int]] = set()
    for start in fixture.starts:
        gpus = max(map(int, start.header.get("gpus", "1").split(",")))
        variables = dict(one.split("=", 1) for one in start.header.get("env", "").split())
        source = Source(start.path, fixture.texts[start.path])
        plan, proof = _planned_and_proved(source, edge, gpus, variables)
        found = _contradictions(plan, proof, gpus)
        assert not found, "\n".join([start.entry, *found])
        wrong |= _going_wrong(plan, proof)
    late = {places.get((name, row), (name, row)) for name, row, code in fixture.expected if code in LATE}
    assert late <= wrong, f"the rules find something in {late}, what goes wrong is {wrong}"
    assert fixture.expected or not wrong or "suppressed" in folder.name, wrong


LATE = {"TFM101", "TFM102", "TFM103", "TFM106"}


def _going_wrong(plan: FilePlan, proof: Proof) -> set[tuple[str, int]]:
    """The lines of a program's files of which the plan, or a run, says that they don't take effect."""
    asked = [one for entry in plan.entries for one in entry.intents if one.by == "call"]
    planned = {
        plan.where(one.place.span.row) for one in asked if one.prediction.kind in (Planned.FAILS, Planned.DEPENDS)
    }
    assert proof.rows is not None
    failed = [
        verdict
        for verdict in proof.verdicts
        if verdict.stated.by == "call" and verdict.kind in (VerdictKind.NOTHING, VerdictKind.RAISES)
    ]
    return planned | {proof.rows.place(one.stated.span.row) for one in failed}


GPUS = 'import os\nimport tensorflow as tf\ngpus = tf.config.list_physical_devices("GPU")\n'
GROWTH = "for gpu in gpus:\n    tf.config.experimental.set_memory_growth(gpu, {})\n"
ONE = "tf.config.experimental.set_memory_growth(gpus[{}], {})\n"
LIMITS = (
    "tf.config.set_logical_device_configuration(gpus[{}], [tf.config.LogicalDeviceConfiguration(memory_limit={})])\n"
)
LIMIT = LIMITS.replace("[{}]", "[0]", 1)
EACH_LIMIT = "for gpu in gpus:\n    " + LIMIT.replace("gpus[0]", "gpu")
VISIBLE = 'tf.config.set_visible_devices({}, "GPU")\n'
OPTIONS = (
    "config = tf.compat.v1.ConfigProto()\nconfig.gpu_options.{} = {}\nsession = tf.compat.v1.Session(config=config)\n"
)
INTERACTIVE = "session = tf.compat.v1.InteractiveSession()\n"
BLIND = "tf.test.is_gpu_available()\n"
START = "x = tf.constant(1)\n"
FORCED = 'os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "{}"\n'
SHOWN = 'os.environ["CUDA_VISIBLE_DEVICES"] = "{}"\n'
PROGRAMS = {
    "a number that no GPU has": GPUS + VISIBLE.format("[gpus[0], gpus[1]]") + GROWTH.format(True),
    "the only GPU, too late": GPUS + START + VISIBLE.format("gpus[0]"),
    "growth off again for one GPU": GPUS + GROWTH.format(True) + ONE.format(0, False) + START,
    "growth that differs, and what else is asked for": GPUS + VISIBLE.format("gpus") + ONE.format(0, True) + START,
    "growth for the first two": GPUS + ONE.format(0, True) + "if len(gpus) > 1:\n    " + ONE.format(1, True) + START,
    "growth asked for twice, then a limit": GPUS + GROWTH.format(True) + ONE.format(0, True) + LIMIT.format(512),
    "one limit, then growth for all": GPUS + LIMITS.format(-1, 512) + GROWTH.format(True) + BLIND,
    "limits, then another one for the first": GPUS + EACH_LIMIT.format(512) + LIMIT.format(1024),
    "a limit for a GPU that is hidden": GPUS + LIMIT.format(512) + VISIBLE.format("[]"),
    "a limit that an interactive session doesn't look at": GPUS + LIMIT.format(512) + INTERACTIVE,
    "a limit that a configured session doesn't look at": GPUS
    + LIMIT.format(512)
    + OPTIONS.format("allow_growth", True),
    "growth that a session has too": GPUS + GROWTH.format(True) + OPTIONS.format("allow_growth", True),
    "growth behind a session that has it": OPTIONS.format("allow_growth", True).join(("import tensorflow as tf\n", ""))
    + GPUS
    + GROWTH.format(True),
    "no growth behind devices that have none": "import tensorflow as tf\n" + BLIND + GPUS + GROWTH.format(False),
    "growth before and behind the devices": GPUS + GROWTH.format(True) + BLIND + GROWTH.format(True),
    "growth forced behind the devices, then a limit": GPUS + BLIND + FORCED.format("true") + LIMIT.format(512),
    "the first GPU, behind the devices": GPUS + BLIND + VISIBLE.format("gpus[0]") + START,
    "another GPU for the session than for the rest": GPUS + OPTIONS.format("visible_device_list", "'0'") + START,
    "a session's GPU that there isn't": GPUS + OPTIONS.format("visible_device_list", "'1'"),
    "a wrong value, then a right one": "import os\n" + FORCED.format("1") + FORCED.format("true") + GPUS,
    "forced both ways": "import os\n" + FORCED.format("false") + GPUS + GROWTH.format(True),
    "a report without a GPU": "import os\n"
    + SHOWN.format("")
    + GPUS
    + 'tf.config.experimental.get_memory_info("GPU:0")\n',
    "shown too late": GPUS + SHOWN.format("0") + GROWTH.format(True),
    "put into the environment": "import os\nos.putenv('CUDA_VISIBLE_DEVICES', '0')\n" + GPUS,
    "an error that is caught": GPUS + f"try:\n    {ONE.format(5, False)}except IndexError:\n    pass\n",
    "an end before the conflict": GPUS + GROWTH.format(True) + "raise SystemExit\n" + LIMIT.format(512),
    "an exit at the end": "import sys\n" + GPUS + ONE.format(0, True) + "sys.exit(0)\n",
}


@pytest.mark.parametrize("gpus", (1, 3))
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_plan_and_the_run_agree_where_settings_meet(name: str, gpus: int, edge: Edge) -> None:
    assert not contradictions(PROGRAMS[name], "train.py", edge, gpus)
