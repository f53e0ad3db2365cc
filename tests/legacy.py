"""The code in ``fixtures/legacy``: TF1's way of configuring GPU memory, as people wrote it, and what becomes of it.

A file may have a ``.fixed.py`` beside it. ``# withheld: why`` says what isn't mended in it, and why. A package that
isn't at hand, such as Horovod, is played by a few lines (`with_stubs`).
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.fixture_files import FIXTURES

LEGACY = FIXTURES / "legacy"
_HOROVOD = (
    "import sys as _s, types as _t; _h = _t.ModuleType('horovod'); _h.__path__ = []; "
    "_m = {n: _t.ModuleType(n) for n in ('horovod.tensorflow', 'horovod.tensorflow.keras')}; "
    "[setattr(o, k, (lambda r: lambda: r)(r)) for o in _m.values() "
    "for k, r in (('init', None), ('rank', 0), ('local_rank', 0), ('size', 1))]; "
    "_m['horovod.tensorflow'].__path__ = []; "
    "_m['horovod.tensorflow'].keras = _m['horovod.tensorflow.keras']; "
    "_h.tensorflow = _m['horovod.tensorflow']; _s.modules.update(_m, horovod=_h)"
)
"""One process that is its own world, in one line: line numbers stay those of the file."""


def legacy_paths() -> list[Path]:
    """The files, in a fixed order; the ``.fixed.py`` files are not among them."""
    return sorted(path for path in LEGACY.glob("*.py") if not path.name.endswith(".fixed.py"))


def with_stubs(code: str) -> str:
    """``code`` with what plays a package that isn't at hand."""
    if not re.search(r"^import horovod", code, re.MULTILINE):
        return code
    first, newline, rest = code.partition("\n")
    if first.startswith("from __future__"):
        raise ValueError("a stub can't stand above an import of __future__")
    return f"{_HOROVOD}{newline}{rest}" if not first.strip() else f"{_HOROVOD}\n{code}"
