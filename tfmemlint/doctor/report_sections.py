"""The sections of the doctor's report for people, each a list of paragraphs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from tfmemlint.doctor.diagnosis import Diagnosis
from tfmemlint.doctor.environment import VariableReport, VariableVerdict
from tfmemlint.doctor.nvml_query import NvmlGpu, Process
from tfmemlint.doctor.trouble import Trouble
from tfmemlint.reporters.paint import Line, Segment, printable

LABEL = 14
"""The width of the titles, in columns."""
Paragraph = list[Segment]
_INDENT = "  "
_UNDER = " " * 5
"""The indentation below a ground."""
_SPACES = re.compile("( +)")


def python(found: Diagnosis) -> list[Paragraph]:
    """Describe the interpreter."""
    about = found.python
    version = ".".join(map(str, about.version))
    return [_plain(f"{version}, {about.platform} {about.machine}"), _dim(about.path)]


def tensorflow(found: Diagnosis) -> list[Paragraph]:
    """Describe the installed TensorFlow, and the GPUs that it lists."""
    about, trouble = found.python.tensorflow, found.python.trouble
    broken = [[Segment(printable(trouble.what), "error")]] if trouble is not None else []
    if about is None:
        return broken
    kind = "CPU build"
    if about.cuda_build:
        kind = f"GPU build for CUDA {about.cuda or '(unknown)'}, cuDNN {about.cudnn or '(unknown)'}"
    elif about.rocm_build:
        kind = "GPU build for ROCm"
    lines = [_plain(f"{about.version}, {kind}"), _dim(about.folder)]
    if broken:
        return lines + broken
    if not about.gpus:
        return [*lines, [Segment("lists no GPU", "warning" if about.cuda_build else "")]]
    indices = {card.uuid: card.index for card in found.machine.cards if card.uuid}
    for gpu in about.gpus:
        capability = f", compute capability {'.'.join(map(str, gpu.capability))}" if gpu.capability else ""
        place = f", NVML GPU {indices[gpu.uuid]}" if gpu.uuid in indices else ""
        lines.append([Segment(gpu.name, "good"), Segment(printable(f" {gpu.model}{capability}{place}"))])
    return lines


def libraries(found: Diagnosis) -> list[Paragraph]:
    """List the libraries that TensorFlow needs for GPUs, by whether they can be opened."""
    about = found.python.tensorflow
    if about is None or not about.libraries:
        return [_dim("a CPU build needs none" if about and not about.cuda_build else "not known")]
    opened = [library for library in about.libraries if library.opened]
    lines: list[Paragraph] = []
    if opened:
        lines.append([Segment("opened: ", "good"), Segment(", ".join(library.name for library in opened))])
    missing = [library for library in about.libraries if not library.opened]
    usual = [library.name for library in missing if "No such file" in library.problem]
    if usual:
        lines.append([Segment("not found: ", "error"), Segment(", ".join(usual))])
    lines.extend(
        [Segment("not opened: ", "error"), Segment(printable(f"{library.name}: {library.problem}"))]
        for library in missing
        if library.name not in usual
    )
    return lines


def driver(found: Diagnosis) -> list[Paragraph]:
    """Describe the NVIDIA driver, or say why nothing is known of it."""
    machine = found.machine
    lines: list[Paragraph] = []
    if machine.driver:
        lines.append(_plain(machine.driver + (f", for CUDA {machine.cuda} and older" if machine.cuda else "")))
    if machine.trouble is not None:
        lines.append([Segment(printable(machine.trouble.what), "warning")])
    return lines or [_dim("version not known")]


def cards(found: Diagnosis) -> list[Paragraph]:
    """Describe the GPUs by NVML, with their memory and the processes that use it."""
    if not found.machine.cards:
        on_bus = found.around.nvidia_on_bus
        seen = "" if on_bus is None else f"; {on_bus or 'no'} NVIDIA GPU{'s' * (on_bus > 1)} on the PCI bus"
        return [_plain(("none" if found.machine.trouble is None else "not known") + seen)]
    return [paragraph for card in found.machine.cards for paragraph in _card(card)]


def _card(card: NvmlGpu) -> Iterator[Paragraph]:
    yield [Segment(f"NVML GPU {card.index}", "path"), Segment(printable(f" {card.name or '(name not known)'}"))]
    if card.uuid:
        yield _dim(_INDENT + printable(card.uuid))
    sizes = ((card.total_mib, "MiB"), (card.used_mib, "used"), (card.free_mib, "free"))
    memory = ", ".join(f"{size} {word}" for size, word in sizes if size is not None)
    yield _plain(_INDENT + (memory or "memory not known") + ("; MIG is on" if card.mig else ""))
    for part in card.slices:
        size = f", {part.total_mib} MiB" if part.total_mib is not None else ""
        yield _plain(f"{_INDENT}MIG device {part.name}{size}, {part.uuid}")
    if card.mig and not card.slices:
        yield [Segment(f"{_INDENT}no MIG device", "warning")]
    if card.processes is None:
        yield _dim(f"{_INDENT}NVML does not say which processes use it")
    for process in card.processes or ():
        yield _plain(f"{_INDENT}used by {_process(process)}")
    if card.processes == ():
        yield _dim(f"{_INDENT}used by no process")
    if card.problem:
        yield [Segment(_INDENT), Segment(printable(card.problem), "warning")]


def _process(process: Process) -> str:
    name = f" {process.name}" if process.name else ""
    return f"process {process.pid}{name}" + (f", {process.used_mib} MiB" if process.used_mib is not None else "")


def environment(found: Diagnosis) -> list[Paragraph]:
    """Describe the variables that are set."""
    return [_setting(setting) for setting in found.settings] or [_dim("no variable that affects GPU memory is set")]


def _setting(setting: VariableReport) -> Paragraph:
    style = "" if setting.verdict is VariableVerdict.READ else "warning"
    advice = [Segment("; instead: "), Segment(setting.do, "mark")] if setting.do else []
    shown = printable(f"{setting.name}={shlex.quote(setting.value)}")
    return [Segment(shown, "path"), Segment(": "), Segment(printable(setting.note), style), *advice]


def verification(found: Diagnosis) -> list[Paragraph]:
    """List the grounds, the best first, and what each lacks."""
    lines: list[Paragraph] = []
    said: set[Trouble] = set()
    for ground in found.grounds:
        verdict = Segment("yes", "good") if ground.possible else Segment("no ", "warning")
        lines.append([verdict, Segment(f"  {ground.name:<6}  ", "path"), Segment(ground.what)])
        if ground.note:
            lines.append([Segment(_UNDER), Segment(ground.note, "warning")])
        for trouble in ground.missing:
            lines.append([Segment(f"{_UNDER}- "), Segment(printable(trouble.what))])
            if trouble.do and trouble not in said:
                lines.append([Segment(f"{_UNDER}  "), Segment(printable(trouble.do), "mark")])
            said.add(trouble)
    return lines


def sandbox(found: Diagnosis) -> list[Paragraph]:
    """List the barriers around the programs that are run."""
    if found.sandbox is None:
        return [_dim("not known")]
    lines = [_plain("for programs that `verify` and `fit` run:")]
    for barrier in found.sandbox.barriers:
        verdict = Segment("yes", "good") if barrier.how else Segment("no ", "warning")
        lines.append([verdict, Segment(f"  {barrier.what}"), Segment(f": {barrier.how or barrier.instead}", "dim")])
    if found.sandbox.trouble:
        lines.append([Segment(printable(found.sandbox.trouble), "warning")])
    return lines


def conclusion(found: Diagnosis) -> Paragraph:
    """Return the conclusion for the reader."""
    best, better = found.best, found.better
    if best is None:
        return [Segment("Nothing can be verified here.", "error"), Segment(" What is missing is listed above.")]
    closing = f" The next better ground is {better.name}: what it needs is listed above." if better else ""
    return [Segment(f"Fixes can be verified here with {best.what} ({best.name}).", "good"), Segment(closing)]


def wrapped(paragraph: Paragraph, width: int) -> Iterator[Line]:
    """Wrap a paragraph between words. Lines after the first are indented; a word that is too long stays whole."""
    start = len(paragraph[0].text) - len(paragraph[0].text.lstrip(" ")) if paragraph else 0
    line: Line = []
    used, gap = 0, Segment("")
    for word in _words(paragraph):
        if not word[0].text.strip(" "):
            gap = Segment(gap.text + word[0].text, word[0].style)
            continue
        length = sum(len(part.text) for part in word)
        if line and used + len(gap.text) + length > width:
            yield _joined(line)
            line, gap, used = [], Segment(" " * start + _INDENT), 0
        line += [gap, *word]
        used, gap = used + len(gap.text) + length, Segment("")
    yield _joined(line)


def _words(paragraph: Paragraph) -> list[Paragraph]:
    """Return the words and the spaces between them. A word may have parts of different styles."""
    found: list[Paragraph] = []
    for part in paragraph:
        for text in _SPACES.split(part.text):
            if text and found and not text.isspace() and not found[-1][-1].text.isspace():
                found[-1].append(Segment(text, part.style))
            elif text:
                found.append([Segment(text, part.style)])
    return found


def _joined(line: Line) -> Line:
    """Return the line with adjacent parts of one style merged."""
    parts: Line = []
    for part in line:
        if parts and parts[-1].style == part.style:
            parts[-1] = Segment(parts[-1].text + part.text, part.style)
        elif part.text:
            parts.append(part)
    return parts


def _plain(text: str) -> Paragraph:
    return [Segment(printable(text))]


def _dim(text: str) -> Paragraph:
    return [Segment(printable(text), "dim")]
