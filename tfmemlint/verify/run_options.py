"""The options of a run, and the facts about the ground that a verdict needs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.intents import StatedIntent
from tfmemlint.interpreter.program import EnvWrite, Program
from tfmemlint.interpreter.values import Const
from tfmemlint.model.intent import Purpose
from tfmemlint.verify.choose_ground import MAX_GPUS
from tfmemlint.verify.edge.machine import DEFAULT_MIB
from tfmemlint.verify.sandbox_options import Sandbox
from tfmemlint.verify.verdict import GroundFacts

if TYPE_CHECKING:
    from tfmemlint.verify.ground import Ground
    from tfmemlint.verify.result import Result

_NUMBERED = re.compile(r"\bgpus?\[(\d+)\]|\bGPU:(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of runs.

    Attributes:
        gpus: the number of GPUs of a simulated machine; None for as many as the program names.
        memory_mib: the memory of each of them, in MiB.
        timeout: seconds for one run. host_mib: MiB of this machine's own memory that one run may take.
        argv: the program's arguments. whole: run the program itself, not its slice.
        cwd: the folder to run in; None for one with nothing but the configuration files that the program reads.
        env: variables added to the program's environment.
        sandbox: what the program may reach of this machine; None for everything.
    """

    gpus: int | None = None
    memory_mib: int = DEFAULT_MIB
    timeout: float = 60.0
    host_mib: float | None = 8192.0
    argv: tuple[str, ...] = ()
    whole: bool = False
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    sandbox: Sandbox | None = field(default_factory=Sandbox)


def facts_of(ground: Ground, result: Result, conditions: RunOptions, gpus: int) -> GroundFacts:
    """Return the facts about the ground of a run."""
    total: list[float] = [float(conditions.memory_mib)] * gpus
    if ground.kind == "gpu":
        devices = (result.probe or {}).get("devices", [])
        total = [0.0] * result.physical
        for device in devices:
            total[device["physical"]] = float(device["total_mib"] or 0.0)
    return GroundFacts(ground.kind, tuple(total), ground.overhead_mib())


def gpus_named(program: Program, intents: Sequence[StatedIntent]) -> int:
    """Return the number of GPUs of a machine that has all that a program names; at least one."""
    numbers = [intent.gpu for intent in intents if isinstance(intent.gpu, int)]
    for match in _NUMBERED.finditer(program.source.text):
        numbers.append(int(match[1] or match[2]))
    for write in program.of(EnvWrite):
        value = write.value.value if isinstance(write.value, Const) else None
        if write.name == "CUDA_VISIBLE_DEVICES" and isinstance(value, str):
            numbers += [int(part) for part in value.split(",") if part.strip().isdigit()]
    for stated in intents:
        if stated.intent.purpose is Purpose.VISIBLE and isinstance(stated.intent.value, str):
            numbers += [int(part) for part in stated.intent.value.split(",") if part.strip().isdigit()]
    return min(max(numbers, default=0) + 1, MAX_GPUS)
