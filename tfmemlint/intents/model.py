"""An intent of a program about GPU memory, with its place."""

from __future__ import annotations

from tfmemlint.interpreter.program import Event
from tfmemlint.interpreter.values import EACH, Const, Device, DeviceName, Devices, Value
from tfmemlint.model.finding import Span, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.records import dataclass


@dataclass(frozen=True, slots=True)
class StatedIntent:
    """An intent of a program, and the place that states it.

    Attributes:
        intent: the intent itself.
        by: how it is stated: ``call`` (a function of ``tf.config``), ``made-up`` (a name or key that TensorFlow
            lacks), ``assignment`` (to an attribute that nobody reads), ``environment``, ``session`` (the options of a
            TF1 session), ``proto`` (options that no session ever gets), ``dropped`` (a configuration of a logical
            device that no function gets), ``handed-on`` (options for something that is not followed), or ``report``.
        name: canonical name of the function, the session's maker, or the variable.
        text: the code that states it.
        span: its place. statement: the whole statement that contains it.
        entry: its entry point: ``module``, or a function that nothing in the file calls.
        frames: the calls that lead from the entry point to it, outermost first.
        gpu: the number of the GPU that it is about, ``each`` for all of them, None if that isn't known.
        sizes: for a limit, the MiB of each logical device, if they are known.
        certain: every run of the entry point reaches it.
        event: the event of the analysis.
    """

    intent: Intent
    by: str
    name: str
    text: str
    span: Span
    statement: Span
    entry: str
    frames: tuple[Step, ...]
    gpu: int | str | None
    sizes: tuple[float, ...] | None
    certain: bool
    event: Event

    @property
    def setting(self) -> Purpose:
        """Return the kind of setting that states it. A share that is passed as a ``memory_limit`` is a limit there."""
        is_limit = self.by == "call" and self.intent.purpose is Purpose.FRACTION
        return Purpose.LIMIT if is_limit else self.intent.purpose


def number_of(value: Value) -> int | str | None:
    """Return the number of the GPU that a device argument refers to.

    It is ``each`` for a whole list or the variable of a loop over it, and None if it isn't known.
    """
    match value:
        case DeviceName(device=device):
            return number_of(device)
        case Device(index=index) as device:
            if device.each:
                return EACH
            return index if isinstance(index, int) and index >= 0 else None
        case Devices(whole=True):
            return EACH
        case Const(value=str() as name):
            last = name.rsplit(":", 1)[-1]
            return int(last) if last.isascii() and last.isdigit() else None
        case Const(value=int() as index) if not isinstance(index, bool) and index >= 0:
            return index
        case _:
            return None
