"""TFM208: a comment or docstring recommends a TensorFlow name that no release has."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.finding import Finding, Severity, Span
from tfmemlint.knowledge import names, wishes
from tfmemlint.knowledge.releases import Target
from tfmemlint.lacking import NEVER
from tfmemlint.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.flow.program import Program

_NAME = re.compile(
    r"(?<![\w./\\@-])(?:tf|tensorflow)(?:\.[A-Za-z_]\w*)+(?!\w|\.[A-Za-z_]|\.?(?:\*(?!\*)|[?{<>/\\-]))", re.ASCII
)
_PLACES = re.compile(
    r"tf\.(?:compat\.v[12]\.)?(?:config|gpu|gpus|memory|vram|cuda|device|devices|distribute|test)(?:\.|$)"
)
_WORDS = re.compile(r"memory|gpu|growth|vram", re.IGNORECASE)
"""What these names are about; any other may be no more than a manner of speaking (a ``tf.Optimizer``)."""
_FILES = frozenset(
    {
        "py",
        "pyc",
        "ipynb",
        "md",
        "rst",
        "txt",
        "csv",
        "json",
        "yaml",
        "yml",
        "toml",
        "log",
        "proto",
        "pb",
        "pbtxt",
        "so",
    }
    | {
        "h",
        "cc",
        "cpp",
        "html",
        "org",
        "io",
        "dev",
        "com",
        "sh",
        "gz",
        "tar",
        "zip",
        "whl",
        "js",
        "lite",
        "tflite",
        "git",
    }
)
"""Ends of names of files and hosts."""
_DENIED = re.compile(
    r"\b(?:no|not|never|none|nor|without|neither|nonexist\w*|removed|gone|dropped|missing|invented|made[- ]up|fictional"
    r"|hallucinated|imaginary|lacks?|wrong|invalid|used to be|called|named|own|custom|hypothetical|future|proposed)\b"
    r"|n't\b|AttributeError|ModuleNotFoundError|ImportError|has no attribute",
    re.IGNORECASE,
)
"""Words of a sentence that may well say that a name is none."""
_SENTENCE = re.compile(r"[.!?](?:\s+(?=[A-Z])|\s*$)|\n\s*\n")
_BINDS = re.compile(
    r"^[ \t]*(?:import[ \t]+(?!tensorflow\b)[\w.]+[ \t]+as[ \t]+tf\b"
    r"|from[ \t]+(?!tensorflow\b)[\w.]+[ \t]+import[ \t][^#\n]*\bas[ \t]+tf\b"
    r"|(?:[\w, ]+,[ \t]*)?tf[ \t]*(?:,[\w, ]+)?=(?!=)|for[ \t]+tf[ \t]+in\b|with\b[^#\n]*\bas[ \t]+tf\b)",
    re.MULTILINE,
)
"""Where ``tf`` is bound to something else than TensorFlow."""


class MadeUpNameMentioned(Rule):
    """A comment or docstring recommends a TensorFlow name that no release has.

    What it does
    ------------
    Looks through comments and docstrings for names about devices, memory and configuration that no TensorFlow release
    ever had: lines that were commented out, and advice to the reader. A sentence that says of a name that it does not
    exist is left alone, and so are patterns (``tf.config.*``), the attributes of classes, and files in which ``tf`` is
    something else.

    Why it matters
    --------------
    The next person uncomments the line, or copies the name.

    Example
    -------
    ```python
    import tensorflow as tf

    # tf.config.experimental.set_memory_limit(gpus[0], 0.5)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    # tf.config.set_logical_device_configuration limits the memory of a GPU, in MiB.
    ```
    """

    code = "TFM208"
    name = "made-up-name-mentioned"
    severity = Severity.ADVICE

    def check(self, program: Program) -> Iterator[Finding]:
        """Names in comments and in strings that stand alone."""
        text = program.source.text
        if not any(_made_up(match[0]) for match in _NAME.finditer(text)):
            return
        short = "tensorflow" in text and _BINDS.search(text) is None
        for row, column, words in _prose(text):
            for match in _NAME.finditer(words):
                name = _made_up(match[0]) if short or match[0].startswith("tensorflow") else None
                if name is None or _DENIED.search(_sentence(words, match)):
                    continue
                before = words[: match.start()]
                at_row = row + before.count("\n")
                start = match.start() - before.rfind("\n") if "\n" in before else column + match.start() + 1
                near = names.nearest(name, Target.newest())
                yield Finding(
                    self.code,
                    self.name,
                    self.severity,
                    program.source.path,
                    Span(at_row, start, at_row, start + len(match[0])),
                    f"{name} {NEVER}",
                    advice="Name the function that exists: the next person who trusts this gets an AttributeError"
                    + (f". The nearest real name is {near}" if near else ""),
                    noqa_row=at_row,
                )


def _sentence(words: str, match: re.Match[str]) -> str:
    """The sentence that a name stands in, from the end of the one before it."""
    start = max((one.end() for one in _SENTENCE.finditer(words, 0, match.start())), default=0)
    end = _SENTENCE.search(words, match.end())
    return words[start : match.start()] + " " + words[match.end() : end.start() if end is not None else len(words)]


def _made_up(written: str) -> str | None:
    """The canonical name, where it is made up."""
    name = "tf" + written.removeprefix("tensorflow").removeprefix("tf")
    if name.rpartition(".")[2] in _FILES or name.endswith("_"):
        return None
    # `import tensorflow.compat.v1 as tf` is common, and so is a name in the plural.
    for spelled in (name, name.replace("tf.", "tf.compat.v1.", 1)):
        missing = names.missing_part(spelled, Target.newest())
        if missing is None or names.ever_existed(missing) or names.ever_existed(missing.removesuffix("s")):
            return None
    if wishes.wish_of(name) is not None:
        return name
    return names.missing_part(name, Target.newest()) if _PLACES.match(name) or _WORDS.search(name) else None


def _prose(text: str) -> Iterator[tuple[int, int, str]]:
    """Comments, and strings that are statements of their own, with the row (from 1) and column (from 0) they begin
    at."""
    alone = True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.start[1], token.string
            elif token.type == tokenize.STRING:
                if alone:
                    yield token.start[0], token.start[1], token.string
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING):
                alone = token.type == tokenize.NEWLINE
    except (tokenize.TokenError, SyntaxError):
        return
