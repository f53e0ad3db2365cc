"""TFM207: an environment variable that TensorFlow never reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.servers import FRACTION, SERVING
from tfmemlint.knowledge.variables import GROWTH, BadName, judge_name, judge_value, wants_growth
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.child_environments import child_writes
from tfmemlint.rulekit.env_writes import (
    about_tensorflow_itself,
    growth_calls,
    in_time,
    is_for_others,
    others_of,
    place_of,
    text_of,
    writes,
)
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import EnvWrite, Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction

_ADVICE = {
    Purpose.GROWTH: "Set TF_FORCE_GPU_ALLOW_GROWTH to 'true', or call tf.config.experimental.set_memory_growth",
    Purpose.LIMIT: "Call tf.config.set_logical_device_configuration with a memory_limit in MiB",
    Purpose.FRACTION: "Call tf.config.set_logical_device_configuration with a memory_limit in MiB",
    Purpose.ALLOCATOR: "Set TF_GPU_ALLOCATOR to 'cuda_malloc_async' where that is what is wanted",
    Purpose.VISIBLE: "Set CUDA_VISIBLE_DEVICES",
}
_OTHER_SIGNS = ("\uff1d", "\ufe66")
"""A full-width and a small equals sign."""
_SHARE = f"Start the server with --{FRACTION} and the share of the GPU's memory"
_SERVER_ADVICE = {
    Purpose.GROWTH: "Set TF_FORCE_GPU_ALLOW_GROWTH to 'true'",
    Purpose.LIMIT: _SHARE,
    Purpose.FRACTION: _SHARE,
}
"""For a server of models, which runs no Python."""


class MadeUpEnvVar(Rule):
    """An environment variable that no release of TensorFlow reads.

    What it does
    ------------
    Finds variables about GPUs and their memory that are set and that TensorFlow never reads: made-up names
    (``TF_GPU_MEMORY_LIMIT``, ``TF_GPU_ALLOW_GROWTH``), misspelled names (``TF_FORCE_ALLOW_GPU_GROWTH``), names with
    invisible characters, and variables of JAX and PyTorch (``XLA_PYTHON_CLIENT_PREALLOCATE``) in code that uses
    neither. All libraries and Python files of the releases were searched: a reported name is in none of them.

    Variables that the program reads itself, or may set for another program that it starts, are not reported.

    Dockerfiles, shell scripts, environment files, compose files, Kubernetes manifests and workflows are checked as
    well. A variable that the file itself or code of its project reads is not reported there.

    Why it matters
    --------------
    An unknown variable is never an error. Nothing is raised and nothing is logged: TensorFlow takes all the memory of
    every GPU, as it does by default.

    Example
    -------
    ```python
    import os

    os.environ["TF_GPU_ALLOW_GROWTH"] = "true"
    os.environ["TF_GPU_MEMORY_LIMIT"] = "4096"
    import tensorflow as tf
    ```

    Use instead
    -----------
    ```python
    import os

    os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
    import tensorflow as tf
    ```

    or, for a limit,

    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])
    ```
    """

    code = "TFM207"
    name = "made-up-env-var"
    severity = Severity.ERROR
    text_defects = (TextDefect.VARIABLE,)
    triggers = (
        "VISIBLE_DEVICES",
        "TF_GPU",
        "TF_FORCE_GPU",
        "TF_CUDNN",
        r"(?:TF_|CUDA_)\w{0,60}(?:GROW|GROT|MEM|FRACTION|ALLOC|DEVI[CS]|GPU)",
        "GPU_ALLO[CW]",
        "XLA_PYTHON_CLIENT",
    )
    any_tensorflow_file = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each write of a variable that TensorFlow does not know."""
        for write in (*writes(program), *child_writes(program)):
            bad = judge_name(write.name)
            if bad is None or write.path != program.source.path or is_for_others(program, write, bad):
                continue
            yield self.finding(
                program,
                write,
                _message(write.name, bad),
                span=place_of(write),
                severity=Severity.ERROR if _is_sure(program, bad) else Severity.WARNING,
                intent=_intent(write, bad),
                outcome="TensorFlow behaves as if it were not set; nothing is raised",
                advice=f"Write {bad.real}=" if write.name.endswith(_OTHER_SIGNS) else _advice(program, bad),
                details=_details(program, write, bad),
            )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_environment_variable

        return of_environment_variable(finding, text)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Set the variable that was meant."""
        from tfmemlint.fixes.rewrites import env_variables

        env_variables.rename_variable(editor, finding)


def _advice(program: Program, bad: BadName) -> str:
    if bad.kind in ("typo", "invisible"):
        return f"Write {bad.real}"
    serves = program.configuration is not None and SERVING in program.configuration.servers
    return (_ADVICE | _SERVER_ADVICE if serves else _ADVICE).get(bad.purpose, "Drop it")


def _is_sure(program: Program, bad: BadName) -> bool:
    """Return True if nothing else can use the variable. A configuration file need not mention its purpose."""
    if bad.kind == "foreign":
        return False
    return bad.kind != "made-up" or program.configuration is None or about_tensorflow_itself(program.source.text)


def _message(name: str, bad: BadName) -> str:
    if bad.kind == "foreign":
        return f"{name} is {bad.owner}'s: TensorFlow never reads it"
    if bad.kind == "invisible":
        return f"The name {name!a} only looks like {bad.real}: TensorFlow never reads it"
    if bad.kind == "typo":
        return f"TensorFlow never reads {name}: the variable is called {bad.real}"
    return f"No release of TensorFlow reads {name}"


def _intent(write: EnvWrite, bad: BadName) -> Intent:
    text = text_of(write)
    if bad.purpose is Purpose.GROWTH:
        return Intent(Purpose.GROWTH, "every GPU", wants_growth(write.name, text))
    if bad.purpose is Purpose.OTHER:
        return Intent(Purpose.OTHER, text=f"{bad.real or write.name}={text if text is not None else write.text}")
    return Intent(bad.purpose, text=text if text is not None else write.text)


def _details(program: Program, write: EnvWrite, bad: BadName) -> dict[str, object]:
    text = text_of(write)
    wants = wants_growth(write.name, text) if bad.purpose is Purpose.GROWTH else None
    plain = bad.kind in ("typo", "invisible")
    value = None if plain else ("true" if wants else None)
    sound = isinstance(write.value, Const) and text is not None
    clear = bad.real == GROWTH and wants is True and (value is not None or text == "true")
    return {
        "kind": bad.kind,
        "purpose": bad.purpose.value,
        "name": write.name,
        "real": bad.real,
        "value": value,
        "wants": wants,
        "how": write.how,
        "serves": program.configuration is not None and SERVING in program.configuration.servers,
        "key": write.key,
        "given": write.given,
        "elsewhere": bool(bad.real) and bool(others_of(program, bad.real, write)),
        "safe": clear
        and sound
        and bad.kind != "foreign"
        and in_time(write, bad.real)
        and judge_value(bad.real, value or text or "") is None
        and not growth_calls(program),
    }
