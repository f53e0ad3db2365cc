"""Run a script on the simulated driver, under any memory, and say how far it is."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfmemlint.fit.observation import FitRun, observe
from tfmemlint.fit.xla_buffers import blocks_in
from tfmemlint.verify.driver.build import minor_of
from tfmemlint.verify.sandbox_options import Sandbox

if TYPE_CHECKING:
    from tfmemlint.verify.ground import Ground

ROOMY_MIB = 1024 * 1024
"""The memory of a GPU that refuses nothing, in MiB. It is address space only, which costs nothing."""
DEFAULT_IN_USE_MIB = 300.0
"""The default of ``--in-use``: the memory of a GPU that other processes and the CUDA context use, in MiB."""
PROGRESS_SECONDS = 0.5
"""The interval at which the progress is said."""
_DUMP = "--xla_dump_to"
"""The flag with which XLA writes its plans of memory. A script that sets it by itself keeps its own folder."""
_QUICK = (
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_gpu_disable_gpuasm_optimizations=true",
)
"""Flags that keep XLA from improving the code of kernels, which don't run. Buffers are planned before that."""
_QUICK_SINCE = (2, 15)
"""The oldest release of which it was seen that it knows all these flags: XLA ends the process on an unknown one."""
_OBSERVER = "tfmemlint.fit.child.observe"
_PASSED = ("KERAS_", "TF_", "XLA_")
"""Prefixes of the caller's variables that the script gets. Not CUDA's, which select the GPUs of another machine."""
_NOT_PASSED = ("TF_CLI_", "TF_TOKEN_", "TF_VAR_")
"""Prefixes of variables of Terraform, which may be credentials."""


@dataclass(frozen=True, slots=True)
class FitOptions:
    """The options of a measurement.

    Attributes:
        memory_mib: the memory of each simulated GPU, in MiB. gpus: their number.
        in_use_mib: the memory of each GPU that others use, in MiB: other processes, and this process's CUDA context.
        steps: end after this many training steps; 0 to run to the end. argv: the script's arguments.
        timeout: seconds for one run. host_mib: MiB of this machine's own memory for one run. cwd: the folder to run in.
        check_limit: search for the smallest memory limit by further runs. env: variables added to the script's.
        sandbox: what the script may reach of this machine; None for everything.
        jit: let XLA compile the functions that the script, or Keras, wants compiled. gpu_model: the GPUs' name, or "".
        change: the change with which the script is run, or ""; see `tfmemlint.fit.what_helps`.
        what_helps: run it with each change that could lower its memory.
    """

    memory_mib: int = 16384
    gpus: int = 1
    in_use_mib: float = DEFAULT_IN_USE_MIB
    steps: int = 3
    argv: tuple[str, ...] = ()
    timeout: float = 600.0
    host_mib: float = 8192.0
    cwd: str | None = None
    check_limit: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    sandbox: Sandbox | None = field(default_factory=Sandbox)
    jit: bool = True
    gpu_model: str = ""
    change: str = ""
    what_helps: bool = False


class Runner:
    """Runs one script repeatedly."""

    def __init__(
        self, script: Path, code: str, ground: Ground, conditions: FitOptions, say: Callable[[str], None]
    ) -> None:
        self._script, self._code, self._ground, self._conditions = script, code, ground, conditions
        self._say = say

    def with_options(self, conditions: FitOptions) -> Runner:
        """Return a runner of the same script with other options."""
        return Runner(self._script, self._code, self._ground, conditions, self._say)

    def run(self, what: str, *, lifted: bool = False, limit_mib: int | None = None, trace: bool = True) -> FitRun:
        """Run the script; ``what`` is said of it meanwhile."""
        conditions, sandbox = self._conditions, self._conditions.sandbox
        memory = ROOMY_MIB if lifted else conditions.memory_mib
        # The limit must decide, not the memory of the GPU.
        if limit_mib is not None:
            memory = max(memory, 4 * limit_mib)
        with tempfile.TemporaryDirectory(prefix="tfmemlint-") as folder:
            log = Path(folder) / "log"
            used = 0.0 if lifted else conditions.in_use_mib
            env = {
                name: value
                for name, value in os.environ.items()
                if name.startswith(_PASSED) and not name.startswith(_NOT_PASSED)
            }
            env.update(conditions.env)
            env["TFMEMLINT_SIM_LOG"] = str(log)
            plans = Path(folder) / "xla"
            flags = [*_quick_flags(self._ground.version), env.get("XLA_FLAGS", "")]
            if trace and _DUMP not in flags[-1]:
                flags.append(f"{_DUMP}={plans}")
            env["XLA_FLAGS"] = " ".join(flags).strip()
            env["TFMEMLINT_SIM_USED_MIB"] = ",".join([str(round(used))] * conditions.gpus)
            progress = Path(folder) / "steps"
            with _followed(progress, what, self._say):
                result = self._ground.run(
                    self._code,
                    gpus=conditions.gpus,
                    memory_mib=[memory] * conditions.gpus,
                    env=env,
                    filename=str(self._script),
                    argv=conditions.argv,
                    timeout=conditions.timeout,
                    host_mib=conditions.host_mib,
                    cwd=conditions.cwd or Path.cwd(),
                    sandbox=None if sandbox is None else replace(sandbox, write=(*sandbox.write, folder)),
                    observer={
                        "module": _OBSERVER,
                        "steps": conditions.steps,
                        "limit_mib": limit_mib,
                        "lifted": lifted,
                        "trace": trace,
                        "jit": conditions.jit,
                        "change": conditions.change,
                        "progress": str(progress),
                    },
                )
            from tfmemlint.verify.driver import read_log

            return observe(result, read_log(log), blocks_in(plans), self._ground.version, env)


def _quick_flags(tensorflow: str) -> tuple[str, ...]:
    minor = minor_of(tensorflow)
    return _QUICK if minor is not None and minor >= _QUICK_SINCE else ()


@contextlib.contextmanager
def _followed(steps: Path, what: str, say: Callable[[str], None]) -> Iterator[None]:
    """Say what is done, for how long, and how many training steps have ended, by the file ``steps``, until it is
    over.
    """
    over = threading.Event()
    begin = time.monotonic()

    def follow() -> None:
        while not over.wait(PROGRESS_SECONDS):
            try:
                done = int(steps.read_text(encoding="ascii"))
            except (OSError, ValueError):
                done = 0
            say(f"{what}: {time.monotonic() - begin:.0f} s, {steps_words(done) if done else 'no training step yet'}")

    say(what)
    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def steps_words(steps: int) -> str:
    """Return a number of training steps in words."""
    return "1 training step" if steps == 1 else f"{steps} training steps"
