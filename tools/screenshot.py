#!/usr/bin/env python3
"""Make the pictures of the pages: what `tfmemlint check` prints to a terminal, as SVG.

    python tools/screenshot.py [FILE] [--output docs/images/check.svg] [--columns 112]
    python tools/screenshot.py fixtures/everywhere --output docs/images/everywhere.svg -- --output-format concise

The tool runs on a copy of FILE without the `# expect:` comments of a fixture, or on a copy of a directory, with the
options behind `--`; nothing of what it prints is changed.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.fixture_files import read_text, strip_markers  # noqa: E402

FILE = ROOT / "fixtures" / "articles" / "a05_strategy_first.py"
PICTURE = ROOT / "docs" / "images" / "check.svg"

FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"

THEME = TerminalTheme(
    (24, 26, 31),
    (214, 217, 224),
    [
        (36, 39, 46),
        (240, 113, 120),
        (152, 195, 121),
        (229, 192, 123),
        (110, 168, 254),
        (198, 120, 221),
        (86, 194, 202),
        (171, 178, 191),
    ],
)


def main() -> None:
    """Run the tool in a terminal and draw what it prints."""
    parser = argparse.ArgumentParser(prog="tools/screenshot.py", description="Draw what `tfmemlint check` prints.")
    parser.add_argument("file", type=Path, nargs="?", default=FILE)
    parser.add_argument("--name", default="train.py", help="what the file is called in the picture")
    parser.add_argument("--output", type=Path, default=PICTURE)
    parser.add_argument("--columns", type=int, default=112)
    given = sys.argv[1:]
    # argparse takes what stands behind `--` for more files.
    end = given.index("--") if "--" in given else len(given)
    arguments, options = parser.parse_args(given[:end]), given[end + 1 :]
    with tempfile.TemporaryDirectory() as folder:
        if arguments.file.is_dir():
            shutil.copytree(arguments.file, folder, dirs_exist_ok=True)
            words = ["check", *options]
        else:
            (Path(folder) / arguments.name).write_text(strip_markers(read_text(arguments.file))[0], encoding="utf-8")
            words = ["check", *options, arguments.name]
        printed = run_in_terminal(words, Path(folder), arguments.columns)
    command = Text.assemble(("$ ", "dim"), (f"tfmemlint {' '.join(words)}\n", "bold"))
    console = Console(width=arguments.columns, record=True, file=io.StringIO(), force_terminal=True)
    console.print(command)
    console.print(Text.from_ansi(printed))
    picture = console.export_svg(title="tfmemlint", theme=THEME, unique_id="tfmemlint")
    # A picture in a README gets nothing from the network: it is drawn in the reader's own font.
    picture = re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    picture = re.sub(r"font-family: Fira Code, monospace", f"font-family: {FONTS}", picture)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(picture + "\n", encoding="utf-8", newline="\n")
    print(f"written: {arguments.output}")


def run_in_terminal(options: list[str], folder: Path, columns: int) -> str:
    """Return the output of the tool in a terminal of this width, with its colours."""
    reader, writer = os.openpty()
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [shutil.which("tfmemlint", path=str(Path(sys.executable).parent)) or "tfmemlint", *options],
        cwd=folder,
        stdout=writer,
        stdin=subprocess.DEVNULL,
        env={**kept, "COLUMNS": str(columns), "TERM": "xterm-256color"},
    )
    os.close(writer)
    printed = b""
    while True:
        try:
            part = os.read(reader, 65536)
        except OSError:  # how Linux tells that the other end is closed
            break
        if not part:
            break
        printed += part
    os.close(reader)
    if process.wait() not in (0, 1):
        sys.exit(process.returncode)
    return printed.decode().replace("\r\n", "\n").rstrip("\n")


if __name__ == "__main__":
    main()
