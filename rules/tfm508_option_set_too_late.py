"""TFM508: a GPU option is set after the session has taken its configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import LateOption
from tfmemlint.interpreter.values import Const
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.explain import in_line, options_intent, plain_options, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class OptionSetTooLate(Rule):
    """A GPU option is set after the session has taken its configuration.

    What it does
    ------------
    Finds GPU options that are set on a ``ConfigProto`` after a session was made with it, where no other session gets it
    afterwards.

    Why it matters
    --------------
    A session copies its configuration when it is made. What is set later has no effect, and nothing is raised.

    Example
    -------
    ```python
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    config = tf.ConfigProto()
    session = tf.Session(config=config)
    config.gpu_options.allow_growth = True
    ```

    Use instead
    -----------
    ```python
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    session = tf.Session(config=config)
    ```
    """

    code = "TFM508"
    name = "option-set-too-late"
    severity = Severity.ERROR
    triggers = ("gpu_options",)
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Options that come after the session."""
        for late in program.of(LateOption):
            session = late.session
            options = plain_options({late.field: late.value})
            if not options or late.path != session.path:
                continue
            sure = late.certain and session.certain
            yield self.finding(
                program,
                late,
                f"{late.field} is set after {short(session.name)} {in_line(session)} has taken this configuration",
                severity=Severity.ERROR if sure else Severity.WARNING,
                intent=options_intent(options),
                outcome="Nothing is raised; the session has a copy of the configuration without it",
                advice="Set it before the session is made",
                fixable=late.function == session.function and sure and isinstance(late.value, Const),
                anchors={"session": session.statement},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Set it before the session is made."""
        late, session = editor.statement_at(finding.span), editor.statement_at(finding.anchors["session"])
        code = editor.code(late).strip()
        config = re.escape(code.partition(".")[0])
        if not re.search(rf"\b{config}\b", editor.code(session)):
            raise editor.Withheld("the session is given its configuration under another name")
        editor.insert_before(session, f"{code}\n")
        editor.remove(late)
        editor.unsafe("Set it before the session is made")
