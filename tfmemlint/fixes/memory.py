"""Memory sizes as code: a share of a device's memory, in MiB."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

HELPER = "gpu_memory_mib"
"""What the function that asks NVML is called, where the file does not use this name for something else."""

_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)


def number(text: str) -> float | None:
    """The value of a numeric literal; None for any other expression."""
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def shown(mib: float) -> str:
    """A size as it is written: whole numbers without a point."""
    return str(int(mib)) if mib == int(mib) else str(mib)


def product(size: str, share: str) -> str:
    """``int(size * share)``, with parentheses around a share that needs them."""
    tree = ast.parse(f"({share}\n)", mode="eval").body
    factor = share.strip()
    if not isinstance(tree, _ATOMS) or "\n" in factor:
        factor = f"({factor})" if not (factor.startswith("(") and _wraps(factor)) else factor
    return f"int({size} * {factor})"


def _wraps(text: str) -> bool:
    """Whether the first parenthesis is closed by the last character."""
    depth = 0
    for index, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth == 0:
            return index == len(text) - 1
    return False


@lru_cache(maxsize=1)
def helper() -> str:
    """The function that asks NVML for a device's memory, as it is put into a file."""
    text = (Path(__file__).parent / "templates" / f"{HELPER}.py").read_text(encoding="utf-8")
    return text[text.index("def ") :]
