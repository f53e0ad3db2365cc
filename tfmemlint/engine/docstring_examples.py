"""The examples in the docstrings of a file of Python, checked and fixed after the file itself."""

from __future__ import annotations

import dataclasses
import os
import re
from typing import TYPE_CHECKING

from tfmemlint.engine.explain_fixes import explain_results
from tfmemlint.engine.results import FileResult
from tfmemlint.model.patterns import late_pattern
from tfmemlint.rulekit.triggers import may_matter
from tfmemlint.sources.documents.example_marks import may_have_examples
from tfmemlint.sources.kinds import PYTHON, kind_of
from tfmemlint.sources.suppressions import read_suppressions

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.model.finding import Finding
    from tfmemlint.sources import Source


_TF_IS_V1 = late_pattern(
    r"^[ \t]*(?:import\s+tensorflow\.compat\.v1\s+as\s+tf|from\s+tensorflow\.compat\s+import\s+v1\s+as\s+tf)\b",
    re.MULTILINE,
)


def add_examples(result: FileResult, context: RunContext) -> None:
    """Add to the result of a file of Python what is found in the examples in its docstrings, and fix them."""
    source = result.source
    if source is None or source.language != PYTHON or kind_of(os.path.basename(source.path)) != PYTHON:
        return
    if result.problem or read_suppressions(source.text).skip_file:
        return
    # The changes that git does not have may be those of this run.
    own = dataclasses.replace(context, allow_dirty=context.allow_dirty or result.old is not None)
    found = _check_examples(source, own)
    if found is None:
        return
    from tfmemlint.engine.suppress import dedupe

    if found.old is not None and found.source is not None:
        result.old = result.old or source
        result.source = source.replace_text(found.source.text)
        result.findings = _checked_again(result, context)
    both = dedupe([*result.findings, *found.findings], context.rules_for(result.path))
    result.findings = sorted(both, key=lambda finding: finding.sort_key)
    result.applied += found.applied
    result.problem = found.problem


def _checked_again(result: FileResult, context: RunContext) -> list[Finding]:
    """Return what is left in a file whose docstrings were fixed: what is below them is in other lines now."""
    from tfmemlint.engine.subjects import subject_of_result

    subject = subject_of_result(result)
    return subject.explain(subject.check(context), context.fix_options(), context)


def _check_examples(source: Source, context: RunContext) -> FileResult | None:
    """Return the result of the examples of a file; None if it has none that matter."""
    if may_have_examples(source.text) is None and not context.reads_every_tensorflow_file:
        return None
    from tfmemlint.sources.documents.document import examples

    if _TF_IS_V1.search(source.text) is not None:
        # An example in a module has the module's names: its ``tf`` has what TensorFlow 1 had.
        rules = tuple(rule for rule in context.rules_for(source.path) if not rule.of_another_release)
        context = dataclasses.replace(context, only_rules=rules)
    try:
        document = examples(source)
        texts = (block.text.encode("utf-8", "replace") for block in document.blocks)
        if not context.reads_every_tensorflow_file and not any(map(may_matter, texts)):
            return None
        from tfmemlint.engine.document_file import DocumentFile

        subject = DocumentFile.of(document)
        result = subject.fix(context) if context.fix else subject.examine(context)
        explain_results([result], context)
        return result
    except Exception as error:  # one file must not take the run with it
        from tfmemlint.engine.trouble import internal_error

        findings = internal_error(source.path, "The reader of documents", error, context.rules_for(source.path))
        return FileResult(source.path, candidate=True, findings=findings)
