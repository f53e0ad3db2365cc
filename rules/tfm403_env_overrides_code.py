"""TFM403: the environment variable for memory growth overrides what the program sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, SessionMade
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.variables import GROWTH
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.env_writes import beaten_by, settings_in_force, write_of
from tfmemlint.rulekit.explain import growth_intent, in_line, options_intent
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.interpreter.state import State

_FIELD = "gpu_options.allow_growth"


class EnvOverridesCode(Rule):
    """The environment variable for memory growth overrides what the program sets.

    What it does
    ------------
    Finds programs in which ``TF_FORCE_GPU_ALLOW_GROWTH`` contradicts ``set_memory_growth`` (or ``allow_growth`` of a
    session) and both are in force when TensorFlow creates the GPU devices. A Dockerfile, script, compose file or
    workflow that starts the program may also set the variable.

    Why it matters
    --------------
    The variable always wins, whichever was set first: with ``false`` TensorFlow takes all the memory although the
    program asks for growth; with ``true`` memory grows although the program turns growth off. The call raises nothing,
    and ``get_memory_growth`` still reports the value of the call.

    Example
    -------
    ```python
    import os

    os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "false"
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    x = tf.zeros((2, 2))
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    x = tf.zeros((2, 2))
    ```
    """

    code = "TFM403"
    name = "env-overrides-code"
    severity = Severity.ERROR
    triggers = ("TF_FORCE_GPU",)
    whole_program = True
    sees_launch_environment = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each growth setting that differs from the variable when the devices are created."""
        reported: set[object] = set()
        for call, setting, state in settings_in_force(program, lambda state: state.growth.values()):
            if (call.path, call.span) not in reported:
                found = self._judge(program, call, setting.value, state)
                if found is not None:
                    reported.add((call.path, call.span))
                    yield found
        for session in program.of(SessionMade):
            if session.fields and session.state.allocator.has is Tri.NO and not session.repeated:
                found = self._judge(program, session, session.fields.get(_FIELD), session.state)
                if found is not None:
                    yield found

    def _judge(self, program: Program, event: Call | SessionMade, value: object, state: State) -> Finding | None:
        forced = state.env.get(GROWTH)
        if not isinstance(forced, Const) or forced.value not in ("true", "false") or state.max_gpus == 0:
            return None
        grows = forced.value == "true"
        if not isinstance(value, Const) or not isinstance(value.value, bool) or value.value is grows:
            return None
        write = write_of(program, GROWTH, state)
        if write is None:
            return None
        sure = event.certain and write.certain and write.how != "setdefault" and not state.entry_unknown
        intent = growth_intent(event) if isinstance(event, Call) else options_intent({_FIELD: value.value})
        what = "set_memory_growth" if isinstance(event, Call) else "allow_growth"
        return self.finding(
            program,
            event,
            f"{GROWTH}={forced.value}, set {in_line(write)}, overrides {what}, which has no effect",
            severity=Severity.ERROR if sure else Severity.WARNING,
            intent=intent,
            outcome=f"TensorFlow {'lets memory grow all the same' if grows else 'takes all the memory at once'}; "
            "nothing is raised",
            advice=f"Keep one of the two: the variable {in_line(write)}, or this",
            trace=beaten_by(write, event, f"{what} asks for the opposite"),
        )
