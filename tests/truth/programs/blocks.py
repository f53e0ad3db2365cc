"""Control flow around other statements."""

from __future__ import annotations

from collections.abc import Callable

from tests.truth.programs import leaves
from tests.truth.programs.model import Block, Clause, Line, Statement, block
from tests.truth.programs.scope import Scope

DEEPEST = 4
_ERRORS = ("RuntimeError", "RuntimeError", "ValueError", "Exception", "(RuntimeError, ValueError)")


def suite(scope: Scope, most: int = 3) -> list[Statement]:
    """One to ``most`` statements."""
    made: list[Statement] = []
    for _ in range(scope.rng.randint(1, most)):
        made += statement(scope)
    return made


def statement(scope: Scope) -> list[Statement]:
    """One statement of any kind, with what it needs before it."""
    scope.shared.budget -= 1
    choices: list[tuple[float, Callable[[Scope], list[Statement]]]] = [
        (5, leaves.configuring),
        (3, leaves.starting),
        (1.5, leaves.harmless),
    ]
    if scope.callees:
        choices.append((4, using))
    if scope.depth < DEEPEST and scope.shared.budget > 0:
        choices += [
            (1.5, branching),
            (1, looping),
            (1.8, trying),
            (0.6, within),
            (0.5, leaving),
        ]
    return scope.weighted(choices)(scope)


def using(scope: Scope) -> list[Statement]:
    """A use of something that was defined before."""
    callee = scope.rng.choice(scope.callees)
    return scope.used(callee, lambda inner: suite(inner, 2) if inner.depth < DEEPEST else leaves.configuring(inner))


def branching(scope: Scope) -> list[Statement]:
    """``if`` in many kinds."""
    kind = scope.rng.randrange(6)
    if kind == 0:
        test = scope.one_of('hasattr(tf, "ConfigProto")', 'hasattr(tf, "compat")', 'tf.__version__ < "2"')
        return [Block((_clause(f"if {test}:", scope), _clause("else:", scope)))]
    if kind == 1:
        gpus = scope.gpus()
        test = scope.one_of(f"{gpus}", f"len({gpus}) > 0", f"len({gpus}) > 1", f"not {gpus}")
        return [Block((_clause(f"if {test}:", scope),))]
    flag = scope.flag()
    if kind == 2:
        return [Block((_clause(f"if {flag}:", scope), _clause("else:", scope)))]
    if kind == 3:  # the same flag twice: what holds there holds here
        middle = suite(scope, 1)
        again = f"if {scope.one_of('', 'not ')}{flag}:"
        return [Block((_clause(f"if {flag}:", scope),)), *middle, Block((_clause(again, scope),))]
    if kind == 4:
        other = scope.flag()
        return [Block((_clause(f"if {flag}:", scope), _clause(f"elif {other}:", scope), _clause("else:", scope)))]
    return [Block((_clause(f"if {scope.one_of('', 'not ')}{flag}:", scope),))]


def looping(scope: Scope) -> list[Statement]:
    """Loops that end."""
    inner, kind, count = scope.inner(loop=True), scope.rng.randrange(5), scope.name("n")
    if kind == 0:
        return [Line(f"{count} = 0"), block(f"while {count} < 2:", [Line(f"{count} += 1"), *suite(inner)])]
    if kind == 1:
        return [block("while True:", [*suite(inner), Line("break")])]
    if kind == 2:
        head = f"for {count} in range(2):"
        return [
            block(
                head,
                [
                    *suite(inner, 2),
                    block(f"if {scope.flag()}:", [Line(scope.one_of("break", "continue"))]),
                    *suite(inner, 1),
                ],
            )
        ]
    if kind == 3:
        return [block(f"for {count} in {scope.one_of('[1, 2]', '(1,)', '[]', 'range(0)')}:", suite(inner))]
    return [block(f"for {count} in range({scope.one_of(1, 2, 3)}):", suite(inner))]


def trying(scope: Scope) -> list[Statement]:
    """``try`` in many kinds."""
    body = _clause("try:", scope)
    error = scope.rng.choice(_ERRORS)
    if scope.chance(0.2):
        return [Block((body, _clause("finally:", scope)))]
    choices: list[tuple[float, list[Statement]]] = [
        (4, [Line("pass")]),
        (3, [Line("print(error)")]),
        (1.5, [Line("raise")]),
        (2, suite(scope.inner(), 2)),
        (0.5, [Line("sys.exit(1)")]),
    ]
    handler = scope.weighted(choices)
    clauses = [body, Clause(f"except {error} as error:", tuple(handler))]
    if scope.chance(0.15):
        clauses.append(_clause("else:", scope))
    if scope.chance(0.15):
        clauses.append(_clause("finally:", scope))
    return [Block(tuple(clauses))]


def within(scope: Scope) -> list[Statement]:
    """``with``: some swallow errors, some start the runtime, some keep operations in a graph."""
    head = scope.one_of(
        "with contextlib.suppress(RuntimeError):",
        "with contextlib.suppress(ValueError):",
        "with tf.GradientTape():",
        'with tf.name_scope("a"):',
        "with tf.Graph().as_default():",
        'with tf.device("/CPU:0"):',
        "with open(os.devnull):",
    )
    return [block(head, suite(scope.inner(), 2))]


def leaving(scope: Scope) -> list[Statement]:
    """An end that comes early, mostly under a condition."""
    if scope.function and scope.chance(0.6):
        text = scope.one_of("return", "return", "return None")
    else:
        text = scope.one_of("sys.exit(0)", "raise SystemExit", 'raise KeyError("x")', "assert not True")
    if scope.chance(0.9):
        return [block(f"if {scope.flag()}:", [Line(text)])]
    return [Line(text)] if scope.depth else []


def _clause(head: str, scope: Scope) -> Clause:
    return Clause(head, tuple(suite(scope.inner(), 2)))
