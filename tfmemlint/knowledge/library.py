"""Models of Python's library and of well-known packages, as far as they call what they are given.

The models are in ``data/library.txt``: Python code, by module.
"""

from __future__ import annotations

from functools import lru_cache

from tfmemlint.knowledge import tables

MODELLED = frozenset(
    {
        *("_builtins", "contextlib", "concurrent.futures", "multiprocessing.pool", "threading", "queue", "sched"),
        *("weakref", "timeit", "contextvars", "operator", "functools", "itertools", "asyncio"),
        *("decorator", "wrapt", "optuna", "fire", "typer", "joblib", "easydict", "hydra"),
        *("inspect", "pkgutil"),
    }
)
"""The modules that have a section in the file, which is read when a program names one of them."""

ALIASES = {
    "multiprocessing.dummy.Pool": "multiprocessing.pool.ThreadPool",
    "concurrent.futures.thread.ThreadPoolExecutor": "concurrent.futures.ThreadPoolExecutor",
    "concurrent.futures.ThreadPool": "multiprocessing.pool.ThreadPool",
    "itertools.chain.from_iterable": "_builtins.chained",
    "asyncio.tasks.gather": "asyncio.gather",
    "six.moves.queue.Queue": "queue.Queue",
    **dict.fromkeys(
        (
            *("munch.Munch", "munch.munchify", "munch.Munch.fromDict", "addict.Dict", "attrdict.AttrDict", "box.Box"),
            *("ml_collections.ConfigDict", "ml_collections.config_dict.ConfigDict", "omegaconf.OmegaConf.create"),
        ),
        "easydict.EasyDict",
    ),
}
"""Other names of what is in the models."""


@lru_cache(maxsize=1)
def sections() -> dict[str, tuple[str, int]]:
    """Return the code of each module, with the number of lines before it."""
    found: dict[str, tuple[str, int]] = {}
    lines = tables.text("library.txt").splitlines()
    heads = [row for row, line in enumerate(lines) if line.startswith("## ")]
    for head, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        found[lines[head][3:]] = "\n".join(lines[head + 1 : end]) + "\n", head + 1
    return found
