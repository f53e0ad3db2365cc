"""Texts that say no and are taken for a truth value: ``type=bool`` of an option, ``bool("0")``, ``if "false":``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import TextDecides, TextTaken
from tfmemlint.interpreter.state import Guards
from tfmemlint.interpreter.values import Amount, Const, FileValue, TextTruth, Value

_SAYS_NO = re.compile(r"(?:0|false|no|off)\Z", re.IGNORECASE)
_OF_MEMORY = re.compile(
    r"growth|per_process_gpu_memory_fraction|(?:visible|logical|virtual)_device|memory_limit|CUDA_VISIBLE_DEVICES"
)


def option_read_by_bool(context: Context, name: str, type_: ast.expr) -> TextTruth:
    """Return the value of an option of a command line with ``type=bool``."""
    place = context.span(type_)
    fields = event_fields(context, type_)
    return TextTruth(context.emit(TextTaken(how="option", said="False", text=name, place=place, **fields)))


def truth_of_text(context: Context, value: Value, node: ast.AST) -> TextTruth | None:
    """Return what ``bool(text)`` is; None where the text is not one that says no."""
    said = _no_said_by(value)
    if not said or not isinstance(node, ast.Call) or len(node.args) != 1 or context.state is None:
        return None
    return TextTruth(_taken(context, "bool", said, node.args[0], node, value))


def report_tested(context: Context, test: ast.expr, held: Guards, branches: Sequence[ast.AST]) -> None:
    """Report a test that comes out as the truth of a text; ``held``: the conditions that hold in its ``branches``."""
    for node, value, negation in _tested(context, test, None):
        if isinstance(value, TextTruth):
            taken = value.taken
        elif said := _no_said_by(value):
            if said.isdigit() and any(_has(branch, node) for branch in branches):
                # It is a number, or a list of them: `if args.gpu: os.environ["CUDA_VISIBLE_DEVICES"] = args.gpu`.
                continue
            taken = _taken(context, "test", said, node, negation or node, value, negated=negation is not None)
        else:
            continue
        memory = any(_OF_MEMORY.search(context.text(branch)) is not None for branch in branches)
        fields = event_fields(context, test)
        context.emit(TextDecides(taken=taken, held=frozenset(held), memory=memory, **fields))


def _has(branch: ast.AST, text: ast.expr) -> bool:
    """True if a branch has an expression in it, for more than a test of its truth."""
    wanted = ast.dump(text)
    tests = {id(part.test) for part in ast.walk(branch) if isinstance(part, (ast.If, ast.IfExp, ast.While))}
    return any(
        isinstance(part, type(text)) and id(part) not in tests and ast.dump(part) == wanted for part in ast.walk(branch)
    )


def _tested(
    context: Context, test: ast.expr, negation: ast.expr | None
) -> Iterator[tuple[ast.expr, Value | None, ast.expr | None]]:
    """Yield the parts of a test that decide it by themselves, with their values and the ``not`` before each."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _tested(context, test.operand, test)
    elif isinstance(test, ast.BoolOp):
        for part in test.values:
            yield from _tested(context, part, None)
    elif isinstance(test, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        yield test, context.last_values.get(id(test)), negation


def _no_said_by(value: Value | None) -> str:
    """Return the text that says no which a value is, by default or for sure; "" where it is none."""
    known: object = None
    if isinstance(value, (FileValue, Const)):
        known = value.value
    elif isinstance(value, Amount) and value.type == "str":
        known = "0" if value.default == 0 else value.default
    return known if isinstance(known, str) and _SAYS_NO.match(known) else ""


def _taken(
    context: Context, how: str, said: str, text: ast.expr, place: ast.AST, value: Value | None, *, negated: bool = False
) -> TextTaken:
    sure = isinstance(value, Const) or (isinstance(value, Amount) and value.sure and not isinstance(value, FileValue))
    return context.emit(
        TextTaken(
            how=how,
            said=said,
            text=context.text(text),
            place=context.span(place),
            negated=negated,
            sure=sure,
            **event_fields(context, place),
        )
    )
