"""What is found in a program does not depend on the programs before it, on the order of files, or on the cache."""

from __future__ import annotations

import pytest

from tfmemlint.engine.context import RunContext
from tools.fuzz_programs import GROW, of_program, orders_that_differ, runs_that_differ, written

SEEDS = (*range(20), 85, 60337, 61117)
"""Of the projects that are made at random; `tools/fuzz_programs.py` makes any number of them."""


@pytest.mark.parametrize("seed", SEEDS)
def test_a_program_after_others_is_as_it_is_alone(seed: int) -> None:
    assert orders_that_differ(seed) == []


@pytest.mark.parametrize("seed", (*SEEDS[:4], 61117))
def test_neither_the_order_of_files_nor_the_cache_changes_what_is_found(seed: int) -> None:
    assert runs_that_differ(seed) == []


HEAD = "import tensorflow as tf\n"
PACKAGE = {
    "pyproject.toml": '[project]\nname = "x"\n',
    "net/__init__.py": "from net import device\n",
    "net/device.py": f"{HEAD}import helper\ntf.zeros([1])\n",
    "net/names.py": "NAME = 1\n",
    "helper.py": "import importlib\nNAMES = importlib.import_module('net.names')\n",
    "first.py": f"import net.names\n{HEAD}{GROW}\n",
    "second.py": f"{HEAD}import helper\n{GROW}\nimport net.device\n",
}
"""A package whose import starts the runtime, and a module that only asks for another one of this package."""


def test_a_module_that_was_imported_within_a_package_imports_the_package_elsewhere() -> None:
    with written(PACKAGE):
        alone = of_program("second.py", RunContext(explain_fixes="never"))
        assert alone is not None
        assert [found[2] for found in alone] == ["TFM101"]
        context = RunContext(explain_fixes="never")
        of_program("first.py", context)
        assert of_program("second.py", context) == alone
