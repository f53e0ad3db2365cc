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
from tfmemlint.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.flow.program import Program

_NAME = re.compile(r"(?<![\w./\\-])(?:tf|tensorflow)(?:\.[A-Za-z_]\w*)+(?![\w/\\-])")
_FILES = (".py", ".ipynb", ".md", ".rst", ".txt", ".csv", ".json", ".yaml", ".yml", ".toml", ".log")
_PLACES = re.compile(r"tf\.(?:compat\.v[12]\.)?(?:config|gpu|memory|test|distribute|contrib|keras\.backend)\b|tf\.\w+$")
_WORDS = re.compile(r"memory|gpu|growth", re.IGNORECASE)


class MadeUpNameMentioned(Rule):
    """A comment or docstring recommends a TensorFlow name that no release has.

    What it does
    ------------
    Looks through comments and docstrings for names about memory and GPUs that TensorFlow never had: lines that were
    commented out, and advice to the reader.

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
        for row, column, words in _prose(text):
            for match in _NAME.finditer(words):
                name = _made_up(match[0])
                if name is None:
                    continue
                before = words[: match.start()]
                at_row = row + before.count("\n")
                start = match.start() - before.rfind("\n") if "\n" in before else column + match.start() + 1
                yield Finding(
                    self.code,
                    self.name,
                    self.severity,
                    program.source.path,
                    Span(at_row, start, at_row, start + len(match[0])),
                    f"{name} exists in no TensorFlow release",
                    advice="Name the function that exists: the next person who trusts this gets an AttributeError",
                    noqa_row=at_row,
                )


def _made_up(written: str) -> str | None:
    """The canonical name, where it is made up."""
    if written.endswith(_FILES):
        return None
    name = "tf" + written.removeprefix("tensorflow").removeprefix("tf")
    if wishes.wish_of(name) is not None:
        return name
    missing = names.missing_part(name, Target.newest())
    if missing is None or names.ever_existed(missing):
        return None
    return missing if _PLACES.match(missing) and _WORDS.search(name) else None


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
