"""Stands for a package of which the analysis knows nothing: what it is given, it keeps, or calls when it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def configurable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that, given a function, keeps it, and that otherwise calls what it was made of."""

    def keep(*args: Any, **keywords: Any) -> Any:
        return args[0] if args and callable(args[0]) else function(*args, **keywords)

    return keep


def tf_export(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that keeps a function."""
    return configurable


class Trainer:
    """Keeps callbacks."""

    def __init__(self, callbacks: tuple[Callable[..., Any], ...] = ()) -> None:
        self.callbacks = callbacks
