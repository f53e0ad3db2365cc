"""TFM308: a GPU is named by its number on the machine, which CUDA_VISIBLE_DEVICES has changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, DeviceAt, EnvWrite, Event
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.variables import VISIBLE, shown
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.model.intent import Intent, Wish
from tfmemlint.rulekit.explain import handler_notes, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_NAME = re.compile(r"(?:/job:\w+)?(?:/replica:\d+)?(?:/task:\d+)?/?(?:device:)?gpu:(\d+)", re.IGNORECASE)
_REPORTS = (
    "tf.config.experimental.get_memory_info",
    "tf.config.experimental.reset_memory_stats",
    "tf.config.experimental.get_memory_usage",
)
_PLACES = ("tf.device", "tf.distribute.OneDeviceStrategy")


class DeviceIndexOutOfRange(Rule):
    """A GPU is named by its number on the machine, which ``CUDA_VISIBLE_DEVICES`` has changed.

    What it does
    ------------
    Finds ``gpus[2]``, ``tf.device("/GPU:2")`` and the like in programs that set ``CUDA_VISIBLE_DEVICES`` so that fewer
    GPUs are left. TensorFlow numbers the GPUs that it sees from 0: with ``"2"`` the machine's GPU 2 is TensorFlow's GPU
    0. The variable may also be set where a Dockerfile, script, compose file or workflow starts the program.

    Why it matters
    --------------
    ``gpus[2]`` raises an IndexError. ``tf.device("/GPU:2")`` raises nothing: TensorFlow quietly puts the work on
    another device, as it does by default with what it can't place.

    Example
    -------
    ```python
    import os

    os.environ["CUDA_VISIBLE_DEVICES"] = "2"
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    tf.config.experimental.set_memory_growth(gpus[2], True)
    ```

    Use instead
    -----------
    ```python
    import os

    os.environ["CUDA_VISIBLE_DEVICES"] = "2"
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.experimental.set_memory_growth(gpus[0], True)
    ```

    Seen as
    -------
    ``IndexError: list index out of range``, or ``ValueError: No matching devices found for 'GPU:2'``
    """

    code = "TFM308"
    name = "device-index-out-of-range"
    severity = Severity.ERROR
    triggers = ("VISIBLE_DEVICES",)
    launch_triggers = ("(?i:gpu:[1-9])",)
    fixable = "sometimes"
    sees_launch_environment = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Numbers of GPUs beyond those that the program itself has left visible."""
        sets = [write for write in program.of(EnvWrite) if write.name == VISIBLE]
        if not sets or any(write.how == "setdefault" for write in sets):
            return
        for event in program.events:
            if event.repeated or event.path != program.source.path:
                continue
            if isinstance(event, DeviceAt):
                yield from self._judge(program, event, event.index, event.key, "IndexError: list index out of range")
            elif isinstance(event, Call) and event.name in (*_PLACES, *_REPORTS):
                place = event.arg(0, "device_name" if event.name == "tf.device" else "device")
                text = place.value.value if place is not None and isinstance(place.value, Const) else None
                match = _NAME.fullmatch(text) if isinstance(text, str) else None
                # A GPU that is split into logical devices has more numbers than the machine has GPUs.
                if place is None or match is None or event.state.limits:
                    continue
                error = f"ValueError: No matching devices found for {text!r}" if event.name in _REPORTS else ""
                yield from self._judge(program, event, int(match[1]), place.span, error, str(text))

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write the number that TensorFlow gives the GPU."""
        from tfmemlint.fixes.rewrites import env_variables

        env_variables.renumber_gpu(editor, finding)

    def _judge(
        self, program: Program, event: Event, index: int, span: Span, error: str, text: str = ""
    ) -> Iterator[Finding]:
        value = event.state.cuda_visible_devices
        cards = shown(value.value) if isinstance(value, Const) and isinstance(value.value, str) else None
        if not cards or index < len(cards) or event.state.min_gpus > index or event.state.max_gpus == 0:
            return
        if any("len(" in guard for guard, _ in event.guards):
            return
        exception = error.partition(":")[0]
        caught = bool(error) and event.handler_for(exception) is not None
        set_to = ",".join(cards)
        many = "GPU 0 only" if len(cards) == 1 else f"GPUs 0 to {len(cards) - 1} only"
        named = f"GPU {index}"
        is_card = str(index) in cards
        now = (
            f"the machine's GPU {index} is TensorFlow's GPU {cards.index(str(index))}"
            if is_card
            else f"there is no GPU {index}"
        )
        quiet = isinstance(event, Call) and event.name in _PLACES
        sure = event.certain and not caught and not quiet and not event.state.entry_unknown
        yield self.finding(
            program,
            event,
            f"{VISIBLE}={set_to!r} leaves {many}, numbered from 0: {now}",
            span=span,
            severity=Severity.ERROR if sure else Severity.WARNING,
            intent=Intent(Wish.OTHER, text=f"{named} for {short(event.name)}" if isinstance(event, Call) else named),
            outcome="TensorFlow finds no such device, and quietly takes another one; without soft placement it raises"
            if quiet
            else f"{'TensorFlow' if text else 'Python'} raises {error}",
            advice=f"Write {cards.index(str(index))}" if is_card else f"Name GPU {index} in {VISIBLE} as well",
            notes=handler_notes(event, exception, "the GPU is never used") if error else (),
            details={
                "index": index,
                "meant": cards.index(str(index)) if is_card else None,
                "text": text,
                "caught": caught,
                "quiet": quiet,
            },
        )
