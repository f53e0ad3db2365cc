"""Finds the packages: `rules/` stands beside `tfmemlint/` and is installed as `tfmemlint.rules`.

Everything else is in pyproject.toml, which can't say "all packages below tfmemlint, and this one besides", nor that a
file is to lie beside the packages.
"""

from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

FIRST = (
    'import sys; any(word in ("tfmemlint", "-mtfmemlint") for word in sys.orig_argv[1:])'
    ' and (__import__("runpy"), __import__("tfmemlint"))\n'
)
"""Read by Python when it starts, before it knows the working directory: `python -m tfmemlint` in a directory with a
package of that name, or with a `runpy.py`, would run that one otherwise."""


class BuildWithPth(build_py):
    """Puts `tfmemlint.pth` beside the packages of a wheel."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            Path(self.build_lib, "tfmemlint.pth").write_text(FIRST, encoding="utf-8")


setup(
    packages=[*find_packages(include=["tfmemlint", "tfmemlint.*"]), "tfmemlint.rules"],
    cmdclass={"build_py": BuildWithPth},
)
