"""Fixtures for rule authors: files that say which lines a rule must report, and what a fix makes of them.

A folder of fixtures is named after its rule. ``bad_x.py`` has lines that end in ``# expect: ACM101``, ``ok_y.py`` has
none; ``bad_x.fixed.py`` is the same file after the fix. docs/rule-packages.md shows it all.
"""

from tfmemlint.testing.fixtures import FixtureResult, check_fixture, examine_fixture, fixtures_in
from tfmemlint.testing.markers import blank_markers, strip_markers

__all__ = ["FixtureResult", "blank_markers", "check_fixture", "examine_fixture", "fixtures_in", "strip_markers"]
