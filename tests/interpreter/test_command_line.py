"""The options of a command line by which a configuration file starts a program."""

from __future__ import annotations

import pytest

from tfmemlint.interpreter.operations.command_line import Option, option_of
from tfmemlint.interpreter.values import UNKNOWN, Const, Seq, Value

GPU = Option(("--gpu", "-g"), "int", Const(0))
GROW = Option(("--grow",), "flag", Const(False))
GPUS = Option(("--gpus",), "list int", Const(None))


@pytest.mark.parametrize(
    ("words", "option", "value"),
    [
        (["--gpu", "2"], GPU, Const(2)),
        (["--gpu=2"], GPU, Const(2)),
        (["-g", "2", "--gpu", "3"], GPU, Const(3)),
        (["--lr", "0.1"], GPU, Const(0)),
        (["--gpu", "two"], GPU, None),
        (["--gpu", None], GPU, None),
        (["--gpu"], GPU, None),
        # What is not known may be, or have, the option.
        ([None], GPU, None),
        (["--gpu", "1", None], GPU, Const(1)),
        (["--gpus", "1"], GPU, Const(0)),
        # A part of a long name is taken for it, and a short one may have its value behind it.
        (["--gp", "2"], GPU, None),
        (["-g2"], GPU, None),
        (["--gr"], GROW, None),
        (["--grow"], GROW, Const(True)),
        (["--nogrow"], GROW, Const(False)),
        (["--no-grow"], GROW, Const(False)),
        (["--grow=false"], GROW, Const(False)),
        (["--grow", "--no-grow"], GROW, Const(False)),
        ([], GROW, Const(False)),
        ([None], GROW, None),
        (["--grow=perhaps"], GROW, None),
        (["--gpus", "1", "2", "--grow"], GPUS, Seq((Const(1), Const(2)))),
        (["--gpus", "1", None], GPUS, Seq((Const(1), UNKNOWN))),
        (["--gpus"], GPUS, Seq(())),
        (["--level", "1"], Option(("--level",), "", Const(3)), None),
        ([], Option(("--level",), "", UNKNOWN), None),
    ],
)
def test_an_option_is_what_the_words_say(words: list[str | None], option: Option, value: Value | None) -> None:
    assert option_of(words, option) == value
