"""What a program wants of GPU memory: its intents, one for each place that states one, in the order of execution.

Rules judge single events; `verify` and `plan` hold all that a program asks for against what TensorFlow does. Both read
the list that is made here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfmemlint.intents.model import Wanted, number_of
from tfmemlint.intents.reading import read
from tfmemlint.interpreter.program import Call, End, Event, Program, ProtoMade
from tfmemlint.model.finding import Span
from tfmemlint.model.intent import Wish

__all__ = ["Wanted", "entries", "number_of", "wanted", "wanted_by"]


def wanted(program: Program) -> list[Wanted]:
    """The intents of ``program``: one a place and entry point, in the order in which the places are reached."""
    return [one for entry, events in entries(program) for one in wanted_by(entry, events)]


def wanted_by(entry: str, events: Sequence[Event]) -> Iterator[Wanted]:
    """The intents of one entry point, one a place."""
    known: set[tuple[Span, Wish, object]] = set()
    first = {event.span for event in events if not event.repeated}
    for event in events:
        if event.repeated and event.span in first:
            continue  # a loop comes by here again
        for one in read(event, entry):
            key = (one.span, one.intent.wish, one.gpu)
            if key not in known:
                known.add(key)
                yield one


def entries(program: Program) -> Iterator[tuple[str, list[Event]]]:
    """The entry points of ``program``, each with its events. The last of them is the `End`, unless the program could
    not be followed that far; options stand with the call that makes the message.
    """
    messages = {(id(one.state), one.span): one for one in program.of(ProtoMade)}
    events: list[Event] = []
    for event in program.events:
        if isinstance(event, ProtoMade):
            # All of them stand at the end of the program: what becomes of a message is known only there.
            continue
        events.append(event)
        if isinstance(event, End):
            yield event.entry, events
            events = []
            continue
        message = messages.get((id(event.state), event.span)) if isinstance(event, Call) else None
        if message is not None:
            events.append(message)
    if events:
        yield _root(events[0]), events


def _root(event: Event) -> str:
    """The entry point that an event was reached from: the function that makes the first of the calls down to it."""
    if not event.state.entry_unknown:
        return "module"
    return event.frames[0].words.partition(" calls ")[0] if event.frames else event.function
