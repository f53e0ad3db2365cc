"""TODO."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import Store
from tfmemlint.interpreter.values import Value


def emit_store(
    context: Context,
    module: str,
    name: str,
    value: Value,
    node: ast.AST,
    device: Value,
    owner: ast.expr | None,
    given: ast.expr | None,
) -> None:
    owner_text = context.text(owner) if owner is not None else ""
    context.emit(
        Store(
            owner=module,
            attribute=name,
            value=value,
            text=context.text(node) if isinstance(node, ast.Attribute) else f"{owner_text or module}.{name}",
            device=device,
            owner_text=owner_text,
            value_text=context.text(given) if given is not None else "",
            by_name=not isinstance(node, ast.Attribute),
            **event_fields(context, node),
        )
    )
