"""Comments that keep configuration above imports: one line for people, the others for sorters and linters.

Measured with isort 5.13.2 and 9.0.2 (without options, with the profiles black and google, and each with float_to_top),
ruff 0.17.5 (I, E402, RUF100, and its fixes), pycodestyle 2.15.0, flake8 7.5.0 and autopep8 2.3.2:

- Code between imports splits what is sorted, except in isort with float_to_top: it moves the imports above the code,
  unless ``# isort: split`` is between them, on a line of its own. ``# isort: dont-float-to-top`` does not help there.
- A comment right above an import moves with that import when it is sorted; above ``# isort: split`` it stays.
- ``# noqa: E402`` at each import below silences E402, and keeps autopep8 from moving them up. For an import in
  parentheses it has to be on the first line. Of several ``noqa`` on a line only the first counts.
- Conditions, ``try`` and ``with`` are allowed above imports; for ruff alone, so are assignments to ``os.environ``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

import libcst as cst

from tfmemlint.fixes.concrete_tree import ConcreteTree, Statement, comments_in, walk
from tfmemlint.fixes.imports import is_docstring
from tfmemlint.fixes.transformer import Changes
from tfmemlint.fixes.trivia import append_comments
from tfmemlint.model.patterns import late_pattern

GPU_MEMORY_CONFIGURED = ("GPU memory is configured before", "TensorFlow's runtime", "start")
"""The words of the comment for memory growth, limits and visible devices: what is above, what the imports do."""
ENVIRONMENT_SET = ("The environment is set before", "TensorFlow read it", "make")
ISORT_SPLIT = "# isort: split"
E402 = "E402"
NOQA_E402 = f"# noqa: {E402}"
_WHY = late_pattern("|".join(re.escape(f"# {first} ") for first, _, _ in (GPU_MEMORY_CONFIGURED, ENVIRONMENT_SET)))
_DUNDER = late_pattern(r"__\w+__$")


def add_guards(
    tree: ConcreteTree,
    changes: Changes,
    moved: Sequence[Statement],
    above: Statement,
    why: tuple[str, str, str],
    *,
    new_code: bool = False,
) -> None:
    """Add comments that say why ``moved``, or ``new_code``, is above the import ``above``, and that keep it there."""
    said = any(_WHY.match(comment) for line in getattr(above, "leading_lines", ()) for comment in comments_in(line))
    changes.fenced[above] = said
    changes.apart.add(above)
    top = tree.block_of(above) is tree.module
    below = [sibling for sibling in (_below(tree, above) if top else [above]) if sibling not in moved]
    plain = [sibling for sibling in below if is_sortable_import(sibling)]
    if not said:
        first, what, verb = why
        many = sum(isinstance(node, (cst.Import, cst.ImportFrom)) for sibling in below for node in walk(sibling)) > 1
        those = "these imports: they" if many else "this import: it"
        notes = [f"# {first} {those} {verb}{'' if many else 's'} {what}", *([ISORT_SPLIT] if top and plain else [])]
        changes.above.setdefault(above, []).extend(notes)
    body = tree.statements(tree.module)
    # If there is code above them already, the linters have been silenced.
    if top and (new_code or any(map(_is_code, moved))) and not any(map(_is_code, body[: body.index(above)])):
        for sibling in plain:
            _silence(changes, sibling)


def is_sortable_import(statement: cst.CSTNode) -> bool:
    """True if a statement is an import that sorters move and linters want at the top."""
    lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
    return any(isinstance(part, (cst.Import, cst.ImportFrom)) for part in lines)


def _below(tree: ConcreteTree, above: Statement) -> list[Statement]:
    """Return ``above`` and the statements below it, up to the first that no import may follow anyway."""
    body = tree.statements(tree.module)
    return [above, *takewhile(lambda sibling: not _is_code(sibling), body[body.index(above) + 1 :])]


def _is_code(statement: Statement) -> bool:
    """True if linters want the imports of a module above this statement."""
    if isinstance(statement, (cst.If, cst.Try, cst.TryStar, cst.With)):
        return False
    if isinstance(statement, cst.SimpleStatementLine):
        return not is_docstring(statement) and any(map(_is_code, statement.body))
    if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        target = statement.targets[0].target
        return not (isinstance(target, cst.Name) and _DUNDER.match(target.value))
    return not isinstance(statement, (cst.Import, cst.ImportFrom))


def _silence(changes: Changes, line: Statement) -> None:
    small = line.body[-1] if isinstance(line, cst.SimpleStatementLine) else line
    if isinstance(small, cst.ImportFrom) and small.lpar is not None and not isinstance(small.names, cst.ImportStar):
        commas = [alias.comma for alias in small.names if isinstance(alias.comma, cst.Comma)]
        for space in [small.lpar.whitespace_after, *(comma.whitespace_after for comma in commas)]:
            if isinstance(space, cst.ParenthesizedWhitespace):
                changes.replaced[space] = space.with_changes(first_line=append_comments(space.first_line, [NOQA_E402]))
                return
    changes.trailing.setdefault(line, []).append(NOQA_E402)


__all__ = ["E402", "ENVIRONMENT_SET", "GPU_MEMORY_CONFIGURED", "add_guards", "is_sortable_import"]
