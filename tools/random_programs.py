"""Random programs on the real TensorFlow: where the tool is wrong, and how much of what fails it finds.

    python tools/random_programs.py --programs 5000 --seed 7 --jobs 2 --keep found/

Every program has a number; the same seed makes the same programs. Of the first few on which the tool was wrong, or that
it missed something in, the smallest form that still shows it is printed.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.truth.programs.campaign import Examiner, campaign, made
from tests.truth.programs.shrink import explained, words


def main() -> int:
    """Run; 1 where a definite claim was wrong."""
    options = _options()
    began = time.monotonic()
    figures = campaign(range(options.programs), options.seed, options.jobs, options.modules)
    print(figures.table())
    print(f"{figures.programs / (time.monotonic() - began):.1f} programs/s")
    print(
        f"definite claims: {figures.claims.total()}, wrong: {figures.wrong.total()}; share found: {figures.share:.3f}"
    )
    odd = figures.wrong_in if options.only_wrong else list(dict.fromkeys([*figures.wrong_in, *figures.missed_in]))
    if odd[: options.show]:
        with Examiner() as examiner:
            for number in odd[: options.show]:
                program, settings = made(options.seed, number, options.modules)
                text = words(explained(examiner, program, settings))
                print(f"\n--- program {number}\n{text}", flush=True)
                if options.keep is not None:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    name = f"{options.modules}-{options.seed}-{number}.txt"
                    (options.keep / name).write_text(text + "\n", encoding="utf-8")
    return 1 if figures.wrong_in else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--programs", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--seed", type=int, default=7, help="which (default: 7)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--modules", type=int, choices=(1, 2, 3), default=1, help="files of a program (default: 1)")
    parser.add_argument("--show", type=int, default=5, help="how many mismatches to make small (default: 5)")
    parser.add_argument("--only-wrong", action="store_true", help="make only wrong claims small, not missed failures")
    parser.add_argument("--keep", type=Path, help="a folder for the mismatches")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
