"""TFM315: a variable is set where the program does not get it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import EnvLost
from tfmemlint.knowledge.environment import Moment, read_at
from tfmemlint.knowledge.variables import ALLOCATOR, GROWTH, VISIBLE
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.model.intent import Intent, Wish
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_WISHES = {GROWTH: Wish.GROWTH, ALLOCATOR: Wish.ALLOCATOR, VISIBLE: Wish.VISIBLE}
_ABOUT_GPUS = (Moment.LISTING, Moment.DEVICES, Moment.CONVOLUTION, Moment.SHORTAGE)


class VariableLost(Rule):
    """A variable is set where the program does not get it.

    What it does
    ------------
    Looks at shell scripts, Dockerfiles, workflows and the commands in notebooks. Finds variables of TensorFlow's and
    CUDA's that are assigned without ``export`` before a program is started, exported after the only program has run (in
    a script that begins with ``#!``: any other may be read by a shell that goes on), set by ``export`` in a ``RUN`` of
    a Dockerfile that does nothing else, in a step of a workflow that does nothing else, or by ``!export`` in a
    notebook.

    A variable that the script asks for by itself is not reported, nor ``CUDA_VISIBLE_DEVICES`` in a job of a scheduler,
    which has exported it before. ``pip``, ``venv``, ``setup.py`` and the like are no programs that a variable could be
    for.

    Why it matters
    --------------
    A plain assignment is the shell's own: programs get what is exported. Each ``RUN``, each step, and each line of a
    notebook that begins with ``!``, is a process of its own; what it exports ends with it. The program runs as if the
    variable were not set, and nothing says so.

    Example
    -------
    ```sh
    TF_FORCE_GPU_ALLOW_GROWTH=true
    python train.py
    ```

    ```dockerfile
    FROM tensorflow/tensorflow:latest-gpu
    RUN export TF_FORCE_GPU_ALLOW_GROWTH=true
    CMD ["python", "train.py"]
    ```

    Use instead
    -----------
    ```sh
    export TF_FORCE_GPU_ALLOW_GROWTH=true
    python train.py
    ```

    ```dockerfile
    FROM tensorflow/tensorflow:latest-gpu
    ENV TF_FORCE_GPU_ALLOW_GROWTH=true
    CMD ["python", "train.py"]
    ```
    """

    code = "TFM315"
    name = "variable-lost"
    severity = Severity.WARNING
    triggers = (
        "VISIBLE_DEVICES",
        "TF_GPU",
        "TF_FORCE_GPU",
        "TF_CUDNN",
        r"(?:TF_|CUDA_)\w*(?:GROW|GROT|MEM|FRACTION|ALLOC|DEVI[CS]|GPU)",
        "GPU_ALLO[CW]",
        "XLA_PYTHON_CLIENT",
    )
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Variables of a configuration file that nobody gets."""
        for lost in program.of(EnvLost):
            if read_at(lost.name) not in _ABOUT_GPUS:
                continue
            message, advice = _words(lost)
            without = Step(lost.path, lost.begun, f"{lost.program} starts without it")
            begun = () if lost.why in ("layer", "kernel") else (without,)
            place = Step(lost.path, lost.span, f"{lost.name} is set")
            yield self.finding(
                program,
                lost,
                message,
                intent=_intent(lost),
                outcome=f"TensorFlow goes on as if {lost.name} were not set; nothing is raised",
                advice=advice,
                trace=() if not begun else (*begun, place) if lost.why == "late" else (place, *begun),
                notes=(f"It is passed on all the same where {lost.name} was exported before the script began.",)
                if lost.why == "unexported"
                else (),
                fixable=lost.why != "kernel",
                details={"why": lost.why, "key": lost.key, "begun": lost.begun, "statement": lost.statement.row},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Pass it on."""
        from tfmemlint.fixes import text_editor

        text_editor.pass_to_program(editor, finding)


def _words(lost: EnvLost) -> tuple[str, str]:
    name, written = lost.name, f"{lost.name}={lost.text}"
    match lost.why:
        case "unexported":
            return (
                f"{name} is assigned but not exported: {_short(lost.program)} does not get it",
                f"Write export {written}",
            )
        case "late":
            where = f"{_short(lost.program)} in line {lost.begun.row}"
            return f"{name} is set after the program has run: {where}", f"Set it above line {lost.begun.row}"
        case "kernel":
            return f"{name} is set in a shell of its own: the notebook does not get it", f"Write %env {written}"
        case "layer":
            return f"{name} is set for this RUN alone: no container gets it", f"Write ENV {written}"
        case _:
            return f"{name} is set for this step alone: {lost.program} does not get it", "Set it under env:"


def _short(program: str) -> str:
    return program if len(program) <= 40 else f"{program[:37]}..."


def _intent(lost: EnvLost) -> Intent:
    wish = _WISHES.get(lost.name, Wish.OTHER)
    if wish is Wish.GROWTH:
        return Intent(wish, "every GPU", {"true": True, "false": False}.get(lost.value or ""))
    text = lost.value if lost.value is not None else lost.text
    return Intent(wish, text=text if wish is not Wish.OTHER else f"{lost.name}={text}")
