"""Running a program of several files as its header says, and holding what comes of it against what is claimed."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.program_files import ProgramFixture, Start
from tests.truth.harness import SECONDS, failure, has, in_force, settings
from tfmemlint.verify.ground import Ground
from tfmemlint.verify.result import Result

_LATE = ("TFM101", "TFM102", "TFM103")
"""What is found where TensorFlow raises; other findings are about what comes of a line later."""
_LAUNCHER = """\
import sys
root, words = {root!r}, {words!r}
installed = root + "/src"  # as after `pip install -e .`
sys.path[:] = [one for one in sys.path if one != root]
{body}
"""
_SCRIPT = """\
import runpy, os
sys.path[:] = [os.path.dirname(os.path.join(root, words[1])), *sys.path, installed]
sys.argv[:] = words[1:]
runpy.run_path(os.path.join(root, words[1]), run_name="__main__")
"""
_MODULE = """\
import runpy
sys.path[:] = [root, *sys.path, installed]
sys.argv[:] = words[2:]
runpy.run_module(words[2], run_name="__main__", alter_sys=True)
"""
_COMMAND = """\
import importlib
sys.path[:] = [installed, root, *sys.path]
module, function = words[1].split(":")
sys.argv[:] = [function, *words[2:]]
sys.exit(getattr(importlib.import_module(module), function)())
"""
_PYTEST = """\
import pytest
seen = []
class Plugin:
    def pytest_exception_interact(self, node, call, report):
        seen.append(call.excinfo.value)
sys.path[:] = [*sys.path, installed]
code = pytest.main(["-q", "-p", "no:cacheprovider", "--capture=no", "--rootdir", root, *words[1:]], plugins=[Plugin()])
if seen:
    raise getattr(seen[0], "cause", None) or seen[0].__cause__ or seen[0]
sys.exit(int(code))
"""


def launcher(entry: str, root: Path) -> str:
    """A program that runs another one in its own process, as ``entry`` says.

    Raises:
        ValueError: it says nothing that can be followed.
    """
    words = entry.split()
    match words:
        case ["python", "-m", _, *_]:
            body = _MODULE
        case ["python", _, *_]:
            body = _SCRIPT
        case ["command", target, *_] if ":" in target:
            body = _COMMAND
        case ["pytest", *_]:
            body = _PYTEST
        case _:
            raise ValueError(f"an entry is 'python main.py', 'python -m package', 'pytest' or 'command a:b': {entry!r}")
    return _LAUNCHER.format(root=str(root), words=words, body=body)


def problems(fixture: ProgramFixture, ground: Ground) -> list[str]:
    """What TensorFlow contradicts in a fixture, as sentences."""
    return [
        f"{start.entry}, with {gpus} GPU(s): {problem}"
        for start in fixture.starts
        for gpus in map(int, start.header.get("gpus", "1").split(","))
        for problem in _of_one_run(fixture, start, gpus, ground)
    ]


def _of_one_run(fixture: ProgramFixture, start: Start, gpus: int, ground: Ground) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        fixture.put(root)
        variables = dict(one.split("=", 1) for one in start.header.get("env", "").split())
        result = ground.run(
            launcher(start.entry, root), gpus=gpus, env=variables, cwd=root, filename="launcher.py", timeout=SECONDS
        )
        places = _traceback(result, root)
    error = failure(result)
    late = {(name, row) for name, row, code in fixture.expected if code in _LATE}
    if result.timed_out:
        yield "it did not come to an end"
    elif "raises" in start.header:
        kind, _, text = start.header["raises"].partition(":")
        raised, _, message = error.partition(": ")
        if raised != kind.strip() or text.strip() not in message:
            yield f"it should raise {start.header['raises']!r}: {error or 'it ended well'}\n{result.stderr[-2000:]}"
        elif late and result.error and not late.intersection(places):
            yield f"it raises {error!r}, but through no line in which something is expected: {places}"
    elif error or result.exit_code:
        yield f"it isn't said to raise: {error or result.exit_code}\n{result.stderr[-2000:]}"
    for key, there in (("lacks", False), ("has", True)):
        if key in start.header and has(result, settings(start.header[key])) is not there:
            yield f"the header says {key} {start.header[key]!r}; TensorFlow got {in_force(result)}"


def _traceback(result: Result, root: Path) -> list[tuple[str, int]]:
    """The lines of the program that what it raised came through."""
    found = re.findall(rf'File "{re.escape(str(root))}/(.+?)", line (\d+)', result.stderr)
    return [(name, int(row)) for name, row in found]
