"""TFM901: a file is not valid Python, or not valid YAML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class InvalidSyntax(Rule):
    """A file is not valid Python, or not valid YAML.

    What it does
    ------------
    Reports the place at which Python 3 cannot parse a file: Python 2 code, several statements run together on one line,
    text damaged by masking, nesting that is too deep to parse.

    A file that is named on the command line is always reported. Of the files in a directory, and of the cells of a
    notebook, only those are reported that are about GPU memory by their words, such as ``set_memory_growth``,
    ``ConfigProto`` or ``CUDA_VISIBLE_DEVICES``, and are not Python 2. Of 92 such findings in 59 public repositories 80
    were Python 2, in which no TensorFlow from 2.2 on runs, and most others exercises with gaps, exported notebooks and
    cells that were never finished; one of these 12 mentions a GPU. That they do not run is for others to say. One line
    below the report says how many files were not checked, and ``--verbose`` names them; ``--select TFM901`` reports
    them all.

    It also reports YAML files that mention a variable about GPUs and cannot be parsed, except for templates, which are
    not YAML yet.

    Why it matters
    --------------
    tfmemlint cannot check how such a file configures GPUs, and silence would look like success.
    """

    code = "TFM901"
    name = "syntax-error"
    severity = Severity.ERROR
    text_defects = (TextDefect.BROKEN_CODE,)
    triggers = ()
    any_tensorflow_file = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield nothing: the engine reports this finding."""
        yield from ()

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_text

        return of_text(finding, text, target)
