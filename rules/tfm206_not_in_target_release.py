"""TFM206: A name that other TensorFlow releases have and the targeted one lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Use
from tfmemlint.knowledge import names
from tfmemlint.knowledge.memory_names import SESSION_OF_KERAS, is_about_gpu_memory
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import attribute_error, attribute_severity, handler_notes, is_of_import
from tfmemlint.rulekit.missing_names import (
    NEVER_RUNS,
    in_part,
    is_of_variable,
    of_lack,
    own_names,
    place_now,
    successor,
    why,
)
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.rulekit.correction import Correction

_ABOUT = re.compile(r"memory|gpu|device|session|config|visible", re.IGNORECASE)
_ASKS = re.compile(r"hasattr|getattr|version", re.IGNORECASE)
"""Words of a file that does not take every release for the same."""


_ADVICE_ON_ESTIMATORS = "Train with Keras, or stay with TensorFlow 2.15, the last release that has Estimators"


class NotInTargetRelease(Rule):
    """A name that other TensorFlow releases have and the targeted one lacks.

    What it does
    ------------
    Finds names that came later than the targeted release, or were removed before it, and says since or until when
    they exist. The target is what the project asks for, or ``target-version``, or else the newest release that has
    the names of the program.

    By default only names that configure or report GPU memory are reported, at each use. All others are reported, each
    at its first use in a file, where the user asks for them: by ``--migrate``, by ``--target-version``, or by selecting
    this rule (``--select TFM206``, ``--extend-select TFM2``, or the same in a configuration file). Where it is
    selected, it looks at every file that mentions TensorFlow; and where a project supports several releases, it also
    reports names that only some of them lack.

    Why it matters
    --------------
    The name raises ``AttributeError`` where it is reached.

    Example
    -------
    ```python
    import tensorflow as tf

    tf.config.set_soft_device_placement(True)
    noise = tf.random_normal([4])
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    tf.config.set_soft_device_placement(True)
    noise = tf.random.normal([4])
    ```

    Seen as
    -------
    ``AttributeError: module 'tensorflow' has no attribute 'random_normal'``
    """

    code = "TFM206"
    name = "not-in-target-release"
    severity = Severity.ERROR
    of_another_release = True
    text_defects = (TextDefect.OTHER_RELEASE,)
    triggers = (
        r"\btf\.config\b",
        r"\.config\.experimental",
        r"contrib\.memory",
        r"\bSession\(",
        "InteractiveSession",
        "ConfigProto",
        "GPUOptions",
        "gpu_options",
        "allow_growth",
        "(?:set|clear)_session",
        "enable_eager_execution",
        "(?:logical|virtual|visible|physical|local)_device",
        r"\b(?:tf|tensorflow|K|backend|experimental|extended)\.[\w.]*(?:[Mm]emory|gpu|GPU|vram|growth)",
    )
    any_tensorflow_file = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Uses of names that the targeted release lacks."""
        uses: dict[tuple[str, str | None], list[Use]] = {}
        told: set[str] = set()
        own = own_names(program)
        for use in program.of(Use):
            if use.probed or "(" in use.name or is_of_import(use, program) or is_of_variable(use, program):
                continue
            missing = names.missing_part(use.name, program.target)
            if missing is None and program.target.oldest is not None:
                yield from self._missing_before(program, use, program.target.oldest, told)
            if missing is None or missing in own or not names.ever_existed(missing):
                continue
            new = successor(use.name, missing, program.target)
            if missing.endswith(".estimator"):
                key = "estimator"
            elif _ABOUT.search(use.name):
                key = f"{use.name}@{use.span}"
            else:
                # What has no successor is one thing to think about, whatever is taken of it.
                key = use.name if new else missing
            uses.setdefault((key, new), []).append(use)
        for (_, new), same in uses.items():
            yield self._missing(program, same, new)

    def _missing_before(self, program: Program, use: Use, oldest: Target, told: set[str]) -> Iterator[Finding]:
        """A name that only older releases lack of those that the code is for: said where this rule is asked for."""
        if _ASKS.search(program.source.text):
            # Which half of the file is for which release can't be told by the newest alone.
            return
        missing = names.missing_part(use.name, oldest)
        part = in_part(missing, program.target) if missing is not None else ""
        if missing is None or not part or missing in told:
            return
        told.add(missing)
        error = "ImportError" if use.origin == "import" else "AttributeError"
        yield self.finding(
            program,
            use,
            f"{missing} is not in every release that this code is for: {part}; {why(missing, oldest)}",
            severity=Severity.ADVICE,
            outcome=attribute_error(missing, error, use.name),
            advice=of_lack(missing, oldest, successor(use.name, missing, oldest)),
            fixable=False,
        )

    def _missing(self, program: Program, uses: list[Use], new: str | None) -> Finding:
        use = uses[0]
        missing = names.missing_part(use.name, program.target) or use.name
        rows = sorted({other.span.row for other in uses} - {use.span.row})
        where = f" (also in line{'s' * (len(rows) > 1)} {', '.join(map(str, rows[:8]))})" if rows else ""
        spans: dict[str, Span] = {f"use{number}": other.span for number, other in enumerate(uses)}
        error = "ImportError" if use.origin == "import" else "AttributeError"
        caught = any(use.handler_for(error) is not None for use in uses)
        reason = why(missing, program.target, _moved_to(use.name, missing, new))
        part = in_part(missing, program.target)
        reason += f" ({part})" if part else ""
        return self.finding(
            program,
            use,
            f"{missing} is not in TensorFlow {program.target}: {reason}{where}",
            severity=attribute_severity(use, error),
            outcome=attribute_error(missing, error, use.name),
            advice=_ADVICE_ON_ESTIMATORS
            if missing.endswith(".estimator")
            else of_lack(missing, program.target, new, use.name),
            notes=handler_notes(use, error, NEVER_RUNS),
            fixable=new is not None and use.origin in ("attribute", "import"),
            anchors=spans,
            on_request=not any(map(_is_about_memory, uses)),
            details={
                "name": missing,
                "new": new,
                "legacy": bool(new and new.startswith("tf.compat.v1.")),
                "caught": caught,
                # What left with TensorFlow 1 is rewritten all together, or not at all.
                "whole": "TensorFlow 1" if (names.until(missing) or "").startswith("1.") and not caught else "",
            },
        )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_name

        return of_name(finding, text, target)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write the name that the targeted release has, wherever the old one stands."""
        from tfmemlint.fixes.rewrites import moved_names

        if finding.details["whole"]:
            from tfmemlint.rulekit import migration

            elsewhere = migration.stays_elsewhere(finding.path, editor.target)
            if elsewhere:
                raise editor.Withheld(
                    f"TensorFlow {editor.target} has no replacement for {elsewhere}: only half of the"
                    " program would be rewritten"
                )
        new = str(finding.details["new"])
        lines: set[object] = set()
        for span in dict.fromkeys(finding.anchors.values()):
            line = moved_names.import_around(editor, span)
            if line is None:
                editor.replace(editor.expression_at(span), editor.tf(new))
            elif line not in lines:
                lines.add(line)
                moved_names.import_from(editor, span, lambda name: place_now(name, editor.target))
        if new.startswith("tf.compat.v1.summary."):
            for node, also in moved_names.summaries(editor):
                editor.replace(node, editor.tf(also, node))
        if finding.details["legacy"]:
            editor.unsafe(f"Use {new}; it may need graph mode to work as it did")
        elif finding.details["caught"]:
            editor.unsafe(f"Use {new} (a handler catches the error now, so the program will run differently)")
        else:
            editor.safe(f"Use {new}")


def _is_about_memory(use: Use) -> bool:
    """Return True if a name configures or reports GPU memory: the session that Keras has does neither."""
    return is_about_gpu_memory(use.name) and SESSION_OF_KERAS.fullmatch(use.name) is None


def _moved_to(name: str, missing: str, new: str | None) -> str | None:
    """Return the new place of the missing part, from that of the whole name."""
    rest = name.removeprefix(missing)
    return new.removesuffix(rest) if new is not None and new.endswith(rest) else None
