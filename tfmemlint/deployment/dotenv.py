"""Environment files (``.env``): lines of ``NAME=value``.

There is no common format. ``docker run --env-file`` takes everything after the equals sign literally, quotes included;
Compose and python-dotenv remove quotes, and comments after a value; a shell runs the file as a script. The tool reports
only what is the same in all formats, or wrong in each of them. Sources: Docker's reference of ``docker run``, Compose's
"Interpolation", python-dotenv's "File format" (that package gives no columns, and reads only its own format).
"""

from __future__ import annotations

import re

from tfmemlint.model.configuration import FILE, ConfigurationRead, VariableSetting
from tfmemlint.sources.config_files.names import is_name
from tfmemlint.sources.config_files.templates import HIDDEN, masked
from tfmemlint.sources.config_files.text_places import Places

_LINE = re.compile(
    r"[ \t]*(?P<export>export[ \t]+)?(?P<name>[^\s=#\"'$]+)=(?P<given>\"[^\"\\\n]*\"|'[^'\n]*'|[^\s#\"'][^\n]*|)"
    r"(?:[ \t]+#[^\n]*|[ \t\r]*)$"
)
_COMMENT = re.compile(r"[ \t]#")


def read_dotenv(text: str) -> ConfigurationRead:
    """Return the variables that an environment file sets."""
    out = ConfigurationRead()
    places = Places(text)
    at = 0
    for line in masked(text).split("\n"):
        found = _LINE.fullmatch(line) if len(line) < 100_000 else None
        if found is not None and is_name(found["name"]):
            raw = _without_comment(found["given"])
            quote: str | None = raw[0] if raw[:1] in ("'", '"') and raw[0] not in raw[1:-1] else ""
            value: str | None = raw[1:-1] if quote else raw
            if HIDDEN in raw or "$" in raw or "\\" in raw or "`" in raw:
                value, quote = None, None
            start, end = at + found.start("name"), at + found.end("name")
            given_end = at + found.start("given") + len(raw)
            given = places.span(at + found.start("given"), given_end)
            statement = places.span(start, given_end)
            out.settings.append(
                VariableSetting(found["name"], value, places.span(start, end), given, statement, FILE, quote)
            )
        at += len(line) + 1
    return out


def _without_comment(given: str) -> str:
    """Return a value without the comment and the blanks after it."""
    if given[:1] in ("'", '"'):
        return given
    comment = _COMMENT.search(given)
    return given[: comment.start()].rstrip(" \t") if comment is not None else given.rstrip(" \t\r")
