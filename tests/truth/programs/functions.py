"""Functions of all kinds, each with the ways of using it."""

from __future__ import annotations

from collections.abc import Callable

from tests.truth.programs import leaves
from tests.truth.programs.blocks import suite
from tests.truth.programs.leaves import GROWTH
from tests.truth.programs.model import Block, Clause, Line, Statement, block
from tests.truth.programs.scope import LISTING, Callee, Scope, Use

Made = tuple[list[Statement], Callee]


def uses_of(*texts: str) -> tuple[Use, ...]:
    """Ways of using something, one a text; ``$`` stands for a name of its own."""
    return tuple(Use(tuple(text.split("\n"))) for text in texts)


def body_of(scope: Scope, most: int = 3) -> list[Statement]:
    """The suite of a function."""
    inner = scope.inner(function=True, loop=False)
    lines: list[Statement] = []
    if scope.chance(0.2):
        inner.gpus_name = scope.name("gpus")
        lines.append(Line(f"{inner.gpus_name} = {LISTING}"))
    if scope.chance(0.12):
        lines.append(block(f"if {inner.flag()}:", [Line("return")]))
    return lines + suite(inner, most)


def plain(scope: Scope) -> Made:
    """A function without parameters, called in many ways."""
    name = scope.name("f")
    uses = uses_of(
        f"§{name}()",
        f"§{name}()",
        f"§{name}()",
        f"§{name}()\n§{name}()",
        f"$ = §{name}\n$()",
        f"functools.partial(§{name})()",
        f"$ = lambda: §{name}()\n$()",
        f"list(map(lambda _: §{name}(), [1]))",
        f"[§{name}() for _ in range(2)]",
        f"sorted([2, 1], key=lambda one: §{name}() or one)",
        f"$ = {{'a': §{name}}}\n$['a']()",
        f"$ = §{name}",
    )
    return [block(f"def {name}():", body_of(scope))], Callee(name, uses, plain=f"§{name}()")


def with_parameter(scope: Scope) -> Made:
    """A function that configures what it is given."""
    name, gpu = scope.name("f"), scope.name("gpu")
    inner = scope.inner(function=True, loop=False)
    body: list[Statement] = [Line(f"{GROWTH}({gpu}, {scope.one_of('on', 'on', 'True')})")]
    if scope.chance(0.3):
        body = [*suite(inner, 1), *body]
    first, other = f"{LISTING}[0]", f"{LISTING}[{scope.shared.gpus - 1}]"
    uses = uses_of(
        f"§{name}({first})",
        f"§{name}({first}, on=False)",
        f"§{name}({first})\n§{name}({other})",
        f"list(map(§{name}, {LISTING}))",
        f"[§{name}($) for $ in {LISTING}]",
        f"$ = functools.partial(§{name}, on=True)\n$({first})",
    )
    return [block(f"def {name}({gpu}, on=True):", body)], Callee(name, uses, plain=f"§{name}({first})")


def with_switch(scope: Scope) -> Made:
    """A function whose argument says what it does."""
    name = scope.name("f")
    inner = scope.inner(function=True, loop=False)
    head = scope.one_of("if {}:", "if not {}:").format("start")
    clauses = [Clause(head, tuple(suite(inner.inner(), 2)))]
    if scope.chance(0.5):
        clauses.append(Clause("else:", tuple(suite(inner.inner(), 2))))
    body: list[Statement] = [Block(tuple(clauses)), *(suite(inner, 1) if scope.chance(0.4) else [])]
    uses = uses_of(f"§{name}(True)", f"§{name}(start=False)", f"§{name}()", f"§{name}(False)\n§{name}(True)")
    return [block(f"def {name}(start={scope.one_of('False', 'True')}):", body)], Callee(name, uses, f"§{name}()")


def once(scope: Scope) -> Made:
    """A function that does its work the first time only."""
    name, done = scope.name("f"), scope.name("_done")
    inner = scope.inner(function=True, loop=False)
    work = suite(inner.inner(), 2)
    if scope.chance(0.5):
        rest: list[Statement] = [block(f"if not {done}:", [Line(f"{done} = True"), *work])]
    else:
        rest = [block(f"if {done}:", [Line("return")]), Line(f"{done} = True"), *work]
    made: list[Statement] = [Line(f"{done} = False"), block(f"def {name}():", [Line(f"global {done}"), *rest])]
    return made, Callee(name, uses_of(f"§{name}()", f"§{name}()\n§{name}()"), f"§{name}()")


def recursive(scope: Scope) -> Made:
    """A function that calls itself, with a counter."""
    name = scope.name("f")
    inner = scope.inner(function=True, loop=False)
    again = Line(f"{name}(n - 1)")
    work = suite(inner.inner(), 1)
    body: list[Statement] = [again, *work] if scope.chance(0.5) else [*work, again]
    made: list[Statement] = [block(f"def {name}(n):", [block("if n > 0:", body)])]
    return made, Callee(name, uses_of(f"§{name}(1)", f"§{name}(2)", f"§{name}(0)"), f"§{name}(1)")


def with_default(scope: Scope) -> Made:
    """A default argument, which is computed where the function is defined."""
    name = scope.name("f")
    value = scope.one_of("tf.constant(1)", "tf.zeros((1,))", LISTING, "len([1])")
    if scope.callees and scope.chance(0.4):
        called = [callee for callee in scope.callees if callee.plain]
        if called:
            chosen = scope.rng.choice(called)
            value = chosen.text(chosen.plain)
    made: list[Statement] = [block(f"def {name}(value={value}):", suite(scope.inner(function=True, loop=False), 2))]
    return made, Callee(name, uses_of(f"§{name}()", f"§{name}(1)", f"$ = §{name}"), f"§{name}()")


def runner(scope: Scope) -> Made:
    """A function that calls what it is given."""
    name = scope.name("f")
    inner = scope.inner(function=True, loop=False)
    body: list[Statement] = [Line("work()")]
    if scope.chance(0.6):
        body = [*suite(inner, 1), *body] if scope.chance(0.5) else [*body, *suite(inner, 1)]
    texts = [f"§{name}(lambda: None)", f"§{name}(lambda: tf.constant(1))", f"§{name}(work=lambda: {LISTING})"]
    for other in scope.callees[-2:]:
        if other.plain == f"§{other.name}()" and not other.prefix:
            texts += [f"§{name}(§{other.name})", f"§{name}(lambda: {other.plain})"]
    return [block(f"def {name}(work):", body)], Callee(name, uses_of(*texts))


def traced(scope: Scope) -> Made:
    """A function for TensorFlow to trace."""
    name = scope.name("f")
    made: list[Statement] = [block(f"@tf.function\ndef {name}():", [Line("return tf.constant(1)")])]
    return made, Callee(name, uses_of(f"§{name}()", f"$ = §{name}"), f"§{name}()")


def nested(scope: Scope) -> Made:
    """A function in a function."""
    name, own = scope.name("f"), scope.name("g")
    inner = scope.inner(function=True, loop=False)
    definition = block(f"def {own}():", suite(inner.inner(), 2))
    rest: list[Statement] = scope.one_of(
        [Line(f"{own}()")], [Line(f"return {own}")], [block(f"if {inner.flag()}:", [Line(f"{own}()")])]
    )
    made: list[Statement] = [block(f"def {name}():", [definition, *(suite(inner, 1)), *rest])]
    uses = uses_of(f"§{name}()", f"$ = §{name}()\n$()") if rest == [Line(f"return {own}")] else uses_of(f"§{name}()")
    return made, Callee(name, uses, f"§{name}()")


def by_case(scope: Scope) -> Made:
    """A name that one of two functions gets."""
    name = scope.name("f")
    clauses = [Clause(head, (block(f"def {name}():", body_of(scope, 2)),)) for head in (f"if {scope.flag()}:", "else:")]
    return [Block(tuple(clauses))], Callee(name, uses_of(f"§{name}()"), f"§{name}()")


def starter(scope: Scope) -> Made:
    """A function that gives back something of TensorFlow's."""
    name = scope.name("f")
    body = [Line(f"return {scope.one_of('tf.constant(1)', LISTING, 'tf.zeros((1,))', 'tf.keras.layers.Dense(1)')}")]
    return [block(f"def {name}():", body)], Callee(name, uses_of(f"§{name}()", f"$ = §{name}()"), f"§{name}()")


def silent(scope: Scope) -> Made:
    """A function that catches what its settings raise."""
    name = scope.name("f")
    inner = scope.inner(function=True, loop=False).inner()
    tried = (*leaves.configuring(inner), *(leaves.configuring(inner) if scope.chance(0.4) else ()))
    handler = Clause(
        f"except {scope.one_of('RuntimeError', 'ValueError', 'Exception')}:",
        (Line(scope.one_of("pass", "return", "print('late')")),),
    )
    rest = suite(inner, 1) if scope.chance(0.4) else []
    made: list[Statement] = [block(f"def {name}():", [Block((Clause("try:", tried), handler)), *rest])]
    return made, Callee(name, uses_of(f"§{name}()", f"§{name}()\n§{name}()"), f"§{name}()")


KINDS: tuple[tuple[float, Callable[[Scope], Made]], ...] = (
    (5, plain),
    (2, with_parameter),
    (1.5, with_switch),
    (1.2, once),
    (0.8, recursive),
    (1, with_default),
    (1.2, runner),
    (0.5, traced),
    (0.8, nested),
    (0.7, by_case),
    (0.7, starter),
    (1.2, silent),
)
