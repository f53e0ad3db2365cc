"""Events about the options of TF1 sessions."""

from __future__ import annotations

from tfmemlint.interpreter.state.model import Event
from tfmemlint.interpreter.values import Value
from tfmemlint.model.finding import Span
from tfmemlint.model.records import record


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OptionStored(Event):
    """A field of a ``ConfigProto``, or of a message in it, is assigned to: ``config.gpu_options.allow_growth = True``.

    ``field``: its name, without those of the messages around it. ``value``: what it gets. ``text``, ``target``: the
    field as written, and its place (that of the event is the whole assignment's). ``given``, ``given_text``: the place
    of the value and the value as written; None and "" where it is set by other means than an assignment of its own.
    """

    field: str
    value: Value
    text: str
    target: Span
    given: Span | None
    given_text: str
