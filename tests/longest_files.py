"""The order of the test files: the longest first, so that no process is left with one of them at the end."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parent
LONGEST_FIRST = (
    "verify/test_sandbox.py",
    "truth/test_plan_and_verify.py",
    "verify/test_toolkit.py",
    "truth/test_fixtures.py",
    "verify/test_sandboxed_programs.py",
    "test_package.py",
    "safety/test_names_are_harmless.py",
    "safety/test_logs_obey_nothing.py",
    "fixes/test_order_repairs.py",
    "truth/test_allocating.py",
    "test_habits.py",
    "reporters/test_corrections.py",
    "fit/test_fit.py",
    "verify/test_driver.py",
    "fixes/test_many_findings.py",
    "project/test_imports.py",
    "truth/test_order_repairs.py",
    "safety/test_same_output.py",
    "test_estate.py",
    "test_site.py",
    "safety/test_bounded.py",
    "plan/test_fixtures.py",
    "safety/test_nothing_runs.py",
    "truth/test_program_fixtures.py",
    "fit/test_shortcuts.py",
    "safety/test_cells_stay_cells.py",
    "test_snapshots.py",
    "reporters/test_language_of_reports.py",
    "test_pre_commit.py",
    "server/test_server.py",
    "fit/test_models.py",
    "interpreter/test_calls.py",
    "verify/test_gpu_ground.py",
    "truth/test_legacy.py",
    "verify/test_edge_server.py",
    "truth/test_pages.py",
    "deployment/test_any_text.py",
    "truth/test_random_programs.py",
    "verify/test_slices.py",
    "test_bad_input.py",
    "test_shards.py",
    "truth/test_children.py",
    "verify/test_limits.py",
    "test_legacy.py",
    "test_merge.py",
    "mcp/test_server.py",
    "verify/test_fixing.py",
    "safety/test_broken_inputs.py",
    "verify/test_verify_command.py",
    "reporters/test_formats_of_others.py",
    "text_checks/test_mentions.py",
    "doctor/test_tensorflow.py",
    "knowledge/test_against_tensorflow.py",
    "test_cache.py",
    "fit/test_xspace.py",
    "truth/test_across_modules.py",
    "test_program_fixtures.py",
    "test_fix_properties.py",
    "test_fixtures.py",  # long after test_snapshots.py, which makes most of the runs that it looks at
)
"""Files that take more than some ten seconds, from those that take minutes down."""
_PLACES = {TESTS / name: place for place, name in enumerate(LONGEST_FIRST)}


def place(path: Path) -> int:
    """Return the place of a test file: files of the same place stay in the order in which they were collected."""
    return _PLACES.get(path, len(_PLACES))
