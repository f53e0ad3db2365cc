"""Print the result of a measurement, for people and as JSON."""

from __future__ import annotations

import math
import textwrap
from dataclasses import asdict
from typing import IO, Any

from tfmemlint.fit.bars import MAX_COLUMNS, bar, lacks_blocks
from tfmemlint.fit.child.trace import MAX_TRACE_SECONDS, MAX_TRACE_STEPS
from tfmemlint.fit.held import COPIED, named_share, shown
from tfmemlint.fit.measure import FitOutcome, FitResult
from tfmemlint.fit.observation import MIB, DeviceUsage, FitRun
from tfmemlint.fit.oom_messages import memory_line, refused
from tfmemlint.fit.report_changes import lines_of
from tfmemlint.fit.runner import steps_words
from tfmemlint.reporters.language import localized, localized_text
from tfmemlint.reporters.paint import Line, Segment, colourful, columns, painter, printable
from tfmemlint.verify.sandbox_options import kept_apart, lacking

PIPED_COLUMNS = 100
"""The width of a report that goes to no terminal, in columns; a bound for readability."""
MAX_OUTPUT_LINES = 20
"""The number of lines of the script's output that are shown; a bound for readability."""
_BAR_AT = 48
"""The column at which bars begin."""
NOT_KNOWN = (
    "These figures leave out what depends on kernels that run: the workspaces of cuDNN and cuBLAS, the memory of"
    " algorithms that are chosen by timing them, and the memory of the CUDA context and its libraries (some hundreds of"
    " MiB; see --in-use). They include XLA's temporaries if the script uses XLA. Operations that run at the same time"
    " may run in another order, which changes the peak by some of their results. Values are not computed: a script"
    " whose course depends on them may take another one."
)
"""The limits of a simulation of memory alone, for the reader of the report."""
OTHER_VALUES = (
    "Kernels compute nothing on the simulated GPU: a script that checks their results can fail there though it runs on"
    " a real GPU."
)
_STYLE = {FitOutcome.FITS: "good", FitOutcome.TOO_BIG: "error", FitOutcome.UNKNOWN: "warning"}


def exit_code(found: FitResult) -> int:
    """Return 0 if it fits, 1 if it does not, 2 if that could not be found out."""
    return {FitOutcome.FITS: 0, FitOutcome.TOO_BIG: 1, FitOutcome.UNKNOWN: 2}[found.outcome]


def as_data(script: str, found: FitResult) -> dict[str, Any]:
    """Return the result as plain data; sizes are bytes unless the name says MiB."""
    conditions, seen = found.conditions, found.measured
    return {
        "script": script,
        "outcome": found.outcome.value,
        "exit_code": exit_code(found),
        "problem": found.problem,
        "tensorflow": found.tensorflow,
        "gpus": conditions.gpus,
        "gpu_memory_mib": conditions.memory_mib,
        "gpu_model": conditions.gpu_model,
        "in_use_mib": conditions.in_use_mib,
        "jit": conditions.jit,
        "steps": seen.steps,
        "devices": [_device(device, found) for device in seen.devices],
        "refused": [memory_line(message) for message in found.asked.exhausted],
        "times_refused": found.asked.times_exhausted,
        "memory_limit_mib": None
        if found.limit is None
        else {"works": found.limit.works, "fails": found.limit.fails, "runs": found.limit.runs},
        "batches": None if found.batches is None else asdict(found.batches),
        "what_would_help": None if found.helps is None else [asdict(changed) for changed in found.helps],
        "unsimulated": seen.usage.unsimulated,
        "notes": found.notes,
        "sandbox": found.asked.result.sandbox,
        "not_known": NOT_KNOWN,
    }


def _device(device: DeviceUsage, found: FitResult) -> dict[str, Any]:
    asked = next((candidate for candidate in found.asked.devices if candidate.name == device.name), None)
    return {
        "name": device.name,
        "card": device.card,
        "peak": device.peak,
        "room": asked.room if asked is not None else None,
        "growth": asked.growth if asked is not None else None,
        "peak_of_requests": device.asked_peak,
        "room_by_replay": device.smallest_room,
        "recorded_peak": device.held["peak"] if device.held else None,
        "held_at_peak": device.held["roles"] if device.held else None,
        "named_share": round(named_share(device.held), 4) if device.held else None,
        "largest": device.held["largest"] if device.held else None,
        "allocations": device.held["groups"] if device.held else None,
        "over_time": device.held.get("over_time") if device.held else None,
    }


def show(script: str, found: FitResult, stream: IO[str], *, verbose: bool = False) -> None:
    """Print the result for people."""
    width = min(columns(stream) or PIPED_COLUMNS, 120)
    lines = _lines(script, found, width, verbose)
    if columns(stream) is not None:
        lines = _with_bars(lines, found, width, plain=lacks_blocks(stream))
    painter(stream, colourful(stream, None))(map(localized, lines))


def _lines(script: str, found: FitResult, width: int, verbose: bool) -> list[Line]:
    conditions = found.conditions
    cards = "1 simulated GPU" if conditions.gpus == 1 else f"{conditions.gpus} simulated GPUs"
    name = f" ({conditions.gpu_model})" if conditions.gpu_model else ""
    machine = f"{cards} of {_card(conditions.memory_mib)}{name}, TensorFlow {found.tensorflow}"
    lines: list[Line] = [[Segment(printable(script), "path"), Segment(f" ({machine})", "dim")]]
    verdict: Line = [Segment("  "), Segment(found.outcome.value, _STYLE[found.outcome])]
    if found.problem:
        lines.append([*verdict, Segment(f": {printable(found.problem)}")])
        if found.asked.result.exception and found.asked.result.observer is not None:
            lines += _wrapped(OTHER_VALUES, width, "dim")
        if found.asked.devices:
            lines += _devices(found, width)
    else:
        how = f" in {steps_words(found.asked.steps)}" if found.asked.steps else " (it took no training step)"
        lines.append([*verdict, Segment(how if found.outcome is FitOutcome.FITS else f": {_refused(found)}")])
        lines += _devices(found, width)
    lines += _batches(found, width)
    lines += lines_of(found)
    for note in [*_notes(found), *found.notes]:
        lines += _wrapped(note, width, "warning")
    if found.problem or verbose:
        lines += _output(found.asked)
    if found.measured.devices:
        lines += [[], *_wrapped(NOT_KNOWN, width, "dim")]
    return lines


def _with_bars(lines: list[Line], found: FitResult, width: int, *, plain: bool) -> list[Line]:
    """Return the lines with a bar after each that says a part of a GPU's peak, and one for the peak."""
    shown: list[Line] = []
    devices = {device.name: device for device in found.measured.devices}
    held: dict[str, int] = {}
    room = max(min(MAX_COLUMNS, width - _BAR_AT - len(" 100 %")), 0)
    for line in lines:
        texts = [segment.text for segment in line]
        device = devices.get(texts[1]) if len(texts) > 2 and texts[2] == " peak " else None
        shown.append(line)
        if device is not None and device.peak is not None:
            held = device.held["roles"] if device.held is not None else {}
            asked = next((other for other in found.asked.devices if other.name == device.name), device)
            shown.append(_bar("of what TensorFlow may take", device.peak, asked.room, room, plain))
        elif len(line) == 2 and texts[1] in held and line[1].style == "label":
            shown[-1] = _bar(texts[1], held[texts[1]], sum(held.values()), room, plain, texts[0])
    return shown


def _bar(what: str, part: float, whole: float, columns: int, plain: bool, before: str = "") -> Line:
    drawn = bar(part, whole, columns, plain=plain)
    share = f"{part / whole:.0%}" if whole else ""
    head = f"{before or ' ' * 18}{what}"
    label = Segment(head, "label" if before else "dim")
    return [label, Segment(" " * max(_BAR_AT - len(head), 1)), Segment(drawn, "mark"), Segment(f" {share}", "dim")]


def _batches(found: FitResult, width: int) -> list[Line]:
    batches = found.batches
    if batches is None:
        return []
    if batches.fits is None:
        words = "none that fits was found"
    else:
        beyond = f"; {batches.fails} does not" if batches.fails is not None else ", and of larger ones nothing is known"
        words = f"{batches.fits} fits{beyond}"
    runs = "1 run" if len(batches.trials) == 1 else f"{len(batches.trials)} runs"
    lines: list[Line] = [[Segment("  "), Segment("batch ", "label"), Segment(f"{words} (found in {runs})")]]
    if batches.problem:
        lines += _wrapped(f"the search ended: {batches.problem}", width, "warning", indent=8)
    for trial in sorted(batches.trials, key=lambda trial: trial.batch):
        peak = f", peak {mib(trial.peak) if trial.peak else 'not known'}"
        # What it needs is not known: it ended before it got there.
        outcome = f"fits{peak}" if trial.fits else f"not known{peak}" if trial.problem else "does not fit"
        lines.append([Segment(f"    {trial.batch:>12}  "), Segment(outcome, "dim")])
    return lines


def _refused(found: FitResult) -> str:
    """Return the allocation that had no room, in words."""
    messages = found.asked.exhausted or [found.asked.result.message]
    failed = refused(messages[-1])
    if not failed.what and not failed.operation:
        return printable(memory_line(messages[-1]))
    for_whom = f" for {printable(failed.operation)}" if failed.operation else ""
    what = f" ({failed.what})" if failed.what else ""
    where = f" on {failed.device}" if failed.device else ""
    when = f" in training step {found.asked.steps + 1}" if found.asked.steps else ""
    return f"no room{where}{when}{for_whom}{what}"


def _devices(found: FitResult, width: int) -> list[Line]:
    lines: list[Line] = []
    for device in found.measured.devices:
        lines += _of_device(device, found, width)
    limit = found.limit
    if limit is not None:
        if limit.works is None:
            words = "no memory_limit was found under which it runs"
        else:
            beyond = f", and not with {limit.fails}" if limit.fails is not None else ""
            words = f"runs with memory_limit={limit.works}{beyond} (found in {limit.runs} runs)"
        lines.append([Segment("  "), Segment("limit ", "label"), Segment(words)])
    return lines


def _of_device(device: DeviceUsage, found: FitResult, width: int) -> list[Line]:
    asked = next((candidate for candidate in found.asked.devices if candidate.name == device.name), device)
    head: Line = [Segment("  "), Segment(device.name, "label")]
    if device.peak is None:
        return [[*head, Segment(" its allocator does not report how much it gave out")]]
    whose = "the script lets TensorFlow" if asked.limited else "TensorFlow may"
    share = f"; {whose} take {mib(asked.room)} of the GPU{', piece by piece' if asked.growth else ''}"
    lines: list[Line] = [[*head, Segment(" peak "), Segment(mib(device.peak), "label"), Segment(share)]]
    if device is not asked and device.peak > asked.room:
        lines += _wrapped(_would_do(device, asked, found), width, "", indent=8)
    held = device.held
    if held is None:
        return lines
    if device.asked_peak is None:
        text = (
            f"what was requested is not known: allocations are recorded for the first {MAX_TRACE_STEPS} steps and"
            f" {MAX_TRACE_SECONDS:g} s of processor time; the list below is from {mib(held['peak'])}"
        )
        lines += _wrapped(text, width, "warning", indent=8)
    else:
        waste = device.peak - held["asked"]
        words = f"{mib(device.asked_peak)} were requested at a time; a memory_limit has to be above that"
        if waste >= MIB and held["peak"] == device.peak:
            words += f"; at the peak {mib(waste)} more were taken, because the allocator's pieces were larger"
        lines += _wrapped(words, width, "dim", indent=8)
        if found.limit is None and device.smallest_room is not None:
            least = f"memory_limit={_limit(device.smallest_room)} is enough, by a replay of the requests"
            lines += _wrapped(least, width, "dim", indent=8)
    for role, size in sorted(held["roles"].items(), key=lambda item: -item[1]):
        lines.append([Segment(f"    {mib(size):>12}  "), Segment(role, "label")])
        lines += [_piece(entry) for entry in shown(held, role)]
    return lines


def _would_do(device: DeviceUsage, asked: DeviceUsage, found: FitResult) -> str:
    """Return the GPU that would have room for the memory of ``device``, in words."""
    peak, smallest = device.peak or 0, device.smallest_room
    if asked.limited and (smallest or peak) <= asked.free:
        return f"the GPU has room for it ({mib(asked.free)} are free), but the script's own limit has not"
    # TensorFlow leaves some memory free on a GPU that it takes as a whole.
    kept = 0 if asked.limited else asked.free - asked.room
    works = found.limit.works if found.limit is not None else None
    enough = peak if asked.growth else smallest or peak
    size = (works or enough / MIB) + kept / MIB + found.conditions.in_use_mib
    gpu = f"a GPU of {math.ceil(size / 102.4) / 10:g} GiB"
    if works is not None:
        return f"{gpu} would be enough"
    # A replay is of memory in one piece.
    if smallest is not None and not asked.growth:
        return f"by a replay of its requests it needs {gpu}; --check-limit runs it"
    # Free memory in too many pieces can take a third more (measured on a mixed-precision network under XLA).
    return f"by its peak it needs {gpu}, or more; --check-limit finds out"


def _limit(size: int) -> int:
    """Return a size in bytes as a memory limit, in MiB."""
    return -(-size // MIB)


def _piece(entry: dict[str, Any]) -> Line:
    tensor = f"{entry['type']} {entry['shape'].replace(',', ', ')}".strip()
    times = f" x {entry['number']}" if entry["number"] > 1 else ""
    unnamed = "from the host" if entry["role"] == COPIED else "no operation named, such as XLA's temporaries"
    what = printable(entry["what"]) or ("" if tensor else unnamed)
    between = " " if what and tensor else ""
    return [Segment(f"    {mib(entry['bytes']):>12}    "), Segment(f"{what}{between}{tensor}{times}")]


def _notes(found: FitResult) -> list[str]:
    notes = []
    seen = found.asked
    if found.outcome is FitOutcome.FITS and seen.times_exhausted:
        notes.append(
            f"it ran out of GPU memory {_times(seen.times_exhausted)}, caught the error and went on:"
            f" {memory_line(seen.exhausted[0])}"
        )
    if found.outcome is FitOutcome.FITS and seen.steps < found.conditions.steps:
        ended = "the script ended by itself" if seen.steps else "no training step was seen"
        notes.append(f"{ended}, so all of it ran")
    if not found.conditions.jit:
        notes.append(
            "--jit off: XLA compiled nothing; where it does, operations are merged, and the peak is another one"
        )
    variables = seen.result.environment
    if variables.get("TF_GPU_ALLOCATOR") == "cuda_malloc_async":
        notes.append(
            "TF_GPU_ALLOCATOR=cuda_malloc_async: no memory_limit is enforced, and the use of the memory isn't known"
        )
    if found.measured.usage.unsimulated:
        names = ", ".join(found.measured.usage.unsimulated[:5])
        notes.append(f"the script called functions that the simulated driver lacks: {names}")
    wanted = found.conditions.sandbox
    notes += [words for words in (kept_apart(seen.result), lacking(seen.result, wanted)) if words]
    trouble = (found.measured.result.observer or {}).get("error")
    if trouble:
        notes.append(f"some observations failed: {trouble}")
    return notes


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _output(seen: FitRun) -> list[Line]:
    """Return the end of the script's output."""
    said = (seen.result.stdout + seen.result.stderr).strip().splitlines()
    shown = [line[:500] for line in said[-MAX_OUTPUT_LINES:]]
    if not shown:
        return []
    return [[Segment("  its output:", "label")], *[[Segment(f"    {printable(line)}", "quoted")] for line in shown]]


def _wrapped(text: str, width: int, style: str, indent: int = 2) -> list[Line]:
    space, words = " " * indent, localized_text(printable(text))
    room = (width - indent) // (1 if words.isascii() else 2)
    return [[Segment(space), Segment(line, style)] for line in textwrap.wrap(words, max(room, 20))]


def _card(mib: int) -> str:
    return f"{mib / 1024:g} GiB" if mib % 256 == 0 else f"{mib} MiB"


def mib(size: float) -> str:
    """Return an amount of bytes in words."""
    amount = size / MIB
    return f"{amount:,.0f} MiB" if amount >= 100 else f"{amount:.1f} MiB" if amount >= 0.05 else f"{size:,.0f} B"
