#!/usr/bin/env python3
"""Make ``docs/recall.md``: every spelling of every defect that the fixtures show to be found, and what is not found.

``--check`` writes nothing and ends with 1 where the page is not what the fixtures say.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.fixture_files import FIXTURES, read_text, strip_markers  # noqa: E402
from tests.program_files import ProgramFixture, program_folders, read_program  # noqa: E402
from tfmemlint.rulekit.rule import Rule, rules  # noqa: E402
from tools.make_docs import GROUPS  # noqa: E402

PAGE = ROOT / "docs" / "recall.md"
MAX_LINE_CHARACTERS = 90
"""Characters of a reported line that are shown."""

HEAD = """# Recall: every spelling of every defect that is found

`tools/make_recall.py` makes this page from the fixtures. Each row is a program with a real defect, in a different
spelling. The tests run every program: the rule has to report the line, and TensorFlow has to behave as the last column
says. The programs run on the installed TensorFlow with simulated GPUs at its Python edge; rows with *memory* in the
last column run with TensorFlow's own allocator on a simulated driver. Code without findings is in
[fixtures/silence](../fixtures/silence), and in the `ok_` files beside these.

*Raises*: the program ends with this exception. *Lacks*: it ends normally, without the setting that it requests. *Runs*:
it ends normally; the defect is that the author meant something else, or that the program works only by accident."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One spelling of a defect.

    Attributes:
        words: its description, from the file's name.
        path: the file, relative to the root of the repository.
        rows: the reported rows of that file.
        code: the text of the first of them.
        comes_of_it: TensorFlow's behaviour.
    """

    words: str
    path: str
    rows: tuple[int, ...]
    code: str
    comes_of_it: str

    def line(self, rule: str) -> str:
        """Return its row in the table of its group."""
        rows = ", ".join(map(str, self.rows))
        return f"| {rule} | [{self.words}](../{self.path}) | {rows}: {_code(self.code)} | {self.comes_of_it} |"


def main() -> int:
    """Write the page, or compare it, and return the exit code."""
    parser = argparse.ArgumentParser(prog="tools/make_recall.py", description="Make docs/recall.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is out of date")
    check = parser.parse_args().check
    text = page()
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    if check:
        print("out of date: docs/recall.md\nrun: python tools/make_recall.py", file=sys.stderr)
        return 1
    PAGE.write_text(text, encoding="utf-8", newline="\n")
    print("written: docs/recall.md")
    return 0


def page() -> str:
    """Return the text of the page."""
    own = [rule for rule in rules() if type(rule).__module__.startswith("tfmemlint.rules.")]
    found = {rule.code: list(variants(rule.code)) for rule in own}
    programs = [read_program(folder) for folder in program_folders("bad")]
    parts = [HEAD, "\n".join(_summary(own, found, programs))]
    for beginning, heading in GROUPS.items():
        lines = [
            variant.line(f"[{rule.code}](rules/{rule.code}.md)")
            for rule in own
            if rule.code.startswith(beginning)
            for variant in found[rule.code]
        ]
        if lines:
            head = ["| rule | written as | reported | TensorFlow |", "|---|---|---|---|"]
            parts += [f"## {heading}", "\n".join([*head, *lines])]
    parts += _across(programs)
    parts += _misses()
    return "\n\n".join(parts) + "\n"


def _summary(own: Sequence[Rule], found: dict[str, list[Variant]], programs: Sequence[ProgramFixture]) -> Iterator[str]:
    """Yield the number of spellings of each rule."""
    across = Counter(
        code for program in programs if not program.known for code in {code for _, _, code in program.expected}
    )
    total, whole = sum(map(len, found.values())), sum(not program.known for program in programs)
    missed = sum(bool(program.known) for program in programs)
    yield f"{total} spellings in one file, {whole} programs of several files; {missed} more known to be missed.\n"
    yield "| rule | name | spellings | in programs of several files |"
    yield "|---|---|---:|---:|"
    for rule in own:
        if found[rule.code] or across[rule.code]:
            link = f"[{rule.code}](rules/{rule.code}.md)"
            yield f"| {link} | {rule.name} | {len(found[rule.code])} | {across[rule.code] or ''} |"


def variants(code: str) -> Iterator[Variant]:
    """Yield the spellings of one rule's defect, sorted by their names."""
    for path in sorted((FIXTURES / code).glob("*.py")):
        if path.name.endswith(".fixed.py") or path.name.startswith("ok_"):
            continue
        try:
            text, expected, header = strip_markers(read_text(path))
        except (UnicodeDecodeError, SyntaxError, ValueError):
            # A fixture of a file that can't be read.
            yield Variant(_words(path.stem), _place(path), (1,), "", "is not run: nobody can read it")
            continue
        rows = tuple(row + len(header) for row, codes in expected.items() if code in codes)
        if rows:
            written = text.split("\n")[rows[0] - len(header) - 1]
            yield Variant(_words(path.stem), _place(path), rows, written, _comes_of(header))


def _across(programs: Sequence[ProgramFixture]) -> list[str]:
    """Return the programs of several files."""
    lines = ["| program | reported | TensorFlow |", "|---|---|---|"]
    for program in programs:
        if not program.known:
            headers = [start.header for start in program.starts if start.header]
            comes_of_it = "; ".join(dict.fromkeys(_comes_of(header) for header in headers)) or "runs"
            lines.append(f"| {_link(program)} | {_reported(program)} | {comes_of_it} |")
    return ["## Across files: programs of several modules", "\n".join(lines)]


def _misses() -> list[str]:
    """Return the programs that the analysis is known to get wrong: their tests must fail."""
    lines = ["| program | what should be reported | why it is not |", "|---|---|---|"]
    for folder in program_folders():
        program = read_program(folder)
        if program.known:
            lines.append(f"| {_link(program)} | {_reported(program) or 'nothing'} | {_cell(program.known)} |")
    if len(lines) == 2:
        return []
    words = "A test fails as soon as the analysis gets one of these right; the program then moves up."
    return ["## Known misses and mistakes", words, "\n".join(lines)]


def _reported(program: ProgramFixture) -> str:
    return "<br>".join(f"{code} in `{path}:{row}`" for path, row, code in sorted(program.expected))


def _link(program: ProgramFixture) -> str:
    return f"[{_words(program.folder.name)}](../{_place(program.folder)})"


def _comes_of(header: dict[str, str]) -> str:
    """Return a fixture header's claims about TensorFlow, in words."""
    parts = []
    if "raises" in header:
        parts.append(f"raises `{_cell(header['raises'])}`")
    if "lacks" in header:
        parts.append(f"lacks `{_cell(header['lacks'])}`")
    if "observed" in header:
        parts.append(f"memory: {_OBSERVED.get(header['observed'], _cell(header['observed']))}")
    ground, _, why = header.get("ground", "").partition(" — ")
    if ground == "none":
        parts.append(f"is not run: {_cell(why)}")
    elif ground and "observed" not in header:
        parts.append(f"driver: {_cell(why)}")
    said = "; ".join(parts) or "runs"
    gpus = header.get("gpus", "1").replace(" ", "").split(",")
    said += f" ({' and '.join(gpus)} GPUs)" if gpus != ["1"] else ""
    said += f", from {header['since']} on" if "since" in header else ""
    return said + (f", in {header['target']}" if "target" in header else "")


_OBSERVED = {"all": "all that is free is taken", "runs": "it runs, where it should not"}


def _words(name: str) -> str:
    """Return ``bad_growth_in_capitals`` as words."""
    return name.removeprefix("bad_").removeprefix("ok_").replace("_", " ")


def _place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _code(line: str) -> str:
    """Return a line of code in a cell of a table."""
    text = line.strip()
    text = text if len(text) <= MAX_LINE_CHARACTERS else f"{text[: MAX_LINE_CHARACTERS - 1]}…"
    if not text:
        return ""
    ticks = "``" if "`" in text else "`"
    return f"{ticks}{_cell(text)}{ticks}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
