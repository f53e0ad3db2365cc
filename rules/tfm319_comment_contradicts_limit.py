"""TFM319: the comment beside a memory limit or a share states another amount."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import ProtoMade
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Event, Program

_FIELD = "per_process_gpu_memory_fraction"
_PERCENT = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d+)?) ?(?:%|percent\b|per cent\b)", re.IGNORECASE)
_WORDS = {"half": 1 / 2, "a third": 1 / 3, "one third": 1 / 3, "a quarter": 1 / 4, "one quarter": 1 / 4}
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) ?(GB|GiB|G|MB|MiB|M)\b", re.IGNORECASE)
_NOT_A_STATEMENT = re.compile(
    r"\b(?:instead|was|were|of \d|out of|default|originally|e\.g\.|for example|or)\b|\?|[-/]\d"
)
"""Words of comments that state other amounts on purpose."""
_NOT_OF_MEMORY = re.compile(
    r"\b(?:accuracy|acc|precision|recall|dropout|faster|slower|speed|validation|test|split|batch\w*|epochs?|loss|samples)\b",
    re.IGNORECASE,
)
"""Words of comments whose percentage is a share of something else."""
_SHARE_OF = re.compile(
    r"(?:(?P<percent>\d{1,3}(?:\.\d+)?) ?(?:%|percent|per cent)|(?P<words>half|a third|one third|a quarter|one quarter)"
    r"|(?P<number>0?\.\d+) ?(?:\*|x|times))(?: ?(?:of|from|\*|x)| of (?:the|its|a|our|my|total|all))?"
    r" ?(?:total |about |~ ?)?$",
    re.IGNORECASE,
)
"""A share of the size that stands behind it."""
_TIMES = re.compile(
    r" ?(?:(?:\*|x|times) ?(?:(?P<number>0?\.\d+)|(?P<percent>\d{1,3}(?:\.\d+)?) ?%)|/ ?(?P<divisor>[2-9])\b)",
    re.IGNORECASE,
)
"""A share of the size that stands in front of it."""
_DECIMAL = re.compile(r"(?<![\d.])(?:0?\.\d+|1\.0+)(?![\d.])")
"""A share written as a number: ``0.9 means 90 %`` explains what a number means, and says nothing of another one."""
_SHARE_TOLERANCE = 0.04
"""33 % is a third, and 0.333 as well."""
_SIZE_TOLERANCE = 0.12
"""A GPU of 16 GB has 16,384 MiB, and 15,258 MiB if a GB is 1000**3 bytes; people round."""


class CommentContradictsLimit(Rule):
    """The comment beside a memory limit states another amount.

    What it does
    ------------
    Finds ``per_process_gpu_memory_fraction`` and ``memory_limit`` with a constant where the comment in the same line,
    or in the line above, states another share (``50 %``, ``half``) or another size (``4 GB``).

    Why it matters
    --------------
    TensorFlow reads the number. Whoever reads the comment expects that memory is left for another process, which then
    runs out of memory.

    Example
    -------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.per_process_gpu_memory_fraction = 0.9  # use 50 % of the GPU
    session = tf.compat.v1.Session(config=config)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.per_process_gpu_memory_fraction = 0.5  # use 50 % of the GPU
    session = tf.compat.v1.Session(config=config)
    ```

    Ground
    ------
    No run of TensorFlow shows what a comment means.
    """

    code = "TFM319"
    name = "comment-contradicts-limit"
    severity = Severity.WARNING
    triggers = ("per_process_gpu_memory_fraction", "(?:Logical|Virtual)Device")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each constant with such a comment; several amounts in one comment say nothing."""
        if program.source.language != "python":
            return
        for proto in program.of(ProtoMade):
            for name, value in proto.fields.items():
                if name.endswith(_FIELD) and isinstance(value, Const) and isinstance(value.value, (int, float)):
                    yield from self._of_share(program, proto, float(value.value), proto.field_spans.get(name))
        for call in program.calls(*LOGICAL_CONFIGURATION):
            limit = call.arg(0, "memory_limit")
            if limit is not None and isinstance(limit.value, Const) and isinstance(limit.value.value, (int, float)):
                yield from self._of_size(program, call, float(limit.value.value), limit.span)

    def _of_share(self, program: Program, event: Event, share: float, span: Span | None) -> Iterator[Finding]:
        comment = _comment(program, span) if span is not None and 0 < share <= 1 else ""
        stated = [float(number) / 100 for number in _PERCENT.findall(comment)]
        if _NOT_OF_MEMORY.search(comment):
            return
        stated += [part for word, part in _WORDS.items() if re.search(rf"\b{word}\b", comment, re.IGNORECASE)]
        if span is None or len(stated) != 1 or not 0 < stated[0] <= 1:
            return
        if any(abs(float(number) - stated[0]) < _SHARE_TOLERANCE for number in _DECIMAL.findall(comment)):
            return
        if all(abs(amount - share) > _SHARE_TOLERANCE for amount in (stated[0], 1 - stated[0])):
            words = f"{share:g} is {share:.0%} of the memory, and the comment says {stated[0]:.0%}"
            yield self._contradiction(program, event, span, words, Intent(Purpose.FRACTION, "", stated[0]))

    def _of_size(self, program: Program, event: Event, limit: float, span: Span) -> Iterator[Finding]:
        comment = _comment(program, span) if limit >= 1 else ""
        found = list(_SIZE.finditer(comment))
        share = _share_of_size(comment, found[0]) if len(found) == 1 else None
        if share is None:
            return
        stated = float(found[0][1]) * (1024 if found[0][2][0] in "gG" else 1) * share
        if stated and abs(stated - limit) > _SIZE_TOLERANCE * stated and abs(stated - limit * 1024) > 1:
            of_total = f"{share:.0%} of " if share < 1 else ""
            words = f"{limit:g} is in MiB, and the comment says {of_total}{found[0][1]} {found[0][2]}"
            yield self._contradiction(program, event, span, words, Intent(Purpose.LIMIT, "", stated))

    def _contradiction(self, program: Program, event: Event, span: Span, words: str, intent: Intent) -> Finding:
        return self.finding(
            program,
            event,
            words,
            span=span,
            intent=intent,
            outcome="Nothing is raised; TensorFlow reads the number",
            advice="Correct the number, or the comment",
            fixable=False,
        )


def _share_of_size(comment: str, size: re.Match[str]) -> float | None:
    """Return the share of a size that a comment states (``80% of 16 GB``, ``half of 16 GB``, ``16 GB * 0.8``); 1 where
    it states none, and None where it has a share of which this is not clear."""
    before, behind = _SHARE_OF.search(comment, 0, size.start()), _TIMES.match(comment, size.end())
    match = behind or before
    if match is not None and before is not None and behind is not None:
        return None
    if match is not None:
        groups = match.groupdict()
        if groups.get("percent"):
            return float(groups["percent"]) / 100
        if groups.get("number"):
            return float(groups["number"])
        return 1 / float(groups["divisor"]) if groups.get("divisor") else _WORDS[groups["words"].lower()]
    has_share = _PERCENT.search(comment) or _DECIMAL.search(comment)
    return None if has_share or any(word in comment.lower() for word in _WORDS) else 1.0


def _comment(program: Program, span: Span) -> str:
    """Return the comment behind a line, or else that which is alone in the line above; "" if it states no amount."""
    lines = program.source.lines
    beside = re.search(r"#(.*)", lines[span.end_row - 1][span.end_column - 1 :])
    above = lines[span.row - 2].strip() if span.row > 1 else ""
    comment = beside[1] if beside is not None else above[1:] if above.startswith("#") else ""
    return "" if _NOT_A_STATEMENT.search(comment) else comment
