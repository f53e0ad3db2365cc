"""Conditions in loops that hold in more than one pass, and those that a single pass may meet."""

from __future__ import annotations

import ast

import pytest

from tfmemlint.rulekit.loop_conditions import holds_often

_TREE = ast.parse("several = (0, 1)\nsingle = [1]\ntwice = [0, 1]\ntwice = [1]\n")


def _often(text: str, *, skips: bool = False) -> bool:
    test = ast.parse(text, mode="eval").body
    return holds_often(test, frozenset({"i", "gpu", "found"}), frozenset({"i", "gpu"}), _TREE, skips=skips)


@pytest.mark.parametrize(
    "text",
    [
        "verbose",
        "gpus and len(gpus) > 1",
        "tf.test.is_built_with_cuda()",
        "i < len(gpus)",
        "len(gpus) > i",
        "gpu is not None",
        "gpu.device_type == 'GPU'",
        "'GPU' in gpu.name",
        "i in (0, 1)",
        "i in several",
        "verbose and i in several",
    ],
)
def test_several_passes_meet_it(text: str) -> None:
    assert _often(text)


@pytest.mark.parametrize(
    "text",
    [
        "i == number",
        "gpu.name == wanted",
        "'GPU:1' in gpu.name",
        "not found",
        "found is None",
        "gpu",
        "i in single",
        "i in twice",
        "i in args.gpus",
        "i in (1,)",
        "is_free()",
        "fits(gpu)",
        "i < count",
        "i == 0 or i == 1",
        "verbose and i == number",
    ],
)
def test_one_pass_alone_may_meet_it(text: str) -> None:
    assert not _often(text)


@pytest.mark.parametrize(
    ("text", "often"),
    [
        ("i >= len(gpus)", True),
        ("gpu.device_type != 'GPU'", True),
        ("i in (0, 1)", False),
        ("i == 0 and verbose", False),
    ],
)
def test_a_condition_that_skips_the_rest_of_a_pass(text: str, often: bool) -> None:
    assert _often(text, skips=True) is often
