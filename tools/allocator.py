#!/usr/bin/env python3
"""Run the allocator scenarios and the trainings on several TensorFlow releases, and write docs/evidence/allocator.md.

``python tools/allocator.py [PYTHON ...]``: the interpreters that have the releases (default: this one). Exit code 1
where something came out otherwise than expected.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.verify.allocator_scenarios import SCENARIOS  # noqa: E402
from tests.verify.claim_scenarios import CLAIMS  # noqa: E402
from tests.verify.scenarios import MIB, Outcome, Scenario, run  # noqa: E402
from tests.verify.training_scenarios import TRAININGS  # noqa: E402
from tfmemlint.rulekit.rule import codes  # noqa: E402
from tfmemlint.verify.choose_ground import installed  # noqa: E402

PAGE = ROOT / "docs" / "evidence" / "allocator.md"
ABOUT = """\
# TensorFlow's allocator on the simulated driver

What TensorFlow's own device factory and allocator do, made by `python tools/allocator.py`: each scenario is a few lines
(`tests/verify/allocator_scenarios.py`, `claim_scenarios.py`, `training_scenarios.py`) on a GPU of 4096 MiB, of which
300 are in use. Below each release stand the regions of memory that TensorFlow asked the driver for, or the exception. A
rule that is named rests on the row. Before 2.21 TensorFlow brings its own library for the exchange between GPUs, which
the driver does not carry: the training *mirrored* is expected to work from there on only.

"""


def main() -> int:
    """Run everything, and write the page."""
    runs: dict[str, Mapping[str, Outcome]] = {}
    every = SCENARIOS | CLAIMS | TRAININGS
    for python in sys.argv[1:] or [sys.executable]:
        version = installed(python).version
        print(f"TensorFlow {version} ...", flush=True)
        runs[version] = run(python, version, every)
    bad = [
        (version, name) for version, outcomes in runs.items() for name in every if not every[name].check(outcomes[name])
    ]
    for version, name in bad:
        print(f"otherwise than expected on {version}: {name}: {runs[version][name].error[:200]}")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    shown = {version: runs[version] for version in _few(list(runs))}
    page = ABOUT + _matrix(runs) + _table(SCENARIOS | CLAIMS, shown) + _trainings(shown)
    PAGE.write_text(page, encoding="utf-8")
    return 1 if bad else 0


def _few(versions: list[str]) -> list[str]:
    """Return the first, the middle and the last of many."""
    return versions if len(versions) <= 3 else [versions[0], versions[len(versions) // 2], versions[-1]]


def _matrix(runs: Mapping[str, Mapping[str, Outcome]]) -> str:
    """Return how many came out as expected, release by release."""
    lines = ["| release | scenarios as expected | trainings as expected |", "|---|---:|---:|"]
    for version, outcomes in runs.items():
        counts = [
            f"{sum(case.check(outcomes[name]) for name, case in group.items())} of {len(group)}"
            for group in (SCENARIOS | CLAIMS, TRAININGS)
        ]
        lines.append(f"| {version} | {' | '.join(counts)} |")
    return "\n".join(lines) + "\n\n"


def _table(scenarios: Mapping[str, Scenario], runs: Mapping[str, Mapping[str, Outcome]]) -> str:
    lines = [f"| scenario | rule | expected | {' | '.join(runs)} |", f"|---|---|---|{'---|' * len(runs)}"]
    for name, scenario in scenarios.items():
        cells = [_seen(scenario, outcomes[name]) for outcomes in runs.values()]
        rule = scenario.claim if scenario.claim in codes() else ""
        lines.append(f"| {name} | {rule} | {scenario.says} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _trainings(runs: Mapping[str, Mapping[str, Outcome]]) -> str:
    lines = ["", "Trainings (the peak that TensorFlow's allocator reports):", ""]
    lines += [f"| training | {' | '.join(runs)} |", f"|---|{'---|' * len(runs)}"]
    for name, scenario in TRAININGS.items():
        cells = []
        for outcomes in runs.values():
            outcome = outcomes[name]
            peak = outcome.value[0] if not outcome.error and isinstance(outcome.value[0], int) else None
            words = f"{peak / MIB:.2f} MiB" if peak is not None else (_error(outcome) or "as computed by hand")
            cells.append(words if scenario.check(outcome) else f"**{words}**")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _seen(scenario: Scenario, outcome: Outcome) -> str:
    parts = []
    for gpu in outcome.usage.gpus:
        taken = [*outcome.mib(gpu.index)]
        sizes = ", ".join(f"{size:g}" for size in taken)
        more = [("managed", gpu.managed), ("pooled", gpu.pooled)]
        words = [f"{sizes} MiB" if taken else ""]
        words += [f"{sum(sizes) / MIB:g} MiB {name}" for name, sizes in more if sizes]
        shown = "; ".join(filter(None, words)) or "nothing"
        parts.append(shown if len(outcome.usage.gpus) == 1 else f"GPU {gpu.index}: {shown}")
    text = "; ".join([*parts, *filter(None, [_error(outcome)])]) or "no GPU"
    return text if scenario.check(outcome) else f"**{text}**"


def _error(outcome: Outcome) -> str:
    return outcome.error.partition(":")[0]


if __name__ == "__main__":
    sys.exit(main())
