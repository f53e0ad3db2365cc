"""The order of the test files: the longest first, so that no process is left with one of them at the end."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parent
LONGEST_FIRST = (
    "truth/test_plan_and_verify.py",
    "truth/test_fixtures.py",
    "truth/test_order_repairs.py",
    "test_site.py",
    "test_snapshots.py",
    "test_package.py",
    "test_fix_properties.py",
    "truth/test_allocating.py",
    "reporters/test_corrections.py",
    "verify/test_driver.py",
    "fit/test_fit.py",
    "truth/test_legacy.py",
    "test_estate.py",
    "truth/test_random_programs.py",
    "verify/test_gpu_ground.py",
    "fit/test_shortcuts.py",
    "verify/test_slices.py",
    "deployment/test_any_text.py",
    "truth/test_pages.py",
    "verify/test_edge_server.py",
    "safety/test_nothing_runs.py",
    "safety/test_same_output.py",
    "interpreter/test_calls.py",
    "test_habits.py",
    "knowledge/test_against_tensorflow.py",
    "safety/test_broken_inputs.py",
    "server/test_server.py",
    "test_pre_commit.py",
    "fit/test_models.py",
    "text_checks/test_mentions.py",
    "safety/test_bounded.py",
    "test_merge.py",
    "mcp/test_server.py",
    "fit/test_xspace.py",
    "truth/test_program_fixtures.py",
    "verify/test_fixing.py",
    "verify/test_limits.py",
    "truth/test_across_modules.py",
    "test_fixtures.py",  # long after test_snapshots.py, which makes most of the runs that it looks at
)
"""Files that take more than some ten seconds, from those that take minutes down."""
_PLACES = {TESTS / name: place for place, name in enumerate(LONGEST_FIRST)}


def place(path: Path) -> int:
    """Return the place of a test file: files of the same place stay in the order in which they were collected."""
    return _PLACES.get(path, len(_PLACES))
