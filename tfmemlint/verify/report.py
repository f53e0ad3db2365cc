"""Print a proof, for people as a table and for programs as JSON."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from tfmemlint.reporters.json_text import json_text
from tfmemlint.reporters.language import localized_text
from tfmemlint.reporters.paint import STYLES, colourful, columns, printable, without_commands, write
from tfmemlint.sources.line_map import Rows
from tfmemlint.verify.observation import Observation
from tfmemlint.verify.prove import Proof, ProofRun
from tfmemlint.verify.sandbox_options import lacking
from tfmemlint.verify.verdict import Verdict, VerdictKind

if TYPE_CHECKING:
    from rich.padding import Padding
    from rich.text import Text

    from tfmemlint.verify.sandbox_options import Sandbox

PIPED_COLUMNS = 100
"""The width of a report that goes to no terminal, in columns; a bound for readability."""

_STYLE = {
    VerdictKind.HOLDS: "good",
    VerdictKind.NOTHING: "error",
    VerdictKind.RAISES: "error",
    VerdictKind.UNPROVEN: "warning",
    VerdictKind.REMOVED: "dim",
}
_MEANING = {
    "gpu": "a real GPU: TensorFlow's own allocator, and NVML's view of it",
    "driver": "TensorFlow's own allocator on a simulated CUDA driver, in this machine's memory",
    "edge": "GPUs simulated at TensorFlow's Python edge: its checks and configuration are real, nothing is allocated",
}


@dataclass(frozen=True, slots=True)
class GroundInfo:
    """The ground on which programs were run.

    Attributes:
        ground: ``gpu``, ``driver`` or ``edge``. tensorflow: its version. python: the interpreter.
        memory_mib: the memory of a simulated GPU in MiB.
        why: why no better ground was taken; "" if the caller chose it, or there is no better one.
        sandbox: what the programs were allowed to reach of this machine; None for everything.
    """

    ground: str
    tensorflow: str
    python: str
    memory_mib: int
    why: str = ""
    sandbox: Sandbox | None = None


def exit_code(proofs: Sequence[Proof]) -> int:
    """Return 0 if all that could be judged takes effect, 1 if something doesn't, 2 if a program could not be judged at
    all.
    """
    if any(proof.problem for proof in proofs):
        return 2
    if any(verdict.kind in (VerdictKind.NOTHING, VerdictKind.RAISES) for proof in proofs for verdict in proof.verdicts):
        return 1
    return 2 if any(_unjudged(proof) for proof in proofs) else 0


def _unjudged(proof: Proof) -> bool:
    return bool(proof.verdicts) and all(verdict.kind is VerdictKind.UNPROVEN for verdict in proof.verdicts)


def as_json(proofs: Sequence[Proof], where: GroundInfo) -> str:
    """Return the proofs as one JSON object.

    ``verdict`` is one of ``takes effect``, ``no effect``, ``raises``, ``not provable here``, and after fixes
    ``taken out``.
    """
    data = {
        "ground": where.ground,
        "tensorflow": where.tensorflow,
        "python": where.python,
        "better_ground_missing": where.why,
        "exit_code": exit_code(proofs),
        "programs": [_program(proof, where) for proof in proofs],
    }
    return json_text(data) + "\n"


def _program(proof: Proof, where: GroundInfo) -> dict[str, Any]:
    return {
        "filename": proof.path,
        "started_by": _begun(proof),
        "gpus": proof.gpus,
        "gpu_memory_mib": where.memory_mib if where.ground != "gpu" else None,
        "fixes": proof.fixes,
        "problem": proof.problem,
        "entry_points": [_entry(run, proof) for run in proof.runs],
    }


def _begun(proof: Proof) -> dict[str, Any] | None:
    """Return the configuration file that starts the program, and the variables of that start; null for a start by
    hand.
    """
    begun = proof.begun
    if begun is None:
        return None
    variables = {write.name: getattr(write.value, "value", None) for write in begun.writes}
    return {"filename": begun.path, "row": begun.span.row, "where": begun.where, "environment": variables}


def _entry(run: ProofRun, proof: Proof) -> dict[str, Any]:
    before: Sequence[Verdict | None] = run.before if run.before is not None else [None] * len(run.verdicts)
    seen = run.seen
    rows = proof.rows_of(run)
    row = seen.start_line if seen is not None else None
    started_in = _place(row, rows) if row is not None else (None, None, None)
    return {
        "entry_point": run.entry,
        "lines_run": run.slice.rows if run.slice is not None else None,
        "lines": run.slice.of if run.slice is not None else None,
        "runtime_started_in_line": started_in[1],
        "runtime_started_in_file": started_in[0],
        "runtime_started_in_cell": started_in[2],
        "configuration": seen.in_force if seen is not None else None,
        "memory": seen.result.probe if seen is not None else None,
        "notes": run.notes,
        "sandbox": seen.result.sandbox if seen is not None else None,
        "output_of_failure": run.failure,
        "intents": [
            {**_intent(now, proof.rows), **({"before": _outcome(old)} if old is not None else {})}
            for now, old in zip(run.verdicts, before, strict=True)
        ],
    }


def _place(row: int, rows: Rows | None) -> tuple[str | None, int, int | None]:
    """Return the file of a row, the line in it, and None; in a notebook the line in the cell, and the cell's number."""
    if rows is None:
        return None, row, None
    path, line = rows.place(row)
    cell = rows.cell(row)
    return (path, cell[1], cell[0]) if cell is not None else (path, line, None)


def _intent(verdict: Verdict, rows: Rows | None) -> dict[str, Any]:
    stated = verdict.stated
    path, row, cell = _place(stated.span.row, rows)
    return {
        "filename": path,
        "cell": cell,
        "row": row,
        "wanted": stated.intent.describe(),
        "intent": {
            "wish": stated.intent.purpose.value,
            "devices": stated.intent.devices,
            "value": stated.intent.json_value,
            "text": stated.intent.text,
        },
        "asked_by": stated.by,
        **_outcome(verdict),
    }


def _outcome(verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": verdict.kind.value,
        "configuration": verdict.configuration,
        "observed": verdict.observed,
        "reason": verdict.reason,
    }


def show(proofs: Sequence[Proof], where: GroundInfo, stream: IO[str], *, verbose: bool = False) -> None:
    """Print the proofs as tables, and a summary."""
    from rich.console import Console
    from rich.padding import Padding

    colour = colourful(stream, None)
    page = io.StringIO()
    console = Console(
        file=page,
        width=columns(stream) or PIPED_COLUMNS,
        force_terminal=colour,
        color_system="standard" if colour else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for proof in proofs:
        if not proof.runs and not proof.problem:
            continue
        title = _styled(printable(proof.path), "path")
        if proof.begun is not None:
            title.append(localized_text(f" as {printable(proof.begun.words)}"), style="none")
        if proof.problem:
            console.print(title)
            console.print(_styled(localized_text(f"  {printable(proof.problem)}") + "\n", "error"))
            continue
        machine = _styled(localized_text(f"({_machine(proof, where)})"), "dim")
        if proof.begun is None:
            console.print(title, machine)
        else:
            console.print(title)
            console.print(Padding(machine, (0, 0, 0, 2)))
        for run in proof.runs:
            words = _entry_words(run, proof)
            if words:
                console.print(_styled(f"  {printable(words)}", "dim"))
            for note in run.notes:
                console.print(_styled(localized_text(f"  {printable(note)}"), "warning"))
            console.print(_table(run, proof.rows))
            if run.failure and (verbose or _failed(run)):
                console.print(_styled(localized_text("  its output:"), "label"))
                for line in run.failure.splitlines():
                    console.print(f"    {printable(line)}")
                console.print()
    _close(proofs, where, console)
    # A table pads its lines, which is of no use in a file.
    lines = map(without_commands, page.getvalue().split("\n"))
    write(stream, "\n".join(lines if colour else map(str.rstrip, lines)))


def _machine(proof: Proof, where: GroundInfo) -> str:
    if where.ground == "gpu":
        return f"gpu, TensorFlow {where.tensorflow}"
    size = f"{where.memory_mib / 1024:g} GiB"
    gpus = f"{proof.gpus} simulated GPU{'s' if proof.gpus != 1 else ''} of {size}"
    return f"{where.ground}, TensorFlow {where.tensorflow}, {gpus}"


def _entry_words(run: ProofRun, proof: Proof) -> str:
    fixes = proof.fixes
    entry = "" if run.entry == "module" else f"{run.entry}(): "
    fixed = ""
    if fixes is not None and run.before is not None:
        fixed = "nothing to fix" if not fixes else f"after {fixes} fix{'es' if fixes != 1 else ''}"
    if run.seen is None:
        return f"{entry}{localized_text(fixed)}" if fixed else entry.rstrip(": ")
    if run.slice is None:
        ran = f"the program itself was run, {_how_far(run.seen, proof.rows_of(run))}"
    else:
        ran = f"{run.slice.rows} of {run.slice.of} lines were run"
    between = {"": "", "nothing to fix": "; "}.get(fixed, ": ")
    return f"{entry}{localized_text(f'{fixed}{between}{ran}')}"


def _how_far(seen: Observation, rows: Rows | None) -> str:
    result = seen.result

    def line(row: int) -> str:
        return rows.line(row) if rows is not None else f"line {row}"

    if seen.stopped:
        return (
            f"up to {line(seen.start_line)}, which starts the runtime" if seen.start_line else "up to its first GPU use"
        )
    if result.error:
        where = line(result.traceback_line) if result.traceback_line else "it"
        return f"until {where} raised {result.exception}" if not result.timed_out else f"and {result.message}"
    if result.exit_code:
        return f"until it ended with exit code {result.exit_code}"
    return "to its end"


def _failed(run: ProofRun) -> bool:
    """True if the program ended in a way that no intent explains."""
    return any(verdict.kind is VerdictKind.UNPROVEN for verdict in run.verdicts)


def _table(run: ProofRun, rows: Rows | None) -> Padding:
    from rich import box
    from rich.padding import Padding
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, expand=False)
    table.add_column(localized_text("line"), justify="right", no_wrap=True)
    table.add_column(localized_text("intent"), ratio=3, overflow="fold")
    observed = any(verdict.observed for verdict in run.verdicts)
    if run.before is not None:
        table.add_column(localized_text("before"), ratio=4, overflow="fold")
        table.add_column(localized_text("now"), ratio=4, overflow="fold")
    else:
        table.add_column(localized_text("TensorFlow's configuration"), ratio=3, overflow="fold")
    if observed:
        table.add_column(localized_text("observed"), ratio=3, overflow="fold")
    if run.before is None:
        table.add_column(localized_text("verdict"), ratio=4, overflow="fold")
    for index, verdict in enumerate(run.verdicts):
        place = verdict.stated.span.row
        shown = rows.shown(place) if rows is not None else str(place)
        row: list[Any] = [printable(shown), _cell_text(verdict.stated.intent.describe())]
        if run.before is not None:
            row += [_cell(run.before[index]), _cell(verdict, full=True)]
        else:
            row.append(_cell_text(verdict.configuration))
        if observed:
            row.append(_cell_text(verdict.observed))
        if run.before is None:
            row.append(_cell(verdict))
        table.add_row(*row)
    return Padding(table, (0, 0, 1, 2))


def _cell(verdict: Verdict, *, full: bool = False) -> Text:
    from rich.text import Text

    text = Text(localized_text(verdict.kind.value), style=STYLES[_STYLE[verdict.kind]])
    more = verdict.reason or (verdict.configuration if full else "")
    if more:
        text.append(localized_text(": ") + localized_text(printable(more)), style="none")
    return text


def _cell_text(text: str) -> str:
    return localized_text(printable(text)) or "-"


def _styled(text: str, style: str) -> Text:
    from rich.text import Text

    return Text(text, style=STYLES[style])


def _close(proofs: Sequence[Proof], where: GroundInfo, console: Any) -> None:
    verdicts = [verdict for proof in proofs for verdict in proof.verdicts]
    silent = sum(not proof.runs and not proof.problem and proof.begun is None for proof in proofs)
    if silent:
        files = "1 file has" if silent == 1 else f"{silent} files have"
        console.print(localized_text(f"{files} no intent about GPU memory"))
    if verdicts:
        counts = Counter(verdict.kind for verdict in verdicts)
        parts = [f"{counts[kind]} {_plural(kind, counts[kind])}" for kind in VerdictKind if counts[kind]]
        words = f"{len(verdicts)} intent{'s' if len(verdicts) != 1 else ''}: {', '.join(parts)}"
        console.print(localized_text(words))
        console.print(_styled(localized_text(f"ground: {where.ground} = {_MEANING[where.ground]}"), "dim"))
    lack = next((words for proof in proofs for run in proof.runs if (words := _lacking(run, where))), "")
    if lack:
        console.print(_styled(localized_text(lack), "warning"))
    if where.why and verdicts:
        console.print(_styled(localized_text(f"no better ground: {printable(where.why)}"), "dim"))


def _lacking(run: ProofRun, where: GroundInfo) -> str:
    return lacking(run.seen.result, where.sandbox) if run.seen is not None else ""


def _plural(kind: VerdictKind, number: int) -> str:
    if kind is VerdictKind.HOLDS:
        return "takes effect" if number == 1 else "take effect"
    if kind is VerdictKind.NOTHING:
        return "has no effect" if number == 1 else "have no effect"
    if kind is VerdictKind.RAISES:
        return "raises" if number == 1 else "raise"
    if kind is VerdictKind.REMOVED:
        return "is taken out" if number == 1 else "are taken out"
    return "not provable here"
