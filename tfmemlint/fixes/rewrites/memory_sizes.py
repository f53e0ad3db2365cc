"""Render memory sizes as code: a share of a device's memory, in MiB."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from tfmemlint.facts.folding import NotFolded, binary
from tfmemlint.sources.regular import read_text

HELPER = "gpu_memory_mib"
"""The name of the function that asks NVML, unless the file uses it for something else."""

SIZE_UNKNOWN = (
    "a limit is a number of MiB, and the memory of the GPU is not known: give --gpu-memory 16GiB (with its size), or"
    " --read-gpu-memory for code that asks NVML"
)
"""Why a share is left as it is."""
TOTAL_UNKNOWN = (
    "TensorFlow does not report the total memory: give --read-gpu-memory for code that asks NVML, or --gpu-memory 16GiB"
    " for a number"
)

_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)


def number(text: str) -> float | None:
    """Return the value of a numeric literal; None for any other expression."""
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def format_mib(mib: float) -> str:
    """Return a size in MiB as text, whole numbers without a decimal point."""
    return str(int(mib)) if mib == int(mib) else str(mib)


def product(size: str, share: str) -> str:
    """Return ``int(size * share)``, with parentheses around a share that needs them."""
    return f"int({size} * {_factor(share)})"


def gib_in_mib(amount: str) -> str:
    """Return code that converts an amount of GiB to MiB."""
    value = number(amount)
    return str(int(value * 1024)) if value is not None else f"int({_factor(amount)} * 1024)"


def kib_in_mib(amount: str) -> str:
    """Return code that converts an amount of KiB to MiB; ``4 * 1024 * 1024`` becomes ``4 * 1024``."""
    value = number(amount)
    if value is not None:
        return str(int(value) // 1024)
    text = amount.strip()
    for factor, instead in ((r"\s*\*\s*1024$", ""), (r"\s*\*\s*1024\s*\*\*\s*2$", " * 1024")):
        head = re.sub(factor, "", text)
        if head != text and not head.endswith("*"):
            return f"{head}{instead}"
    return f"{_factor(amount)} // 1024"


def bytes_in_mib(amount: str) -> str:
    """Return code that converts an amount of bytes to MiB; ``4 * 1024**3`` becomes ``4 * 1024``."""
    value = number(amount)
    if value is not None:
        return str(int(value) // 1024**2)
    shorter = _drop_mib_factor(amount)
    return shorter if shorter is not None else f"{_factor(amount)} // 1024**2"


_MIB_FACTORS = (
    (re.compile(r"\s*\*\s*1024\s*\*\*\s*3$"), " * 1024"),
    (re.compile(r"\s*\*\s*2\s*\*\*\s*30$"), " * 1024"),
    (re.compile(r"\s*<<\s*30$"), " * 1024"),
    (re.compile(r"\s*\*\s*1024\s*\*\*\s*2$"), ""),
    (re.compile(r"\s*\*\s*2\s*\*\*\s*20$"), ""),
    (re.compile(r"\s*<<\s*20$"), ""),
    (re.compile(r"\s*\*\s*1024\s*\*\s*1024$"), ""),
    (re.compile(r"^1024\s*\*\s*1024\s*\*\s*(?!\*)"), ""),
    (re.compile(r"^1024\s*\*\*\s*2\s*\*\s*(?!\*)"), ""),
    (re.compile(r"^2\s*\*\*\s*20\s*\*\s*(?!\*)"), ""),
    (re.compile(r"^\(1\s*<<\s*20\)\s*\*\s*(?!\*)"), ""),
)


def _drop_mib_factor(amount: str) -> str | None:
    """Return a product without its factor 1024**2; None if it has none."""
    text = amount.strip()
    for factor, instead in _MIB_FACTORS:
        head = factor.sub("", text)
        if head != text and _is_same_size(f"{head}{instead}", text):
            return f"{head}{instead}"
    return None


def _is_same_size(shorter: str, text: str) -> bool:
    """True if the product ``shorter``, in MiB, is the product ``text``, in bytes."""
    try:
        left, right = ast.parse(shorter, mode="eval").body, ast.parse(text, mode="eval").body
        return bool(_value(left) * 1024**2 == _value(right))
    except (SyntaxError, ValueError, NotFolded):
        return False


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.BinOp):
        return binary(node.op, _value(node.left), _value(node.right))
    return ast.literal_eval(node)


def _factor(text: str) -> str:
    """Return an expression with the parentheses that it needs beside an operator."""
    tree = ast.parse(f"({text}\n)", mode="eval").body
    factor = text.strip()
    if isinstance(tree, _ATOMS) and "\n" not in factor:
        return factor
    return factor if factor.startswith("(") and _is_wrapped(factor) else f"({factor})"


def _is_wrapped(text: str) -> bool:
    """True if the last character closes the first parenthesis."""
    depth = 0
    for index, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth == 0:
            return index == len(text) - 1
    return False


@lru_cache(maxsize=1)
def helper() -> str:
    """Return the source of the function that asks NVML for a device's memory, as it is added to a file."""
    text = read_text(Path(__file__).parent / "templates" / f"{HELPER}.py")
    return text[text.index("def ") :]
