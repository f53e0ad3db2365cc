"""TFM208: a comment or docstring recommends a TensorFlow name that no release has."""

from __future__ import annotations

import tokenize
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge import names
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.missing_names import NEVER
from tfmemlint.rulekit.rule import Rule
from tfmemlint.sources.tokens import python_tokens
from tfmemlint.text_checks.names import BINDS, DENIED, NAME, made_up, sentence

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.rulekit.correction import Correction


class MadeUpNameMentioned(Rule):
    """A comment or docstring recommends a TensorFlow name that no release has.

    What it does
    ------------
    Looks in comments and docstrings for names about devices, memory and configuration that have never existed in any
    TensorFlow release: in lines that were commented out, and in advice to the reader. A sentence that says that a name
    does not exist is left alone, and so are patterns (``tf.config.*``), attributes of classes, and files in which
    ``tf`` is something else.

    In documents and saved web pages the rule looks at the sentences. There it is a warning and is on by default. Quoted
    errors, questions, lists of removed names and proposals are left alone as well.

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
        """Yield each made-up name in a comment or in a string that is a statement of its own."""
        text = program.source.text
        if not any(made_up(match[0]) for match in NAME.finditer(text.strip("\n"))):
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
    """Yield comments, and strings that are statements, each with the row (from 1) and column (from 0) of its first
    character."""
    alone = True
    for token in python_tokens(text):
        if token.type == tokenize.COMMENT:
            yield token.row, token.column, token.text
        elif token.type == tokenize.STRING:
            if alone:
                yield token.row, token.column, token.text
        elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING):
            alone = token.type == tokenize.NEWLINE
