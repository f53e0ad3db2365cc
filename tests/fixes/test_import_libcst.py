"""LibCST is imported in half of the time, and does what it does otherwise."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """import a  # why


@b
class C(D, e=1):
    async def f(self, *x, y: int = 2) -> str:
        return [i for i in x if not y]
"""
USE = """
import pickle, sys
from tfmemlint.fixes import import_libcst
import_libcst.is_own_process = {light}
import_libcst.import_libcst()
import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
module = cst.parse_module({code!r})
print(cst.Name.__init__.__qualname__)
again = module.deep_clone()
assert module.code == {code!r} == again.code and module.deep_equals(again) and module != again
assert pickle.loads(pickle.dumps(module)).deep_equals(module)
assert module.with_changes(header=[]).code == {code!r}
places = MetadataWrapper(module).resolve(PositionProvider)
try:
    cst.Name("")
except cst.CSTValidationError as error:
    print(error)
try:
    cst.Name(valeu="x")
except TypeError as error:
    print(error)
print(cst.Call(cst.Name("f"), args=[cst.Arg(cst.Integer("1"), star="*")]))
print(sorted((type(node).__name__, str(place)) for node, place in places.items()))
"""


@pytest.fixture(scope="module")
def said() -> list[list[str]]:
    lines = []
    for light in (True, False):
        code = USE.format(light=light, code=CODE)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
        lines.append(done.stdout.splitlines())
    return lines


def test_trees_are_the_same(said: list[list[str]]) -> None:
    assert said[0][1:] == said[1][1:]
    assert len(said[0]) > 10
