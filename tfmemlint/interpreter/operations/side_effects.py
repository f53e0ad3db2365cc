"""True if code may configure or start something, and what is known after code that may."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.observer import Surrender
from tfmemlint.interpreter.state import ANY, Phase, Setting, Tri
from tfmemlint.interpreter.unit import ModuleInstance
from tfmemlint.interpreter.values import UNKNOWN, Choice, Class, Function, Instance, Partial, Value
from tfmemlint.model.patterns import late_pattern

_LEAVES = late_pattern(r"\bexit|abort|sys\.path")
"""Words in functions that may end the program, or change where it finds modules."""


def havoc(context: Context, quiet: bool = False) -> None:
    """Let anything have started or been configured, unless the code that may have run is ``quiet``.

    What only might start something leaves no trace: nothing is ever concluded from what hasn't started.
    """
    if context.state is None or quiet:
        return
    context.tell_surrender(Surrender.HAVOC, "")
    phases = {
        which: Phase(Tri.UNKNOWN)
        for which in ("context", "allocator", "listed")
        if getattr(context.state, which).has is Tri.NO
    }
    growth = {**context.state.growth, ANY: Setting(UNKNOWN)}
    context.state = replace(context.state, growth=growth, **phases)  # type: ignore[arg-type]


def is_side_effect_free(context: Context, function: Value) -> bool:
    """True if a function neither configures anything nor leaves the program, judged by the words in it."""
    match function:
        case Function(node, scope):
            unit = scope.module.unit
            return unit is not None and not unit.library and _definition_is_side_effect_free(context, node, unit)
        case Partial(inner):
            return is_side_effect_free(context, inner)
        case Choice(options):
            return all(is_side_effect_free(context, option) for option in options)
        case Class(node, scope) | Instance(Class(node, scope)):
            unit = scope.module.unit
            return unit is None or _definition_is_side_effect_free(context, node, unit)
        case _:
            return True


def _definition_is_side_effect_free(context: Context, node: ast.AST, unit: ModuleInstance) -> bool:
    if context.modules is None:
        return unit.reach.is_inert(node)
    known = context.modules.quiet.get(id(node))
    if known is None:
        lines = unit.source.lines[getattr(node, "lineno", 1) - 1 : getattr(node, "end_lineno", None)]
        leaves = _LEAVES.search("\n".join(lines)) is not None
        known = not leaves and not context.modules.sets(unit.source.path, getattr(node, "name", ""), lines)
        context.modules.quiet[id(node)] = known
    return known


def configures_nothing(context: Context, function: Value) -> bool:
    """True if a function configures no GPU, judged by the words in its module and in what it mentions elsewhere."""
    match function:
        case Function(node, scope):
            unit = scope.module.unit
            if unit is None:
                return False
            if context.modules is None:
                return not unit.configures or unit.reach.is_inert(node)
            lines = unit.source.lines[getattr(node, "lineno", 1) - 1 : getattr(node, "end_lineno", None)]
            return not context.modules.sets(unit.source.path, getattr(node, "name", ""), lines)
        case Partial(inner):
            return configures_nothing(context, inner)
        case Choice(options):
            return all(configures_nothing(context, option) for option in options)
        case _:
            return True
