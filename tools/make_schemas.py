"""Write the JSON schemas that are published, ``docs/schemas``, and the table of the options in ``docs/options.md``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tfmemlint.config.describe import schema  # noqa: E402
from tfmemlint.config.options import OPTIONS  # noqa: E402
from tfmemlint.reporters import json_schema  # noqa: E402
from tfmemlint.reporters.json_schema import VERSION  # noqa: E402
from tfmemlint.rulekit.rule import rules  # noqa: E402

BEGIN, END = "<!-- options -->\n", "<!-- end of the options -->\n"


def table() -> str:
    """Return the rows of the table of options."""
    rows = []
    for option in OPTIONS.values():
        words = option.words + (f"; by default {option.default}" if option.default else "")
        where = "; taken from the working directory's file" if option.whole_run else ""
        rows.append(f"| `{option.key}` | {SHAPES[option.shape]} | {words}{where} |\n")
    return "\n| option | shape | meaning |\n|---|---|---|\n" + "".join(rows) + "\n"


SHAPES = {"list": "list of strings", "table": "table", "flag": "true or false", "text": "string"}


def with_table(page: str) -> str:
    """Return a page with the table of options as it is now."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


def main() -> None:
    """Write the files."""
    page = ROOT / "docs" / "options.md"
    page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")
    folder = ROOT / "docs" / "schemas"
    folder.mkdir(exist_ok=True)
    made = {"configuration.json": schema(rules()), f"findings-v{VERSION}.json": json_schema.schema()}
    for name, content in made.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
