"""Call a function of the file first thing in another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers

from tfmemlint.fixes.withheld import Withheld

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.model.finding import Span


_CONFIGURING = frozenset(
    {"print", "info", "debug", "warning", "len", "range", "enumerate", "str", "int", "float", "getpid", "format"}
    | {"LogicalDeviceConfiguration", "VirtualDeviceConfiguration", "get", "getenv", "is_gpu_available"}
)


def _called_in(function: cst.FunctionDef) -> set[str]:
    """Return the last names of all that a function calls."""
    calls = matchers.findall(function, matchers.Call())
    named = [getattr(call, "func", None) for call in calls]
    names = [func.attr if isinstance(func, cst.Attribute) else func for func in named]
    return {name.value if isinstance(name, cst.Name) else "another function" for name in names}


def insert_call(editor: Editor, place: Span, name: str) -> None:
    """Insert ``name()`` above the first statement of the function at ``place``, below its docstring.

    Raises:
        Withheld: ``name`` is not a function of the module that can be called without arguments, or does more than
            configure.
    """
    function = editor.node_at(place, cst.FunctionDef)
    called = next(
        (
            statement
            for statement in editor.module.body
            if isinstance(statement, cst.FunctionDef) and statement.name.value == name
        ),
        None,
    )
    if called is None or called is function:
        raise Withheld(f"{name} is not a function of the module that can be called there as well")
    params = called.params
    if any(param.default is None for param in (*params.posonly_params, *params.params, *params.kwonly_params)):
        raise Withheld(f"{name} needs arguments")
    others = {
        name for name in _called_in(called) if name not in _CONFIGURING and not name.startswith(("set_", "list_"))
    }
    if others:
        raise Withheld(f"{name} does more than configure: it calls {min(others)}")
    if not isinstance(function.body, cst.IndentedBlock):
        raise Withheld("the function stands in one line")
    statements = list(function.body.body)
    first = statements[1] if len(statements) > 1 and function.get_docstring() is not None else statements[0]
    editor.insert_before(first, f"{name}()\n")
