"""Break fixtures at random and check and fix what comes out: ``python3 tools/fuzz.py [--inputs N] [--seed N]``.

Each input has a seed of its own, from which it is made again. An input fails if the tool raises, reports an error of
its own (TFM900), or writes Python that can't be parsed where it could be before. Failing inputs are kept in a folder.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIGNS = [
    *"()[]{}:,.'\"#\\\n\t =@%!`<>-\0\r\x1b\ufeff\u2028\ud800",
    "f'{",
    '"""',
    "\n    ",
    "lambda: ",
    "9" * 5000,
    "1j",
]
KINDS = (".py", ".ipynb", ".md", ".rst", ".yml", ".yaml", ".sh", ".env", ".txt")


def inputs(folder: Path) -> list[Path]:
    """Return the fixtures of all kinds, in order."""
    return sorted(path for path in folder.rglob("*") if path.suffix in KINDS or path.name == "Dockerfile")


def mutated(text: str, source: random.Random) -> str:
    """Return a text with a few places deleted, doubled, exchanged or filled with signs."""
    for _ in range(source.randint(1, 4)):
        start = source.randrange(len(text) + 1)
        end = min(len(text), start + source.choice((0, 1, 3, 20, 200)))
        piece = text[start:end]
        other = source.randrange(len(text) + 1)
        choices = ("", piece * 2, piece * 50, source.choice(SIGNS), text[other : other + 40], " " * 300)
        text = text[:start] + source.choice(choices) + text[end:]
    return text


@contextlib.contextmanager
def empty_project() -> Iterator[None]:
    """Make an empty project the current directory: in this one, all its configuration files would be read each time."""
    with tempfile.TemporaryDirectory(prefix="tfmemlint-fuzz-") as folder:
        (Path(folder) / "pyproject.toml").touch()
        before = Path.cwd()
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def problem_of(path: str, data: bytes) -> str:
    """Return the way in which the tool fails on a file of this name in the current directory, or ""."""
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.run import from_text

    try:
        checked = from_text(data, path, RunContext(cache=False))
        fixed = from_text(data, path, RunContext(cache=False, fix=True, write=False, unsafe=True))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    for finding in (*checked.findings, *fixed.findings):
        if finding.code == "TFM900" or "the rewriter failed" in finding.withheld:
            return f"{finding.message} {finding.withheld}"
    if path.endswith(".py") and fixed.old is not None and fixed.source is not None:
        try:
            ast.parse(fixed.source.text)
        except SyntaxError as error:
            return f"the fixed text can't be parsed: {error}"
    return ""


def main() -> int:
    """Run the inputs; return 1 if the tool fails on any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first input")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="the folder for inputs that fail")
    arguments = parser.parse_args()
    files = inputs(ROOT / "fixtures")
    keep = arguments.keep.resolve()
    failed = 0
    with empty_project():
        for seed in range(arguments.seed, arguments.seed + arguments.inputs):
            source = random.Random(seed)
            path = source.choice(files)
            data = mutated(path.read_text("utf-8", "replace"), source).encode("utf-8", "surrogatepass")
            problem = problem_of(path.name, data)
            if problem:
                failed += 1
                print(f"seed {seed}: {path.relative_to(ROOT)}: {problem[:300]!r}", flush=True)
                keep.mkdir(exist_ok=True)
                (keep / f"{seed}-{path.name}").write_bytes(data)
    print(f"{arguments.inputs} inputs from seed {arguments.seed}, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
