"""The ``RunConfig`` with options for sessions that no estimator gets."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.tree_walk import all_nodes, scope_nodes
from tfmemlint.interpreter.values import Made, Value
from tfmemlint.rulekit.explain import short

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Arg, Call, Program
    from tfmemlint.interpreter.state.options import RunConfigDropped
    from tfmemlint.model.finding import Span

_ESTIMATOR = re.compile(r"tf\.(?:compat\.v1\.)?estimator\.(?:\w{0,40}(?:Estimator|Classifier|Regressor))")
_KERAS = "model_to_estimator"


def estimator_without(program: Program, dropped: RunConfigDropped) -> Call | None:
    """Return the first estimator that is made without a ``RunConfig``, if no estimator of the program has one."""
    made = list(_estimators(program))
    if any(call.has_star or _config(call) is not None for call in made) or is_kept(program, dropped):
        return None
    first = next((call for call in made if call.path == program.source.path), None)
    return None if first is None or first.state.entry_unknown else first


def estimator_with_another(program: Program, dropped: RunConfigDropped) -> Call | None:
    """Return the estimator that is made in the function of a copy, below it, with another ``RunConfig``."""
    if is_kept(program, dropped):
        return None
    place = (dropped.path, dropped.function)
    below = (call for call in _estimators(program) if (call.path, call.function) == place and call.span > dropped.span)
    return next((call for call in below if isinstance(value_of_config(call), Made)), None)


def _estimators(program: Program) -> Iterator[Call]:
    for call in program.calls():
        if _ESTIMATOR.fullmatch(call.name) or short(call.name) == _KERAS:
            yield call


def _config(call: Call) -> Arg | None:
    # All but the class itself take it by its keyword.
    return call.arg(2 if short(call.name) == "Estimator" else None, "config")


def value_of_config(call: Call) -> Value | None:
    """Return the ``RunConfig`` that an estimator gets, if any."""
    given = _config(call)
    return given.value if given is not None else None


def config_span(call: Call) -> Span:
    """Return the place of the ``RunConfig`` that an estimator gets, or that of the call."""
    given = _config(call)
    return given.span if given is not None else call.span


def goes_with(dropped: RunConfigDropped, call: Call, name: str) -> bool:
    """True if an estimator accepts a ``RunConfig``: two folders for its model, of which it raises, are not known."""
    mine = next((argument for argument in dropped.arguments if argument.keyword == "model_dir"), None)
    own = call.arg(1 if short(call.name) == "Estimator" else None, "model_dir")
    return mine is None or own is None or own.text in (mine.text, f"{name}.model_dir")


def is_kept(program: Program, dropped: RunConfigDropped) -> bool:
    """True if a ``RunConfig`` is kept elsewhere than under a name: in an attribute, or in a container, which other code
    may read."""
    places = [step.span for step in dropped.frames if step.path == program.source.path]
    if dropped.path == program.source.path:
        places.append(dropped.span)
    for node in all_nodes(program.tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            whole = program.source.span(node.value)
            if any(whole.contains(place) for place in places) and not all(
                isinstance(each, ast.Name) for each in targets
            ):
                return True
    return False


def name_at(program: Program, dropped: RunConfigDropped, call: Call) -> str:
    """Return the name that the ``RunConfig`` has in the function of a call; "" if there is none."""
    if call.path != program.source.path:
        return ""
    places: set[Span] = {step.span for step in dropped.frames if step.path == call.path}
    if dropped.path == call.path:
        places.add(dropped.span)
    for scope in all_nodes(program.tree):
        if not isinstance(scope, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if getattr(scope, "name", "") != call.function:
            continue
        for node in scope_nodes(scope):
            match node:
                case ast.Assign([ast.Name(name)], value) if program.source.span(value) in places:
                    if program.source.span(node) < call.span:
                        return name
                case _:
                    pass
    return ""
