"""TFM314: two settings in the value of one environment variable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import ChildEnv, EnvWrite
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.variables import run_together
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.env_writes import is_replaced, place_of, text_of, writes
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class EnvRunTogether(Rule):
    """Two settings in the value of one environment variable.

    What it does
    ------------
    Finds values such as ``"true TF_GPU_ALLOCATOR=cuda_malloc_async"``: a second setting has slipped into the value of
    the first, as in a line that was copied from a shell. Environments that the program writes out for other processes
    are checked too, and so are Dockerfiles (``ENV X true Y=1`` is one variable), shell scripts, environment files and
    YAML.

    Why it matters
    --------------
    The second variable is never set, and the first has a value that TensorFlow does not know: neither takes effect.

    Example
    -------
    ```python
    import os

    os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true TF_GPU_ALLOCATOR=cuda_malloc_async"
    import tensorflow as tf
    ```

    Use instead
    -----------
    ```python
    import os

    os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
    os.environ["TF_GPU_ALLOCATOR"] = "cuda_malloc_async"
    import tensorflow as tf
    ```

    Seen as
    -------
    In the log: ``The TF_FORCE_GPU_ALLOW_GROWTH environment variable is set but could not be parsed: "true
    TF_GPU_ALLOCATOR=cuda_malloc_async".``
    """

    code = "TFM314"
    name = "env-run-together"
    severity = Severity.ERROR
    text_defects = (TextDefect.RUN_TOGETHER,)
    triggers = (
        "VISIBLE_DEVICES",
        "TF_GPU",
        "TF_FORCE_GPU",
        "TF_CUDNN",
        r"(?:TF_|CUDA_)\w{0,60}(?:GROW|GROT|MEM|FRACTION|ALLOC|DEVI[CS]|GPU)",
        "GPU_ALLO[CW]",
        "XLA_PYTHON_CLIENT",
    )
    fixable = "sometimes"
    supersedes = ("TFM307", "TFM105")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each value that contains the setting of another variable."""
        for write in writes(program):
            if write.path == program.source.path and not is_replaced(program, write):
                yield from self._judge(program, write, text_of(write))
        for passed in program.of(ChildEnv):
            value = passed.value.value if isinstance(passed.value, Const) else None
            if passed.path == program.source.path:
                yield from self._judge(program, passed, value if isinstance(value, str) else None)

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import VALUE, Correction

        return Correction(VALUE, text, None, "these are two settings: each needs a place of its own")

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Set each variable separately."""
        from tfmemlint.fixes.rewrites import env_variables

        env_variables.split_settings(editor, finding)

    def _judge(self, program: Program, write: EnvWrite | ChildEnv, text: str | None) -> Iterator[Finding]:
        settings = run_together(write.name, text) if text is not None else ()
        if not settings:
            return
        lost = [name for name, _ in settings[1:]]
        set_too = [write.name for write in program.of(EnvWrite) if write.name in lost]
        both = " and ".join(name for name, _ in settings)
        yield self.finding(
            program,
            write,
            f"The value of {write.name} holds a second setting: {', '.join(lost)} is never set",
            span=place_of(write) if isinstance(write, EnvWrite) else write.key,
            intent=Intent(Purpose.OTHER, text=", ".join(f"{name}={value}" for name, value in settings)),
            outcome=f"{write.name} gets {text!r}, which TensorFlow does not accept; nothing is raised",
            advice=f"Set {both} separately",
            details={
                "settings": settings,
                "key": write.key,
                "given": write.given,
                "value": text,
                "elsewhere": set_too[0] if set_too else "",
            },
        )
