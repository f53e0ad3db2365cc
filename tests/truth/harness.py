"""Holding what a fixture claims against the installed TensorFlow."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fixture_files import blank_markers, read_text, strip_markers
from tfmemlint.verify.edge import Edge, Result

SETTINGS = ("allow_growth", "visible", "limits", "per_process_gpu_memory_fraction")
SECONDS = 60.0


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
    ground: str
    fixed_code: str | None
    """The text of ``bad_x.fixed.py``, None where there is none."""

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
        return Case(path, "", (), "", "", "", "", f"none — it can't be decoded: {error}", None)
    _, _, header = strip_markers(text)
    ground = header.get("ground", "")
    if ground and (ground.split()[0] not in ("driver", "none") or len(ground.split()) < 3):
        raise ValueError(f"{path.name}: a ground is 'driver — reason' or 'none — reason', not {ground!r}")
    settings(header.get("lacks", ""))
    if header.get("fixed") != "runs":
        settings(header.get("fixed", ""))
    fixed_path = path.with_name(path.stem + ".fixed.py")
    return Case(
        path=path,
        code=blank_markers(text),
        gpus=tuple(int(number) for number in header.get("gpus", "1").split(",")),
        raises=header.get("raises", ""),
        lacks=header.get("lacks", ""),
        fixed=header.get("fixed", ""),
        target=header.get("target", ""),
        ground=ground,
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


def judge(case: Case, edge: Edge) -> list[str]:
    """What TensorFlow contradicts in ``case``, as sentences; empty where all of it is true."""
    problems: list[str] = []
    for gpus in case.gpus:
        if not case.ground:
            problems += judge_bad(case, run(edge, case.code, case.path, gpus), gpus)
        if case.fixed_code is not None and (case.fixed or not case.ground):
            problems += judge_fixed(case, run(edge, case.fixed_code, case.path, gpus), gpus)
    if case.fixed_code is None:
        if case.fixed:
            problems.append(f"the header says what the fixed side does, but there is no {case.path.stem}.fixed.py")
    elif 0 not in case.gpus and (case.fixed or not case.ground):
        # The same program may run on a machine without a GPU; a fix must not be what keeps it from running there.
        before, after = run(edge, case.code, case.path, 0), run(edge, case.fixed_code, case.path, 0)
        if not failure(before) and failure(after):
            problems.append(f"without a GPU the original runs but the fixed side raises {failure(after)}")
    return problems


def judge_bad(case: Case, result: Result, gpus: int) -> list[str]:
    """What is untrue about the failing side."""
    where = f"with {gpus} GPU(s) the failing side "
    error = failure(result)
    if case.raises:
        kind, _, text = case.raises.partition(":")
        raised, _, message = error.partition(": ")
        if raised != kind.strip() or text.strip() not in message:
            return [f"{where}should raise {case.raises!r}, but {_ending(result)}"]
    elif error:
        return [f"{where}isn't said to raise, but {_ending(result)}"]
    if case.lacks:
        wanted = settings(case.lacks)
        if has(result, wanted):
            return [f"{where}should lack {case.lacks!r}, but TensorFlow got {in_force(result)}"]
    return []


def judge_fixed(case: Case, result: Result, gpus: int) -> list[str]:
    """What is untrue about the fixed side."""
    where = f"with {gpus} GPU(s) the fixed side "
    if failure(result):
        return [f"{where}should run, but {_ending(result)}"]
    wanted = {} if case.fixed in ("", "runs") else settings(case.fixed)
    if not has(result, wanted):
        return [f"{where}should have {case.fixed!r}, but TensorFlow got {in_force(result)}"]
    return []


def run(edge: Edge, code: str, path: Path, gpus: int) -> Result:
    """Run one side of a fixture."""
    return edge.run(code, gpus=gpus, filename=path.name, timeout=SECONDS)


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
    return f"it ended well; TensorFlow got {in_force(result)}"
