"""Classes of all kinds, each with the ways of using them."""

from __future__ import annotations

from collections.abc import Callable

from tests.truth.programs.blocks import suite
from tests.truth.programs.functions import Made, uses_of
from tests.truth.programs.model import Line, Statement, block
from tests.truth.programs.scope import LISTING, Callee, Scope


def _method(scope: Scope, head: str, first: str = "", most: int = 2) -> Statement:
    inner = scope.inner(function=True, loop=False).inner()
    lines: list[Statement] = [Line(first)] if first else []
    return block(head, [*lines, *suite(inner, most)])


def simple(scope: Scope) -> Made:
    """A class with a constructor and a method."""
    name, method = scope.name("C"), scope.name("run")
    body: list[Statement] = []
    if scope.chance(0.7):
        body.append(_method(scope, "def __init__(self):", "self.ready = True"))
    body.append(_method(scope, f"def {method}(self):"))
    uses = uses_of(
        f"§{name}()",
        f"§{name}().{method}()",
        f"$ = §{name}()\n$.{method}()",
        f"$ = §{name}()\n$.{method}()\n$.{method}()",
        f"$ = §{name}()\n$ = $.{method}\n$()",
        f"list(map(§{name}.{method}, [§{name}()]))",
        f"§{name}.{method}(§{name}())",
        f"$ = §{name}",
    )
    return [block(f"class {name}:", body)], Callee(name, uses, f"§{name}()", f"§{name}()", method)


def inheriting(scope: Scope) -> Made:
    """A class with a base: what it overrides, what it calls of it."""
    base, name, method = scope.name("C"), scope.name("C"), scope.name("run")
    parent: list[Statement] = [
        _method(scope, "def __init__(self):", "self.ready = True", 1),
        _method(scope, f"def {method}(self):", most=1),
    ]
    body: list[Statement] = []
    if scope.chance(0.6):
        body.append(_method(scope, "def __init__(self):", scope.one_of("super().__init__()", "self.other = 1"), 1))
    if scope.chance(0.6):
        body.append(_method(scope, f"def {method}(self):", scope.one_of(f"super().{method}()", ""), 1))
    if not body:
        body.append(Line("pass"))
    made: list[Statement] = [block(f"class {base}:", parent), block(f"class {name}({base}):", body)]
    uses = uses_of(f"§{name}()", f"§{name}().{method}()", f"$ = §{name}()\n$.{method}()")
    return made, Callee(name, uses, f"§{name}()", f"§{name}()", method)


def at_definition(scope: Scope) -> Made:
    """A class whose body does something, which happens at its definition."""
    name = scope.name("C")
    value = scope.one_of("tf.constant(1)", "tf.Variable(1.0)", LISTING, "1")
    body: list[Statement] = [Line(f"shared = {value}")]
    if scope.chance(0.5):
        body += suite(scope.inner(), 1)
    body.append(_method(scope, "def run(self):"))
    return [block(f"class {name}:", body)], Callee(name, uses_of(f"§{name}()", f"§{name}().run()"), f"§{name}()")


def with_property(scope: Scope) -> Made:
    """A property, which runs when it is read; a static and a class method."""
    name, value = scope.name("C"), scope.name("value")
    kind = scope.one_of("@property", "@functools.cached_property", "@staticmethod", "@classmethod")
    head = f"{kind}\ndef {value}({'' if kind == '@staticmethod' else 'self'}):"
    made: list[Statement] = [block(f"class {name}:", [_method(scope, head)])]
    if "property" in kind:
        uses = uses_of(f"§{name}().{value}", f"$ = §{name}()\nprint($.{value})", f"$ = §{name}()\n$.{value}\n$.{value}")
    else:
        uses = uses_of(f"§{name}.{value}()", f"§{name}().{value}()", f"$ = §{name}.{value}\n$()")
    return made, Callee(name, uses)


def holding(scope: Scope) -> Made:
    """An instance that keeps another one."""
    held = [callee for callee in scope.callees if callee.cls]
    if not held:
        return simple(scope)
    other = scope.rng.choice(held)
    name, own, run = scope.name("C"), scope.name("v"), block("def run(self):", [Line(f"self.part.{other.method}()")])
    made_here = other.text(other.cls)
    if scope.chance(0.5):
        keep = block("def __init__(self):", [Line(f"self.part = {made_here}")])
        uses = uses_of(f"§{name}().run()", f"$ = §{name}()\n$.part.{other.method}()", f"$ = §{name}()\n$.run()")
        return [block(f"class {name}:", [keep, run])], Callee(name, uses, f"§{name}()", f"§{name}()", "run")
    keep = block("def __init__(self, part):", [Line("self.part = part")])
    # Used here at once: another module would reach what it is given by another name.
    used = [Line(f"{own} = {name}({made_here})"), *([Line(f"{own}.run()")] if scope.chance(0.8) else [])]
    return [block(f"class {name}:", [keep, run]), *used], Callee(name, uses_of(f"$ = §{name}"))


def with_switch(scope: Scope) -> Made:
    """An instance that remembers what it is to do."""
    name = scope.name("C")
    inner = scope.inner(function=True, loop=False).inner().inner()
    keep = block("def __init__(self, start=False):", [Line("self.start = start")])
    head = scope.one_of("if self.start:", "if not self.start:")
    run = block("def run(self):", [block(head, suite(inner, 2)), *suite(inner, 1)])
    uses = uses_of(f"§{name}().run()", f"§{name}(True).run()", f"$ = §{name}(start=True)\n$.run()")
    return [block(f"class {name}:", [keep, run])], Callee(name, uses, f"§{name}()", f"§{name}()", "run")


def lazy(scope: Scope) -> Made:
    """An instance that does its work at the first call only."""
    name = scope.name("C")
    inner = scope.inner(function=True, loop=False).inner().inner()
    keep = block("def __init__(self):", [Line("self.done = False")])
    run = block("def run(self):", [block("if not self.done:", [Line("self.done = True"), *suite(inner, 2)])])
    uses = uses_of(f"§{name}().run()", f"$ = §{name}()\n$.run()\n$.run()", f"§{name}().run()\n§{name}().run()")
    return [block(f"class {name}:", [keep, run])], Callee(name, uses, f"§{name}()", f"§{name}()", "run")


def model(scope: Scope) -> Made:
    """A Keras model of the program's own; a callable instance."""
    name = scope.name("C")
    if scope.chance(0.5):
        build = block(
            "def __init__(self):", [Line("super().__init__()"), *suite(scope.inner(function=True).inner(), 1)]
        )
        return [block(f"class {name}(tf.keras.Model):", [build])], Callee(
            name, uses_of(f"§{name}()", f"$ = §{name}()"), f"§{name}()"
        )
    call = _method(scope, "def __call__(self):")
    return [block(f"class {name}:", [call])], Callee(name, uses_of(f"§{name}()()", f"$ = §{name}()\n$()"), f"§{name}()")


def layers(scope: Scope) -> Made:
    """A function that builds a model of Keras."""
    name = scope.name("f")
    body: list[Statement] = [
        Line("inputs = tf.keras.Input((3,))"),
        Line(f"outputs = {scope.one_of('tf.keras.layers.Dense(1)(inputs)', 'tf.keras.layers.Flatten()(inputs)')}"),
        Line("return tf.keras.Model(inputs, outputs)"),
    ]
    return [block(f"def {name}():", body)], Callee(name, uses_of(f"§{name}()", f"$ = §{name}"), f"§{name}()")


KINDS: tuple[tuple[float, Callable[[Scope], Made]], ...] = (
    (3, simple),
    (1.5, inheriting),
    (1.2, at_definition),
    (1.2, with_property),
    (1.2, holding),
    (1.2, with_switch),
    (0.8, lazy),
    (0.8, model),
    (0.3, layers),
)
