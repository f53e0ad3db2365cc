"""TFM208: a comment or docstring recommends a TensorFlow name that no release has."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge import names
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.missing_names import NEVER
from tfmemlint.rulekit.rule import Rule
from tfmemlint.text_checks.names import BINDS, DENIED, NAME, made_up, sentence

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.rulekit.correction import Correction


class MadeUpNameMentioned(Rule):
    """A comment or docstring recommends a TensorFlow name that no release has.

    What it does
    ------------
    Looks through comments and docstrings for names about devices, memory and configuration that no TensorFlow release
    ever had: lines that were commented out, and advice to the reader. A sentence that says of a name that it does not
    exist is left alone, and so are patterns (``tf.config.*``), the attributes of classes, and files in which ``tf`` is
    something else.

    In documents and saved web pages it looks through the sentences. There it is a warning, and needs not be asked for;
    quoted errors, questions, lists of what was removed and proposals are left alone, too.

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
    text_defects = (TextDefect.MADE_UP_MENTION,)
    triggers = (
        r"\btf\.config\b",
        r"\.config\.experimental",
        r"\b(?:tf|tensorflow|K|backend|experimental|extended)\.[\w.]*(?:[Mm]emory|gpu|GPU|vram|growth)",
    )
    any_tensorflow_file = True
    default_in_documents = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Names in comments and in strings that stand alone."""
        text = program.source.text
        if not any(made_up(match[0]) for match in NAME.finditer(text)):
            return
        short = "tensorflow" in text and BINDS.search(text) is None
        for row, column, words in _prose(text):
            for match in NAME.finditer(words):
                name = made_up(match[0]) if short or match[0].startswith("tensorflow") else None
                if name is None or DENIED.search(sentence(words, match)):
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
                    details={"name": name},
                    noqa_row=at_row,
                )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_name

        return of_name(finding, text, target)


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
