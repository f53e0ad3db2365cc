"""Values that are one of a few: their methods."""

from __future__ import annotations

from tfmemlint.facts import folding
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.constants import plain_values
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.operations.options import of_each
from tfmemlint.interpreter.registry import method
from tfmemlint.interpreter.values import UNKNOWN, OneOf, Value


@method(OneOf)
def method_of_option(context: Context, base: OneOf, call: MethodCall) -> Value:
    values, keywords = call.drained_arguments(context)
    plain = None if keywords else plain_values(values)
    return UNKNOWN if plain is None else of_each(base, lambda each: folding.method(each, call.name, plain))
