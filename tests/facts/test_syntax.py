"""Handlers, exits and bound names, by the syntax alone."""

from __future__ import annotations

import ast

import pytest

from tfmemlint.facts.syntax import (
    assigned_names,
    dotted,
    ends_in_exit,
    gives_up,
    handler_types,
    is_exit,
    is_idle,
    is_silent,
    may_exit,
)


def body(code: str) -> list[ast.stmt]:
    """Some statements, as they stand in a function."""
    function = ast.parse("def f():\n" + "\n".join(f"    {line}" for line in code.split("\n"))).body[0]
    assert isinstance(function, ast.FunctionDef)
    return function.body


def expression(code: str) -> ast.expr:
    """An expression."""
    return ast.parse(code, mode="eval").body


@pytest.mark.parametrize(
    ("code", "expected"),
    [("a", "a"), ("a.b.c", "a.b.c"), ("a().b", ""), ("a[0].b", ""), ("(a or b).c", ""), ("'a'.join", ""), ("1", "")],
)
def test_a_chain_of_names(code: str, expected: str) -> None:
    assert dotted(expression(code)) == expected


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("except:", ("*",)),
        ("except ValueError:", ("ValueError",)),
        ("except (ValueError, RuntimeError) as e:", ("ValueError", "RuntimeError")),
        ("except tensorflow.errors.NotFoundError:", ("tf.errors.NotFoundError",)),
        ("except kinds():", ("?",)),
        ("except (ValueError, *more):", ("ValueError", "?")),
        ("except ():", ()),
    ],
)
def test_the_exceptions_that_a_handler_names(clause: str, expected: tuple[str, ...]) -> None:
    statement = body(f"try: pass\n{clause} pass")[0]
    assert isinstance(statement, ast.Try)
    assert handler_types(statement.handlers[0]) == expected


WORKS = {
    "a call": "start()",
    "an assignment": "a = 1",
    "a return": "return 1",
    "something beside a message": "print(1)\nstart()",
    "work within a message": "print(start())",
    "work within a keyword of a message": "print(1, file=open('x'))",
    "work within a nested message": "print(str(start()))",
    "a message that is used": "a = print(1)",
    "raising": "raise",
    "leaving a loop": "break",
    "a condition": "if a: pass",
    "a call of a call": "print()()",
    "a comparison": "a == 1",
}
IDLE = {
    "a message to nowhere": "print(1, file=open(os.devnull, 'w'))",
    "nothing": "pass",
    "a text": "'nothing to do'",
    "an ellipsis": "...",
    "a message": "print('failed', e)",
    "a logged message": "logging.warning('failed: %s', e)\nlogger.exception('x')",
    "a message of an object's own": "self.logger.info(f'{e}')",
    "a message put together": "print('x ' + str(e).upper(), repr(e), ', '.join(a), len(a), type(e))",
    "a warning": "warnings.warn('x', stacklevel=2)",
    "a traceback": "traceback.print_exc()",
    "to the error output": "sys.stderr.write(traceback.format_exc())",
}


class TestIdle:
    @pytest.mark.parametrize("code", WORKS.values(), ids=WORKS)
    def test_what_does_some_work(self, code: str) -> None:
        if code == "break":
            assert not is_idle([ast.Break()])
        else:
            assert not is_idle(body(code))

    @pytest.mark.parametrize("code", IDLE.values(), ids=IDLE)
    def test_what_only_tells(self, code: str) -> None:
        assert is_idle(body(code))
        assert gives_up(body(code))
        assert gives_up(body(f"{code}\nreturn None"))

    def test_going_on_with_the_loop(self) -> None:
        assert is_idle([ast.Continue()])
        assert is_silent([ast.Continue(), ast.Pass()])

    @pytest.mark.parametrize(
        "code", ["return start()", "start()\nreturn", "return x", "a = 1", "return 1\nprint(2)", "raise"]
    )
    def test_what_does_not_give_up(self, code: str) -> None:
        assert not gives_up(body(code))

    @pytest.mark.parametrize("code", ["return", "return 1", "return None", "print(1)\nreturn False"])
    def test_what_gives_up(self, code: str) -> None:
        assert gives_up(body(code))
        assert not is_idle(body(code))

    def test_no_statement_gives_up(self) -> None:
        assert gives_up([])
        assert is_idle([])
        assert is_silent([])

    @pytest.mark.parametrize("code", ["print(1)", "pass\nprint(1)", "return", "a", "a = 1", "raise"])
    def test_what_is_not_silent(self, code: str) -> None:
        assert not is_silent(body(code))

    @pytest.mark.parametrize("code", ["pass", "'text'\npass", "..."])
    def test_what_is_silent(self, code: str) -> None:
        assert is_silent(body(code))


class TestExits:
    @pytest.mark.parametrize(
        "code", ["raise\npass", "print(1)", "exit", "return", "a = sys.exit()", "os.exit()", "x.quit()"]
    )
    def test_what_goes_on(self, code: str) -> None:
        assert not ends_in_exit(body(code))

    def test_no_statement_goes_on(self) -> None:
        assert not ends_in_exit([])

    @pytest.mark.parametrize("code", ["raise", "raise ValueError", "print(1)\nsys.exit(1)", "exit()", "os._exit(0)"])
    def test_what_ends_there(self, code: str) -> None:
        assert ends_in_exit(body(code))

    @pytest.mark.parametrize(
        ("name", "expected"), [("sys.exit", True), ("exit", True), ("os.exit", False), ("", False)]
    )
    def test_the_names_of_exits(self, name: str, expected: bool) -> None:
        assert is_exit(name) is expected

    @pytest.mark.parametrize("code", ["print", "a.b", "a()", "a[0]", "exits"])
    def test_what_cannot_exit(self, code: str) -> None:
        assert not may_exit(expression(code))

    @pytest.mark.parametrize("code", ["exit", "sys.exit", "a().skipTest", "anything.exit", "_exit"])
    def test_what_may_exit_by_the_last_part_of_its_name(self, code: str) -> None:
        assert may_exit(expression(code))


BINDS: dict[str, tuple[str, set[str]]] = {
    "nothing": ("print(a)\na.b = 1\na[0] = 1\nreturn a", set()),
    "assignments": ("a = b, c = 1, 2\nd: int = 1\ne += 1", {"a", "b", "c", "d", "e"}),
    "unpacking": ("(a, [b, *c]) = x", {"a", "b", "c"}),
    "a deletion": ("del a", {"a"}),
    "a loop": ("for a, b in c:\n    d = 1\nelse:\n    e = 1", {"a", "b", "d", "e"}),
    "a with": ("with x as a, y as (b, c):\n    d = 1", {"a", "b", "c", "d"}),
    "imports": ("import a.b, c as d\nfrom e import f, g as h", {"a", "d", "f", "h"}),
    "definitions, not what is in them": (
        "def a(b):\n    c = 1\nclass d:\n    e = 1\nasync def f():\n    g = 1",
        {"a", "d", "f"},
    ),
    "branches": ("if x:\n    a = 1\nelif y:\n    b = 1\nelse:\n    c = 1\nwhile z:\n    d = 1", {"a", "b", "c", "d"}),
    "a try": (
        "try:\n    a = 1\nexcept E:\n    c = 1\nelse:\n    d = 1\nfinally:\n    e = 1",
        {"a", "c", "d", "e"},
    ),
    "a lambda's names are its own": ("a = lambda b: (c := b)", {"a"}),
    "global names that nothing binds": ("global a", set()),
}


class TestAssignedNames:
    @pytest.mark.parametrize(("code", "expected"), BINDS.values(), ids=BINDS)
    def test_what_is_bound(self, code: str, expected: set[str]) -> None:
        assert assigned_names(body(code)) == expected
        assert assigned_names(body(code), expressions=False) == expected

    def test_what_a_match_captures_by_a_name_in_the_pattern_s_values(self) -> None:
        assert assigned_names(body("match x:\n    case C(y=1):\n        a = 1\n    case _:\n        b = 1")) >= {
            "a",
            "b",
        }

    @pytest.mark.parametrize(
        "code", ["print(a := 1)", "if (a := f()): pass", "return (a := 1)", "while (a := f()): pass"]
    )
    def test_names_bound_within_expressions_are_seen_if_asked_for(self, code: str) -> None:
        assert assigned_names(body(code)) == {"a"}
        assert assigned_names(body(code), expressions=False) == set()
