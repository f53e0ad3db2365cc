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
    r"[ \t]*(?P<export>export[ \t]+)?(?P<name>[^\s=#\"'$]+)=(?P<given>\"[^\"\\\n]*\"|'[^'\n]*'|[^\s#\"'][^\n]*?|)"
    r"(?P<rest>[ \t]+#[^\n]*|[ \t\r]*)$"
)


def read_dotenv(text: str) -> ConfigurationRead:
    """Return the variables that an environment file sets."""
    out = ConfigurationRead()
    places = Places(text)
    at = 0
    for line in masked(text).split("\n"):
        found = _LINE.fullmatch(line) if len(line) < 100_000 else None
        if found is not None and is_name(found["name"]):
            raw = found["given"]
            quote: str | None = raw[0] if raw[:1] in ("'", '"') and raw[0] not in raw[1:-1] else ""
            value: str | None = raw[1:-1] if quote else raw
            if HIDDEN in raw or "$" in raw or "\\" in raw or "`" in raw:
                value, quote = None, None
            start, end = at + found.start("name"), at + found.end("name")
            given = places.span(at + found.start("given"), at + found.end("given"))
            statement = places.span(start, at + found.end("given"))
            out.settings.append(
                VariableSetting(found["name"], value, places.span(start, end), given, statement, FILE, quote)
            )
        at += len(line) + 1
    return out
