"""Changed copies that nothing gets: ``dataclasses.replace(settings, memory=4096)`` as a statement.

The functions, methods and operators here change nothing of what they are given. Sources:
https://docs.python.org/3/library/dataclasses.html#dataclasses.replace, and the reference of each.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.classes import class_member
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import CopyDropped
from tfmemlint.interpreter.values import Function, Instance, Ref

_FUNCTIONS = frozenset(
    {"dataclasses.replace", "copy.replace", "attrs.evolve", "attr.evolve", "attr.assoc", "pydantic.dataclasses.replace"}
)
"""Functions that return a copy of their first argument, changed by their keywords."""
_MERGES = frozenset({"omegaconf.OmegaConf.merge"})
"""Functions that return their arguments merged."""


def report_dropped_copy(context: Context, statement: ast.Expr) -> None:
    """Report an expression statement that makes a changed copy of what has a name."""
    if context.state is None or not context.source.path.endswith(".py"):
        # A cell, and an example, show the value.
        return
    match statement.value:
        case ast.Call(func=func, args=[first, *more], keywords=keywords) as call if keywords or more:
            name = _called(context, func)
            if name in _FUNCTIONS and keywords and not more:
                _report(context, call, first, tuple(each.arg or "" for each in keywords), f"{dotted(func)}()")
            elif name in _MERGES and more:
                _report(context, call, first, tuple(_keys(more)), f"{dotted(func)}()")
        case ast.Call(func=ast.Attribute(value=owner, attr="_replace"), args=[], keywords=[_, *_] as keywords) as call:
            names = tuple(each.arg or "" for each in keywords)
            _report(context, call, owner, names, f"{dotted(call.func)}()", "_replace")
        case (
            ast.Call(
                func=ast.Attribute(value=owner, attr="model_copy" | "copy" as method),
                args=[],
                keywords=[ast.keyword("update", update), *_],
            ) as call
        ):
            _report(context, call, owner, tuple(_keys([update])), f"{dotted(call.func)}()", method)
        case ast.BinOp(left=owner, op=ast.BitOr(), right=ast.Dict() as right) as made:
            _report(context, made, owner, tuple(_keys([right])), f"{dotted(owner)} | {{...}}", of_dict=True)
        case ast.Dict(keys=[None, *_], values=[owner, *_]) as made:
            _report(context, made, owner, tuple(_keys([made])), f"{{**{dotted(owner)}, ...}}", of_dict=True)
        case _:
            return


def _called(context: Context, func: ast.expr) -> str:
    """Return the canonical name of what an expression calls that has just been evaluated; "" for any other."""
    value = context.last_values.get(id(func))
    if isinstance(func, ast.Attribute) and not isinstance(value, Ref):
        base = context.last_values.get(id(func.value))
        if base is None and isinstance(func.value, ast.Name):
            base = context.scope.lookup(func.value.id)
        return f"{base.name}.{func.attr}" if isinstance(base, Ref) else ""
    return value.name if isinstance(value, Ref) else ""


def _keys(given: Sequence[ast.expr]) -> Iterator[str]:
    """Yield the names under which values are given, those within others among them; "" for those that are not known."""
    for node in given:
        match node:
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield key.value
                        if isinstance(value, ast.Dict):
                            yield from _keys([value])
            case ast.Call(func=ast.Name("dict"), args=[], keywords=keywords):
                yield from (each.arg or "" for each in keywords)
            case ast.Call(func=ast.Attribute(attr="create"), args=[inner]):
                yield from _keys([inner])
            case ast.Call(func=ast.Attribute(attr="from_dotlist"), args=[ast.List(elts=elts)]):
                for each in elts:
                    text = each.value if isinstance(each, ast.Constant) and isinstance(each.value, str) else ""
                    yield from text.partition("=")[0].split(".")
            case _:
                yield ""


def _report(
    context: Context,
    node: ast.expr,
    owner: ast.expr,
    keys: tuple[str, ...],
    made: str,
    method: str = "",
    *,
    of_dict: bool = False,
) -> None:
    name = dotted(owner)
    value = context.last_values.get(id(owner))
    if value is None and isinstance(owner, ast.Name):
        value = context.scope.lookup(owner.id)
    if not name or not keys:
        return
    if isinstance(value, Instance) and (of_dict or (method and _has_own(context, value, method))):
        # Its class says what comes of it.
        return
    own = isinstance(owner, ast.Name) and owner.id in context.scope.names and owner.id not in context.scope.outer
    kept = own or (isinstance(owner, ast.Attribute) and name.startswith("self.") and name.count(".") == 1)
    context.emit(
        CopyDropped(
            receiver=name,
            keys=keys,
            made=made,
            method=method,
            of_dict=of_dict,
            may_assign=kept and name != "self",
            **event_fields(context, node),
        )
    )


def _has_own(context: Context, value: Instance, method: str) -> bool:
    return isinstance(class_member(context, value.cls, method), Function)
