"""Random programs: definitions, uses and settings in an order that may or may not be right."""

from __future__ import annotations

import random

from tests.truth.programs import classes, functions, kept, wrappers
from tests.truth.programs.blocks import statement, using
from tests.truth.programs.model import Line, Module, Program, Statement, block
from tests.truth.programs.modules import Other, imported, imported_late, others
from tests.truth.programs.scope import LISTING, Scope, Shared

IMPORTS = (
    "import contextlib",
    "import dataclasses",
    "import functools",
    "import os",
    "import sys",
    "import tensorflow as tf",
)
_DEFINITIONS = (
    *functions.KINDS,
    *wrappers.KINDS,
    *kept.KINDS,
    *((weight * 0.7, kind) for weight, kind in classes.KINDS),
)


def program(rng: random.Random, modules: int = 1) -> Program:
    """A program of ``modules`` files, beside the ``__init__.py`` of a package."""
    gpus = rng.choices((1, 2, 3), (3, 6, 1))[0]
    shared = Shared(gpus, budget=rng.randint(5, 25))
    scope = Scope(rng, shared)
    files: list[Module] = []
    made: list[Other] = []
    if modules > 1:
        files, made = others(scope, modules - 1, list(map(Line, IMPORTS)), top)
    body = main(scope, made)
    return Program((Module("main.py", tuple(body)), *files), gpus, tuple(shared.switches))


def main(scope: Scope, known: list[Other]) -> list[Statement]:
    """The statements of ``main.py``."""
    made: list[Statement] = list(map(Line, IMPORTS))
    late: list[Other] = []
    for other in known:
        if scope.chance(0.2):
            late.append(other)
        else:
            made += imported(scope, other)
    made += top(scope)
    for other in late:
        made += imported_late(scope, other) if scope.chance(0.6) else imported(scope, other)
    last = body_of_main(scope)
    if scope.chance(0.3):
        return [*made, block('if __name__ == "__main__":', last)]
    if scope.chance(0.2):
        return [*made, block("def main():", last), block('if __name__ == "__main__":', [Line("main()")])]
    return [*made, *last]


def top(scope: Scope) -> list[Statement]:
    """What stands at the top of a module: flags, definitions, and statements in between."""
    made: list[Statement] = []
    if scope.chance(0.4):
        scope.gpus_name = scope.name("gpus")
        made.append(Line(f"{scope.gpus_name} = {LISTING}"))
    for _ in range(scope.rng.randint(0, 2)):
        flag = scope.name("FLAG")
        value = scope.switch() if scope.chance(0.6) else scope.one_of("True", "False", "None", "0")
        made.append(Line(f"{flag} = {value}"))
        scope.flags.append(flag)
    for _ in range(scope.rng.randint(0, 4)):
        made += definition(scope)
        if scope.chance(0.3):
            made += statement(scope)
    return made


def definition(scope: Scope) -> list[Statement]:
    """A definition, which can be used from here on."""
    scope.shared.budget -= 1
    statements, callee = scope.weighted(_DEFINITIONS)(scope)
    scope.callees.append(callee)
    return statements


def body_of_main(scope: Scope) -> list[Statement]:
    """The statements that end a program: most of what was defined is used."""
    inner = scope.inner()
    made: list[Statement] = []
    for _ in range(scope.rng.randint(2, 6)):
        made += using(inner) if inner.callees and inner.chance(0.45) else statement(inner)
    return made
