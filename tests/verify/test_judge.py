"""Verdicts by what was seen of a run: runs that are made up, so that each thing that can be seen is seen alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.verify.programs import GROWING, TF, Ran, asked, config, gpu, limited
from tfmemlint.model.intent import Purpose
from tfmemlint.verify.verdict import VerdictKind

LIMITED = TF + limited(4096)
SET_LIMIT = "set_logical_device_configuration"
SESSION = """\
import tensorflow as tf
config = tf.compat.v1.ConfigProto()
config.gpu_options.per_process_gpu_memory_fraction = 0.25
session = tf.compat.v1.Session(config=config)
"""
ENV = "import os\nos.environ['{0}'] = '{1}'\nimport tensorflow as tf\nx = tf.constant(1)\n"


def grew(value: object = True, error: str = "") -> list[dict[str, Any]]:
    """Notes of a run that sets the growth of both GPUs."""
    return [{"reached": 3}, *(asked("set_memory_growth", 3, gpu(one), value, error=error) for one in (0, 1))]


def split(size: float, number: int = 0, line: int = 3) -> list[dict[str, Any]]:
    """Notes of a run that limits a GPU."""
    return [{"reached": line}, asked(SET_LIMIT, line, gpu(number), [{"memory_limit": size}])]


def test_growth_that_is_in_force_takes_effect() -> None:
    verdict = Ran(GROWING).only(config=config(allow_growth=True), notes=grew())
    assert (verdict.kind, verdict.configuration) == (VerdictKind.HOLDS, "allow_growth=True")


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"config": config(limits=[[512.0], []])}, "a memory limit on any GPU drops memory growth on every GPU"),
        (
            {"config": config(allow_growth=False), "environment": {"TF_FORCE_GPU_ALLOW_GROWTH": "false"}},
            "TF_FORCE_GPU_ALLOW_GROWTH=false in the environment overrides it",
        ),
        (
            {"config": config(allow_growth=True), "effective": config(), "allocator": "tf.test.is_gpu_available()"},
            "tf.test.is_gpu_available() had made the GPU devices with its own options",
        ),
    ],
)
def test_growth_that_is_not_in_force_has_no_effect_and_the_reason_is_said(result: dict[str, Any], reason: str) -> None:
    verdict = Ran(GROWING).only(notes=grew(), **result)
    assert (verdict.kind, verdict.reason) == (VerdictKind.NOTHING, reason)


def test_growth_that_another_line_switches_off_has_no_effect() -> None:
    text = GROWING + "tf.config.experimental.set_memory_growth(tf.config.list_physical_devices('GPU')[0], False)\n"
    notes = [*grew(), {"reached": 4}, asked("set_memory_growth", 4, gpu(0), False)]
    first, second = Ran(text).judged(config=config(allow_growth=False), notes=notes)
    assert (first.kind, first.reason) == (VerdictKind.NOTHING, "line 4 asks for the opposite")
    assert second.kind is VerdictKind.HOLDS


def test_an_error_of_the_call_is_what_the_intent_raises() -> None:
    error = "RuntimeError: Physical devices cannot be modified after being initialized"
    notes = [{"reached": 3}, asked("set_memory_growth", 3, gpu(0), True, error=error)]
    ran = Ran(GROWING)
    died = {"ok": False, "exception": "RuntimeError", "message": error.partition(": ")[2], "traceback_line": 3}
    assert ran.only(config=config(), notes=notes, **died).reason == error
    caught = ran.only(config=config(), notes=notes)
    assert (caught.kind, caught.reason) == (VerdictKind.RAISES, f"{error}; the program catches it and goes on")


def test_an_error_when_the_runtime_starts_is_what_the_intent_raises() -> None:
    error = "ValueError: Memory growth cannot differ between GPU devices"
    verdict = Ran(GROWING).only(init_error=error, notes=grew())
    assert verdict.kind is VerdictKind.RAISES
    assert verdict.reason.startswith(error)


@pytest.mark.parametrize(
    ("death", "words"),
    [
        ({"exception": "ModuleNotFoundError", "message": "No module named 'x'"}, "No module named 'x'"),
        ({"exception": "FileNotFoundError", "message": "no 'x.json'"}, "no 'x.json'"),
        ({"exception": "URLError", "message": "refused"}, "refused"),
        ({"exception": "SIGSEGV", "message": "the process was ended by SIGSEGV"}, "SIGSEGV"),
        (
            {"exception": "TimeoutError", "message": "did not end within 5 s", "timed_out": True},
            "did not end within 5 s",
        ),
        ({"exception": "MemoryError", "message": "took 9 MiB", "out_of_memory": True}, "took 9 MiB"),
        ({"exception": "ZeroDivisionError", "message": "division by zero"}, "ZeroDivisionError"),
    ],
)
def test_a_program_that_dies_before_the_intent_proves_nothing_and_says_of_what(
    death: dict[str, Any], words: str
) -> None:
    verdict = Ran(GROWING).only(ok=False, traceback_line=1, notes=[], config=None, **death)
    assert verdict.kind is VerdictKind.UNPROVEN
    assert verdict.reason.startswith("never reached")
    assert words in verdict.reason


def test_an_intent_that_another_one_s_error_keeps_from_being_reached_has_no_effect() -> None:
    text = f"{TF}gpus = tf.config.list_physical_devices('GPU')\n" + "".join(
        f"tf.config.experimental.set_memory_growth(gpus[{number}], True)\n" for number in (0, 1)
    )
    error = "RuntimeError: Physical devices cannot be modified after being initialized"
    notes = [{"reached": 3}, asked("set_memory_growth", 3, gpu(0), True, error=error)]
    died = {"ok": False, "exception": "RuntimeError", "message": error.partition(": ")[2], "traceback_line": 3}
    first, second = Ran(text).judged(config=config(), notes=notes, **died)
    assert first.kind is VerdictKind.RAISES
    assert (second.kind, second.reason) == (VerdictKind.NOTHING, "never reached: line 3 raises RuntimeError first")


def test_a_line_that_was_not_reached_proves_nothing() -> None:
    verdict = Ran(GROWING).only(config=config(), notes=[])
    assert (verdict.kind, verdict.reason) == (VerdictKind.UNPROVEN, "line 3 was not reached in this run")


def test_a_program_that_leaves_before_the_intent_is_quoted() -> None:
    verdict = Ran(GROWING).only(exit_code=2, stderr="usage: x\nerror: --data is required\n", notes=[])
    assert verdict.kind is VerdictKind.UNPROVEN
    assert "exit code 2: error: --data is required" in verdict.reason


def test_without_a_gpu_growth_can_not_be_judged() -> None:
    verdict = Ran(GROWING).only(config=config(visible=[], limits=[]), physical=0, notes=grew())
    assert verdict.kind is VerdictKind.UNPROVEN


@pytest.mark.parametrize(
    ("limits", "kind"),
    [
        ([[4096.0], []], VerdictKind.HOLDS),
        ([[1024.0], []], VerdictKind.NOTHING),
        ([[4096.0, 4096.0], []], VerdictKind.NOTHING),
        ([[], [4096.0]], VerdictKind.NOTHING),
    ],
)
def test_a_limit_takes_effect_where_it_is_the_one_in_force(limits: list[list[float]], kind: VerdictKind) -> None:
    assert Ran(LIMITED).only(config=config(limits=limits), notes=split(4096.0)).kind is kind


def test_a_limit_of_a_gpu_that_is_hidden_has_no_effect() -> None:
    verdict = Ran(LIMITED).only(config=config(visible=[1], limits=[[]]), notes=split(4096.0))
    assert (verdict.kind, verdict.reason) == (VerdictKind.NOTHING, "GPU 0 isn't visible")


def test_each_gpu_has_the_limit_that_was_asked_for_it() -> None:
    text = f"""\
{TF}for number, one in enumerate(tf.config.list_physical_devices("GPU")):
    tf.config.set_logical_device_configuration(
        one, [tf.config.LogicalDeviceConfiguration(memory_limit=1000 * (number + 1))]
    )
"""
    notes = [*split(1000.0, 0), *split(2000.0, 1)]
    assert Ran(text).only(config=config(limits=[[1000.0], [2000.0]]), notes=notes).kind is VerdictKind.HOLDS
    assert Ran(text).only(config=config(limits=[[1000.0], [1000.0]]), notes=notes).kind is VerdictKind.NOTHING


def test_a_share_that_is_given_as_a_limit_is_not_the_share_that_is_wanted() -> None:
    verdict = Ran(TF + limited(0.5)).only(config=config(limits=[[0.5], []]), notes=split(0.5))
    assert (verdict.kind, verdict.stated.intent.purpose) == (VerdictKind.NOTHING, Purpose.FRACTION)
    assert verdict.reason == "memory_limit is in MiB, not a share of the memory"


@pytest.mark.parametrize("size", [0.0, -100.0, 20000.0])
def test_what_a_limit_beyond_reason_comes_to_only_an_allocator_shows(size: float) -> None:
    ran = Ran(TF + limited(size))
    assert ran.only(config=config(limits=[[size], []]), notes=split(size)).kind is VerdictKind.UNPROVEN


def test_a_share_that_a_session_got_takes_effect_and_one_that_came_too_late_does_not() -> None:
    ran = Ran(SESSION)
    in_force = {"effective": config(per_process_gpu_memory_fraction=0.25), "allocator": "tf.compat.v1.Session()"}
    assert ran.only(**in_force).kind is VerdictKind.HOLDS
    late = ran.only(effective=config(), allocator="the eager context", sessions=[config()])
    assert late.kind is VerdictKind.NOTHING
    assert "too late" in late.reason


@pytest.mark.parametrize(
    ("name", "value", "environment", "in_force", "kind"),
    [
        (
            "CUDA_VISIBLE_DEVICES",
            "1",
            {"CUDA_VISIBLE_DEVICES": "1"},
            {"visible": [0], "limits": [[]]},
            VerdictKind.HOLDS,
        ),
        ("CUDA_VISIBLE_DEVICES", "1", {}, {}, VerdictKind.NOTHING),
        ("CUDA_VISIBLE_DEVICES", "1", {"CUDA_VISIBLE_DEVICES": "0"}, {}, VerdictKind.NOTHING),
        (
            "TF_FORCE_GPU_ALLOW_GROWTH",
            "true",
            {"TF_FORCE_GPU_ALLOW_GROWTH": "true"},
            {"allow_growth": True},
            VerdictKind.HOLDS,
        ),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "1", {"TF_FORCE_GPU_ALLOW_GROWTH": "1"}, {}, VerdictKind.NOTHING),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "true", {}, {}, VerdictKind.NOTHING),
        ("TF_GPU_ALLOCATOR", "cuda_malloc_async", {"TF_GPU_ALLOCATOR": "cuda_malloc_async"}, {}, VerdictKind.HOLDS),
        ("TF_GPU_ALLOCATOR", "cuda_async", {"TF_GPU_ALLOCATOR": "cuda_async"}, {}, VerdictKind.NOTHING),
        ("TF_GPU_ALLOCATOR", "cuda_malloc_async", {}, {}, VerdictKind.NOTHING),
    ],
)
def test_a_variable_takes_effect_where_it_was_there_when_it_was_read_and_means_something(
    name: str, value: str, environment: dict[str, str], in_force: dict[str, Any], kind: VerdictKind
) -> None:
    verdict = Ran(ENV.format(name, value)).only(config=config(**in_force), environment=environment)
    assert verdict.kind is kind, verdict
    assert verdict.reason or kind is VerdictKind.HOLDS


@pytest.mark.parametrize(
    ("visible", "physical", "kind"),
    [
        ([], 2, VerdictKind.HOLDS),
        ([0, 1], 2, VerdictKind.NOTHING),
        ([1], 2, VerdictKind.NOTHING),
        ([], 0, VerdictKind.NOTHING),
    ],
)
def test_gpus_that_come_too_late_to_be_hidden_are_hidden_where_something_else_has_done_it(
    visible: list[int], physical: int, kind: VerdictKind
) -> None:
    run = Ran(ENV.format("CUDA_VISIBLE_DEVICES", "-1"))
    verdict = run.only(config=config(visible=visible, limits=[[] for _ in visible]), environment={}, physical=physical)
    assert verdict.kind is kind, verdict


def test_a_name_that_tensorflow_lacks_raises_even_where_the_error_is_swallowed() -> None:
    text = f"{TF}try:\n    tf.config.experimental.set_memory_limit(0, 1024)\nexcept AttributeError:\n    pass\n"
    verdict = Ran(text).only(config=config())
    assert verdict.kind is VerdictKind.RAISES
    assert "set_memory_limit" in verdict.reason


@pytest.mark.parametrize(
    "line",
    ["tf.config.experimental.allow_growth = True", "tf.compat.v1.ConfigProto().gpu_options.allow_growth = True"],
)
def test_no_effect_has_its_reason(line: str) -> None:
    for verdict in Ran(f"{TF}{line}\n").judged(config=config()):
        assert verdict.kind is VerdictKind.NOTHING
        assert verdict.reason


# Where memory is really taken


def device(**told: Any) -> dict[str, Any]:
    """What the probe tells of the first GPU: 300 MiB of overhead, growth, 320 MiB used."""
    plain = {
        "name": "GPU:0",
        "physical": 0,
        "limit_mib": None,
        "blind": "",
        "total_mib": 16384.0,
        "before_mib": 300.0,
        "first_mib": 302.0,
        "free_mib": 16000.0,
        "held_mib": 0.0,
        "granted_mib": 320.0,
        "after_mib": 814.0,
        "refused_mib": 0.0,
        "refusal": "",
        "beyond_mib": 0.0,
        "trouble": "",
    }
    return {**plain, **told}


def probed(*devices: dict[str, Any]) -> dict[str, Any]:
    """What a probe tells."""
    return {"devices": list(devices), "view": "process", "blind": ""}


@pytest.mark.parametrize("ground", ["driver", "gpu"])
def test_growth_is_held_against_the_memory_that_was_taken(ground: str) -> None:
    ran = Ran(GROWING, ground)
    grows = ran.only(config=config(allow_growth=True), notes=grew(), probe=probed(device()))
    assert grows.kind is VerdictKind.HOLDS
    assert "2 MiB at first use" in grows.observed
    takes = device(first_mib=14584.0, after_mib=14584.0)
    all_at_once = ran.only(config=config(allow_growth=True), notes=grew(), probe=probed(takes))
    assert all_at_once.kind is VerdictKind.NOTHING
    assert "14284 MiB at first use" in all_at_once.observed


@pytest.mark.parametrize("ground", ["driver", "gpu"])
@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({"refused_mib": 4608.0, "refusal": "ResourceExhaustedError: OOM", "after_mib": 4396.0}, VerdictKind.HOLDS),
        ({"refused_mib": 0.0, "after_mib": 9000.0}, VerdictKind.NOTHING),
        ({"refused_mib": 4608.0, "refusal": "InternalError: x", "after_mib": 4396.0}, VerdictKind.NOTHING),
        (
            {"trouble": "of 4096 MiB only 512 could be had: OOM", "refused_mib": 1.0, "after_mib": 900.0},
            VerdictKind.NOTHING,
        ),
        (
            {"refused_mib": 4608.0, "refusal": "ResourceExhaustedError: OOM", "after_mib": 9000.0},
            VerdictKind.NOTHING,
        ),
    ],
)
def test_a_limit_is_held_against_what_was_granted_and_refused(
    ground: str, told: dict[str, Any], kind: VerdictKind
) -> None:
    one = device(limit_mib=4096.0, first_mib=4396.0, granted_mib=3584.0, beyond_mib=4608.0, **told)
    verdict = Ran(LIMITED, ground).only(config=config(limits=[[4096.0], []]), notes=split(4096.0), probe=probed(one))
    assert verdict.kind is kind, verdict
    assert "3584 MiB granted" in verdict.observed


def test_a_probe_that_fails_leaves_it_open() -> None:
    verdict = Ran(GROWING, "gpu").only(
        config=config(allow_growth=True), notes=grew(), probe={"error": "InternalError: no memory"}
    )
    assert verdict.kind is VerdictKind.UNPROVEN
    assert "no memory" in verdict.reason


def test_where_memory_can_not_be_seen_the_configuration_decides() -> None:
    blind = device(first_mib=None, after_mib=None, blind="NVML can't be asked: x")
    verdict = Ran(GROWING, "gpu").only(config=config(allow_growth=True), notes=grew(), probe=probed(blind))
    assert (verdict.kind, verdict.observed) == (VerdictKind.HOLDS, "NVML can't be asked: x")


@pytest.mark.parametrize("name", ["TF_GPU_ALLOW_GROWTH", "TF_FORCE_GPU_MEMORY_GROWTH"])
def test_what_tensorflow_never_reads_has_no_effect_though_what_is_wanted_is_so(name: str) -> None:
    verdict = Ran(ENV.format(name, "true")).only(config=config(allow_growth=True))
    assert verdict.kind is VerdictKind.NOTHING
    assert verdict.reason == f"TensorFlow never reads {name}; the intent holds without it"


def test_options_that_no_session_gets_have_no_effect_though_what_is_wanted_is_so() -> None:
    text = TF + "config = tf.compat.v1.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
    verdict = Ran(text).only(config=config(allow_growth=True))
    assert verdict.kind is VerdictKind.NOTHING
    assert verdict.reason == "no session is ever made with these options; the intent holds without it"


def test_growth_of_a_variable_whose_value_only_the_run_knows_is_that_of_the_run() -> None:
    text = "import os\nos.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = str(len(os.sep) > 1).lower()\n" + TF
    run = Ran(text)
    forced = {"TF_FORCE_GPU_ALLOW_GROWTH": "false"}
    assert run.only(config=config(allow_growth=False), environment=forced).kind is VerdictKind.HOLDS
    assert run.only(config=config(allow_growth=True), environment=forced).kind is VerdictKind.NOTHING


@pytest.mark.parametrize(
    ("value", "physical", "kind"),
    [
        ("0", 1, VerdictKind.HOLDS),
        ("0,1", 2, VerdictKind.HOLDS),
        ("", 0, VerdictKind.HOLDS),
        ("-1", 0, VerdictKind.HOLDS),
        ("none", 0, VerdictKind.HOLDS),
        ("all", 0, VerdictKind.NOTHING),
        ("GPU:0", 0, VerdictKind.NOTHING),
        ("1,1", 0, VerdictKind.NOTHING),
        ("0,0", 0, VerdictKind.NOTHING),
        ("0,7", 1, VerdictKind.UNPROVEN),
        ("7", 0, VerdictKind.UNPROVEN),
        ("GPU-1234", 0, VerdictKind.UNPROVEN),
    ],
)
def test_cards_are_visible_where_tensorflow_sees_as_many(value: str, physical: int, kind: VerdictKind) -> None:
    found = config(visible=list(range(physical)), limits=[[]] * physical)
    read = {"CUDA_VISIBLE_DEVICES": value}
    assert Ran(ENV.format(*read, value)).only(config=found, physical=physical, environment=read).kind is kind


@pytest.mark.parametrize(
    ("share", "kind"),
    [(0.25, VerdictKind.HOLDS), (1.0, VerdictKind.HOLDS), (50, VerdictKind.UNPROVEN), (0, VerdictKind.NOTHING)],
)
def test_a_share_beyond_the_whole_only_an_allocator_shows(share: float, kind: VerdictKind) -> None:
    run = Ran(SESSION.replace("0.25", str(share)))
    found = config(per_process_gpu_memory_fraction=float(share))
    assert run.only(config=found, sessions=[found]).kind is kind
