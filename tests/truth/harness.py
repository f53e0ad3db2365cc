"""Holding what a fixture claims against the installed TensorFlow."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fixture_files import blank_markers, read_text, strip_markers
from tfmemlint.verify.ground import Ground
from tfmemlint.verify.result import Result

SETTINGS = ("allow_growth", "visible", "limits", "per_process_gpu_memory_fraction")
SECONDS = 60.0
AT_ONCE = 2
"""How many programs a core runs on the simulated driver: many wait for ten seconds until TensorFlow says that memory is
out."""
GROWTH_MIB = 64.0
"""What a program that uses next to nothing may take at first under memory growth."""


@dataclass(frozen=True, slots=True)
class Case:
    """One fixture with its claims."""

    path: Path
    code: str
    """The file with the claims emptied; line numbers are those of the file."""
    gpus: tuple[int, ...]
    """The numbers of GPUs to run it with."""
    raises: str
    """``Type: part of the message``, ``''`` where nothing is raised."""
    lacks: str
    fixed: str
    target: str
    since: str
    """The first release of which the claims are true, ``''`` where they are of all."""
    ground: str
    observed: str
    """What only an allocator shows: ``all``, ``refuses N MiB``, ``lacks N MiB``, ``raises Type: text``, or that it
    ``runs``; ``''`` where nothing."""
    computes: str
    """Why the values of its operations matter, ``''`` where they don't."""
    fixed_code: str | None
    """The text of ``bad_x.fixed.py``, None where there is none."""

    def is_about(self, version: str) -> bool:
        """Whether the claims are about TensorFlow ``version`` (``2.21.0``)."""
        release = [int(part) for part in version.split(".")[:2]]
        if self.target and [int(part) for part in self.target.split(".")[:2]] != release:
            return False
        return not self.since or [int(part) for part in self.since.split(".")] <= release

    @property
    def needs_driver(self) -> bool:
        """Only the C++ allocator can show what this fixture claims."""
        return self.ground.split()[:1] == ["driver"]

    @property
    def groundless(self) -> bool:
        """Nothing that can be run shows what this fixture claims."""
        return self.ground.split()[:1] == ["none"]


def read_case(path: Path) -> Case:
    """Read one fixture; one that can't be decoded claims nothing of TensorFlow.

    Raises:
        ValueError: a claim can't be read.
    """
    try:
        text = read_text(path)
    except (UnicodeDecodeError, SyntaxError) as error:
        return Case(path, "", (), "", "", "", "", "", f"none — it can't be decoded: {error}", "", "", None)
    _, _, header = strip_markers(text)
    ground = header.get("ground", "")
    if ground and (ground.split()[0] not in ("driver", "none") or len(ground.split()) < 3):
        raise ValueError(f"{path.name}: a ground is 'driver — reason' or 'none — reason', not {ground!r}")
    settings(header.get("lacks", ""))
    if header.get("fixed") != "runs":
        settings(header.get("fixed", ""))
    observed = header.get("observed", "")
    if observed and not re.fullmatch(r"all|runs|(?:refuses|lacks) \d+ MiB|raises \w+: .+", observed):
        claims = "'all', 'runs', 'refuses N MiB', 'lacks N MiB', 'raises Type: text'"
        raise ValueError(f"{path.name}: {observed!r} is none of {claims}")
    if observed and not ground:
        raise ValueError(f"{path.name}: what is observed needs a ground: 'driver — reason'")
    fixed_path = path.with_name(path.stem + ".fixed.py")
    return Case(
        path=path,
        code=blank_markers(text),
        gpus=tuple(int(number) for number in header.get("gpus", "1").split(",")),
        raises=header.get("raises", ""),
        lacks=header.get("lacks", ""),
        fixed=header.get("fixed", ""),
        target=header.get("target", ""),
        since=header.get("since", ""),
        ground=ground,
        observed=observed,
        computes=header.get("computes", ""),
        fixed_code=read_text(fixed_path) if fixed_path.exists() else None,
    )


def settings(text: str) -> dict[str, Any]:
    """Read ``allow_growth=True; limits=[[4096.0],[]]; visible=0,1``.

    Raises:
        ValueError: an unknown setting, or a value that isn't a literal.
    """
    wanted: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if name not in SETTINGS or not equals:
            raise ValueError(f"{part!r} isn't one of {', '.join(SETTINGS)} with a value")
        try:
            read = ast.literal_eval(f"[{value}]" if name == "visible" else value)
        except (SyntaxError, ValueError):
            raise ValueError(f"{part!r}: the value isn't a literal") from None
        wanted[name] = read
    return wanted


@dataclass(frozen=True, slots=True)
class Check:
    """One run of one side of a fixture, held against what its header claims.

    Attributes:
        side: ``failing`` or ``fixed``. gpus: how many GPUs the machine had.
        expected: the claim. seen: what came of it. problem: what is untrue, as a sentence; "" where all is true.
    """

    side: str
    gpus: int
    expected: str
    seen: str
    problem: str


def judge(case: Case, ground: Ground) -> list[str]:
    """What TensorFlow contradicts in ``case``, as sentences; empty where all of it is true."""
    problems = [check.problem for check in checks(case, ground) if check.problem]
    if case.fixed_code is None and case.fixed:
        problems.append(f"the header says what the fixed side does, but there is no {case.path.stem}.fixed.py")
    return problems


def checks(case: Case, ground: Ground) -> Iterator[Check]:
    """Every claim of ``case`` that can be looked at on ``ground``."""
    if case.computes and ground.kind == "driver":
        return
    for gpus in case.gpus:
        if not case.ground:
            yield _failing(case, run(ground, case.code, case.path, gpus), gpus)
        elif case.observed and ground.kind != "edge":
            yield _observed(case, run(ground, case.code, case.path, gpus), gpus)
        if case.fixed_code is not None and (case.fixed or not case.ground):
            result = run(ground, case.fixed_code, case.path, gpus)
            if is_about_comments(case):
                # A fix of a comment changes nothing of what runs.
                yield _failing(case, result, gpus)
            else:
                yield _fixed(case, result, gpus, ground.overhead_mib())
    if case.fixed_code is not None and 0 not in case.gpus and (case.fixed or not case.ground) and ground.kind != "gpu":
        # The same program may run on a machine without a GPU; a fix must not be what keeps it from running there.
        after = run(ground, case.fixed_code, case.path, 0)
        problem = ""
        if failure(after) and not failure(run(ground, case.code, case.path, 0)):
            problem = f"without a GPU the original runs but the fixed side raises {failure(after)}"
        yield Check("fixed", 0, "runs if the failing side does", _ending(after), problem)


def _failing(case: Case, result: Result, gpus: int) -> Check:
    where = f"with {gpus} GPU(s) the failing side "
    error = failure(result)
    problem = ""
    if case.raises:
        kind, _, text = case.raises.partition(":")
        raised, _, message = error.partition(": ")
        if raised != kind.strip() or text.strip() not in message:
            problem = f"{where}should raise {case.raises!r}, but {_ending(result)}"
    elif error:
        problem = f"{where}isn't said to raise, but {_ending(result)}"
    if case.lacks and not problem:
        wanted = settings(case.lacks)
        if has(result, wanted):
            problem = f"{where}should lack {case.lacks!r}, but TensorFlow got {_config_words(result)}"
    claims = [f"raises {case.raises}" if case.raises else "", f"lacks {case.lacks}" if case.lacks else ""]
    return Check("failing", gpus, "; ".join(filter(None, claims)) or "runs", _ending(result), problem)


def is_about_comments(case: Case) -> bool:
    """True for a fixture of a rule about the comments that silence rules."""
    return case.path.parent.name.startswith("TFM9")


def _fixed(case: Case, result: Result, gpus: int, overhead_mib: Sequence[float] = ()) -> Check:
    where = f"with {gpus} GPU(s) the fixed side "
    problem = ""
    if failure(result):
        problem = f"{where}should run, but {_ending(result)}"
    else:
        wanted = {} if case.fixed in ("", "runs") else settings(case.fixed)
        if not has(result, wanted):
            problem = f"{where}should have {case.fixed!r}, but TensorFlow got {_config_words(result)}"
        elif result.probe is not None:
            problem = _memory_problem(result, wanted, overhead_mib)
    return Check(
        "fixed", gpus, f"has {case.fixed}" if case.fixed not in ("", "runs") else "runs", _ending(result), problem
    )


def _memory_problem(result: Result, wanted: dict[str, Any], overhead_mib: Sequence[float]) -> str:
    """What the memory that is really taken says against a configuration that is in force; "" where nothing."""
    for one in (result.probe or {}).get("devices", []):
        overhead = overhead_mib[one["physical"]] if one["physical"] < len(overhead_mib) else 0.0
        if wanted.get("allow_growth") is True and one["first_mib"] - overhead > GROWTH_MIB + 2 * one["held_mib"]:
            return f"with memory growth {one['name']} takes {one['first_mib']:.0f} MiB at first use"
        if "limits" in wanted and one["limit_mib"] and not one["refusal"].startswith("ResourceExhaustedError"):
            return (
                f"{one['name']} gives more than its limit of {one['limit_mib']} MiB: {one['refusal'] or one['trouble']}"
            )
    return ""


def _observed(case: Case, result: Result, gpus: int) -> Check:
    """What only an allocator shows of the failing side."""
    claim, _, rest = case.observed.partition(" ")
    devices = (result.probe or {}).get("devices", [])
    told = [
        failure(result),
        *(str(device["trouble"]) for device in devices),
        *(str(device["refusal"]) for device in devices),
    ]
    seen = "; ".join(filter(None, told)) or _taken(result)
    if claim == "raises":
        kind, _, text = rest.partition(":")
        true = any(one.startswith(kind) and text.strip() in one for one in told)
    elif claim == "runs":
        true = not failure(result)
    elif claim == "lacks":
        size = float(rest.split()[0])
        true = any(device["limit_mib"] == size and "could be allocated" in str(device["trouble"]) for device in devices)
    elif claim == "refuses":
        size = float(rest.split()[0])
        true = any(
            device["refusal"].startswith("ResourceExhaustedError") and device["refused_mib"] <= size
            for device in devices
        )
    else:
        seen = _taken(result)
        true = bool(devices) and all(one["first_mib"] > 0.7 * one["total_mib"] for one in devices[:1])
    problem = "" if true else f"with {gpus} GPU(s) the failing side should show {case.observed!r}, but: {seen}"
    return Check("failing", gpus, f"memory: {case.observed}", seen, problem)


def _taken(result: Result) -> str:
    devices = (result.probe or {}).get("devices", [])
    return "; ".join(
        f"{device['name']} {device['first_mib']:.0f} of {device['total_mib']:.0f} MiB at first use"
        for device in devices
    )


def run(ground: Ground, code: str, path: Path, gpus: int) -> Result:
    """Run one side of a fixture."""
    return ground.run(code, gpus=gpus, filename=path.name, timeout=SECONDS)


def failure(result: Result) -> str:
    """``Type: message`` of what the program raised, or of what the runtime raised when started after it."""
    return result.error or result.init_error


def in_force(result: Result) -> dict[str, Any] | None:
    """The configuration that counts: that of the first allocators, which no later configuration changes."""
    return result.effective or result.config


def has(result: Result, wanted: dict[str, Any]) -> bool:
    """Whether the configuration in force has all of ``wanted``."""
    config = in_force(result)
    return not wanted or (config is not None and all(_same(config[name], value) for name, value in wanted.items()))


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(_same, found, wanted))
    if isinstance(found, float) and isinstance(wanted, int | float) and not isinstance(wanted, bool):
        return math.isclose(found, wanted, rel_tol=1e-6)  # TensorFlow keeps sizes as 32-bit floats
    return bool(found == wanted)


def _ending(result: Result) -> str:
    if result.error:
        line = f" (line {result.traceback_line})" if result.traceback_line else ""
        return f"it raised {result.error!r}{line}"
    if result.init_error:
        return f"starting the runtime after it raised {result.init_error!r}"
    taken = _taken(result)
    return f"it ended well; TensorFlow got {_config_words(result)}" + (f"; {taken}" if taken else "")


def _config_words(result: Result) -> str:
    config = in_force(result)
    return ", ".join(f"{name}={config[name]}" for name in SETTINGS if config[name]) if config is not None else "nothing"
