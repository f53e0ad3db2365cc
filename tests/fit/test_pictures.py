"""The page of a measurement: which layer and which kind memory is of."""

from __future__ import annotations

from typing import Any

import pytest

from tfmemlint.fit.held import COPIED, RESULTS, SPACE, XLA
from tfmemlint.fit.pictures import as_page, kind_of, layers

MIB = 1 << 20


def _group(role: str, what: str, size: float = 1.0) -> dict[str, Any]:
    return {"role": role, "what": what, "type": "float32", "shape": "[1,2]", "number": 1, "bytes": int(size * MIB)}


GROUPS = [
    _group("trained variables", "dense/kernel", 4),
    _group("trained variables", "block/attention_1/query/kernel", 2),
    _group("trained variables", "block/attention_2/query/kernel", 2),
    _group("variables of optimizers", "adam/dense_kernel_momentum", 3),
    _group("variables of optimizers", "adam/iteration", 0.5),
    _group(XLA, "functional_1/dense_1/Relu", 8),
    _group(XLA, "gradient_tape/functional_1/block_1/attention_2_1/query_1/einsum/Einsum", 5),
    _group(RESULTS, "functional_1/max_pooling2d_1/MaxPool2d", 6),
    _group(RESULTS, "", 1),
    _group(XLA, SPACE, 7),
    _group(COPIED, "", 9),
]


def test_memory_belongs_to_layers() -> None:
    found = {name: sum(sizes.values()) for name, sizes in layers(GROUPS).items()}
    assert found == {
        "dense": 4 + 3 + 8,
        "block/attention_1/query": 2,
        "block/attention_2/query": 2 + 5,
        "max_pooling2d": 6,
        "(input)": 9,
        "(no layer)": 0.5 + 1 + 7,
    }


@pytest.mark.parametrize(
    ("group", "kind"),
    [
        (GROUPS[0], "trained variables"),
        (GROUPS[5], "activations and other results"),
        (GROUPS[6], "gradients"),
        (GROUPS[9], "held and not in use"),
        (GROUPS[10], COPIED),
    ],
)
def test_memory_has_a_kind(group: dict[str, Any], kind: str) -> None:
    assert kind_of(group) == kind


def _data() -> dict[str, Any]:
    device = {
        "name": "GPU:0",
        "peak": 40 * MIB,
        "room": 50 * MIB,
        "allocations": GROUPS,
        "over_time": {"held": [0, 10 * MIB, 40 * MIB], "steps": [0.9]},
    }
    return {
        "script": "train.py",
        "outcome": "fits",
        "problem": "",
        "tensorflow": "2.21.0",
        "gpus": 1,
        "gpu_memory_mib": 16384,
        "gpu_model": "T4",
        "steps": 1,
        "devices": [device],
        "notes": ["a note"],
        "not_known": "left out",
    }


def test_the_page_has_every_part() -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib, which isn't installed")
    text = as_page(_data())
    for words in ("train.py: fits", "T4", "peak 40 MiB", "what TensorFlow may take", "a note", "dense/kernel"):
        assert words in text


def test_who_does_not_see_the_pictures_reads_the_sizes() -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib, which isn't installed")
    text = as_page(_data())
    assert "The peak of GPU:0 by kind. all: trained variables 8.0 MiB, variables of optimizers 3.5 MiB" in text
    assert "max_pooling2d: activations and other results 6.0 MiB" in text


def test_what_is_not_known_is_left_out() -> None:
    data = _data()
    data["devices"][0].update(allocations=None, over_time=None)
    data["devices"].append({**data["devices"][0], "peak": None})
    text = as_page(data)
    assert "<svg" not in text
    assert "does not report" in text


@pytest.mark.parametrize(
    ("what", "kind"),
    [
        ("ReluGrad", "gradients"),
        ("Conv2DBackpropInput", "gradients"),
        ("gradients/conv1/MaxPool_grad/MaxPoolGrad", "gradients"),
        ("FusedBatchNormGradV3", "gradients"),
        ("grader/Relu", "activations and other results"),
        ("Gradual", "activations and other results"),
    ],
)
def test_operations_of_gradients_are_known_by_their_names(what: str, kind: str) -> None:
    assert kind_of(_group(RESULTS, what)) == kind


def test_layers_that_take_next_to_nothing_are_one() -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib, which isn't installed")
    data = _data()
    small = [_group("other variables", f"layer_{letter}/seed", 0.01) for letter in "abc"]
    data["devices"][0].update(allocations=[*GROUPS, *small])
    text = as_page(data)
    assert "layer_a" not in text
    assert "3 others" in text
    assert "max_pooling2d" in text


def test_the_page_says_what_is_enough() -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib, which isn't installed")
    data = _data()
    data["devices"][0].update(peak_of_requests=39 * MIB, room_by_replay=44 * MIB - 1)
    assert "39 MiB were requested at a time; memory_limit=44 is enough" in as_page(data)
