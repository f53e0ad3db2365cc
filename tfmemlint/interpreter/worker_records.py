"""The records that the interpreter keeps of processes that work beside each other."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from tfmemlint.interpreter.frames import Heap
from tfmemlint.interpreter.values import Function, ModuleInstance, Value
from tfmemlint.model.finding import Span, Step
from tfmemlint.model.records import dataclass, record


@record(frozen=True, slots=True, eq=False)
class Workers:
    """Processes that run one function.

    Attributes:
        function: it. args, keywords: what it is called with; the rest is not known.
        method: how they are started, as in `tfmemlint.interpreter.frames.Child`.
        fields: of an event where they get the function. place: where they are made: the path, the call, and the calls
            that lead there. scope_of, unit: the function and the module that make them.
        fields_of_object: of a method, the attributes of its object when that was made.
        making: how that object was made: its ``__init__`` and the arguments; None if that is not known.
        count: how many there are, 0 where that is not known. sure: nobody can ask for another number.
        text: the number as written; "" for a plain number. counted: ``count`` is of one call, not of one process.
    """

    function: Function
    args: tuple[Value, ...]
    keywords: Mapping[str, Value]
    method: str
    fields: Mapping[str, Any]
    place: tuple[str, Span, tuple[Step, ...]]
    scope_of: ast.AST
    unit: ModuleInstance
    fields_of_object: Heap
    count: int = 1
    sure: bool = True
    text: str = ""
    counted: bool = False
    making: tuple[Function, tuple[Value, ...], dict[str, Value]] | None = None


@record(frozen=True, slots=True, eq=False)
class Copies:
    """Processes that run the program's own script again: ``count`` of them; the rest as in `Workers`."""

    count: int
    sure: bool
    text: str
    fields: Mapping[str, Any]


@dataclass(slots=True)
class WorkersMade:
    """The processes that a program makes; ``pool``: of the last pool, their number, and where that and the pool are."""

    copies: list[Copies] = field(default_factory=list)
    noted: list[Workers] = field(default_factory=list)
    pool: tuple[Value, ast.expr, ast.Call] | None = None
