"""What the tests of the reports print: a text, findings in it, and a run of a reporter."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

from tfmemlint.model.finding import Applicability, Edit, Finding, Fix, Severity, Span, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.reporters import render
from tfmemlint.reporters.summary import Summary
from tfmemlint.rulekit.rule import DOCS_URL, Rule
from tfmemlint.sources import Source

TRAIN = """\
import tensorflow as tf


def build():
    return tf.distribute.MirroredStrategy()


strategy = build()
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""


class Growth(Rule):
    """Memory growth is set late.

    What it does
    ------------
    Finds ``set_memory_growth`` that is ``too
    late``.

    Example
    -------
    ```python
    x = "``kept``"
    ```
    """

    code = "TFM101"
    name = "growth-after-init"
    severity = Severity.ERROR
    fixable = "sometimes"
    docs_url = DOCS_URL

    def check(self, program: Any) -> Iterator[Finding]:
        """Nothing: the tests make their findings themselves."""
        return iter(())


def made(**changes: Any) -> Finding:
    """A bare finding in ``train.py``, changed as told."""
    values: dict[str, Any] = {
        "code": "TFM101",
        "name": "growth-after-init",
        "severity": Severity.ERROR,
        "path": "train.py",
        "span": Span(10, 5, 10, 56),
        "message": "set_memory_growth after the runtime has started",
    }
    return Finding(**(values | changes))


def fix(applicability: Applicability = Applicability.SAFE, needs: tuple[str, ...] = ()) -> Fix:
    """A fix that takes line 10 away."""
    return Fix(applicability, "Move this above line 8", (Edit(Span(10, 1, 11, 1), ""),), needs)


def complete(**changes: Any) -> Finding:
    """A finding that has everything."""
    values: dict[str, Any] = {
        "intent": Intent(Purpose.GROWTH, "every GPU", True),
        "outcome": "TensorFlow raises RuntimeError: Physical devices cannot be modified after being initialized",
        "advice": "Move this above line 8",
        "trace": (
            Step("train.py", Span(8, 12, 8, 19), "the module calls build"),
            Step("train.py", Span(5, 12, 5, 44), "tf.distribute.MirroredStrategy() starts the runtime"),
            Step("train.py", Span(10, 5, 10, 56), "set_memory_growth comes too late"),
        ),
        "notes": ("The handler in line 12 catches ValueError, not RuntimeError: it does not help.",),
        "fix": fix(),
        "noqa_row": 10,
    }
    return made(**(values | changes))


def printed(
    findings: Sequence[Finding],
    output_format: str = "full",
    *,
    text: str = TRAIN,
    stream: io.StringIO | None = None,
    color: bool | None = False,
    quiet: bool = True,
    verbose: bool = False,
    unsafe: bool = False,
    summary: Summary | None = None,
) -> str:
    """What the reporter prints of ``findings`` in a file ``train.py`` with ``text``."""
    stream = stream if stream is not None else io.StringIO()
    render(
        findings,
        {"train.py": Source(path="train.py", text=text)},
        output_format=output_format,
        stream=stream,
        color=color,
        rules={"TFM101": Growth()},
        quiet=quiet,
        verbose=verbose,
        summary=summary or Summary.of(findings, unsafe=unsafe),
    )
    return stream.getvalue()


def marked(text: str, span: Span) -> list[str]:
    """The lines of the excerpt of ``text`` around ``span``, without the frame's first and last."""
    block = printed([made(span=span)], text=text).split("\n\n")[0]
    return block.splitlines()[2:-1]
