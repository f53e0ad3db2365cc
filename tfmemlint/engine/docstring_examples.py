"""The examples in the docstrings of a file of Python, checked and fixed after the file itself."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

from tfmemlint.engine.explain import explain_results
from tfmemlint.engine.results import FileResult
from tfmemlint.rulekit.triggers import may_matter
from tfmemlint.sources.kinds import PYTHON, kind_of
from tfmemlint.sources.suppressions import read_suppressions

if TYPE_CHECKING:
    from tfmemlint.engine.context import Context
    from tfmemlint.sources import Source


def add_examples(result: FileResult, context: Context) -> None:
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

    both = dedupe([*result.findings, *found.findings], context.rules_for(result.path))
    result.findings = sorted(both, key=lambda finding: finding.sort_key)
    result.applied += found.applied
    result.problem = found.problem
    if found.old is not None and found.source is not None:
        result.old = result.old or source
        result.source = source.replace_text(found.source.text)


def _check_examples(source: Source, context: Context) -> FileResult | None:
    """Return the result of the examples of a file; None if it has none that matter."""
    from tfmemlint.sources.documents.document import examples

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

        rules = context.rules_for(source.path)
        findings = internal_error(source.path, "The reader of documents", error, rules)
        return FileResult(source.path, candidate=True, findings=findings)
