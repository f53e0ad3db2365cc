"""What runs a piece at a time, or around something else: generators, context managers, decorators."""

from __future__ import annotations

from collections.abc import Callable

from tests.truth.programs.blocks import suite
from tests.truth.programs.functions import Made, body_of, uses_of
from tests.truth.programs.model import Block, Clause, Line, Statement, block
from tests.truth.programs.scope import Callee, Scope, Use


def generator(scope: Scope) -> Made:
    """A generator: nothing of it runs until somebody asks."""
    name = scope.name("f")
    inner = scope.inner(function=True, loop=False)
    body = [*suite(inner, 1), Line("yield 1"), *suite(inner, 1)]
    if scope.chance(0.3):
        body.append(Line("yield 2"))
    uses = (
        *uses_of(f"list(§{name}())", f"next(§{name}())", f"$ = §{name}()", f"$ = [one for one in §{name}()]"),
        Use(head=f"for $ in §{name}():"),
        Use((f"$ = §{name}()",), "for _ in $:"),
    )
    return [block(f"def {name}():", body)], Callee(name, uses)


def manager(scope: Scope) -> Made:
    """A context manager made of a generator, or of a class."""
    name = scope.name("f")
    inner = scope.inner(function=True, loop=False)
    before, behind = suite(inner, 1), suite(inner, 1) if scope.chance(0.6) else [Line("pass")]
    if scope.chance(0.5):
        middle: list[Statement] = [Line("yield"), *behind]
        if scope.chance(0.3):
            middle = [Block((Clause("try:", (Line("yield"),)), Clause("finally:", tuple(behind))))]
        made: list[Statement] = [block(f"@contextlib.contextmanager\ndef {name}():", [*before, *middle])]
    else:
        enter = block("def __enter__(self):", [*before, Line("return self")])
        swallow = [Line("return True")] if scope.chance(0.15) else []
        leave = block("def __exit__(self, kind, error, trace):", [*behind, *swallow])
        made = [block(f"class {name}:", [enter, leave])]
    return made, Callee(name, (Use(head=f"with §{name}():"), Use(head=f"with §{name}() as $:")))


def decorated(scope: Scope) -> Made:
    """A decorator, which runs at the definition, and its wrapper, which runs at each call."""
    outer, name = scope.name("deco"), scope.name("f")
    inner = scope.inner(function=True, loop=False)
    wrapper: list[Statement] = [Line("return function(*args, **kwargs)")]
    if scope.chance(0.6):
        wrapper = [*suite(inner.inner(), 1), *wrapper]
    wraps = "@functools.wraps(function)\n" if scope.chance(0.6) else ""
    body: list[Statement] = [block(f"{wraps}def wrapper(*args, **kwargs):", wrapper), Line("return wrapper")]
    if scope.chance(0.3):
        body = [*suite(inner, 1), Line("return function")]
    decorator = outer
    if scope.chance(0.2):
        body, decorator = [block("def decorate(function):", body), Line("return decorate")], f"{outer}(1)"
    parameter = "function" if decorator == outer else "number"
    made: list[Statement] = [
        block(f"def {outer}({parameter}):", body),
        block(f"@{decorator}\ndef {name}():", body_of(scope, 2)),
    ]
    return made, Callee(name, uses_of(f"§{name}()", f"§{name}()\n§{name}()", f"$ = §{name}"), f"§{name}()")


KINDS: tuple[tuple[float, Callable[[Scope], Made]], ...] = ((1.2, generator), (1.2, manager), (1.2, decorated))
