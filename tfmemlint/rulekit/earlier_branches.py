"""Starts of the runtime in one branch of a program, before a session that comes in every run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfmemlint.interpreter.state import Tri

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import SessionMade
    from tfmemlint.interpreter.state import Phase

_ABOUT_THE_MACHINE = re.compile(
    r"gpu|cuda|cpu|devic|version|platform|hasattr|callable|_v[12]\b|eager|sess|__name__|isinstance|TYPE_CHECKING",
    re.IGNORECASE,
)
"""Marks of conditions that hold on other machines, with other releases, or where no session is there yet."""
_NUMBERED = re.compile(r" [\w.]{1,80}(?:@\d+)?#\d+(?= |$)| @\d+$| \w{1,80}=[\w.]{1,80}$")
"""Numbers that tell two conditions with the same text apart (`tfmemlint.interpreter.operations.guards`)."""
_NAME = re.compile(r"[^\W\d]\w*")
_MOST_CONDITIONS = 2
"""Conditions that a branch which users take may depend on, and that a message can name."""
_LONGEST_TEXT = 60


def is_plain_path(phase: Phase, session: SessionMade) -> bool:
    """True if what has started in one branch has done so before a session on a plain path of the program: the branch
    depends on what users ask for, and the session comes in the same run whether it is taken or not."""
    first = phase.by
    if phase.has is not Tri.MAYBE or first is None or not phase.guards or session.state.entry_unknown:
        return False
    texts = [_text(text) for text, _ in phase.guards]
    if len(texts) > _MOST_CONDITIONS or any(
        _ABOUT_THE_MACHINE.search(text) or len(text) > _LONGEST_TEXT for text in texts
    ):
        return False
    if set(session.ways) - set(first.ways) or first.handlers != session.handlers:
        return False
    # A condition of the session with the same names in it may exclude the branch.
    here = [text for text, outcome in session.guards if (text, outcome) not in phase.guards]
    return _names(texts).isdisjoint(_names(here))


def conditions_of(phase: Phase) -> str:
    """Return the conditions of what has started, as the program has them."""
    texts = [(_text(text), outcome) for text, outcome in phase.guards or ()]
    return " and ".join(text if outcome else _negated(text) for text, outcome in texts)


def _negated(text: str) -> str:
    for positive, negative in ((" is None", " is not None"), (" == ", " != ")):
        if text.count(positive) == 1 and " and " not in text and " or " not in text:
            return text.replace(positive, negative)
    return f"not {text}"


def _text(guard: str) -> str:
    while (cut := _NUMBERED.sub("", guard)) != guard:
        guard = cut
    return guard


def _names(texts: list[str]) -> set[str]:
    return {name for text in texts for name in _NAME.findall(text)}
