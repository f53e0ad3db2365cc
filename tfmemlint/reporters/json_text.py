"""JSON as every command prints it."""

from __future__ import annotations

import json
from typing import Any

from tfmemlint.reporters.paint import COMMAND


def json_text(data: Any, *, indent: int | None = 2) -> str:
    r"""Return ``data`` as JSON in ASCII; ``##[`` in its strings is written ``#\u0023[``, which reads back the same.

    The log of a CI system may be where it is printed, and there GitHub obeys ``##[error]``, Azure ``##vso[...]``.

    Raises:
        ValueError: a number is not finite.
    """
    text = json.dumps(data, indent=indent, allow_nan=False)
    # Two of these signs stand in a string only.
    return COMMAND.sub(r"#\\u0023", text) if "##" in text else text
