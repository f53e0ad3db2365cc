#!/usr/bin/env python3
"""Make small projects at random, and compare what is found in each program alone with what a run over all finds.

``python tools/fuzz_programs.py --projects 5000 --seed 0`` makes projects of modules that import each other in circles,
in conditions and by name, read the environment, fill lists of each other and bind each other's names. It analyzes each
program alone, after the others in three orders, and in whole runs: in another order, with a new cache, a used one, and
a used one after edits. It prints each difference with the seed that makes the project again; exit code 1 if there is
one.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tfmemlint.engine.context import RunContext, reset_project_caches
from tfmemlint.engine.programs import analyze_program
from tfmemlint.engine.run import run
from tfmemlint.model.finding import Finding
from tfmemlint.project.entries import entry_of

GROW = 'tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)'
START = "tf.zeros([1])"
HEAD = "import os\nimport tensorflow as tf\n"
NAMES = "KNOWN = []\nTABLE = {}\nVALUE = False\nclass HOLD:\n    item = None\n"
FUNCTIONS = (
    f"def grow():\n    {GROW}\ndef start():\n    {START}\ndef set_value(value):\n    global VALUE\n    VALUE = value\n"
)
EDITS = (START, "VALUE = True", 'import os\nos.environ["FLAG"] = "1"', "KNOWN.append(start)")
IMPORTS = (
    *["import {full} as {name}"] * 2,
    "from {package} import {name}",
    "from {full} import VALUE as V_{name}, KNOWN as K_{name}\nimport {full} as {name}",
    "from {full} import *\nimport {full} as {name}",
    "import importlib\n{name} = importlib.import_module('{full}')",
    "try:\n    import {full} as {name}\nexcept ImportError:\n    {name} = None",
    'if os.environ.get("FLAG") == "1":\n    import {full} as {name}\nelse:\n    import {full} as {name}',
)
CALM = (
    "VALUE = True",
    "VALUE = {name}.VALUE",
    "VALUE = getattr({name}, 'LATE', False)",
    "VALUE = hasattr({name}, 'act')",
    "try:\n    from {full} import LATE as L_{name}\nexcept ImportError:\n    L_{name} = None\nVALUE = L_{name}",
    "{name}.KNOWN.append(start)",
    "KNOWN.append(grow)",
    "{name}.TABLE['k'] = start",
    'VALUE = os.environ.get("FLAG") == "1"',
    'os.environ["FLAG"] = "1"',
    "VALUE = len({name}.KNOWN)",
    "{name}.VALUE = True",
)
"""Lines that start and configure nothing; a module of such lines has a summary."""
ACTS = (
    *(START, GROW, 'os.environ["FLAG"] = "1"', 'os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"'),
    *("KNOWN.append(start)", "for each in KNOWN:\n    each()", "VALUE = True", "VALUE = {name}.VALUE"),
    *("{name}.KNOWN.append(grow)", "for each in {name}.KNOWN:\n    each()", "{name}.act()", "{name}.grow()"),
    *("{name}.set_value(True)", "{name}.set_value(None)", "{name}.VALUE = False", "{name}.TABLE['k'] = start"),
    *("{name}.HOLD.item = 1", f"if {{name}}.HOLD.item == 1:\n    {START}", f"if VALUE:\n    {GROW}"),
    *(f'if os.environ.get("FLAG") == "1":\n    {START}', f"if {{name}}.VALUE:\n    {START}"),
    *(f"if {{name}}.VALUE:\n    {GROW}", f"if getattr({{name}}, 'LATE', False):\n    {START}"),
    *("if 'k' in {name}.TABLE:\n    {name}.TABLE['k']()", f"if len(KNOWN):\n    {START}"),
)


def project(seed: int) -> dict[str, str]:
    """Return the files of a project, by their names."""
    chance = random.Random(seed)
    names = [f"m{number}" for number in range(chance.randint(2, 5))]
    inner = {name for name in names if chance.random() < 0.6} if chance.random() < 0.5 else set()
    calm = chance.random() < 0.6

    def filled(lines: Sequence[str], others: Sequence[str]) -> str:
        while True:
            line = chance.choice(lines)
            name = chance.choice(others) if others else ""
            if (name or "{name}" not in line) and (name in inner or "{package}" not in line):
                full = f"pkg.{name}" if name in inner else name
                return line.replace("{name}", name).replace("{full}", full).replace("{package}", "pkg") + "\n"

    def indented(text: str) -> str:
        return "".join(f"    {line}\n" for line in text.splitlines())

    files = {"pyproject.toml": '[project]\nname = "x"\ndependencies = ["tensorflow==2.15"]\n'}
    for name in names:
        others = [other for other in names if other != name and chance.random() < 0.45]
        imports = "".join(filled(IMPORTS, [other]) for other in others)
        body = "".join(filled(ACTS, others) for _ in range(chance.randint(1, 2)))
        act = f"def act():\n    global VALUE\n{indented(body)}"
        lines = [filled(CALM if calm and chance.random() < 0.9 else ACTS, others) for _ in range(chance.randint(0, 3))]
        place = chance.randrange(3)
        parts = [NAMES, FUNCTIONS, act]
        parts.insert((0, 1, 3)[place], imports)
        text = HEAD + "".join((*parts, *lines)) + "LATE = True\n"
        files[f"pkg/{name}.py" if name in inner else f"{name}.py"] = text
    if inner:
        again = ("from pkg import {0}", "from pkg.{0} import *", "from .{0} import VALUE, act", "import pkg.{0}")
        chosen = [name for name in sorted(inner) if chance.random() < 0.5]
        files["pkg/__init__.py"] = "".join(chance.choice(again).format(name) + "\n" for name in chosen)
    for number in range(chance.randint(2, 4)):
        others = chance.sample(names, chance.randint(1, 2))
        first = filled(ACTS[:4], []) if chance.random() < 0.3 else ""
        imports = "".join(filled(IMPORTS, [other]) for other in others)
        lines = [filled(ACTS, others) for _ in range(chance.randint(1, 4))]
        end = 'if __name__ == "__main__":\n    grow()\n' if chance.random() < 0.5 else "grow()\n"
        files[f"main_{number}.py"] = HEAD + NAMES + FUNCTIONS + first + imports + "".join(lines) + end
    return files


@contextlib.contextmanager
def written(files: Mapping[str, str]) -> Iterator[None]:
    """Enter with the files in the working directory, which is a new one, and with a cache of its own."""
    before, cache = Path.cwd(), os.environ.get("TFMEMLINT_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="tfmemlint-fuzz-") as directory:
        os.chdir(directory)
        os.environ["TFMEMLINT_CACHE_DIR"] = str(Path(directory, "cache"))
        reset_project_caches()
        write(files)
        try:
            yield
        finally:
            os.chdir(before)
            os.environ.pop("TFMEMLINT_CACHE_DIR")
            if cache is not None:
                os.environ["TFMEMLINT_CACHE_DIR"] = cache
            reset_project_caches()


def write(files: Mapping[str, str]) -> None:
    """Write files into the working directory."""
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")


def _plain(findings: Sequence[Finding]) -> list[tuple[Any, ...]]:
    """Return what users see of findings, in an order that depends on nothing else."""
    return sorted(
        (each.sort_key, each.path, each.code, each.message, each.outcome, str(each.severity), str(each.trace))
        for each in findings
    )


def of_program(path: str, context: RunContext) -> list[tuple[Any, ...]] | None:
    """Return what is found in the program that starts in a file; None if none does."""
    entry = entry_of(path, Path(path).read_bytes(), context.modules.listings)
    return None if entry is None else _plain(analyze_program(entry, context).findings)


def of_run(names: Sequence[str], *, cache: bool = False) -> list[tuple[Any, ...]]:
    """Return what a run over files finds."""
    reset_project_caches()
    results = run([(name, True) for name in names], RunContext(explain_fixes="never", cache=cache))
    return _plain([finding for result in results for finding in result.findings])


def orders_that_differ(seed: int) -> list[str]:
    """Return the programs of a project, each with the order in which other findings are found than alone."""
    chance, files, found = random.Random(seed), project(seed), []
    with written(files):
        names = sorted(name for name in files if name.endswith(".py"))
        alone = {name: of_program(name, RunContext(explain_fixes="never")) for name in names}
        names = [name for name in names if alone[name] is not None]
        for order in (names, names[::-1], chance.sample(names, len(names))):
            context = RunContext(explain_fixes="never")
            for number, name in enumerate(order):
                if of_program(name, context) != alone[name]:
                    found.append(f"seed {seed}: {name} after {', '.join(order[:number])}")
                    break
    return found


def runs_that_differ(seed: int) -> list[str]:
    """Return the runs over a project that find something else than the plain one."""
    chance, files, found = random.Random(seed), project(seed), []
    with written(files):
        names = sorted(name for name in files if name.endswith(".py"))
        plain = of_run(names)
        for words, order, cache in (
            ("in another order", chance.sample(names, len(names)), False),
            ("with a new cache", names, True),
            ("with a used cache", names, True),
            ("with a used cache, in another order", chance.sample(names, len(names)), True),
        ):
            if of_run(order, cache=cache) != plain:
                found.append(f"seed {seed}: {words}")
        for _ in range(3):
            name = chance.choice(names)
            files[name] = chance.choice([project(seed + 1).get(name, HEAD), f"{files[name]}{chance.choice(EDITS)}\n"])
            write(files)
            if of_run(names, cache=True) != of_run(names):
                found.append(f"seed {seed}: with a used cache, after an edit of {name}")
    return found


def main() -> int:
    """Run the command; return 1 if something differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--projects", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    different = 0
    for seed in range(arguments.seed, arguments.seed + arguments.projects):
        for words in (*orders_that_differ(seed), *runs_that_differ(seed)):
            different += 1
            print(words, flush=True)
    print(f"{arguments.projects} projects, {different} differences")
    return int(different > 0)


if __name__ == "__main__":
    raise SystemExit(main())
