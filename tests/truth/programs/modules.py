"""Programs of several files: how one reaches what another defines, and when its top level runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.truth.programs.kept import LAZY, asked_for
from tests.truth.programs.model import Block, Clause, Line, Module, Statement, block
from tests.truth.programs.scope import Callee, Scope, Use

Top = Callable[[Scope], list[Statement]]


@dataclass(frozen=True, slots=True)
class Other:
    """A module that is not ``main.py``. ``path``: its file, ``name``: as ``import`` takes it."""

    path: str
    name: str
    callees: tuple[Callee, ...]
    flags: tuple[str, ...]


_PLACES = (
    ("helpers.py", "helpers"),
    ("pkg/mod.py", "pkg.mod"),
    ("pkg/extra.py", "pkg.extra"),
    ("setup_gpu.py", "setup_gpu"),
)


def others(scope: Scope, count: int, heads: list[Statement], top: Top) -> tuple[list[Module], list[Other]]:
    """``count`` modules with what they define; a later one may import an earlier one."""
    modules: list[Module] = []
    made: list[Other] = []
    circle = count > 1 and scope.chance(0.2)
    for path, name in scope.rng.sample(_PLACES, count):
        own = Scope(scope.rng, scope.shared)
        body = list(heads)
        if made and not circle and scope.chance(0.6):
            body += imported(own, scope.rng.choice(made), path)
        known, flags = len(own.callees), len(own.flags)
        body += top(own)
        asked: list[Callee] = []
        if scope.chance(0.25):
            answering, callee = asked_for(own)
            body += answering
            asked.append(callee)
        if scope.chance(0.2):
            body.append(block('if __name__ == "__main__":', [Line("raise AssertionError")]))
        if path.startswith("pkg/") and not any(one.path == "pkg/__init__.py" for one in modules):
            modules.append(Module("pkg/__init__.py", _package(scope, name.rpartition(".")[2])))
        modules.append(Module(path, tuple(body)))
        # What it has from elsewhere, a third module takes from where it was defined.
        made.append(Other(path, name, (*own.callees[known:], *asked), tuple(own.flags[flags:])))
    if circle:
        first, last = made[0], made[-1]
        for one, partner in ((first, last), (last, first)):
            _use_late(scope, one, partner, modules, made)
    return modules, made


def _package(scope: Scope, name: str) -> tuple[Statement, ...]:
    """What stands in ``pkg/__init__.py``: often nothing."""
    return scope.one_of(
        (),
        (),
        (Line(f"from . import {name}"),),
        (Line(f"from .{name} import *"),),
        (Line("import tensorflow as tf"), Line('tf.config.list_physical_devices("GPU")')),
    )


def _use_late(scope: Scope, own: Other, partner: Other, modules: list[Module], made: list[Other]) -> None:
    """Let a module import its partner at its top, and use it in a function: so both may import each other."""
    used = [one for one in partner.callees if one.plain]
    body: list[Statement] = [Line(f"import {partner.name}")]
    name = scope.name("f")
    if used:
        call = scope.rng.choice(used).via(f"{partner.name}.")
        body.append(block(f"def {name}():", [Line(call.text(call.plain))]))
        callee = Callee(name, (Use((f"§{name}()",)),), f"§{name}()")
        made[made.index(own)] = replace(own, callees=(*own.callees, callee))
    for index, module in enumerate(modules):
        if module.path == own.path:
            modules[index] = replace(module, body=(*body[:1], *module.body, *body[1:]))


def imported(scope: Scope, other: Other, path: str = "main.py") -> list[Statement]:
    """Statements that import a module, after which the scope knows what is in it."""
    name, alias = other.name, scope.name("m")
    names = ", ".join([*(callee.name for callee in other.callees), *other.flags])
    choices: list[tuple[float, tuple[list[Statement], str]]] = [
        (3, ([Line(f"import {name}")], f"{name}.")),
        (2, ([Line(f"import {name} as {alias}")], f"{alias}.")),
        (1, ([Line("import importlib"), Line(f'{alias} = importlib.import_module("{name}")')], f"{alias}.")),
        (0.7, ([_tried(f"import {name} as {alias}", "import json", alias)], f"{alias}.")),
        (0.5, ([_tried(f"import no_such_module as {alias}", f"import {name} as {alias}", alias)], f"{alias}.")),
    ]
    # A star does not ask for what a module lacks.
    star = not any(callee.name.startswith(LAZY) for callee in other.callees)
    if star:
        choices.append((1, ([Line(f"from {name} import *")], "")))
    if names:
        choices.append((3, ([Line(f"from {name} import {names}")], "")))
    if name.startswith("pkg."):
        last = name.rpartition(".")[2]
        choices.append((2, ([Line(f"from pkg import {last}")], f"{last}.")))
        choices.append((1, ([Line(f"from pkg import {last} as {alias}")], f"{alias}.")))
        if path.startswith("pkg/"):
            choices.append((6, ([Line(f"from . import {last} as {alias}")], f"{alias}.")))
            if star:
                choices.append((3, ([Line(f"from .{last} import *")], "")))
            if names:
                choices.append((4, ([Line(f"from .{last} import {names}")], "")))
    statements, prefix = scope.weighted(choices)
    # A star leaves out the names with an underscore; the functions that need one find it in their own module.
    scope.callees += [callee.via(prefix) for callee in other.callees]
    scope.flags += [prefix + flag for flag in other.flags]
    return statements


def _tried(first: str, second: str, alias: str) -> Statement:
    wrong = Line(second) if alias in second else Line("raise")
    return Block((Clause("try:", (Line(first),)), Clause("except ImportError:", (wrong,))))


def imported_late(scope: Scope, other: Other) -> list[Statement]:
    """A function that imports the module when it is called, and uses it there."""
    name, alias = scope.name("f"), scope.name("m")
    usable = [one for one in other.callees if one.plain]
    body: list[Statement] = [Line(f"import {other.name} as {alias}")]
    if usable:
        callee = scope.rng.choice(usable).via(f"{alias}.")
        body.append(Line(callee.text(callee.plain)))
    scope.callees.append(Callee(name, (Use((f"§{name}()",)),), f"§{name}()"))
    return [block(f"def {name}():", body)]
