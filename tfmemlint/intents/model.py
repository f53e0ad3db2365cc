"""One thing that a program wants of GPU memory."""

from __future__ import annotations

from dataclasses import dataclass

from tfmemlint.interpreter.program import Event
from tfmemlint.interpreter.values import EACH, Const, Device, DeviceName, Devices, Value
from tfmemlint.model.finding import Span, Step
from tfmemlint.model.intent import Intent, Wish


@dataclass(frozen=True, slots=True)
class Wanted:
    """One intent of a program, and where it is stated.

    Attributes:
        intent: what is wanted.
        by: how it is asked for: ``call`` (a function of ``tf.config``), ``made-up`` (a name or key that TensorFlow
            lacks), ``assignment`` (to an attribute that nobody reads), ``environment``, ``session`` (the options of a
            TF1 session), ``proto`` (options that no session ever gets), ``handed-on`` (options that something which is
            not followed gets), or ``report``.
        name: canonical name of the function, the session's maker, or the variable.
        text: the code that states it.
        span: its place. statement: the whole statement that it stands in.
        entry: the entry point it belongs to: ``module``, or a function that nothing in the file calls.
        frames: the calls that lead from the entry point to it, outermost first.
        gpu: the number of the GPU that is meant, ``each`` for all of them, None where that isn't known.
        sizes: for a limit the MiB of each logical device, as far as they are known.
        certain: every run of the entry point comes by here.
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
    def setting(self) -> Wish:
        """The kind of setting that it is asked for by: a share that is given as a ``memory_limit`` is a limit there."""
        is_limit = self.by == "call" and self.intent.wish is Wish.FRACTION
        return Wish.LIMIT if is_limit else self.intent.wish


def number_of(value: Value) -> int | str | None:
    """The number of the GPU that a device argument means, ``each`` for the variable of a loop or a whole list."""
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
