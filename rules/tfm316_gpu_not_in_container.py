"""TFM316: CUDA_VISIBLE_DEVICES names a GPU that the container does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import EnvWrite, GpusGiven
from tfmemlint.knowledge.variables import VISIBLE, shown
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.env_writes import is_replaced, place_of, text_of, writes
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class GpuNotInContainer(Rule):
    """``CUDA_VISIBLE_DEVICES`` names a GPU that the container does not have.

    What it does
    ------------
    Checks Dockerfiles, compose files, Kubernetes manifests and ``docker run``. Finds numbers in
    ``CUDA_VISIBLE_DEVICES`` that are not smaller than the number of GPUs that ``NVIDIA_VISIBLE_DEVICES``,
    ``device_ids``, ``count``, ``--gpus`` or ``nvidia.com/gpu`` gives the container.

    Why it matters
    --------------
    The container gets only the GPUs that are named, and CUDA numbers them from 0. With ``NVIDIA_VISIBLE_DEVICES=2``
    there is one, number 0. ``CUDA_VISIBLE_DEVICES=2`` then names a GPU that does not exist; CUDA ignores that entry and
    all entries after it, so that no GPU is left. The program runs on the CPU.

    Example
    -------
    ```yaml
    services:
      trainer:
        image: tensorflow/tensorflow:latest-gpu
        runtime: nvidia
        environment:
          NVIDIA_VISIBLE_DEVICES: "2"
          CUDA_VISIBLE_DEVICES: "2"
    ```

    Use instead
    -----------
    ```yaml
    services:
      trainer:
        image: tensorflow/tensorflow:latest-gpu
        runtime: nvidia
        environment:
          NVIDIA_VISIBLE_DEVICES: "2"
    ```

    Sources
    -------
    NVIDIA Container Toolkit, "Specialized Configurations with Docker"; CUDA C++ Programming Guide, "CUDA Environment
    Variables".
    """

    code = "TFM316"
    name = "gpu-not-in-container"
    severity = Severity.WARNING
    triggers = ("VISIBLE_DEVICES",)
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each number that is not smaller than the number of GPUs in the container."""
        given = [grant for grant in program.of(GpusGiven) if grant.count]
        if not given:
            return
        for write in writes(program):
            text = text_of(write)
            gpus = shown(text) if write.name == VISIBLE and text else None
            if not gpus or is_replaced(program, write):
                continue
            container = _container(write, given)
            count = max((grant.count for grant in container), default=0)
            missing = [gpu for gpu in gpus if int(gpu) >= count]
            if count and missing:
                grant = container[0]
                yield self._finding(program, write, grant, count, gpus, missing[0])

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_environment_value

        return of_environment_value(finding, text)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write the numbers that the GPUs have in the container."""
        from tfmemlint.fixes.rewrites import env_variables

        env_variables.set_value(editor, finding)

    def _finding(
        self, program: Program, write: EnvWrite, grant: GpusGiven, count: int, gpus: tuple[str, ...], missing: str
    ) -> Finding:
        named = [part.strip() for part in grant.named.split(",")] if grant.named else []
        same = sorted(named) == sorted(gpus)
        meant = ",".join(map(str, range(count))) if same else ""
        many = "one GPU, number 0" if count == 1 else f"{count} GPUs, numbers 0 to {count - 1}"
        number = f"write {meant!r}" if meant else "number the GPUs from 0"
        before = gpus[: gpus.index(missing)]
        left = f"GPU {', '.join(before)} only" if before else "no GPU, and the program runs on the CPU"
        return self.finding(
            program,
            write,
            f"The container has {many}: there is no GPU {missing} for {VISIBLE}",
            span=place_of(write),
            intent=Intent(Purpose.VISIBLE, text=",".join(gpus)),
            outcome=f"TensorFlow finds {left}",
            advice=f"Remove {VISIBLE}, or {number}: {grant.words} has already chosen the GPUs",
            trace=(
                Step(grant.path, grant.span, f"{grant.words} gives the container {many}"),
                Step(write.path, write.span, f"{VISIBLE} names GPU {missing}"),
            ),
            details={
                "kind": "gpu",
                "meant": meant,
                "value": text_of(write),
                "given": write.given,
                "safe": False,
                "contrary": False,
                "why": "the GPUs have other numbers outside the container",
            },
        )


def _container(write: EnvWrite, given: list[GpusGiven]) -> list[GpusGiven]:
    """Return the settings that determine the number of GPUs in the container that a variable is set in."""
    return [grant for grant in given if set(grant.ways) <= set(write.ways)]
