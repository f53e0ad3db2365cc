"""Names of TensorFlow in a text: those that are made up, and sentences that say so themselves."""

from __future__ import annotations

import re

from tfmemlint.knowledge import names, purposes
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.patterns import late_pattern

NAME = late_pattern(
    r"(?<![\w./\\@-])(?:tf|tensorflow)(?:\.[A-Za-z_]\w*){1,20}(?!\w|\.[A-Za-z_]|\.?(?:\*(?!\*)|[?{<>/\\-]))", re.ASCII
)
_PLACES = late_pattern(
    r"tf\.(?:compat\.v[12]\.)?(?:config|gpu|gpus|memory|vram|cuda|device|devices|distribute|test)(?:\.|$)"
)
_WORDS = late_pattern(r"memory|gpu|growth|vram", re.IGNORECASE)
"""Words in the names that are checked; any other name may be no more than a manner of speaking (a ``tf.Optimizer``)."""
_FILES = frozenset({
    "py", "pyc", "ipynb", "md", "rst", "txt", "csv", "json", "yaml", "yml", "toml", "log", "proto", "pb", "pbtxt", "so",
    "h", "cc", "cpp", "html", "org", "io", "dev", "com", "sh", "gz", "tar", "zip", "whl", "js", "lite", "tflite", "git",
})  # fmt: skip
"""Endings of file names and host names."""
DENIED = late_pattern(
    r"\b(?:no|not|never|none|nor|without|neither|nonexist\w*|removed|gone|dropped|missing|invented|made[- ]up|fictional"
    r"|hallucinated|imaginary|lacks?|wrong|invalid|used to be|called|named|own|custom|hypothetical|future|proposed)\b"
    r"|n't\b|AttributeError|ModuleNotFoundError|ImportError|has no attribute",
    re.IGNORECASE,
)
"""Words of a sentence that may say that a name does not exist."""
_SENTENCE = late_pattern(r"[.!?](?:\s+(?=[A-Z])|\s*$)|\n\s*\n")
BINDS = late_pattern(
    r"^[ \t]*(?:import[ \t]+(?!tensorflow\b)[\w.]+[ \t]+as[ \t]+tf\b"
    r"|from[ \t]+(?!tensorflow\b)[\w.]+[ \t]+import[ \t][^#\n]*\bas[ \t]+tf\b"
    r"|(?:\w[\w, ]{0,200},[ \t]*)?tf[ \t]*(?:,[\w, ]{1,200})?=(?!=)|for[ \t]+tf[ \t]+in\b|with\b[^#\n]*\bas[ \t]+tf\b)",
    re.MULTILINE,
)
"""Matches lines that bind ``tf`` to something other than TensorFlow."""


def sentence(words: str, match: re.Match[str]) -> str:
    """Return the sentence that contains a name, from the end of the previous sentence up to the name."""
    start = max((end.end() for end in _SENTENCE.finditer(words, 0, match.start())), default=0)
    end = _SENTENCE.search(words, match.end())
    return words[start : match.start()] + " " + words[match.end() : end.start() if end is not None else len(words)]


def canonical(written: str) -> str:
    """Return ``tf.config.x`` for ``tensorflow.config.x``."""
    return "tf" + written.removeprefix("tensorflow").removeprefix("tf")


def made_up(written: str) -> str | None:
    """Return the canonical name if it is made up, else None."""
    name = canonical(written)
    if name.rpartition(".")[2] in _FILES or name.endswith("_"):
        return None
    # `import tensorflow.compat.v1 as tf` is common, and so is a name in the plural.
    for spelled in (name,) if name.startswith("tf.compat.") else (name, name.replace("tf.", "tf.compat.v1.", 1)):
        missing = names.missing_part(spelled, Target.newest())
        if missing is None or names.ever_existed(missing) or names.ever_existed(missing.removesuffix("s")):
            return None
    if purposes.purpose_of(name) is not None:
        return name
    return names.missing_part(name, Target.newest()) if _PLACES.match(name) or _WORDS.search(name) else None
