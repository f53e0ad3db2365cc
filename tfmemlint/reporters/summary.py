"""What a run came to, and the closing lines that say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfmemlint.model.finding import Applicability, Finding, Severity
from tfmemlint.reporters.paint import Line, Segment

_PACKAGES = {"pynvml": "nvidia-ml-py"}
"""Where the package that brings a module has another name."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run came to.

    Attributes:
        files: files that were checked. candidates: those of them that had to be read closely.
        errors, warnings, advice: findings by severity, those that were fixed included.
        fixable: findings that are left and that the fixer mends as it is called now (with ``unsafe``: unsafely too).
        fixable_unsafe: findings that are left and that it would mend with ``--unsafe-fixes`` besides.
        fixed: findings that were mended. withheld: findings that are left because their fix was withheld.
        offered: findings that are left whose fix was not worked out, as there are too many of them.
        needs: modules that the fixed code imports and the old code did not.
        unsafe: whether ``--unsafe-fixes`` was given. planned: nothing was written, only shown.
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
    ) -> Summary:
        """The summary of the findings that are left and of those that were mended; ``needs`` are of the mended ones."""
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
            offered=sum(one.fixable and one.fix is None and not one.withheld for one in remaining),
            needs=tuple(sorted({need for one in fixed if one.fix is not None for need in one.fix.needs})),
            unsafe=unsafe,
            planned=planned,
        )

    @property
    def found(self) -> int:
        """All findings, those that were fixed included."""
        return self.errors + self.warnings + self.advice

    def lines(self, *, reasons_shown: bool = True, verbose: bool = False) -> list[Line]:
        """The closing lines; ``reasons_shown`` if the findings above them say why a fix was withheld."""
        out: list[Line] = []
        if verbose:
            close = f", {self.candidates} of them closely" if self.candidates else ""
            out.append([Segment(f"Checked {_count(self.files, 'file', 'files')}{close}.", "dim")])
        if not self.found:
            return [*out, [Segment("All checks passed!", "good")]]
        kinds = [
            (self.errors, "error", "errors"),
            (self.warnings, "warning", "warnings"),
            (self.advice, "piece of advice", "pieces of advice"),
        ]
        words = ", ".join(_count(number, one, many) for number, one, many in kinds if number)
        fixed = f"{self.fixed} would be fixed" if self.planned else f"{self.fixed} fixed"
        done = f" ({fixed}, {self.found - self.fixed} remaining)" if self.fixed else ""
        out.append([Segment(f"Found {words}{done}.")])
        out.extend(self._offers(reasons_shown))
        for need in self.needs:
            package = _PACKAGES.get(need, need)
            install = Segment(f": pip install {package}")
            out.append([Segment("The fixed code imports "), Segment(need, "label"), install])
        return out

    def _offers(self, reasons_shown: bool) -> list[Line]:
        out: list[Line] = []
        mark = Segment("[*]", "mark")
        if self.fixable:
            command = "tfmemlint fix --unsafe-fixes" if self.unsafe else "tfmemlint fix"
            more = f" ({self.fixable_unsafe} more with --unsafe-fixes)" if self.fixable_unsafe else ""
            out.append([mark, Segment(f" {self.fixable} fixable with `{command}`{more}.")])
        elif self.fixable_unsafe:
            out.append([Segment(f"{self.fixable_unsafe} fixable with `tfmemlint fix --unsafe-fixes`.")])
        if self.offered:
            out.append([Segment(f"`tfmemlint fix --diff` tells which of {self.offered} it would mend, and how.")])
        if self.withheld:
            above = "the reason is given above" if self.withheld == 1 else "the reasons are given above"
            where = above if reasons_shown else "--output-format full says why"
            out.append([Segment(f"{_count(self.withheld, 'fix', 'fixes')} withheld; {where}.")])
        return out


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
