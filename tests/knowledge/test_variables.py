"""What becomes of a variable and its value, and the table of the names that releases have."""

from __future__ import annotations

import re

import pytest

from tfmemlint.knowledge import named
from tfmemlint.knowledge.environment import MADE_UP, OTHERS, VARIABLES, Moment
from tfmemlint.knowledge.variables import (
    hides_all,
    judge_name,
    judge_value,
    run_together,
    shown,
    shows_owner,
    wants_growth,
)
from tfmemlint.model.intent import Purpose

GROWTH, ALLOCATOR, VISIBLE = "TF_FORCE_GPU_ALLOW_GROWTH", "TF_GPU_ALLOCATOR", "CUDA_VISIBLE_DEVICES"


def test_the_table_has_every_minor_release() -> None:
    assert named.releases() == ("1.15", *(f"2.{minor}" for minor in range(22)))


@pytest.mark.parametrize("name", [name for name, row in VARIABLES.items() if row.moment is Moment.DEVICES])
def test_what_was_seen_being_read_is_read_for_sure(name: str) -> None:
    row = named.named(name)
    assert row is not None
    assert row.is_read or name == "XLA_FLAGS"


@pytest.mark.parametrize("name", MADE_UP)
def test_what_is_said_to_be_made_up_is_read_by_no_release(name: str) -> None:
    row = named.named(name)
    assert row is None or row.letters == "t"
    found = judge_name(name)
    assert found is not None
    assert found.kind == ("foreign" if name in OTHERS else "made-up")


def test_nothing_that_a_release_reads_is_judged_wrong() -> None:
    read = [name for name in named.names() if (row := named.named(name)) is not None and row.letters != "t"]
    assert [name for name in read if judge_name(name) is not None] == []


def test_every_line_of_the_table_can_be_read() -> None:
    for name in named.names():
        row = named.named(name)
        assert row is not None
        assert re.fullmatch(r"c?p?s?t?", row.letters)
        assert re.fullmatch(r"[\d.]+(-[\d.]+)?(,[\d.]+(-[\d.]+)?)*", row.releases)


@pytest.mark.parametrize(
    ("name", "kind", "real"),
    [
        ("TF_FORCE_GPU_ALLOW_GROTWH", "typo", GROWTH),
        ("TF_FORCE_ALLOW_GPU_GROWTH", "typo", GROWTH),
        ("TF_FORCE_GPU_ALOW_GROWTH", "typo", GROWTH),
        ("CUDA_VISIBLE_DEVICE", "typo", VISIBLE),
        ("CUDA_VISBLE_DEVICES", "typo", VISIBLE),
        ("TF_GPU_ALOCATOR", "typo", ALLOCATOR),
        ("CUDA_DEVICES_ORDER", "typo", "CUDA_DEVICE_ORDER"),
        ("TF_FORCE_GPU_ALLOW_GROWTH ", "invisible", GROWTH),
        ("TF_FORCE_GPU_ALLOW_GROWTH\u200b", "invisible", GROWTH),
        ("TF_GPU_ALLOC\u0410TOR", "invisible", ALLOCATOR),
        ("TF_GPU_ALLOW_GROWTH", "made-up", GROWTH),
        ("TF_GPU_MEMORY_LIMIT", "made-up", ""),
        ("XLA_PYTHON_CLIENT_PREALLOCATE", "foreign", GROWTH),
    ],
)
def test_a_name_that_tensorflow_does_not_read(name: str, kind: str, real: str) -> None:
    found = judge_name(name)
    assert found is not None
    assert (found.kind, found.real) == (kind, real)


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "TF_CONFIG", "TF_KERAS", "TF_CPU_ALLOCATOR", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"),
        *("MUSA_VISIBLE_DEVICES", "CUDA_HOME", "CUDA_LAUNCH_BLOCKING", "TF_GPU_THREAD_COUNT", "MY_GPU_MEMORY_LIMIT"),
        *("TF_CPP_VMODULE", "TF_GPU_VARIANT", "CUDA_CACHE_PATH", "TF_DEVICE", "TF_USE_GPU"),
        "tf_force_gpu_allow_growth",
    ],
)
def test_other_names_are_left_alone(name: str) -> None:
    assert judge_name(name) is None


@pytest.mark.parametrize(
    ("name", "value", "kind", "meant"),
    [
        *((GROWTH, value, "growth", "true") for value in ("1", "True", "TRUE", "yes", "on", " true", "'true'")),
        *((GROWTH, value, "growth", "false") for value in ("0", "False", "no")),
        (GROWTH, "maybe", "growth", ""),
        (ALLOCATOR, "cudaMallocAsync", "allocator", "cuda_malloc_async"),
        (ALLOCATOR, "cuda_malloc_async ", "allocator", "cuda_malloc_async"),
        (ALLOCATOR, "cuda_malloc_asynch", "allocator", "cuda_malloc_async"),
        (ALLOCATOR, "cuda_maloc", "allocator", "cuda_malloc"),
        (ALLOCATOR, "jemalloc", "allocator", ""),
        (ALLOCATOR, "malloc_async", "allocator", ""),
        (VISIBLE, "all", "visible", ""),
        (VISIBLE, "cuda:0", "visible", "0"),
        (VISIBLE, "[0, 1]", "visible", "0,1"),
        (VISIBLE, "1,1", "twice", "1"),
    ],
)
def test_a_value_that_has_no_effect(name: str, value: str, kind: str, meant: str) -> None:
    found = judge_value(name, value)
    assert found is not None
    assert (found.kind, found.meant) == (kind, meant)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((GROWTH, value) for value in ("true", "false", "")),
        *((ALLOCATOR, value) for value in ("cuda_malloc_async", "cuda_malloc", "memory_guard", "BFC", "")),
        *((VISIBLE, value) for value in ("0", "0,1", "0, 1", "", "-1", "None", "cpu", "GPU-8932f937", "MIG-1", "1gpu")),
        ("TF_ENABLE_ONEDNN_OPTS", "False"),
        ("PATH", "all"),
    ],
)
def test_a_value_that_is_right_or_not_known(name: str, value: str) -> None:
    assert judge_value(name, value) is None


def test_settings_that_ran_together_are_told_apart() -> None:
    value = "true TF_GPU_ALLOCATOR=cuda_malloc_async"
    assert run_together(GROWTH, value) == ((GROWTH, "true"), (ALLOCATOR, "cuda_malloc_async"))
    assert run_together(GROWTH, "true; export CUDA_VISIBLE_DEVICES='0'") == ((GROWTH, "true"), (VISIBLE, "0"))
    assert judge_value(GROWTH, value) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("XLA_FLAGS", "--a=b TF_GPU_ALLOCATOR=x"), ("NOTE", "x TF_GPU_ALLOCATOR=y"), (VISIBLE, "0 python FOO=1")],
)
def test_other_texts_with_equals_signs_are_one_value(name: str, value: str) -> None:
    assert run_together(name, value) == ()


def test_which_cards_a_value_shows() -> None:
    assert shown("2, 0") == ("2", "0")
    assert shown("02") == ("2",)
    assert shown("GPU-8932f937") is None
    assert shown("1,1") is None
    assert shown("") is None


def test_the_purpose_of_a_misspelt_name_is_that_of_the_real_one() -> None:
    found = judge_name("TF_GPU_ALOCATOR")
    assert found is not None
    assert found.purpose is Purpose.ALLOCATOR


@pytest.mark.parametrize(
    ("name", "value", "wants"),
    [
        ("TF_GPU_ALLOW_GROWTH", "true", True),
        ("TF_GPU_ALLOW_GROWTH", " ON ", True),
        ("TF_GPU_ALLOW_GROWTH", "0", False),
        ("TF_GPU_ALLOW_GROWTH", "perhaps", None),
        ("TF_GPU_ALLOW_GROWTH", None, None),
        ("XLA_PYTHON_CLIENT_PREALLOCATE", "false", True),
        ("XLA_PYTHON_CLIENT_PREALLOCATE", "true", False),
    ],
)
def test_what_is_asked_of_growth(name: str, value: str | None, wants: bool | None) -> None:
    assert wants_growth(name, value) is wants


def test_values_that_hide_every_card_on_purpose() -> None:
    assert all(map(hides_all, ("", "-1", "none", "'-1'", "CPU")))
    assert not any(map(hides_all, ("0", "all", "GPU:0", "1,1")))


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("import jax.numpy as jnp", "JAX"),
        ("pip install jax[cuda12]", "JAX"),
        ("COPY ./JaxTrainer /src", "JAX"),
        ("USE_JAX = True", "JAX"),
        ("from trax import layers", "JAX"),
        ("distrax==0.1.5", "JAX"),
        ("equinox", "JAX"),
        ("FROM pytorch/pytorch:2.4.0", "PyTorch"),
        ("ARG PYTORCH_VERSION=2.4.0", "PyTorch"),
        ("torchvision>=0.19", "PyTorch"),
        ("sentence_transformers", "PyTorch"),
        ("the images of RAPIDS", "NVTabular"),
        ("import merlin.models.tf as mm", "NVTabular"),
    ],
)
def test_what_speaks_of_the_owner_of_a_variable(text: str, owner: str) -> None:
    assert shows_owner(f"XLA_PYTHON_CLIENT_PREALLOCATE=false\n{text}\n", owner)
    assert not shows_owner(text, "NVTabular" if owner != "NVTabular" else "JAX")


@pytest.mark.parametrize("owner", sorted(set(OTHERS.values())))
def test_what_does_not_speak_of_the_owner_of_a_variable(owner: str) -> None:
    names = " ".join(OTHERS)
    assert not shows_owner(f"import tensorflow as tf  # {names} PYTORCH_ENABLE_MPS_FALLBACK=1", owner)
    assert not shows_owner("$.ajax('/chexpert', {success: show})", owner)
