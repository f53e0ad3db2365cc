#!/usr/bin/env python3
"""Run every fixture on a ground, and write down what was expected and what was seen.

``python tools/evidence.py --device edge --python PATH`` runs the fixtures on the TensorFlow of that interpreter and
puts the outcome into ``docs/evidence/edge.json`` (beside those of other releases), and a table of all into
``docs/evidence/README.md``. Exit code 1 where something was not as expected.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.fixture_files import FIXTURES, fixture_paths  # noqa: E402
from tests.truth.harness import Case, Check, checks, read_case  # noqa: E402
from tfmemlint.verify.choose_ground import choose  # noqa: E402
from tfmemlint.verify.ground import Ground  # noqa: E402
from tfmemlint.verify.result import GroundError  # noqa: E402

FOLDER = ROOT / "docs" / "evidence"
SEEN_CHARACTERS = 140
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_PATH = re.compile(r"\(/[^)]*(?:\)|$)")
"""The folder of a module differs between machines."""


def main() -> int:
    """Run the fixtures, and write what came of them."""
    parser = argparse.ArgumentParser(prog="tools/evidence.py", description="Run every fixture, and keep the evidence.")
    parser.add_argument("--device", choices=("auto", "gpu", "driver", "edge"), default="auto")
    parser.add_argument("--python", help="the interpreter that has TensorFlow (default: this one)")
    parser.add_argument("--only", metavar="PART", default="", help="fixtures whose path has PART in it")
    parser.add_argument("--out", type=Path, default=FOLDER, help="the folder to write to (default: docs/evidence)")
    arguments = parser.parse_args()
    try:
        ground, why = choose(arguments.device, arguments.python)
    except GroundError as error:
        print(f"tools/evidence.py: {error}", file=sys.stderr)
        return 2
    if why:
        print(f"no better ground: {why}")
    with ground:
        record, rows = examine(ground, arguments.only)
    arguments.out.mkdir(parents=True, exist_ok=True)
    name = record["device"].replace(" ", "-").lower() if ground.kind == "gpu" else ground.kind
    path = arguments.out / f"{name}.json"
    data = merge(json.loads(path.read_text(encoding="utf-8")) if path.exists() else None, record, rows)
    path.write_text(as_text(data), encoding="utf-8")
    (arguments.out / "README.md").write_text(table(arguments.out), encoding="utf-8")
    print(f"{ground.kind}, TensorFlow {record['tensorflow']}: {record['counts']} in {record['seconds']} s")
    for row in rows:
        if row["problem"]:
            print(f"  {row['fixture']}: {row['problem']}")
    return 1 if record["counts"].get("otherwise") else 0


def examine(ground: Ground, only: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run every fixture: what it came to in all, and each check."""
    version = ground.version
    counts: Counter[str] = Counter()
    cases: list[Case] = []
    for path in [*fixture_paths("bad"), *fixture_paths("ok")]:
        if only in str(path.relative_to(FIXTURES)):
            case = read_case(path)
            if not case.is_about(version):
                counts["about another release"] += 1
            elif (
                (case.computes and ground.kind == "driver")
                or case.groundless
                or (case.needs_driver and ground.kind == "edge" and not case.fixed)
            ):
                counts["not to be seen on this ground"] += 1
            else:
                cases.append(case)
    start = time.monotonic()
    with ThreadPoolExecutor(ground.at_once()) as pool:
        found: list[list[Check]] = list(pool.map(lambda case: list(checks(case, ground)), cases))
    rows = []
    for case, its in zip(cases, found, strict=True):
        for check in its:
            counts["otherwise" if check.problem else "as expected"] += 1
            rows.append(
                {
                    "fixture": str(case.path.relative_to(FIXTURES)),
                    "side": check.side,
                    "gpus": check.gpus,
                    "expected": _short(check.expected),
                    "seen": _short(check.seen),
                    "problem": check.problem,
                }
            )
    record = {
        "ground": ground.kind,
        **_device(ground),
        "tensorflow": version,
        "python": _python(ground),
        "system": f"{platform.system()} {platform.machine()}",
        "programs": len(cases),
        "counts": dict(sorted(counts.items())),
        "seconds": round(time.monotonic() - start),
    }
    return record, rows


def merge(old: dict[str, Any] | None, record: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the evidence of several releases in one: what was seen alike stands there once."""
    release = ".".join(record["tensorflow"].split(".")[:2])
    runs = [run for run in (old or {}).get("runs", []) if run["tensorflow"].split(".")[:2] != release.split(".")]
    cases: dict[tuple[str, str, int, str], dict[str, list[str]]] = {}
    for case in (old or {}).get("cases", []):
        key = (case["fixture"], case["side"], case["gpus"], case["expected"])
        kept = {seen: [known for known in releases if known != release] for seen, releases in case["seen"].items()}
        cases[key] = {seen: releases for seen, releases in kept.items() if releases}
    for row in rows:
        key = (row["fixture"], row["side"], row["gpus"], row["expected"])
        seen = cases.setdefault(key, {})
        words = f"NOT AS EXPECTED: {row['seen']}" if row["problem"] else row["seen"]
        seen[words] = sorted({*seen.get(words, []), release}, key=_order)
    return {
        "runs": sorted([*runs, record], key=lambda run: _order(run["tensorflow"])),
        "cases": [
            {"fixture": fixture, "side": side, "gpus": gpus, "expected": expected, "seen": seen}
            for (fixture, side, gpus, expected), seen in sorted(cases.items())
            if seen
        ],
    }


def as_text(data: dict[str, Any]) -> str:
    """JSON with one case a line."""
    runs = ",\n".join(f"    {json.dumps(run)}" for run in data["runs"])
    cases = ",\n".join(f"    {json.dumps(case, ensure_ascii=False)}" for case in data["cases"])
    return f'{{\n  "runs": [\n{runs}\n  ],\n  "cases": [\n{cases}\n  ]\n}}\n'


def table(folder: Path) -> str:
    """Return a page with one row for each run whose evidence lies in ``folder``."""
    lines = [
        "# Evidence",
        "",
        "Every fixture, run on TensorFlow by `python tools/evidence.py`: what its header claims, held against what was",
        "seen. A check is one side of a fixture (the failing or the fixed one) on a machine with so many GPUs. The",
        "JSON files beside this page have each of them. [allocator.md](allocator.md) has the behaviour of TensorFlow's",
        "allocator on the simulated driver, scenario by scenario. A run with fewer checks is older: fixtures that were",
        "written since are not among them.",
        "",
        "| ground | device | driver | TensorFlow | Python | checks | as expected | otherwise |"
        " about another release | not to be seen here |",
        "|---|---|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for path in sorted(folder.glob("*.json")):
        for run in json.loads(path.read_text(encoding="utf-8"))["runs"]:
            counts = run["counts"]
            good, bad = counts.get("as expected", 0), counts.get("otherwise", 0)
            cells = [
                run["ground"],
                run["device"],
                run["driver"],
                run["tensorflow"],
                run["python"],
                good + bad,
                good,
                bad,
            ]
            cells += [counts.get("about another release", 0), counts.get("not to be seen on this ground", 0)]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def _device(ground: Ground) -> dict[str, str]:
    if ground.kind != "gpu":
        words = "simulated CUDA driver" if ground.kind == "driver" else "GPUs simulated in Python"
        return {"device": words, "driver": "-"}
    import pynvml

    pynvml.nvmlInit()
    name = pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(0))
    return {"device": str(name), "driver": str(pynvml.nvmlSystemGetDriverVersion())}


def _python(ground: Ground) -> str:
    import subprocess

    code = "import platform; print(platform.python_version())"
    return subprocess.run([ground.python, "-c", code], capture_output=True, text=True).stdout.strip()


def _short(text: str) -> str:
    line = _PATH.sub("(...)", _ADDRESS.sub("0x...", " ".join(text.split())))
    return line if len(line) <= SEEN_CHARACTERS else f"{line[: SEEN_CHARACTERS - 3]}..."


def _order(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


if __name__ == "__main__":
    sys.exit(main())
