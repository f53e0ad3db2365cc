"""The summary of a run, and the closing lines that print it."""

from __future__ import annotations

from collections.abc import Sequence

from tfmemlint.model.finding import CAME_TO_LIGHT, PACKAGES, Applicability, Finding, Severity
from tfmemlint.model.records import dataclass
from tfmemlint.reporters.language import translate
from tfmemlint.reporters.paint import Line, Segment


@dataclass(frozen=True, slots=True)
class Summary:
    """The counts of a run.

    Attributes:
        files: files that were checked.
        candidates: those of them that were parsed.
        errors, warnings, advice: findings by severity, including fixed ones.
        fixable: remaining findings that the fixer fixes as it is called now (with ``unsafe``: unsafely too).
        fixable_unsafe: remaining findings that it would additionally fix with ``--unsafe-fixes``.
        fixed: findings that were fixed.
        withheld: findings that remain because their fix was withheld.
        offered: remaining findings whose fix was not computed, as there are too many of them.
        needs: modules that the fixed code imports and the old code did not.
        unsafe: True if ``--unsafe-fixes`` was given.
        planned: nothing was written, only shown.
        cut_short: files that were not followed to the end.
        failed: some path could not be followed.
    """

    files: int = 0
    candidates: int = 0
    errors: int = 0
    warnings: int = 0
    advice: int = 0
    fixable: int = 0
    fixable_unsafe: int = 0
    fixed: int = 0
    withheld: int = 0
    offered: int = 0
    needs: tuple[str, ...] = ()
    unsafe: bool = False
    planned: bool = False
    cut_short: int = 0
    failed: bool = False

    @classmethod
    def of(
        cls,
        remaining: Sequence[Finding],
        fixed: Sequence[Finding] = (),
        *,
        files: int = 0,
        candidates: int = 0,
        unsafe: bool = False,
        planned: bool = False,
        cut_short: int = 0,
        failed: bool = False,
    ) -> Summary:
        """Return the summary of remaining and fixed findings; ``needs`` are those of the fixed ones.

        A fixed finding that came to light by another fix counts for nothing: `check` does not report it.
        """
        needs = {need for finding in fixed if finding.fix is not None for need in finding.fix.needs}
        fixed = [finding for finding in fixed if not finding.details.get(CAME_TO_LIGHT)]
        severities = [finding.severity for finding in (*remaining, *fixed)]
        applicabilities = [finding.fix.applicability for finding in remaining if finding.fix is not None]
        safe, risky = (applicabilities.count(each) for each in (Applicability.SAFE, Applicability.UNSAFE))
        return cls(
            files=files,
            candidates=candidates,
            errors=severities.count(Severity.ERROR),
            warnings=severities.count(Severity.WARNING),
            advice=severities.count(Severity.ADVICE),
            fixable=safe + risky * unsafe,
            fixable_unsafe=risky * (not unsafe),
            fixed=len(fixed),
            withheld=sum(bool(finding.withheld) for finding in remaining),
            offered=sum(finding.fixable and finding.fix is None and not finding.withheld for finding in remaining),
            needs=tuple(sorted(needs)),
            unsafe=unsafe,
            planned=planned,
            cut_short=cut_short,
            failed=failed,
        )

    @property
    def found(self) -> int:
        """Return the number of all findings, including fixed ones."""
        return self.errors + self.warnings + self.advice

    def lines(self, *, reasons_shown: bool = True, verbose: bool = False) -> list[Line]:
        """Return the closing lines; ``reasons_shown`` if the findings above them say why a fix was withheld."""
        out: list[Line] = []
        if verbose:
            close = f", {self.candidates} of them closely" if self.candidates else ""
            out.append([Segment(translate(f"Checked {_count(self.files, 'file', 'files')}{close}."), "dim")])
        if not self.found:
            if self.cut_short:
                files = _count(self.cut_short, "file was", "files were")
                return [*out, [Segment(translate(f"Nothing found, but {files} not followed to the end."), "warning")]]
            if self.failed:
                return [*out, [Segment(translate("Nothing found, but not everything could be read."), "warning")]]
            return [*out, [Segment(translate("All checks passed!"), "good")]]
        for need in self.needs:
            package = PACKAGES.get(need, need)
            install = Segment(f": pip install {package}")
            out.append([Segment("The fixed code imports "), Segment(need, "label"), install])
        kinds = [
            (self.errors, "error", "errors"),
            (self.warnings, "warning", "warnings"),
            (self.advice, "piece of advice", "pieces of advice"),
        ]
        words = ", ".join(translate(_count(number, singular, many)) for number, singular, many in kinds if number)
        fixed = f"{self.fixed} would be fixed" if self.planned else f"{self.fixed} fixed"
        done = f" ({fixed}, {self.found - self.fixed} remaining)" if self.fixed else ""
        out.append([Segment(translate(f"Found {words}{done}."))])
        if self.cut_short:
            files = _count(self.cut_short, "file was", "files were")
            out.append([Segment(translate(f"{files} not followed to the end."), "warning")])
        out.extend(self._offers(reasons_shown))
        return out

    def _offers(self, reasons_shown: bool) -> list[Line]:
        out: list[Line] = []
        mark = Segment("[*]", "mark")
        if self.fixable:
            command = "tfmemlint fix --unsafe-fixes" if self.unsafe else "tfmemlint fix"
            more = f" ({self.fixable_unsafe} more with --unsafe-fixes)" if self.fixable_unsafe else ""
            out.append([mark, Segment(" "), Segment(translate(f"{self.fixable} fixable with `{command}`{more}."))])
        elif self.fixable_unsafe:
            out.append([Segment(translate(f"{self.fixable_unsafe} fixable with `tfmemlint fix --unsafe-fixes`."))])
        if self.offered:
            out.append(
                [Segment(translate(f"`tfmemlint fix --diff` shows which of {self.offered} it would fix, and how."))]
            )
        if self.withheld:
            above = "the reason is given above" if self.withheld == 1 else "the reasons are given above"
            where = above if reasons_shown else "--output-format full says why"
            out.append([Segment(translate(f"{_count(self.withheld, 'fix', 'fixes')} withheld; {where}."))])
        return out


def _count(number: int, singular: str, many: str) -> str:
    return f"{number} {singular if number == 1 else many}"
