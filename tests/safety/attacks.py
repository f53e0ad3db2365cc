"""Inputs of a few bytes that ask for much: each is a function of its size, for tests/safety/test_bounded.py.

An attack returns the texts of its files by their paths; a text alone is of the file that its group names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

HEAD = "import os\nimport tensorflow as tf\ngpus = tf.config.list_physical_devices('GPU')\nx = [1]\n"
END = """\
tf.config.experimental.set_memory_growth(gpus[0], x)
tf.config.set_logical_device_configuration(gpus[1], [tf.config.LogicalDeviceConfiguration(memory_limit=x)])
os.environ['CUDA_VISIBLE_DEVICES'] = x
"""
WRONG = "TF_FORCE_GPU_ALLOW_GROWTH=True"
"""A variable with a value that TensorFlow doesn't take."""
GROW = "tf.config.experimental.set_memory_growth"

Attack = Callable[[int], "dict[str, str]"]


def notebook(cells: Iterable[str]) -> str:
    """Return a notebook with these cells of code."""
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


DOUBLING = {
    "lists": "x = [x, x]\n",
    "tuples": "x = (x, x)\n",
    "dictionaries": "x = {'a': x, 'b': x}\n",
    "a list that gets itself": "x.append(x)\n",
    "added lists": "x = x + x\n",
    "zipped": "x = zip(x, x)\n",
    "one in the other": "x = [x]\n" * 30,
    "comprehensions": "x = [x for _ in x]\n",
    "squares": "x = 7 if x == [1] else x * x\n",
    "shifts": "x = 7 if x == [1] else x << 60\n",
    "powers": "x = 7 if x == [1] else x ** 60\n",
    "texts": "x = f'{x}{x}'\n",
    "joined texts": "x = str(x).join([str(x), str(x)])\n",
    "replaced texts": "x = str(x).replace('1', str(x))\n",
    "formatted texts": "x = '{0}{0}'.format(x)\n",
    "padded texts": "x = '%*d' % (10 ** 9, 1) + '%999999999d' % 1 + '{:>999999999}'.format(1) + 'a'.zfill(10 ** 9)\n",
}
"""Lines each of which makes a value about twice as large."""


def _rows(count: int, line: Callable[[int], str]) -> str:
    return "".join(map(line, range(count)))


def _script(body: Callable[[int], str]) -> Attack:
    return lambda n: {"train.py": f"{HEAD}{body(n)}{END}"}


def _file(name: str, content: Callable[[int], str]) -> Attack:
    return lambda n: {name: content(n)}


def _chain_of_modules(n: int) -> dict[str, str]:
    last = f"import tensorflow as tf\ndef f(x):\n    {GROW}(x, True)\n"
    links = {f"m{row}.py": f"import m{row + 1}\ndef f(x):\n    m{row + 1}.f(x)\n" for row in range(n)}
    return {"main.py": f"{HEAD}import m0\nm0.f(gpus[0])\n", **links, f"m{n}.py": last}


def _layers_of_modules(count: int) -> dict[str, str]:
    """A program that configures after the last of the layers has started the runtime."""
    files = {
        f"layer{layer}_{side}.py": f"import layer{layer + 1}_a\nimport layer{layer + 1}_b\n\nSIDE = {side!r}\n"
        for layer in range(count)
        for side in "ab"
    }
    starter = "import tensorflow as tf\n\nONE = tf.constant(1)\n"
    last = {f"layer{count}_a.py": starter, f"layer{count}_b.py": "TWO = 2\n"}
    late = f"for gpu in gpus:\n    {GROW}(gpu, layer0_a.SIDE == 'a')\n"
    return {"train.py": f"import layer0_a\n{HEAD}{late}", **files, **last, "pyproject.toml": ""}


def mesh(n: int) -> dict[str, str]:
    """Return modules each of which imports three others, in circles, and sets memory growth."""

    def module(row: int) -> str:
        imports = "".join(f"import m{(row * 7 + other * 13 + 1) % n}\n" for other in range(3))
        return f"import tensorflow as tf\n{imports}def f(x):\n    {GROW}(x, True)\n    m{(row * 7 + 1) % n}.f(x)\n"

    return {"main.py": f"import m0\n{HEAD}{END}", **{f"m{row}.py": module(row) for row in range(n)}}


def _scripts_that_launch(n: int) -> dict[str, str]:
    launch = "export CUDA_VISIBLE_DEVICES=0\ncd ..\npython train.py\n"
    return {"train.py": HEAD + END, **{f"s{row}/run.sh": launch for row in range(n)}}


def _jobs(n: int) -> str:
    job = f"    runs-on: u\n    env:\n      {WRONG.replace('=', ': ')}\n    steps:\n    - run: python a.py\n"
    return "on: push\njobs:\n" + _rows(n, lambda row: f"  j{row}:\n{job}")


PYTHON: dict[str, tuple[int, Attack]] = {
    "a table of numbers": (1_000, _script(lambda n: f"t = [{'1, ' * n}]\n")),
    "a table of negative numbers": (600, _script(lambda n: f"t = [{'-1, ' * n}]\n")),
    "blank lines": (2_000, _script(lambda n: f"sess = tf.Session(){chr(10) * n}")),
    "keywords": (400, _script(lambda n: f"tf.config.LogicalDeviceConfiguration({_keywords(n)})\n")),
    "attributes": (250, _script(lambda n: f"y = tf{'.a' * n}\n")),
    "conditions": (60, _script(lambda n: _rows(n, lambda r: f"if os.environ.get('A{r}'):\n    y{r} = {r}\n"))),
    "conditions joined by and": (250, _script(lambda n: f"if {' and '.join(_names(n))}:\n    x = 1\n")),
    "returns": (60, _script(lambda n: f"def f():\n{_rows(n, lambda r: _return(r))}x = f()\n")),
    "cases": (
        80,
        _script(lambda n: f"match y:\n{_rows(n, lambda r: f'    case {r}:{chr(10)}        x = {r}{chr(10)}')}"),
    ),
    "indexes of GPUs": (150, _script(lambda n: _rows(n, lambda r: f"{GROW}(gpus[{r}], True)\n"))),
    "imports of TensorFlow": (60, _script(lambda n: _rows(n, lambda r: f"import tensorflow.a{r} as b{r}\n"))),
    "a chain of calls": (100, _script(lambda n: _rows(n, lambda r: f"def f{r}(x):\n    return f{r + 1}(x)\n"))),
    "functions that nothing calls": (
        120,
        _script(lambda n: _rows(n, lambda r: f"def f{r}(x):\n    {GROW}(x, True)\n")),
    ),
    "settings that come late": (200, _script(lambda n: f"tf.zeros([1])\n{f'{GROW}(gpus[0], True){chr(10)}' * n}")),
    "writes of a variable": (
        300,
        _script(lambda n: _rows(n, lambda r: f"os.environ['CUDA_VISIBLE_DEVICES'] = '{r}'\n")),
    ),
}
"""What is long in a program: the size of which twice as much is tried, and the attack."""

OTHERS: dict[str, tuple[int, Attack]] = {
    "blanks behind a variable": (8_000, _file(".env", lambda n: f"CUDA_VISIBLE_DEVICES={' ' * n}\nX={' ' * n}\n")),
    "blanks in a variable": (8_000, _file(".env", lambda n: f"CUDA_VISIBLE_DEVICES=a{' ' * n}b\n")),
    "braces in a script": (1_000, _file("run.sh", lambda n: f"CUDA_VISIBLE_DEVICES={'{,' * n} python train.py\n")),
    "names that are long": (4_000, _script(lambda n: f"{'TF_Z' * n} = '{'CUDA_Z' * n} Session({'Session(' * n}'\n")),
    "blanks in a script": (
        8_000,
        _file("run.sh", lambda n: f"export CUDA_VISIBLE_DEVICES={' ' * n}\nexport X={' ' * n}\n"),
    ),
    "blanks in a Dockerfile": (
        8_000,
        _file("Dockerfile", lambda n: f"FROM a\nENV TF_GPU_X={' ' * n}\nRUN export X={' ' * n}\n"),
    ),
    "blanks in prose": (
        8_000,
        _file("README.md", lambda n: f"TensorFlow: export X={' ' * n}\nENV A{' ' * n}B\n"),
    ),
    "examples": (40, _file("README.md", lambda n: "```python\nimport tensorflow as tf\ntf.gpu()\n```\n\n" * n)),
    "distinct examples": (
        40,
        _file("README.md", lambda n: _rows(n, lambda r: f"```python\nimport tensorflow as tf\ntf.gpu{r}()\n```\n\n")),
    ),
    "blocks of a page": (40, _file("README.md", lambda n: "<pre>import tensorflow as tf\ntf.gpu()\n</pre>\n" * n)),
    "cells": (
        200,
        _file("n.ipynb", lambda n: notebook([HEAD, *["y = 1"] * n, "tf.gpu()", END])),
    ),
    "cells of bash": (100, _file("n.ipynb", lambda n: notebook([HEAD, *[f"%%bash\n{WRONG}\necho hi"] * n]))),
    "commands in cells": (100, _file("n.ipynb", lambda n: notebook([HEAD, *[f"!{WRONG}; python x.py"] * n]))),
    "cells with commands": (50, _file("n.ipynb", lambda n: notebook([HEAD + END, *["!pip install x\nx = 1"] * n]))),
    "lines of a Dockerfile": (250, _file("Dockerfile", lambda n: f"FROM a\n{f'RUN {WRONG}{chr(10)}' * n}")),
    "variables in variables": (
        250,
        _file("Dockerfile", lambda n: "FROM a\nARG A=1\n" + "ENV A=$A$A${A}tensorflow\n" * n),
    ),
    "services": (
        200,
        _file(
            "compose.yaml",
            lambda n: (
                "services:\n" + _rows(n, lambda r: f"  s{r}:\n    environment:\n      {WRONG.replace('=', ': ')}\n")
            ),
        ),
    ),
    "jobs": (200, _file(".github/workflows/w.yml", _jobs)),
    "here-documents": (800, _file("run.sh", lambda n: f"export {WRONG}\n{f'cat <<EOF{chr(10)}' * n}")),
    "brackets": (2_000, _file("run.sh", lambda n: f"{'(' * n}export {WRONG}{')' * n}\n")),
    "nested conditions of a script": (
        400,
        _file("run.sh", lambda n: f"{'if [ $A ]; then' + chr(10)}" * n + f"export {WRONG}\n" + "fi\n" * n),
    ),
    "conditions of a script": (
        250,
        _file(
            "run.sh",
            lambda n: _rows(n, lambda r: f"if [ $A{r} ]; then\nexport {WRONG}\nelse\nexport X{r}=1\nfi\n"),
        ),
    ),
    "a variable of a script in itself": (
        500,
        _file("run.sh", lambda n: "V=0\n" + "export CUDA_VISIBLE_DEVICES=$V$V\nV=$V$V\n" * n),
    ),
    "lines of an environment file": (250, _file(".env", lambda n: f"{WRONG}\n" * n)),
}
"""What is long in all other files."""

FIXED: dict[str, tuple[int, Attack]] = {
    "examples in docstrings": (
        60,
        _file(
            "train.py",
            lambda n: _rows(
                n,
                lambda r: (
                    f'def f{r}():\n    """Do.\n\n    >>> import tensorflow as tf\n'
                    f'    >>> tf.config.list_phisical_devices("GPU")\n    """\n'
                ),
            ),
        ),
    ),
    "blocks of a text": (
        40,
        _file(
            "a.rst",
            lambda n: "Text::\n\n    import tensorflow as tf\n    tf.config.list_phisical_devices('GPU')\n\n" * n,
        ),
    ),
}
"""What is long in a file that is fixed."""

FOLDERS: dict[str, tuple[int, Attack]] = {
    # Below MAX_IMPORTS_IN_CIRCLE each of them is a program that imports all others: that takes a second at most.
    "modules that import each other": (80, mesh),
    "a chain of modules": (40, _chain_of_modules),
    "scripts that launch one program": (60, _scripts_that_launch),
    # Two ways from each layer to each module of the next: 2 ** 20 ways through all of them.
    "layers of modules": (20, _layers_of_modules),
}
"""Many files."""


def _names(count: int) -> list[str]:
    return [f"c{number}" for number in range(count)]


def _keywords(count: int) -> str:
    return ", ".join(f"k{number}={number}" for number in range(count))


def _return(row: int) -> str:
    return f"    if c{row}:\n        return {row}\n"
