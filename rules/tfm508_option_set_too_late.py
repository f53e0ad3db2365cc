"""TFM508: a GPU option is set after the session has taken its configuration."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import assigned_names
from tfmemlint.interpreter.program import LateOption
from tfmemlint.interpreter.state.options import OptionsCopied
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.rulekit.explain import in_line, options_intent, plain_options, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor, Statement
    from tfmemlint.interpreter.program import Program


class OptionSetTooLate(Rule):
    """A GPU option is set after the session has taken its configuration.

    What it does
    ------------
    Finds GPU options that are set on a ``ConfigProto`` after a session was made with it, where no other session gets it
    afterwards. Finds GPU options that are set on a ``GPUOptions`` after a ``ConfigProto`` has got it.

    Why it matters
    --------------
    A session copies its configuration when it is made, and a message copies what it gets as a field. What is set later
    has no effect, and nothing is raised.

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
    whole_program = True
    severity = Severity.ERROR
    triggers = ("gpu_options",)
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Options that come after the session."""
        for late in program.of(LateOption):
            session = late.session
            options = plain_options({late.field: late.value})
            if not options:
                continue
            copied = isinstance(session, OptionsCopied)
            sure = late.certain and session.certain
            yield self.finding(
                program,
                late,
                f"{late.field} is set after {short(session.name)} {in_line(session)} has taken "
                f"{'a copy of these options' if copied else 'this configuration'}",
                severity=Severity.ERROR if sure else Severity.WARNING,
                intent=options_intent(options),
                outcome=f"Nothing is raised; the {'message' if copied else 'session'} has a copy of the "
                f"{'options' if copied else 'configuration'} without it",
                advice=f"Set it before the {'options are copied' if copied else 'session is made'}",
                fixable=(late.path, late.function) == (session.path, session.function),
                trace=()
                if late.path == session.path
                else (
                    *session.frames,
                    Step(session.path, session.span, f"{short(session.name)} takes them"),
                    *late.frames,
                    Step(late.path, late.span, f"sets {late.field}"),
                ),
                anchors={"session": session.statement} if late.path == session.path else {},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Set it before the session is made."""
        late, session = editor.statement_at(finding.span), editor.statement_at(finding.anchors["session"])
        written = editor.text.splitlines()[finding.span.row - 1][finding.span.column - 1 :]
        config = written.partition(".")[0]
        if not re.search(rf"\b{re.escape(config)}\b", editor.code(session)):
            raise editor.Withheld("the session is given its configuration under another name")
        moved = _with_its_condition(editor, late, session)
        _refuse_what_comes_between(editor, session, moved)
        editor.carry_up([moved], session)
        editor.unsafe("Set it before the session is made")


def _with_its_condition(editor: Editor, late: Statement, session: Statement) -> Statement:
    """Return the statement that sets the option, or the ``if`` that holds nothing else, in the block of the session."""
    import libcst as cst

    moved, home = late, editor.parent(session)
    while (block := editor.parent(moved)) is not home:
        condition = editor.parent(block) if isinstance(block, cst.IndentedBlock) and len(block.body) == 1 else None
        if not isinstance(condition, cst.If) or condition.orelse is not None:
            raise editor.Withheld("it is set in another block than that of the session")
        moved = condition
    return moved


def _refuse_what_comes_between(editor: Editor, session: Statement, moved: Statement) -> None:
    """Refuse to move a statement above what it may need.

    Raises:
        Withheld: from the session on, something gives a value to a name or an attribute that it reads; or it calls
            something, which may depend on all that is done there.
    """
    statements = list(getattr(editor.parent(session), "body", ()))
    passed = _nodes(editor, statements[statements.index(session) : statements.index(moved)])
    needing = _nodes(editor, [moved])
    bound = assigned_names(passed) | {
        node.attr for node in passed if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    read = {node.id for node in needing if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    read |= {node.attr for node in needing if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}
    needed = bound & read
    if needed:
        raise editor.Withheld(f"{min(needed)} is only there when the session is made")
    if any(isinstance(node, (ast.Call, ast.Await, ast.Subscript)) for node in needing):
        raise editor.Withheld("what it is set to may depend on what comes before it")


def _nodes(editor: Editor, statements: Sequence[Statement]) -> list[ast.AST]:
    code = "".join(textwrap.dedent(editor.module.code_for_node(statement)) for statement in statements)
    return list(ast.walk(ast.parse(code)))
