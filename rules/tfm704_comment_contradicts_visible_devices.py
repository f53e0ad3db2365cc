"""TFM704: the comment says that a GPU is hidden, and the setting shows that GPU alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import EnvWrite
from tfmemlint.interpreter.values import Const
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program

_HIDES = re.compile(
    r"\b(?:hid(?:e|es|ing|den)|exclud\w+|disabl\w+|mask\w*|without|ignor\w+|skip\w*|block\w*)\b", re.IGNORECASE
)
_ALL = re.compile(r"\b(?:all|every|any|both|others?|rest|except|but|cpu)\b", re.IGNORECASE)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


class CommentContradictsVisibleDevices(Rule):
    """The comment says that a GPU is hidden, and the setting shows that GPU alone.

    What it does
    ------------
    Finds lines such as ``os.environ["CUDA_VISIBLE_DEVICES"] = "2" # hide the third GPU``.

    Why it matters
    --------------
    ``CUDA_VISIBLE_DEVICES`` lists the GPUs that are visible, not those that are hidden: the program gets the third GPU
    and no other.

    Example
    -------
    ```python
    import os

    os.environ["CUDA_VISIBLE_DEVICES"] = "2"  # hide the third GPU
    ```

    Use instead
    -----------
    ```python
    import os

    os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"  # hide the third GPU
    ```
    """

    code = "TFM704"
    name = "comment-contradicts-visible-devices"
    severity = Severity.ADVICE
    triggers = ("VISIBLE_DEVICES",)

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each setting whose comment says that the GPUs it shows are hidden."""
        for write in program.of(EnvWrite):
            value = write.value
            if write.name != "CUDA_VISIBLE_DEVICES" or not isinstance(value, Const) or not isinstance(value.value, str):
                continue
            shown = [part.strip() for part in value.value.split(",") if part.strip().isdigit()]
            comment = _comment(program.source.lines, write.statement.end_row)
            if not shown or not _HIDES.search(comment) or _ALL.search(comment) or not _speaks_of(comment, shown):
                continue
            words = "GPU " + shown[0] if len(shown) == 1 else f"GPUs {', '.join(shown)}"
            yield self.finding(
                program,
                write,
                f"The comment says that GPUs are hidden, but this setting shows {words} and hides all others",
                intent=Intent(Purpose.VISIBLE, text=f"GPUs other than {words}"),
                outcome=f"TensorFlow sees {words} only, numbered from 0",
                advice="List the GPUs that should be visible",
            )


def _comment(lines: list[str], row: int) -> str:
    """Return the comment at the end of a line, or else the one on the line above."""
    _, mark, comment = lines[row - 1].partition("#")
    if mark:
        # Text after a second ``#`` is for tools.
        return comment.partition("#")[0]
    above = lines[row - 2].strip() if row > 1 else ""
    return above if above.startswith("#") else ""


def _speaks_of(comment: str, shown: list[str]) -> bool:
    """Return True if the comment means the visible GPUs: by number, by ordinal, or without a number."""
    words = comment.lower()
    numbers = set(re.findall(r"\d+", words))
    if numbers:
        return bool(numbers.intersection(shown))
    ordinals = {str(number) for number, word in enumerate(_ORDINALS) if word in words}
    return not ordinals or bool(ordinals.intersection(shown))
