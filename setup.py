"""Finds the packages: `rules/` stands beside `tfmemlint/` and is installed as `tfmemlint.rules`.

Everything else is in pyproject.toml, which can't say "all packages below tfmemlint, and this one besides".
"""

from setuptools import find_packages, setup

setup(packages=[*find_packages(include=["tfmemlint", "tfmemlint.*"]), "tfmemlint.rules"])
