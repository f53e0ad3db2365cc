"""Random programs whose configuration comes too late: how many are fixed, and what a fix has harmed.

    python tools/random_orders.py --programs 200 --seed 7

Every program has a number; the same seed makes the same programs. Each is run on TensorFlow before and after.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.truth.orders import order_program, outcomes
from tfmemlint.verify.edge import shared


def main() -> int:
    """Run; 1 where a fix has harmed a program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--programs", type=int, default=100, help="how many (default: 100)")
    parser.add_argument("--seed", type=int, default=7, help="which (default: 7)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first (default: 0)")
    parser.add_argument("--show", type=int, help="print this program, and do nothing else")
    options = parser.parse_args()
    if options.show is not None:
        for name, text in order_program(options.seed, options.show).files.items():
            print(f"--- {name}\n{text}")
        return 0
    found = outcomes(options.seed, range(options.first, options.first + options.programs), shared())
    late = sum(count for what, count in found.counts.items() if what not in ("not late", "not found"))
    print("\n".join(found.odd))
    print(f"{dict(found.counts)}: {found.counts['fixed'] / max(late, 1):.3f} of {late} that are found fixed")
    return 1 if found.counts["harmed"] or found.counts["twice"] else 0


if __name__ == "__main__":
    sys.exit(main())
