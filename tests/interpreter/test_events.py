"""The arguments of a call, by position or by keyword; what an ``except`` clause takes."""

from __future__ import annotations

from tfmemlint.interpreter.program import Arg, Call, Handler
from tfmemlint.interpreter.state import State
from tfmemlint.interpreter.values import UNKNOWN, Const
from tfmemlint.model.finding import Span

HERE = Span(1, 1, 1, 2)


def call(*args: Arg) -> Call:
    """A call with these arguments."""
    return Call(path="a.py", span=HERE, statement=HERE, state=State(), name="tf.f", func=HERE, args=args)


def arg(value: int, keyword: str | None = None, *, star: bool = False) -> Arg:
    """An argument."""
    return Arg(Const(value), HERE, str(value), keyword, star)


def test_an_argument_that_is_not_given() -> None:
    for position in (0, 1, None):
        assert call().arg(position, "a") is None
    assert call(arg(1)).arg(1, "b") is None
    assert call(arg(1)).value(1, "b") == UNKNOWN
    assert call(arg(1, "a")).arg(0, "b") is None


def test_an_argument_behind_a_star_is_hidden() -> None:
    assert call(arg(1, star=True), arg(2)).arg(0, "a") is None
    assert call(arg(1, star=True), arg(2)).arg(1, "b") is None
    assert call(arg(1, star=True)).has_star
    assert not call(arg(1)).has_star


def test_an_argument_that_is_given() -> None:
    assert call(arg(1), arg(2)).value(1, "b") == Const(2)
    assert call(arg(1), arg(2, "b")).value(1, "b") == Const(2)
    assert call(arg(1), arg(2, star=True)).value(0, "a") == Const(1)
    assert call(arg(1)).arg(None, "a") is None


def handler(*catches: str, idle: bool = False, reraises: bool = False) -> Handler:
    """An ``except`` clause."""
    return Handler(catches, HERE, reraises, idle)


def test_a_handler_that_does_nothing_else_is_no_probe() -> None:
    for name in ("AttributeError", "*", "Exception"):
        assert handler(name).probes
        assert not handler(name, idle=True).probes
        assert not handler(name, reraises=True).probes
    assert all(handler(name).probes_import for name in ("ImportError", "ModuleNotFoundError", "AttributeError"))
    assert not handler("ImportError").probes, "what has been imported may lack a name all the same"
    assert not handler("ValueError").probes


def test_a_handler_takes_an_exception_by_its_name_or_an_ancestor_s() -> None:
    for name in ("ValueError", "Exception", "BaseException", "*"):
        assert handler(name).takes("ValueError")
    for name in ("RuntimeError", "KeyError", "OSError"):
        assert not handler(name).takes("ValueError")
    assert not handler("Exception").takes("SystemExit")
    assert handler("BaseException").takes("SystemExit")
