from __future__ import annotations

import io
import json

import pytest

from tfmemlint.model.finding import Applicability, Finding, Severity
from tfmemlint.reporters import close, statistics
from tfmemlint.reporters.summary import Summary

from .report_samples import complete, fix, made, printed

WARNING = made(severity=Severity.WARNING)
ADVICE = made(severity=Severity.ADVICE)
UNSAFE = made(fix=fix(Applicability.UNSAFE, ("pynvml",)))
WITHHELD = made(withheld="gpus is bound twice")


def closing(summary: Summary, *, verbose: bool = False) -> list[str]:
    stream = io.StringIO()
    close(summary, stream, color=False, verbose=verbose)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize(
    ("remaining", "fixed", "unsafe", "lines"),
    [
        ([], [], False, ["All checks passed!"]),
        ([made()], [], False, ["Found 1 error."]),
        ([made(), made(), WARNING], [], False, ["Found 2 errors, 1 warning."]),
        ([ADVICE], [], False, ["Found 1 piece of advice."]),
        ([ADVICE, ADVICE], [], False, ["Found 2 pieces of advice."]),
        ([], [complete()], False, ["Found 1 error (1 fixed, 0 remaining)."]),
        ([WARNING], [complete()] * 2, False, ["Found 2 errors, 1 warning (2 fixed, 1 remaining)."]),
        ([complete()] * 2, [], False, ["Found 2 errors.", "[*] 2 fixable with `tfmemlint fix`."]),
        (
            [complete(), UNSAFE],
            [],
            False,
            ["Found 2 errors.", "[*] 1 fixable with `tfmemlint fix` (1 more with --unsafe-fixes)."],
        ),
        ([complete(), UNSAFE], [], True, ["Found 2 errors.", "[*] 2 fixable with `tfmemlint fix --unsafe-fixes`."]),
        ([UNSAFE], [], False, ["Found 1 error.", "1 fixable with `tfmemlint fix --unsafe-fixes`."]),
        ([made(fix=fix(Applicability.DISPLAY))], [], True, ["Found 1 error."]),
        ([WITHHELD], [], False, ["Found 1 error.", "1 fix withheld; --output-format full says why."]),
        (
            [],
            [UNSAFE],
            True,
            ["The fixed code imports pynvml: pip install nvidia-ml-py", "Found 1 error (1 fixed, 0 remaining)."],
        ),
    ],
)
def test_the_closing_lines_count_what_there_is(
    remaining: list[Finding], fixed: list[Finding], unsafe: bool, lines: list[str]
) -> None:
    assert closing(Summary.of(remaining, fixed, unsafe=unsafe)) == lines


def test_verbose_says_how_much_was_checked() -> None:
    assert closing(Summary(files=1700, candidates=68), verbose=True)[0] == "Checked 1700 files, 68 of them closely."
    assert closing(Summary(files=1), verbose=True)[0] == "Checked 1 file."


def test_the_full_report_points_to_the_reasons_above() -> None:
    assert printed([WITHHELD], quiet=False).endswith("Found 1 error.\n1 fix withheld; the reason is given above.\n")
    two = printed([WITHHELD, WITHHELD], quiet=False)
    assert two.endswith("2 fixes withheld; the reasons are given above.\n")


@pytest.mark.parametrize("output_format", ["full", "concise"])
def test_quiet_prints_findings_only(output_format: str) -> None:
    assert printed([], output_format, quiet=True) == ""
    assert "Found" not in printed([made()], output_format, quiet=True)
    assert printed([], output_format, quiet=False) == "All checks passed!\n"


def counted(findings: list[Finding], output_format: str = "full") -> str:
    stream = io.StringIO()
    statistics(findings, stream, output_format, color=False)
    return stream.getvalue()


def test_statistics_are_sorted_by_count_and_then_by_code() -> None:
    other = made(code="TFM201", name="growth-argument")
    findings = [made(code="TFM301", name="limit"), complete(), other, complete(), *[other] * 9]
    assert counted(findings) == (
        "  10  TFM201  [ ] growth-argument\n   2  TFM101  [*] growth-after-init\n   1  TFM301  [ ] limit\n"
    )
    assert counted([complete(), made()]) == "  2  TFM101  [-] growth-after-init\n"
    assert counted([made()]) == "  1  TFM101  growth-after-init\n"
    assert counted([]) == ""


def test_statistics_as_json() -> None:
    assert json.loads(counted([complete(), made()], "json")) == [
        {"code": "TFM101", "name": "growth-after-init", "count": 2, "fixable": False, "fixable_count": 1}
    ]
    assert counted([], "json") == "[]\n"
