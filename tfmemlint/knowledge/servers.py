"""Options of TensorFlow Serving and of Triton about the memory of GPUs.

Sources, read in their repositories:

* tensorflow/serving, ``tensorflow_serving/model_servers/main.cc`` (the flags; an argument that is none of them is
  printed as "unknown argument", and the server starts all the same) and ``server.cc`` (the fraction goes to
  ``GPUOptions.per_process_gpu_memory_fraction``), commit 9d981c5.
* tensorflow/tensorflow, ``tensorflow/core/util/command_line_flags.cc``: a flag is ``--name=value``, in one argument; a
  number with anything behind it cannot be parsed, and the server prints its usage and exits.
* triton-inference-server/tensorflow_backend, ``README.md`` ("Command-line Options") and
  ``TRITONBACKEND_Initialize`` in ``src/tensorflow.cc``: four keys are looked up, all others are ignored; growth is on
  unless a fraction other than 0 is given. Commit c13c2d1.
* triton-inference-server/backend, ``ParseDoubleValue``: ``std::stod``, which reads the number that a text begins with.
* triton-inference-server/server, ``src/command_line_parser.cc`` and ``main`` in ``src/main.cc``: an option that
  ``getopt_long`` does not know ends the server with its usage. Commits 0299e63 and 01f2fe4.
* triton-inference-server/server, the notes of release 2.0: ``--tf-gpu-memory-fraction`` became
  ``--backend-config=tensorflow,gpu-memory-fraction=...``.

What TensorFlow's C++ part reads of the environment (``TF_FORCE_GPU_ALLOW_GROWTH``, ``TF_GPU_ALLOCATOR``) acts in both;
``tf.config`` is of Python, which neither of them runs.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tfmemlint.model.intent import Purpose
from tfmemlint.model.patterns import late_pattern

SERVING, TRITON = "TensorFlow Serving", "Triton"
PROGRAMS = {
    "tensorflow_model_server": SERVING,
    "tf_serving_entrypoint.sh": SERVING,
    "tritonserver": TRITON,
}
"""The servers by the names of their programs."""
IMAGES = late_pattern(r"(?:^|/)tensorflow/serving(?:[:@-][\w.:@-]*)?$")
"""Images that start TensorFlow Serving with the arguments that a container gets."""

FRACTION = "per_process_gpu_memory_fraction"
BACKEND_FRACTION = "gpu-memory-fraction"
_BACKEND_KEYS = frozenset(
    {
        *("allow-soft-placement", BACKEND_FRACTION, "version", "default-max-batch-size"),
        *("backend-directory", "min-compute-capability", "auto-complete-config"),
    }
)
"""The keys of ``--backend-config=tensorflow,...``; the last three are the server's own."""
_TRITON_OPTIONS = frozenset(
    {
        *("backend-config", "cuda-memory-pool-byte-size", "pinned-memory-pool-byte-size", "cuda-virtual-address-size"),
        *("min-supported-compute-capability", "model-load-gpu-limit", "enable-peer-access", "host-policy"),
        *("allow-gpu-metrics", "allow-metrics", "cuda-shared-memory", "rate-limit-resource"),
    }
)
_ABOUT_MEMORY = late_pattern(
    r"(?:gpu|process|tensorflow|tf|cuda|device).{0,60}(?:memory|mem\b|fraction|growth|limit)|memory.{0,60}(?:growth|fraction|limit)"
    r"|(?:allow|memory)[_-]?growth|per[_-]process"
)
_NUMBER = late_pattern(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)
_MIN_PERCENT, _MAX_PERCENT = 10, 100
"""As of `per_process_gpu_memory_fraction` in a program: unified memory of up to ten times the GPU's is asked for."""


class BadOption(NamedTuple):
    """An option that does not do what it says.

    Attributes:
        kind: ``name`` (there is no such option), ``key`` (no such key of the backend), ``apart`` (the value is an
            argument of its own), ``number`` (it cannot be parsed), ``percent``, ``size`` (an amount in the place of
            a fraction).
        purpose: what the author wanted.
        meant: what to write instead; "" if that is not known.
    """

    kind: str
    purpose: Purpose
    meant: str = ""


def judge_option(server: str, name: str, value: str | None, *, apart: bool = False) -> BadOption | None:
    """Return what is wrong with an option; None if nothing is, or nothing is known.

    Args:
        name: without its dashes. value: the text after ``=``, or the next argument; None if it is not known.
        apart: the value is the next argument.
    """
    if server == TRITON:
        return _of_triton(name, value)
    if name != FRACTION:
        return _made_up(name, value) if _ABOUT_MEMORY.search(name) else None
    bad = _fraction(value, whole=True) if value is not None else None
    if not apart:
        return bad
    meant = value if bad is None else bad.meant
    return BadOption(
        "apart", bad.purpose if bad is not None else Purpose.FRACTION, f"--{FRACTION}={meant}" if meant else ""
    )


def backend_setting(name: str, value: str | None) -> tuple[str, str] | None:
    """Return the key and value that ``--backend-config=tensorflow,key=value`` sets; None for another option."""
    backend, _, setting = (value or "").partition(",")
    key, equals, given = setting.partition("=")
    return (key, given) if name == "backend-config" and backend.strip() == "tensorflow" and equals else None


def _of_triton(name: str, value: str | None) -> BadOption | None:
    setting = backend_setting(name, value)
    if setting is None:
        known = name in _TRITON_OPTIONS or not _ABOUT_MEMORY.search(name)
        return None if known else _made_up(name, value, "--backend-config=tensorflow,gpu-memory-fraction")
    key, given = setting
    if key == BACKEND_FRACTION:
        return _fraction(given, whole=False)
    if key in _BACKEND_KEYS or not _ABOUT_MEMORY.search(key):
        return None
    purpose = _purpose(key)
    return BadOption("key", purpose, BACKEND_FRACTION if purpose is not Purpose.GROWTH else "")


def _made_up(name: str, value: str | None, real: str = f"--{FRACTION}") -> BadOption:
    purpose = _purpose(name)
    if purpose is Purpose.GROWTH:
        return BadOption("name", purpose, "TF_FORCE_GPU_ALLOW_GROWTH=true")
    share = value is not None and _NUMBER.fullmatch(value) is not None and 0 < float(value) <= 1
    return BadOption("name", purpose, f"{real}={value}" if share else "")


def _purpose(name: str) -> Purpose:
    if "growth" in name:
        return Purpose.GROWTH
    return Purpose.FRACTION if "fraction" in name else Purpose.LIMIT


def _fraction(text: str, *, whole: bool) -> BadOption | None:
    """Judge a fraction.

    Args:
        whole: the text is refused unless all of it is a number; else what follows a number is ignored.
    """
    if "$" in text or "{" in text:
        return None
    match = _NUMBER.match(text)
    if match is None or (whole and match.end() < len(text)):
        percent = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%", text)
        comma = re.fullmatch(r"0,\d+", text)
        meant = f"{float(percent[1]) / 100:g}" if percent else text.replace(",", ".") if comma else ""
        return BadOption("number", Purpose.FRACTION, meant)
    number = float(match[0])
    if match.end() < len(text) and not text.rstrip().endswith("%"):
        return BadOption("size", Purpose.LIMIT) if text[match.end() :].strip()[:1].isalpha() else None
    if _MIN_PERCENT <= number <= _MAX_PERCENT:
        return BadOption("percent", Purpose.FRACTION, f"{number / 100:g}")
    return BadOption("size", Purpose.LIMIT) if number > _MAX_PERCENT else None
