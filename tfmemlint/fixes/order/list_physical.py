"""Strategy: count the GPUs without starting the runtime.

A listing of logical devices of which only the number is asked, or whether there are any, becomes one of physical
devices: before anything is configured, there are as many.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.withheld import Withheld

_LISTS = frozenset({"tf.config.list_logical_devices", "tf.config.experimental.list_logical_devices"})
_TESTS = frozenset({"tf.test.is_gpu_available"})


def list_physical_devices(problem: OrderProblem) -> Iterator[Candidate]:
    """Replace the listing that starts the runtime, or ``tf.test.is_gpu_available()``."""
    start = problem.early[-1]
    file = problem.files.get(start.path)
    call = next((node for node in file.tree.at(start.span) if isinstance(node, cst.Call)), None)
    if call is None:
        raise Withheld("what starts the runtime is no listing of devices")
    name = file.imports.resolve(file.tree.code(call.func))
    editor = problem.editor(file)
    spelled = editor.tf("tf.config.list_physical_devices", call)
    if name in _TESTS and not call.args:
        quote = editor.quoted("GPU")
        editor.replace(call, f"bool({spelled}({quote}))")
    elif name in _LISTS and _is_counted(file, call):
        arguments = ", ".join(file.tree.code(each.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for each in call.args)
        editor.replace(call, f"{spelled}({arguments})")
    else:
        raise Withheld("more than the number of devices is asked for")
    what = f"Count the GPUs in line {file.tree.span(call).row} with list_physical_devices"
    yield Candidate({file.path: editor.finish()}, f"{what}, which does not start the runtime")


def _is_counted(file: CodeFile, call: cst.Call) -> bool:
    """True if nothing but the number of what a call lists is asked for."""
    around = file.tree.parents.get(call)
    if isinstance(around, cst.Arg):
        outer = file.tree.parents.get(around)
        return isinstance(outer, cst.Call) and file.tree.code(outer.func) in ("len", "bool") and len(outer.args) == 1
    if isinstance(around, (cst.If, cst.While, cst.IfExp, cst.Assert)):
        return around.test is call
    return isinstance(around, cst.UnaryOperation) and isinstance(around.operator, cst.Not)
