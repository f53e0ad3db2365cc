"""``python -m tfmemlint``."""

import sys

from tfmemlint.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
