"""Functions that configure GPUs and that a script does not call, although it starts the runtime."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tfmemlint.facts.statements import name_span
from tfmemlint.facts.syntax import required_parameters
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.operations.never_run import configured_by
from tfmemlint.interpreter.program import EnvWrite, NeverRun
from tfmemlint.interpreter.state import Call, RuntimeStart
from tfmemlint.interpreter.values import Class, Function, ModuleInstance
from tfmemlint.knowledge.environment import ABOUT_GPUS, read_at
from tfmemlint.knowledge.functions import CONFIGURES_GPUS

_CALLED_BY_NAME = re.compile(
    r"\b(?:globals|locals|vars|getattr|eval|exec|dir)\(|\b__all__\b|\bfire\b|\binvoke\b|\bargh\b|\bpytest\b|unittest"
)
"""Code that may call a function without spelling its name."""


def report_forgotten(context: Context) -> None:
    """Report the functions of a script that configure GPUs, if it starts the runtime and configures nothing else.

    Call this before functions are interpreted that nothing calls.
    """
    start = next((event for event in context.events if isinstance(event, RuntimeStart)), None)
    text = context.main.source.text
    if start is None or not _is_script(context.main) or _CALLED_BY_NAME.search(text):
        return
    if any(configures(event) for event in context.events):
        return
    for function in list(_plain_functions(context)):
        node = function.node
        if isinstance(node, ast.Lambda) or id(node) in context.visited:
            continue
        called = configured_by(context, function)
        if not called or len(re.findall(rf"\b{re.escape(node.name)}\b", text)) > 1:
            continue
        # It is judged as before; but whoever calls it may do so in time.
        context.named_before_start.add(id(node))
        fields = {**event_fields(context, node), "span": name_span(context.main.source, node)}
        needs = any(required_parameters(node.args)) or function.owner is not None
        given = None if needs else ""
        context.emit(NeverRun(kind="uncalled", called=called, text=node.name, arguments=given, before=start, **fields))


def _is_script(unit: ModuleInstance) -> bool:
    """True if a module is not there to be imported: it asks whether it is run, or ends with something that it does."""
    if unit.name != "__main__":
        return False
    if "__main__" in unit.source.text or not unit.source.path.endswith(".py"):
        return True
    last = unit.tree.body[-1]
    return isinstance(last, (ast.For, ast.With, ast.While)) or (
        isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
    )


def configures(event: object) -> bool:
    """True if an event sets something about GPUs, or may."""
    if isinstance(event, Call):
        return event.name in CONFIGURES_GPUS
    return isinstance(event, EnvWrite) and read_at(event.name) in ABOUT_GPUS


def _plain_functions(context: Context) -> Iterator[Function]:
    """Yield the functions of the module, and the methods of its classes, that nobody else calls by their names."""
    for value in context.main.scope.names.values():
        if isinstance(value, Function) and not value.decorators and value.node in context.main.tree.body:
            yield value
        if isinstance(value, Class) and not value.bases and value.node in context.main.tree.body:
            yield from (
                each
                for name, each in value.members.items()
                if isinstance(each, Function) and not each.decorators and not name.startswith("__")
            )
