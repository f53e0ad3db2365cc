"""Every fixture: what the command line finds in it, and what it makes of it with ``fix``.

This is what a user gets: the files are on disk, and the prefilter decides whether they are read.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import fixture_runs
from tests.fixture_files import FIXTURES, fixture_paths, read_text, strip_markers, without_comments
from tests.fixture_runs import Places
from tfmemlint.rulekit.rule import rules

NEVER_FIXED = {rule.code for rule in rules() if rule.fixable == "never"}
"""Rules without a fix of their own; a fixture of theirs may show the fix of another."""


def _named(path: Path) -> str:
    return str(path.relative_to(FIXTURES))


def _commented() -> list[Path]:
    """The fixtures with something wrong that have comments besides the claims."""
    texts = {path: strip_markers(read_text(path))[0] for path in fixture_paths("bad")}
    return [path for path, text in texts.items() if "#" in text and without_comments(text) != text]


@pytest.mark.parametrize("path", [*fixture_paths("bad"), *fixture_paths("ok")], ids=_named)
def test_the_findings_are_those_expected(path: Path) -> None:
    _, expectations, _ = strip_markers(read_text(path))
    expected = Places((path.name, row, code) for row, codes in expectations.items() for code in codes)
    run = fixture_runs.check(path)
    assert fixture_runs.places(run) == expected, run.out + run.err
    assert (run.code, run.err) == (1 if expected else 0, "")
    if path.name.startswith("bad_"):
        assert any(code == path.parent.name for *_, code in expected), "it says nothing of its own rule"


@pytest.mark.parametrize("path", fixture_paths("bad"), ids=_named)
def test_the_fixed_side_is_as_judged(path: Path) -> None:
    text = strip_markers(read_text(path))[0]
    fixed_path = path.with_name(f"{path.stem}.fixed.py")
    fixed = fixture_runs.fix(path)
    assert fixed.texts[path.name] == (read_text(fixed_path) if fixed_path.exists() else text)
    assert fixture_runs.fixed_again(path) == fixed.texts
    left = [finding for finding in fixed.left if finding["code"] == path.parent.name]
    done = fixed_path.exists() and path.parent.name not in NEVER_FIXED
    assert not (left and done), f"it has been fixed, and is still reported: {left}"
    assert not any(finding["fix"] for finding in left), f"it could be fixed: {left}"
    if not all(finding["withheld"] for finding in left):
        found = fixture_runs.found_in_text(path, text)
        could = [finding for finding in found if finding.code == path.parent.name and finding.fixable]
        withheld = {finding["location"]["row"] for finding in left if finding["withheld"]}
        unsaid = [finding for finding in could if finding.span.row not in withheld]
        assert not unsaid, f"nothing says why it is not fixed: {unsaid}"


@pytest.mark.parametrize("path", _commented(), ids=_named)
def test_no_comment_is_needed_for_a_file_to_be_read(path: Path) -> None:
    """What is found without the comments is found by the whole command, too: the prefilter does not need them."""
    bare = without_comments(strip_markers(read_text(path))[0])
    code = path.parent.name
    found = fixture_runs.found_in_text(path, bare)
    expected = {(finding.span.row, finding.code) for finding in found if finding.code == code}
    run = fixture_runs.check_text(path, bare)
    reported = {(row, code) for _, row, code in fixture_runs.places(run)}
    assert expected <= reported, f"the prefilter passes over what the rule finds\n{run.out}{bare}"
