"""The options of a server of models in a command: TensorFlow Serving, Triton."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tfmemlint.deployment.shell.commands import CONTAINERS
from tfmemlint.knowledge.servers import IMAGES, PROGRAMS, SERVING
from tfmemlint.model.configuration import ServerOption
from tfmemlint.model.finding import Span
from tfmemlint.sources.config_files.shell.lexer import Word
from tfmemlint.sources.config_files.shell.wrappers import unwrap

_OPTIONS = 200
"""Options of one command that are looked at."""


def server_of_image(image: str) -> str:
    """Return the server that an image starts with the arguments that a container gets; "" if it starts none."""
    return SERVING if IMAGES.search(image) else ""


def server_of(words: Sequence[Word]) -> tuple[str, int] | None:
    """Return the server that a command starts, and the number of its first argument; None if it starts none."""
    _, rest = unwrap(words)
    before = len(words) - len(rest)
    texts = [word.value if word.value is not None else word.raw for word in rest]
    names = [text.strip("\"'").rsplit("/", 1)[-1] for text in texts]
    if not names or names[0] in PROGRAMS:
        return (PROGRAMS[names[0]], before + 1) if names else None
    if names[0] not in CONTAINERS:
        return None
    for number, text in enumerate(texts):
        if names[number] in PROGRAMS:
            return PROGRAMS[names[number]], before + number + 1
        if number and server_of_image(text) and not any(name in PROGRAMS for name in names[number + 1 :]):
            return server_of_image(text), before + number + 1
    return None


def options_of(words: Sequence[Word], place: Callable[[int, int], Span], server: str = "") -> Iterator[ServerOption]:
    """Yield the options that a command gives a server.

    Args:
        words: the command. place: returns the place of the characters from one to another.
        server: the server that gets the words, if they start none themselves.
    """
    found = server_of(words)
    if found is None and not server:
        return
    server, first = found or (server, 0)
    given = words[first:][:_OPTIONS]
    for number, word in enumerate(given):
        text = word.value if word.value is not None else word.raw
        if not text.startswith("--") or len(text) < 4:
            continue
        name, equals, value = text[2:].partition("=")
        following = given[number + 1] if number + 1 < len(given) else None
        apart = not equals and following is not None and not following.raw.startswith("-")
        if apart and following is not None:
            value = following.value or ""
        end = following.end if apart and following is not None else word.end
        known = word.value is not None and (not apart or (following is not None and following.value is not None))
        yield ServerOption(
            server, name, value if known and (equals or apart) else None, place(word.start, end), apart=apart
        )
