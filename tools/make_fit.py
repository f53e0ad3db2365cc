#!/usr/bin/env python3
"""Write the results of `tfmemlint fit` into docs/fit.md: an example's report, and models that were worked out by hand.

Needs TensorFlow's GPU build and a C compiler. ``--python`` names further interpreters, with other releases.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.fit.models import MIB, MODELS, START  # noqa: E402
from tfmemlint.fit.measure import FitResult, measure  # noqa: E402
from tfmemlint.fit.report import show  # noqa: E402
from tfmemlint.fit.runner import FitOptions  # noqa: E402
from tfmemlint.verify.choose_ground import DriverGround  # noqa: E402
from tfmemlint.verify.ground import Ground  # noqa: E402

PAGE = ROOT / "docs" / "fit.md"
_EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```.*?```text\n(?P<report>.*?)(?=```)", re.DOTALL)


def main() -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="tools/make_fit.py", description="Write docs/fit.md.")
    parser.add_argument("--python", action="append", default=[], help="an interpreter with another release")
    others = parser.parse_args().python
    page = PAGE.read_text(encoding="utf-8")
    with DriverGround() as ground:
        example = _EXAMPLE.search(page)
        assert example is not None
        page = page[: example.start("report")] + _report(example["code"], ground) + page[example.end("report") :]
        found = {name: _run(name, ground) for name in MODELS}
        page = _block(page, "models", _models(found, ground.version))
    releases = {found["dense, SGD"].tensorflow: found}
    for python in others:
        with DriverGround(python) as ground:
            releases[ground.version] = {name: _run(name, ground) for name in MODELS}
    if others:
        page = _block(page, "releases", _releases(releases))
    PAGE.write_text(page, encoding="utf-8")
    return 0


def _block(page: str, name: str, text: str) -> str:
    """Return the page with another text between the two marks of a block."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    first, last = page.index(begin) + len(begin), page.index(end)
    return page[:first] + text + page[last:]


def _run(name: str, ground: Ground) -> FitResult:
    with tempfile.TemporaryDirectory() as folder:
        conditions = FitOptions(cwd=folder)
        return measure(Path(folder) / "model.py", START + MODELS[name].code, ground, conditions, lambda words: None)


def _report(code: str, ground: Ground) -> str:
    with tempfile.TemporaryDirectory() as folder:
        found = measure(
            Path(folder) / "train.py", code, ground, FitOptions(cwd=folder, memory_mib=4096), lambda words: None
        )
    page = io.StringIO()
    show("train.py", found, page)
    return page.getvalue()


def _sizes(found: FitResult) -> tuple[float, float]:
    """Return the most that was requested at a time, and the allocator's peak, in MiB."""
    (device,) = found.asked.devices
    assert device.peak is not None
    assert device.held is not None
    return device.held["asked_peak"] / MIB, device.peak / MIB


def _models(found: dict[str, FitResult], release: str) -> str:
    lines = [
        f"TensorFlow {release}; sizes in MiB; the peak as a ratio to the sum and what passes.\n",
        "| model | weights | slots | gradients | activations | inputs | sum | passing | asked for | of the sum |"
        " of sum and passing | peak |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, model in MODELS.items():
        parts = (model.parameters, model.slots, model.gradients, model.activations, model.inputs)
        asked, peak = _sizes(found[name])
        cells = [name, *(f"{part:.1f}" for part in (*parts, sum(parts), model.passing, asked))]
        cells += [f"{asked / sum(parts):.3f}", f"{asked / model.expected:.3f}"]
        cells.append(f"{peak:.1f} ({peak / model.expected:.3f})")
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "What passes at the peak:", ""]
    lines += [f"- **{name}**: {model.why}." for name, model in MODELS.items()]
    return "\n".join(lines) + "\n"


def _releases(found: dict[str, dict[str, FitResult]]) -> str:
    order = sorted(found, key=lambda release: [int(part) for part in release.split(".")[:2]], reverse=True)
    lines = [f"| model | {' | '.join(order)} |", f"|---|{'---:|' * len(order)}"]
    for name, model in MODELS.items():
        ratios = (f"{_sizes(found[release][name])[0] / model.expected:.3f}" for release in order)
        lines.append(f"| {name} | {' | '.join(ratios)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
