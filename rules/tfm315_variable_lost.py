"""TFM315: a variable is set where the program does not get it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import EnvLost
from tfmemlint.interpreter.state import Tri
from tfmemlint.knowledge.environment import ABOUT_GPUS, read_at
from tfmemlint.knowledge.variables import ALLOCATOR, GROWTH, VISIBLE
from tfmemlint.model.finding import Finding, Severity, Span, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_PURPOSES = {GROWTH: Purpose.GROWTH, ALLOCATOR: Purpose.ALLOCATOR, VISIBLE: Purpose.VISIBLE}
_ELSEWHERE = ("kernel", "command", "replaced", "shell", "name")
"""Places of which a variable is not passed on by a change of a configuration file."""
_ELSEWHERE_IN_SCRIPT = ("front", "line", "apart", "sudo", "ssh")
"""Places from which a variable is moved to the command that starts the program."""


class VariableLost(Rule):
    """A variable is set where the program does not get it.

    What it does
    ------------
    Checks shell scripts, makefiles, Dockerfiles, workflows and the shell commands in notebooks. Finds variables of
    TensorFlow and CUDA that are assigned without ``export`` before a program starts; that are exported after the only
    program has run (in a script that begins with ``#!``; another shell may source any other script); or that are set
    by ``export`` in a ``RUN`` of a Dockerfile or a step of a workflow that does nothing else, or by ``!export`` in a
    notebook; or in whose ``export`` there are invisible characters, so that the shell does not know the command.

    Finds variables that a loop, or another compound command, exports at the end of a pipe: by name, or all lines of a
    file that can be read (``grep -v '^#' settings.env | while read -r line; do export "$line"; done``). bash and sh run
    it in a process of its own; zsh, ksh, and bash after ``shopt -s lastpipe`` do not.

    Finds variables that are set for another command than the one that starts Python: in front of ``cd``, ``source
    activate`` or the first command of a pipe, in parentheses, in front of ``sudo`` without ``-E``, or of ``ssh``. In a
    makefile, each line of a recipe is run by a shell of its own, unless ``.ONESHELL`` is a target, and a variable of
    make is none of the environment until it is exported.

    In Python, finds variables in a dictionary that is assigned to ``os.environ``: this gives the name to the
    dictionary, and the environment of the process, in which TensorFlow looks, stays as it is. Finds variables as well
    that ``os.system("export ...")`` or ``subprocess`` sets in a shell of its own, and those that are put into a copy of
    ``os.environ`` which the process that is started there does not get. So are variables that the program has set
    before it starts another Python with an environment that lacks them (``env={"PATH": ...}``); and names of Python's
    that are called like a variable and that nothing reads (``CUDA_VISIBLE_DEVICES = "1"``).

    A variable that the script itself reads is not reported, nor is ``CUDA_VISIBLE_DEVICES`` in a job of a scheduler,
    which has already exported it. ``pip``, ``venv``, ``setup.py`` and similar commands do not count as programs that
    need the variable.

    Why it matters
    --------------
    A plain assignment is local to the shell: programs get only what is exported. Each ``RUN``, each step, and each line
    of a notebook that begins with ``!`` is a separate process, and its exports end with it. The program runs as if the
    variable were not set, and nothing reports it.

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

    ```sh
    CUDA_VISIBLE_DEVICES=1 cd src && python train.py
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

    ```sh
    cd src && CUDA_VISIBLE_DEVICES=1 python train.py
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
        r"(?:TF_|CUDA_)\w{0,60}(?:GROW|GROT|MEM|FRACTION|ALLOC|DEVI[CS]|GPU)",
        "GPU_ALLO[CW]",
        "XLA_PYTHON_CLIENT",
        r"\b(?:export|declare -x) [\"']?\$\w",
        r"\b(?:export|declare -x) [\"']?\$\{\w",
    )
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each variable of a configuration file that no program gets."""
        for lost in program.of(EnvLost):
            if read_at(lost.name) not in ABOUT_GPUS:
                continue
            beside = [each for each in program.of(EnvLost) if each.why in ("shell", "name") and each.span == lost.span]
            if lost.why == "pipe":
                # One command exports all lines of a file.
                same = [each for each in program.of(EnvLost) if each.why == "pipe" and each.span == lost.span]
                names = [each.name for each in same if read_at(each.name) in ABOUT_GPUS]
                if lost.name != names[0]:
                    continue
                lost_names = ", ".join(dict.fromkeys(names))
            else:
                lost_names = lost.name
            message, advice = _words(lost, lost_names)
            without = Step(lost.path, lost.begun, f"{lost.program} starts without it")
            begun = () if lost.why in (*_ELSEWHERE, "layer") else (without,)
            if lost.why == "left out":
                begun = (
                    Step(lost.path, lost.begun, f"starts a process with these variables alone, without {lost.name}"),
                )
            if lost.why == "copy":
                begun = (Step(lost.path, lost.begun, f"starts a process without env={lost.program}"),)
            place = Step(
                lost.path,
                lost.span,
                f"the variables of the process lack {lost.name}" if lost.why == "left out" else f"{lost.name} is set",
            )
            yield self.finding(
                program,
                lost,
                message,
                intent=_intent(lost),
                outcome=f"TensorFlow behaves as if {lost.name} were not set; nothing is raised",
                advice=advice,
                trace=() if not begun else (*begun, place) if lost.why == "late" else (place, *begun),
                notes=_notes(lost),
                fixable=lost.why not in (*_ELSEWHERE, "pipe")
                or (lost.why in ("shell", "name") and lost.state.context.has is Tri.NO)
                or (lost.why == "kernel" and lost.value is not None),
                details={
                    "why": lost.why,
                    "key": lost.key,
                    "given": lost.given,
                    "begun": lost.begun,
                    "copy": lost.program if lost.why == "copy" else "",
                    "value": lost.value,
                    "name": lost.name,
                    "pairs": [f"{each.name}={each.text}" for each in beside],
                    "statement": lost.statement.row,
                },
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Pass the variable to the program."""
        if finding.details["why"] == "shell":
            from tfmemlint.fixes.rewrites import env_variables

            env_variables.set_in_process(editor, finding)
            return
        if finding.details["why"] == "kernel":
            from tfmemlint.fixes.rewrites import env_variables

            env_variables.set_in_kernel(editor, finding)
            return
        if finding.details["why"] == "name":
            from tfmemlint.fixes.rewrites import env_variables

            env_variables.set_in_place_of_name(editor, finding)
            return
        if finding.details["why"] == "left out":
            from tfmemlint.fixes.rewrites import env_variables

            env_variables.keep_environment(editor, finding)
            return
        if finding.details["why"] == "copy":
            begun, name = finding.details["begun"], finding.details["copy"]
            assert isinstance(begun, Span)
            call = editor.call_at(begun)
            editor.replace_args(call, *(editor.code(argument).rstrip(", ") for argument in call.args), f"env={name}")
            editor.unsafe(f"Give the process the environment that is made for it: env={name}")
            return
        if finding.details["why"] in _ELSEWHERE_IN_SCRIPT:
            from tfmemlint.fixes import pass_variables

            pass_variables.pass_on(editor, finding)
            return
        from tfmemlint.fixes import text_editor

        text_editor.pass_to_program(editor, finding)


def _words(lost: EnvLost, name: str) -> tuple[str, str]:
    written = f"{lost.name}={lost.text}"
    match lost.why:
        case "unexported":
            return (
                f"{name} is assigned but not exported: {_short(lost.program)} does not get it",
                f"Write export {written}",
            )
        case "late":
            where = f"{_short(lost.program)} in line {lost.begun.row}"
            return f"{name} is set after the program has run: {where}", f"Set it above line {lost.begun.row}"
        case "replaced":
            return f"{name} is put into a dictionary in place of os.environ: TensorFlow does not get it", (
                "Call os.environ.update() with the dictionary, which changes the environment of the process"
            )
        case "name":
            return f"{name} is only a name of Python's, which nothing reads: TensorFlow does not get it", (
                f"Write os.environ[{name!r}] = {lost.text!r}"
            )
        case "copy":
            return f"{name} is put into a copy of the environment: the process that is started does not get it", (
                f"Start it with env={lost.program}"
            )
        case "left out":
            return f"{name} is set, and the process that is started gets other variables alone, without it", (
                "Begin with those of this process: {**os.environ, ...}"
            )
        case "shell":
            return f"{name} is set in a shell of its own: the process does not get it", (
                f"Write os.environ[{name!r}] = {lost.text!r}"
            )
        case "kernel":
            return f"{name} is set in a shell of its own: the notebook does not get it", f"Write %env {written}"
        case "command":
            return f"The shell knows no command {lost.program!a}: {name} is never set", f"Write export {name}"
        case "pipe":
            return f"{_short(lost.program)} does not get {name}: a process of its own exports that, behind a pipe", (
                "Give the loop its input by a redirection, not by a pipe: while ...; do ...; done < file"
            )
        case "line":
            return f"{name} is set for this line alone: {_short(lost.program)} does not get it", (
                f"Write {written} in front of the command that starts the program"
            )
        case "front":
            return f"{name} is set for another command alone: {_short(lost.program)} does not get it", (
                f"Write {written} in front of the command that starts the program"
            )
        case "apart":
            return f"{name} is exported in a process of its own: {_short(lost.program)} does not get it", (
                "Export it in the script itself, without parentheses, a pipe or &"
            )
        case "sudo":
            return f"sudo does not pass {name} on: {_short(lost.program)} does not get it", (
                f"Write sudo {written}, or sudo --preserve-env={name}"
            )
        case "ssh":
            return f"{name} is set for ssh alone, which does not pass it to the other machine", (
                f"Write {written} in front of the command that starts the program"
            )
        case "layer":
            return f"{name} is set for this RUN alone: no container gets it", f"Write ENV {written}"
        case _:
            return f"{name} is set for this step alone: {lost.program} does not get it", "Set it under env:"


def _notes(lost: EnvLost) -> tuple[str, ...]:
    match lost.why:
        case "unexported":
            return (f"It is passed on anyway where {lost.name} was exported before the script started.",)
        case "sudo":
            return ("It is passed on where the settings of sudo keep it (env_keep, or !env_reset).",)
        case _:
            return ()


def _short(program: str) -> str:
    return program if len(program) <= 40 else f"{program[:37]}..."


def _intent(lost: EnvLost) -> Intent:
    purpose = _PURPOSES.get(lost.name, Purpose.OTHER)
    if purpose is Purpose.GROWTH:
        return Intent(purpose, "every GPU", {"true": True, "false": False}.get(lost.value or ""))
    text = lost.value if lost.value is not None else lost.text
    return Intent(purpose, text=text if purpose is not Purpose.OTHER else f"{lost.name}={text}")
