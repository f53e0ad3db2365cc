"""The intents of a program about GPU memory: one for each place that states one, in the order of execution.

Rules look at single events. `verify` and `plan` compare all intents of a program with TensorFlow's behaviour; both read
the list that is made here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfmemlint.intents.model import StatedIntent, number_of
from tfmemlint.intents.reading import read
from tfmemlint.interpreter.program import Call, End, Event, ItemLookup, Program, ProtoMade
from tfmemlint.model.finding import Span
from tfmemlint.model.intent import Purpose
from tfmemlint.rulekit.explain import is_dropped_limit

__all__ = ["StatedIntent", "entries", "intents_of", "number_of", "stated_intents"]


def stated_intents(program: Program) -> list[StatedIntent]:
    """Return the intents of ``program``, one per place and entry point, in the order in which the places are
    reached.
    """
    return [intent for entry, events in entries(program) for intent in intents_of(entry, events)]


def intents_of(entry: str, events: Sequence[Event]) -> Iterator[StatedIntent]:
    """Yield the intents of one entry point, one per place."""
    known: set[tuple[Span, Purpose, object]] = set()
    first = {event.span for event in events if not event.repeated}
    asked = _asked_by_made_up_key(events, entry)
    for event in events:
        if event.repeated and event.span in first:
            continue  # a later pass of a loop
        if event.span in asked:
            continue
        if isinstance(event, Call) and event.unread and not is_dropped_limit(event, events):
            continue
        for intent in read(event, entry):
            key = (intent.span, intent.intent.purpose, intent.gpu)
            if key not in known:
                known.add(key)
                yield intent


def _asked_by_made_up_key(events: Sequence[Event], entry: str) -> set[Span]:
    """Return the calls of which nothing but keys that they don't return is used: such a key states the intent."""
    by_key: dict[Span, list[bool]] = {}
    for event in events:
        if isinstance(event, ItemLookup) and event.call is not None:
            by_key.setdefault(event.call.span, []).append(next(read(event, entry), None) is not None)
    return {span for span, made_up in by_key.items() if all(made_up)}


def entries(program: Program) -> Iterator[tuple[str, list[Event]]]:
    """Yield the entry points of ``program``, each with its events.

    The last event is the `End`, unless the program could not be followed to its end. Options come with the call that
    makes their message.
    """
    messages = {(id(message.state), message.span): message for message in program.of(ProtoMade)}
    events: list[Event] = []
    for event in program.events:
        if isinstance(event, ProtoMade):
            # These events come at the end of the program, where the use of each message is known.
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
    """Return the entry point that an event was reached from: the function that makes the first of the calls to it."""
    if not event.state.entry_unknown:
        return "module"
    return event.frames[0].words.partition(" calls ")[0] if event.frames else event.function
