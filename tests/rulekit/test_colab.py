"""Notebooks that came through Google Colab, and were run elsewhere."""

from __future__ import annotations

import json

import pytest

from tfmemlint.rulekit.cells import is_for_colab
from tfmemlint.sources import decode

KERNELS = {
    "Colab's": ({"name": "python3", "display_name": "Python 3"}, True),
    "of Jupyter": ({"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}, True),
    "of conda": ({"display_name": "Python [conda env:tf2]", "language": "python", "name": "conda-env-tf2-py"}, False),
    "of conda, by its words": ({"display_name": "Python 3.8 (conda tf)", "name": "python3"}, False),
    "of an environment": ({"display_name": "tf-gpu", "language": "python", "name": "tf-gpu"}, False),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("asks", [False, True])
def test_the_kernel_of_another_machine_tells_that_it_is_not_for_colab(name: str, asks: bool) -> None:
    kernel, is_colabs = KERNELS[name]
    text = "from google.colab import drive\n" if asks else "import os\n"
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": text, "outputs": []}
    metadata = {"accelerator": "GPU", "colab": {"provenance": []}, "kernelspec": kernel}
    book = {"cells": [cell], "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}
    assert is_for_colab(decode("a.ipynb", json.dumps(book, indent=1).encode())) is (is_colabs or asks)
