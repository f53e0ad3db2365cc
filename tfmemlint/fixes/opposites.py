"""The opposites of conditions, as people write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor

_OPPOSITES: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {
    cst.Is: cst.IsNot,
    cst.In: cst.NotIn,
    cst.Equal: cst.NotEqual,
    cst.GreaterThan: cst.LessThanEqual,
    cst.LessThan: cst.GreaterThanEqual,
}


def opposite_of(editor: Editor, test: cst.BaseExpression) -> cst.BaseExpression:
    """Return the negation of a condition, as people write it."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return inner
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=operator) as target]):
            for asked, opposite in (*_OPPOSITES.items(), *((value, key) for key, value in _OPPOSITES.items())):
                if isinstance(operator, asked):
                    return test.with_changes(comparisons=[target.with_changes(operator=opposite())])
        case _:
            pass
    plain = isinstance(test, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)) or bool(test.lpar)
    code = editor.module.code_for_node(test)
    return cst.parse_expression(f"not {code}" if plain else f"not ({code})")
