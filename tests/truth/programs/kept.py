"""Code that is put somewhere and called from there: callbacks in lists and dictionaries, makers of fields' defaults."""

from __future__ import annotations

from collections.abc import Callable

from tests.truth.programs.blocks import suite
from tests.truth.programs.functions import Made, body_of, uses_of
from tests.truth.programs.model import Block, Clause, Line, Statement, block
from tests.truth.programs.scope import LISTING, Callee, Scope

LAZY = "lazy"
"""What the names begin with that a module lacks until it is asked for them."""


def _hooks(scope: Scope) -> list[str]:
    """Expressions for what may be called later."""
    found = ["lambda: tf.constant(1)", "lambda: None", f"lambda: {LISTING}"]
    for other in scope.callees[-3:]:
        if other.plain == f"§{other.name}()" and not other.prefix:
            found += [f"§{other.name}", f"lambda: {other.plain}"]
    return found


def _adding(scope: Scope, hooks: str) -> str:
    return scope.one_of(
        f"{hooks}.append(hook)",
        f"{hooks}.append(hook)",
        f"{hooks}.extend([hook])",
        f"{hooks}.insert(0, hook)",
        f"{hooks}[:] = [hook]",
    )


def _calling(scope: Scope, hooks: str) -> list[Statement]:
    return scope.one_of(
        [block(f"for hook in {hooks}:", [Line("hook()")])],
        [block(f"for hook in list({hooks}):", [Line("hook()")])],
        [Line(f"[hook() for hook in {hooks}]")],
        [block(f"for number, hook in enumerate({hooks}):", [Line("hook()")])],
        [block(f"while {hooks}:", [Line(f"{hooks}.pop()()")])],
        [block(f"for hook in reversed({hooks}):", [Line("hook()")])],
    )


def _emptying(scope: Scope, hooks: str) -> list[Statement]:
    return [Line(scope.one_of(f"{hooks}.clear()", f"{hooks}[:] = []", f"del {hooks}[:]", f"del {hooks}[:1]"))]


def listed(scope: Scope) -> Made:
    """A list of a module, and the one function that adds to it, goes through it, and empties it."""
    name, hooks = scope.name("f"), scope.name("hooks")
    wild = [Line(f"global {hooks}"), Line(f"{hooks} = {scope.one_of('[]', hooks + ' + [hook]')}")]
    add: list[Statement] = [Line(_adding(scope, hooks))]
    clear = _emptying(scope, hooks)
    if scope.chance(0.25):
        # Declared global once, at the top of the function.
        clear = [wild[1]] if "hook]" not in getattr(wild[1], "text", "") else clear
    other = Clause('elif what == "clear":', tuple(clear))
    fire = Clause("else:", tuple(_calling(scope, hooks)))
    body: list[Statement] = [wild[0], Block((Clause("if hook is not None:", tuple(add)), other, fire))]
    made: list[Statement] = [Line(f"{hooks} = []"), block(f"def {name}(hook=None, what='fire'):", body)]
    texts = [f"§{name}()", f"§{name}()", f"§{name}(what='clear')", f"§{name}(what='clear')\n§{name}()"]
    for hook in _hooks(scope):
        texts += [f"§{name}({hook})", f"§{name}({hook})\n§{name}()", f"§{name}()\n§{name}({hook})\n§{name}()"]
        texts.append(f"@§{name}\ndef $(): return ({hook.removeprefix('lambda: ') if 'lambda' in hook else 'None'})")
    return made, Callee(name, uses_of(*texts), f"§{name}()")


def bare(scope: Scope) -> Made:
    """A list that everybody changes and goes through."""
    name = scope.name("hooks")
    texts = [f"[one() for one in §{name}]"] * 3 + [f"§{name}.clear()", f"$ = §{name}\n$.reverse()", f"§{name}[:] = []"]
    for hook in _hooks(scope):
        texts += [
            f"§{name}.append({hook})",
            f"§{name}.append({hook})\n[one() for one in §{name}]",
            f"$ = §{name}\n$ += [{hook}]\n[one() for one in §{name}]",
            f"$ = {hook}\n§{name}.append($)\n§{name}.remove($)\n[one() for one in §{name}]",
            f"$ = list(§{name})\n§{name}.append({hook})\n[one() for one in $]",
        ]
    first = f"[{scope.rng.choice(_hooks(scope)).replace('§', '')}]" if scope.chance(0.4) else "[]"
    return [Line(f"{name} = {first}")], Callee(name, uses_of(*texts))


def named(scope: Scope) -> Made:
    """A dictionary of what is called by a name."""
    name, table = scope.name("f"), scope.name("table")
    fire: list[Statement] = scope.one_of(
        [block(f"if name in {table}:", [Line(f"{table}[name]()")])],
        [Line(f"{table}.get(name, lambda: None)()")],
        [block(f"for hook in list({table}.values()):", [Line("hook()")])],
        [block(f"for key, hook in {table}.items():", [block("if key == name:", [Line("hook()")])])],
    )
    keep = scope.one_of(f"{table}[name] = hook", f"{table}.update({{name: hook}})", f"{table}.setdefault(name, hook)")
    body = [Block((Clause("if hook is not None:", (Line(keep),)), Clause("else:", tuple(fire))))]
    made: list[Statement] = [Line(f"{table} = {{}}"), block(f"def {name}(name, hook=None):", body)]
    texts = [f"§{name}('a')", f"§{name}('b')"]
    for hook in _hooks(scope):
        texts += [f"§{name}('a', {hook})", f"§{name}('b', {hook})\n§{name}('a')", f"§{name}('a', {hook})\n§{name}('a')"]
    return made, Callee(name, uses_of(*texts), f"§{name}('a')")


def held(scope: Scope) -> Made:
    """A class, or objects of it, with a list of callbacks."""
    name = scope.name("C")
    own = scope.chance(0.5)
    start: list[Statement] = [] if not own else [block("def __init__(self):", [Line("self.hooks = []")])]
    shared: list[Statement] = [Line("hooks = []")] if not own else []
    add = block("def on(self, hook):", [Line(_adding(scope, "self.hooks")), Line("return self")])
    fire = block("def run(self):", _calling(scope, "self.hooks"))
    reset = block("def reset(self):", _emptying(scope, "self.hooks"))
    texts = [f"§{name}().run()"]
    for hook in _hooks(scope):
        texts += [
            f"§{name}().on({hook})",
            f"§{name}().on({hook}).run()",
            f"$ = §{name}()\n$.on({hook})\n$.run()",
            f"$ = §{name}()\n$.on({hook})\n$.reset()\n$.run()",
            f"$ = §{name}()\n§{name}().on({hook})\n$.run()",
            f"$ = §{name}()\n$.hooks.append({hook})\n$.run()",
        ]
    made: list[Statement] = [block(f"class {name}:", [*shared, *start, add, fire, reset])]
    return made, Callee(name, uses_of(*texts), f"§{name}().run()", f"§{name}()", "run")


def record(scope: Scope) -> Made:
    """A dataclass whose fields are made where they aren't given."""
    name, factory = scope.name("C"), scope.rng.choice([*_hooks(scope), "list", "tf.Graph"]).replace("§", "")
    field = f"dataclasses.field(default_factory={factory}{scope.one_of('', '', ', repr=False', ', kw_only=True')})"
    body: list[Statement] = [Line(f"first: object = {scope.one_of('1', field)}"), Line(f"second: object = {field}")]
    if scope.chance(0.3):
        inner = scope.inner(function=True, loop=False).inner()
        body.append(block("def __post_init__(self):", suite(inner, 1)))
    kind = scope.one_of("@dataclasses.dataclass", "@dataclasses.dataclass", "@dataclasses.dataclass(eq=False)")
    made: list[Statement] = [block(f"{kind}\nclass {name}:", body)]
    if scope.chance(0.3):
        base, name = name, scope.name("C")
        more = Line(f"second: object = {scope.one_of('None', field)}") if scope.chance(0.6) else Line("third: int = 3")
        made.append(block(f"{scope.one_of(kind, '@dataclasses.dataclass')}\nclass {name}({base}):", [more]))
    texts = (f"§{name}()", f"$ = §{name}(first=1)", f"$ = §{name}(second=2)", f"$ = §{name}(first=1, second=2)")
    return made, Callee(name, uses_of(*texts), f"§{name}()")


def asked_for(scope: Scope) -> Made:
    """The ``__getattr__`` of a module, and a name that it answers for; others find it by their import."""
    name = scope.name(LAZY)
    work = body_of(scope, 2)
    answer = Line(scope.one_of("return 1", "return tf.constant(1)", f"return {LISTING}"))
    refuse = Line("raise AttributeError(name)")
    body: list[Statement] = [block(f'if name == "{name}":', [*work, answer]), refuse]
    if scope.chance(0.3):
        body = [block(f'if name != "{name}":', [refuse]), *work, answer]
    uses = uses_of(f"$ = §{name}", f"print(§{name})", f"§{name}\n§{name}")
    return [block("def __getattr__(name):", body)], Callee(name, uses)


KINDS: tuple[tuple[float, Callable[[Scope], Made]], ...] = (
    (2, listed),
    (1.5, bare),
    (1.2, named),
    (1.5, held),
    (1.2, record),
)
