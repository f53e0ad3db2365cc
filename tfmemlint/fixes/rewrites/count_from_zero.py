"""Count devices from 0 where they are counted from 1, or one too many is counted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers as m

from tfmemlint.fixes.call_context import set_applicability
from tfmemlint.fixes.withheld import Withheld

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.model.finding import Finding

_Comprehension = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
_LENGTH = m.Call(func=m.Name("len"), args=[m.Arg(keyword=None, star="")])


def count_from_zero(editor: Editor, finding: Finding) -> None:
    """Correct the loop that counts, or subtract at the place where the number is used.

    The loop is corrected where its number is used for nothing but devices: else what it prints would change, too.

    Raises:
        Withheld: it is not clear how the number is counted.
    """
    place = _written(editor, editor.expression_at(finding.span))
    beyond = finding.details["beyond"]
    if m.matches(place, _LENGTH) and beyond == 1:
        editor.replace(place, f"{editor.code(place)} - 1")
    elif not _counted_in_for(editor, place, beyond) and not _counted_in_while(editor, place, beyond):
        raise Withheld("the number is counted elsewhere")
    set_applicability(editor, "Count from 0", caught=finding.details["caught"], doubtful=bool(finding.details["quiet"]))


def subtract_one(editor: Editor, finding: Finding) -> None:
    """Subtract 1 from each number of a worker by which a GPU is chosen, and from the end of a slice of one GPU."""
    for name, span in sorted(finding.anchors.items()):
        node = editor.expression_at(span)
        if not name.startswith("end"):
            editor.replace(node, f"{editor.code(node)} - 1")
        elif isinstance(node, cst.BinaryOperation):
            editor.replace(node, editor.code(node.left))
    editor.unsafe("Count from 0")


def _written(editor: Editor, place: cst.BaseExpression) -> cst.BaseExpression:
    """Return the name of a device as a variable gets it once in the loop around its use, else what is there."""
    loop = editor.nearest(place, cst.For, until=(cst.FunctionDef, cst.Lambda))
    if loop is None or not isinstance(place, cst.Name) or _first_name(loop.target) == place.value:
        return place
    target = m.Name(place.value)
    assigned = m.findall(loop.body, m.Assign(targets=[m.AssignTarget(target)]))
    changed = m.findall(loop.body, m.AssignTarget(target) | m.AugAssign(target=target) | m.AnnAssign(target=target))
    if len(assigned) != 1 or len(changed) != 1 or not isinstance(assigned[0], cst.Assign):
        return place
    return assigned[0].value


def _counted_in_for(editor: Editor, place: cst.BaseExpression, beyond: object) -> bool:
    """Correct a ``for``, or a comprehension, whose variable is the number; return whether one is."""
    for loop in editor.ancestors(place):
        if isinstance(loop, (cst.FunctionDef, cst.Lambda)):
            return False
        head = _head(loop)
        name = _first_name(head.target) if head is not None else None
        if head is None or name is None or not any(_uses(editor, place, name)):
            continue
        header, from_zero = _corrected(editor, head.iter, beyond)
        if header is None:
            return False
        if from_zero or _is_for_devices_only(editor, loop, place, name):
            editor.replace(head.iter, header)
        else:
            _subtract(editor, place, name, beyond)
        return True
    return False


def _counted_in_while(editor: Editor, place: cst.BaseExpression, beyond: object) -> bool:
    """Correct a number that a loop adds 1 to; return whether one does."""
    for loop in editor.ancestors(place):
        if isinstance(loop, (cst.FunctionDef, cst.Lambda)):
            return False
        if not isinstance(loop, (cst.While, cst.For)):
            continue
        for name in {node.value for node in m.findall(place, m.Name()) if isinstance(node, cst.Name)}:
            start = _start(editor, loop, name) if _adds_one(loop, name) else None
            if start == 0 and isinstance(loop, cst.While) and isinstance(loop.test, cst.Comparison):
                return _stop_earlier(editor, loop.test, name)
            if start is not None and any(_uses(editor, place, name)):
                _subtract(editor, place, name, beyond)
                return True
    return False


def _head(loop: cst.CSTNode) -> cst.For | cst.CompFor | None:
    if isinstance(loop, cst.For):
        return loop
    return loop.for_in if isinstance(loop, _Comprehension) and loop.for_in.inner_for_in is None else None


def _first_name(target: cst.BaseExpression) -> str | None:
    """Return the variable, or the first of several: that of the number in ``for number, gpu in enumerate(gpus)``."""
    if isinstance(target, cst.Tuple) and target.elements:
        target = target.elements[0].value
    return target.value if isinstance(target, cst.Name) else None


def _corrected(editor: Editor, counted: cst.BaseExpression, beyond: object) -> tuple[str | None, bool]:
    """Return what to loop over, None if that is not clear, and whether the loop counts from 0 already, but too far."""
    if not isinstance(counted, cst.Call) or not isinstance(counted.func, cst.Name):
        return None, False
    arguments = [argument.value for argument in counted.args]
    if counted.func.value == "enumerate" and len(arguments) == 2 and _number(arguments[1]) == beyond:
        return f"enumerate({editor.code(arguments[0])})", False
    if counted.func.value == "range" and arguments and len(arguments) < 3:
        less = _without(editor, arguments[-1], beyond)
        from_zero = len(arguments) == 1 or _number(arguments[0]) == 0
        if less is not None and (from_zero or _number(arguments[0]) == beyond):
            return f"range({less})", from_zero
    return None, False


def _without(editor: Editor, total: cst.BaseExpression, beyond: object) -> str | None:
    """Return ``len(gpus)`` for ``len(gpus) + 1``."""
    if isinstance(total, cst.BinaryOperation) and isinstance(total.operator, cst.Add):
        for more, rest in ((total.right, total.left), (total.left, total.right)):
            if _number(more) == beyond:
                return editor.code(rest)
    return None


def _number(node: cst.BaseExpression) -> int | None:
    return node.evaluated_value if isinstance(node, cst.Integer) else None


def _is_for_devices_only(editor: Editor, loop: cst.CSTNode, place: cst.BaseExpression, name: str) -> bool:
    """True if a loop's number is nowhere used but in this place, and in others of its kind in the same loop."""
    inside = set(_uses(editor, loop, name))
    for node in _uses(editor, editor.function_of(loop), name):
        if node in inside:
            if place not in (node, *editor.ancestors(node)) and not _is_alike(editor, node, place, name):
                return False
        elif not any(_binds(around, name) for around in editor.ancestors(node)):
            return False
    return True


def _is_alike(editor: Editor, node: cst.Name, place: cst.BaseExpression, name: str) -> bool:
    """True for a number that is used as the one in ``place``: of a device in the same list, or in a device's name."""
    here, there = editor.nearest(node, cst.Subscript), editor.nearest(place, cst.Subscript)
    if isinstance(editor.parent(node), cst.Index) and here is not None and there is not None:
        return editor.code(here.value) == editor.code(there.value)
    text = editor.nearest(node, cst.FormattedString)
    return text is not None and re.search(rf"(?i)gpu:\{{{re.escape(name)}\}}", editor.code(text)) is not None


def _binds(node: cst.CSTNode, name: str) -> bool:
    head = _head(node)
    return head is not None and _first_name(head.target) == name


def _uses(editor: Editor, node: cst.CSTNode, name: str) -> Iterator[cst.Name]:
    """Yield the places in which a variable is read."""
    for found in m.findall(node, m.Name(name)):
        parent = editor.parent(found)
        if isinstance(parent, cst.Attribute) and parent.attr is found:
            continue
        if isinstance(parent, cst.Arg) and parent.keyword is found:
            continue
        if isinstance(parent, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Param)):
            continue
        around = (around for around in editor.ancestors(found) if isinstance(around, (cst.For, cst.CompFor)))
        if any(found in m.findall(head.target, m.Name(name)) for head in around):
            continue
        if isinstance(found, cst.Name):
            yield found


def _adds_one(loop: cst.While | cst.For, name: str) -> bool:
    """True if a loop has ``name += 1`` or ``name = name + 1``."""
    step, number = m.Integer("1"), m.Name(name)
    longer = m.BinaryOperation(left=number, operator=m.Add(), right=step) | m.BinaryOperation(
        left=step, operator=m.Add(), right=number
    )
    added = m.AugAssign(target=number, operator=m.AddAssign(), value=step)
    return bool(m.findall(loop.body, added | m.Assign(targets=[m.AssignTarget(number)], value=longer)))


def _start(editor: Editor, loop: cst.While | cst.For, name: str) -> int | None:
    """Return the number that a variable gets last above a loop, in the same block; None if none is written there."""
    block = editor.parent(loop)
    start: int | None = None
    for statement in getattr(block, "body", ()):
        if statement is loop:
            return start
        for found in m.findall(statement, m.AssignTarget(m.Name(name))):
            assigned = editor.parent(found)
            start = _number(assigned.value) if isinstance(assigned, cst.Assign) else None
    return None


def _stop_earlier(editor: Editor, test: cst.Comparison, name: str) -> bool:
    """Write ``<`` for ``<=`` between the number and the count of the devices; return whether they are compared so."""
    if len(test.comparisons) != 1:
        return False
    (compared,) = test.comparisons
    left, right = editor.code(test.left), editor.code(compared.comparator)
    if isinstance(compared.operator, cst.LessThanEqual) and left == name:
        editor.replace(test, f"{left} < {right}")
    elif isinstance(compared.operator, cst.GreaterThanEqual) and right == name:
        editor.replace(test, f"{left} > {right}")
    else:
        return False
    return True


def _subtract(editor: Editor, place: cst.BaseExpression, name: str, beyond: object) -> None:
    for node in _uses(editor, place, name):
        editor.replace(node, f"{name} - {beyond}")
