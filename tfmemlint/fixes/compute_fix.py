"""Compute the fix of one finding, as the user allows it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from tfmemlint.fixes.edits import difference
from tfmemlint.fixes.finding_places import Place
from tfmemlint.fixes.import_libcst import import_libcst
from tfmemlint.fixes.withheld import Withheld, failure_words
from tfmemlint.model.finding import PACKAGES, Finding, Fix
from tfmemlint.model.records import dataclass
from tfmemlint.sources.documents.blocks import PYTHON

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.sources import Source

NEEDS_UNSAFE = "unsafe: needs --unsafe-fixes"
NOT_CHOSEN = "left out by --fix-only"
DECLINED = "declined"


class Fixer(Protocol):
    """The part of a rule that the fix loop uses: its code, and the rewrite of one of its findings."""

    @property
    def code(self) -> str: ...

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Rewrite the code of ``finding`` with ``editor``.

        Raises:
            Withheld: the rewrite would not be right; the text says why.
        """


@dataclass(frozen=True, slots=True)
class Options:
    """The fixes that the user allows.

    Attributes:
        unsafe: also unsafe fixes. gpu_memory_mib: the memory of one GPU in MiB, if the user gave it.
        read_gpu_memory: where the user did not, write code that asks NVML for it.
        only: rule codes, or their prefixes, whose findings alone are fixed; () for all.
        ask: called before each change, with the finding, and the current and the new source of each file that changes;
            None to ask nobody.
        line_length_of: returns how many characters a line of the file at a path may have; None if nothing says it.
        refused: findings that must not be fixed, by `place`, with the reason.
    """

    unsafe: bool = False
    gpu_memory_mib: float | None = None
    read_gpu_memory: bool = False
    only: tuple[str, ...] = ()
    ask: Callable[[Finding, Sequence[tuple[Source, Source]]], bool] | None = None
    line_length_of: Callable[[str], int | None] = lambda _: None
    refused: Mapping[Place, str] = field(default_factory=dict)


def compute(source: Source, finding: Finding, rule: Fixer, target: Target, options: Options) -> Finding:
    """Return ``finding`` with its fix, or with the reason why it has none. An error in the rule is such a reason."""
    if not finding.fixable:
        return finding
    if finding.in_module is not None:
        return withheld(finding, f"the order of {source.path} and {finding.in_module.path} is to be changed")
    try:
        editor = _editor(source, target, options, in_comments=getattr(rule, "fixes_comments", False))
        rule.fix(finding, editor)
        new = editor.finish()
        try:
            source.check_can_be(new)
        except ValueError as reason:
            return withheld(finding, str(reason))
    except Withheld as reason:
        return withheld(finding, str(reason))
    except Exception as error:
        return withheld(finding, failure_words(error))
    edits = editor.edits if editor.edits is not None else difference(source.text, new)
    if not edits:
        return withheld(finding, "the rewriter found nothing to change")
    needs = tuple(sorted(editor.needs))
    message = f"{_needs_words(needs)}: {editor.message}" if needs else editor.message
    fix = Fix(editor.applicability, message, edits, needs)
    return dataclasses.replace(finding, fix=fix, withheld="")


def _needs_words(needs: Sequence[str]) -> str:
    """Return what comes first in the message of a fix whose code imports packages that the file did not."""
    packages = [f"{PACKAGES[name]} (import {name})" if name in PACKAGES else name for name in needs]
    return f"Needs the package {' and '.join(packages)}"


def _editor(source: Source, target: Target, options: Options, *, in_comments: bool) -> Editor:
    if in_comments:
        from tfmemlint.fixes.comment_editor import CommentEditor

        return CommentEditor(source.text, python=source.language == PYTHON)  # type: ignore[return-value]
    # Importing LibCST is slow: only a file with something to fix pays for it.
    if source.language == PYTHON:
        import_libcst()
        from tfmemlint.fixes.editor import Editor

        return Editor(
            source.text,
            target,
            options.gpu_memory_mib,
            read_gpu_memory=options.read_gpu_memory,
            line_length=options.line_length_of(source.path),
        )
    from tfmemlint.fixes.text_editor import TextEditor

    return TextEditor(source.text, source.language, target)  # type: ignore[return-value]


def withheld(finding: Finding, reason: str) -> Finding:
    """Return a finding without a fix, with the reason."""
    return dataclasses.replace(finding, fix=None, withheld=reason)
