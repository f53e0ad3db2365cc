"""What TensorFlow makes of the environment variables that are set."""

from __future__ import annotations

import pytest

from tfmemlint.doctor.environment import VariableReport, VariableVerdict, hides_all, settings


def _one(name: str, value: str, cards: int | None = None, **others: str) -> VariableReport:
    return next(setting for setting in settings({name: value, **others}, cards) if setting.name == name)


@pytest.mark.parametrize(
    ("name", "value", "note", "do"),
    [
        ("TF_GPU_MEMORY_LIMIT", "4096", "no release of TensorFlow reads it", "memory_limit"),
        ("TF_GPU_ALLOW_GROWTH", "true", "no release of TensorFlow reads it", "TF_FORCE_GPU_ALLOW_GROWTH=true"),
        ("TF_GPU_MEM_FRACTION", "0.5", "no release of TensorFlow reads it", "memory_limit"),
        ("TF_ENABLE_CUDA_MALLOC_ASYNC", "1", "no release", "TF_GPU_ALLOCATOR=cuda_malloc_async"),
        ("TF_DISABLE_GPU", "1", "no release of TensorFlow reads it", "CUDA_VISIBLE_DEVICES=-1"),
        ("XLA_PYTHON_CLIENT_PREALLOCATE", "false", "JAX reads it, TensorFlow doesn't", ""),
        ("XLA_PYTHON_CLIENT_MEM_FRACTION", ".5", "JAX reads it, TensorFlow doesn't", ""),
        ("PYTORCH_CUDA_ALLOC_CONF", "x", "PyTorch reads it, TensorFlow doesn't", ""),
    ],
)
def test_what_nothing_reads_is_told(name: str, value: str, note: str, do: str) -> None:
    found = _one(name, value)
    assert found.verdict is VariableVerdict.UNREAD
    assert note in found.note
    assert do in found.do
    assert bool(do) == bool(found.do)


@pytest.mark.parametrize(
    ("name", "value", "do"),
    [
        ("TF_FORCE_GPU_ALLOW_GROWTH", "1", "TF_FORCE_GPU_ALLOW_GROWTH=true"),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "True", "TF_FORCE_GPU_ALLOW_GROWTH=true"),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "0", "TF_FORCE_GPU_ALLOW_GROWTH=false"),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "maybe", ""),
        ("TF_GPU_ALLOCATOR", "cuda_async", ""),
    ],
)
def test_a_value_without_effect_is_told(name: str, value: str, do: str) -> None:
    found = _one(name, value)
    assert found.verdict is VariableVerdict.IGNORED
    assert "no effect" in found.note
    assert found.do == do


@pytest.mark.parametrize(
    ("name", "value", "note"),
    [
        ("TF_FORCE_GPU_ALLOW_GROWTH", "true", "growth on every GPU"),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "false", "set_memory_growth(gpu, True) has no effect"),
        ("TF_GPU_ALLOCATOR", "cuda_malloc_async", "memory limits are not enforced"),
        ("TF_GPU_ALLOCATOR", "cuda_malloc", "get_memory_info fails"),
        ("TF_PER_DEVICE_MEMORY_LIMIT_MB", "1000", "read when the devices are started"),
        ("TF_CPP_MIN_LOG_LEVEL", "2", "read while TensorFlow is imported"),
        ("KERAS_BACKEND", "jax", "TF_FORCE_GPU_ALLOW_GROWTH=true"),
        ("LD_LIBRARY_PATH", "/opt/cuda/lib64", "looks for the CUDA libraries here first"),
    ],
)
def test_what_is_read_is_told_with_what_it_does(name: str, value: str, note: str) -> None:
    found = _one(name, value)
    assert found.verdict is VariableVerdict.READ
    assert note in found.note


@pytest.mark.parametrize(
    ("value", "cards", "order", "note"),
    [
        ("2", 4, "PCI_BUS_ID", "physical GPU 2 becomes GPU 0"),
        ("2,0", 4, "PCI_BUS_ID", "physical GPU 2 becomes GPU 0, physical GPU 0 becomes GPU 1"),
        ("0", 1, "", "physical GPU 0 is GPU 0"),
        ("2", 4, "", "physical GPU 2 becomes GPU 0; counted in CUDA's order, the fastest first"),
        ("", 4, "", "hides every GPU"),
        ("-1", 4, "", "hides every GPU"),
        ("5", 2, "", "there is no GPU 5, only 2 in all; CUDA ignores it and every entry after it: no GPU is left"),
        (
            "0,5,1",
            2,
            "",
            "there is no GPU 5, only 2 in all; CUDA ignores it and every entry after it; physical GPU 0 is GPU 0",
        ),
        ("GPU-abc", 2, "", "GPU-abc becomes GPU 0"),
    ],
)
def test_which_gpus_are_visible_and_under_which_numbers(value: str, cards: int, order: str, note: str) -> None:
    found = _one("CUDA_VISIBLE_DEVICES", value, cards, **({"CUDA_DEVICE_ORDER": order} if order else {}))
    assert found.note.startswith(note)


def test_without_knowing_the_cards_no_number_is_called_wrong() -> None:
    found = _one("CUDA_VISIBLE_DEVICES", "7")
    assert (found.verdict, found.note.split(";")[0]) == (VariableVerdict.READ, "physical GPU 7 becomes GPU 0")


def test_what_has_nothing_to_do_with_it_is_left_out() -> None:
    assert settings({"HOME": "/root", "TF_CONFIG": "{}", "KERAS_BACKEND": "tensorflow", "LD_LIBRARY_PATH": ""}) == ()


def test_the_order_is_that_of_the_names() -> None:
    found = settings({"XLA_FLAGS": "", "CUDA_VISIBLE_DEVICES": "0", "TF_GPU_ALLOCATOR": "cuda_malloc"})
    assert [one.name for one in found] == ["CUDA_VISIBLE_DEVICES", "TF_GPU_ALLOCATOR", "XLA_FLAGS"]


@pytest.mark.parametrize(
    ("env", "hidden"),
    [
        ({}, False),
        ({"CUDA_VISIBLE_DEVICES": ""}, True),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, True),
        ({"CUDA_VISIBLE_DEVICES": "0"}, False),
    ],
)
def test_hidden_gpus_are_noticed(env: dict[str, str], hidden: bool) -> None:
    assert hides_all(env) is hidden
