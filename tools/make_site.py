#!/usr/bin/env python3
"""Make the site from ``docs``: English, and Chinese below ``zh``. Any warning of Sphinx is an error.

It needs no network, and neither do its readers: the site has its search and its pictures with it, and works from the
disk.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "site"
LANGUAGES = {"en": ("docs", ""), "zh": ("docs/zh", "zh")}
"""By language, the folder of its pages, and its folder on the site."""


def main() -> int:
    """Build the site; the exit code is that of the first build that fails."""
    parser = argparse.ArgumentParser(prog="tools/make_site.py", description="Make the site from docs.")
    parser.add_argument("--out", type=Path, default=OUT, help="the folder of the site; build/site by default")
    out = parser.parse_args().out.resolve()
    for language, (source, folder) in LANGUAGES.items():
        if not (ROOT / source / "index.md").exists():
            continue
        command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "--fresh-env"]
        command += ["--conf-dir", "tools/site", "--doctree-dir", str(out.parent / f"{out.name}-trees" / language)]
        command += [source, str(out / folder)]
        code = subprocess.run(command, cwd=ROOT, env={**os.environ, "TFMEMLINT_SITE_LANGUAGE": language}).returncode
        if code:
            return code
    print(f"the site: {out / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
