"""Amounts and arguments in a text that TensorFlow does not accept: fractions in place of MiB, keys and keywords that
never existed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge import purposes, units
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.made_up import unit_of_limit
from tfmemlint.text_checks.mention import Mention

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.text_checks.reading import Reading

_MAKER = r"(?:Logical|Virtual)DeviceConfiguration"
_NUMBER = r"-?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_LIMIT = re.compile(
    rf"\bmemory_limit\s?=\s?({_NUMBER}|['\"][^'\"\n]*['\"])(?=\s*(?:[,)\]`;]|\.(?!\d)|$|\s))(?!\s*[*/+-])", re.MULTILINE
)
_POSITIONAL = re.compile(rf"\b{_MAKER}\(\s*({_NUMBER})\s*[,)]")
_KEYWORD = re.compile(rf"\b{_MAKER}\(\s*(\w+)\s?=\s?([^,)\n]*)")
_SHARE = re.compile(rf"\bper_process_gpu_memory_fraction[`'\"*]{{0,2}}\s?[=:]\s?({_NUMBER})(?![\w%]|\s*[*/])")
_KEY = re.compile(
    r"\b(get_device_details|get_memory_info)\([^()\n]{0,200}(?:\([^()\n]{0,200}\)[^()\n]{0,200})?\)\s?\[\s*['\"](\w+)['\"]\s*\]"
)
_SWITCH = re.compile(r"\bexperimental\.set_memory_growth\(\s*(True|False|['\"][^'\"\n]*['\"])\s*([,)])")
_INFO = re.compile(r"\bexperimental\.get_memory_info\(\s*((?:gpus?|physical_devices|devices)(?:\[\d+\])?)\s*\)")
_LISTED = re.compile(
    r"\b(?:gpus?|physical_devices|devices)\s*=\s*tf\.config\.(?:experimental\.)?list_physical_devices\("
)
_MADE = re.compile(_MAKER)
_OURS = re.compile(rf"{_MAKER}|\btf\.config\b")
_OTHERS = re.compile(r"\bdask\b|LocalCluster|\brmm\b", re.IGNORECASE)


def scan(reading: Reading, target: Target) -> Iterator[Mention]:
    """Yield every amount, key and keyword that TensorFlow does not accept."""
    del target  # all of this is the same in every release
    for look_for in (_limits, _keywords, _shares, _keys, _switches, _infos):
        yield from look_for(reading)


def _limits(reading: Reading) -> Iterator[Mention]:
    if not reading.mentions(_OURS):
        return
    for pattern in (_POSITIONAL, _LIMIT):
        for match in pattern.finditer(reading.text):
            if pattern is _LIMIT and not _of_tensorflow(reading, match.start()):
                continue
            judged = _judge_limit(match[1])
            if judged is None or reading.denied(match.start(), match.end()):
                continue
            defect, message, outcome, purpose, advice = judged
            yield Mention(
                defect,
                reading.span(match.start(1), match.end(1)),
                message,
                outcome,
                advice,
                Intent(purpose, "", None, match[1]),
                details={"written": match[1]},
            )


def _of_tensorflow(reading: Reading, offset: int) -> bool:
    """Return True if a ``memory_limit`` belongs to a logical device: a constructor of logical devices is nearby, or the
    text mentions no other."""
    before = reading.text[max(offset - 120, 0) : offset]
    return _MADE.search(before) is not None or (reading.mentions(_MADE) and not reading.mentions(_OTHERS))


def _judge_limit(written: str) -> tuple[TextDefect, str, str, Purpose, str] | None:
    if written[0] in "'\"":
        return (
            TextDefect.LIMIT_UNIT,
            f"memory_limit is a number of MiB, not a string: {written}",
            "TensorFlow raises TypeError when it starts",
            Purpose.LIMIT,
            "Give the number of MiB",
        )
    try:
        value = float(written.replace("_", ""))
    except ValueError:
        return None
    if 0 <= value < 1:
        size = f"{value * 1024:g} KiB" if value else "0 MiB"
        return (
            TextDefect.LIMIT_IS_SHARE,
            f"memory_limit is in MiB: {written} is {size}",
            "The first operation on the GPU raises FailedPreconditionError",
            Purpose.FRACTION if value else Purpose.LIMIT,
            "Give the limit in MiB; for a share, that share of the GPU's memory",
        )
    unit = unit_of_limit(value)
    if unit or value < 0:
        what = "is negative" if value < 0 else f"is {value / 2**20:,.0f} TiB"
        mib = value / (2**10 if unit == units.KIB else 2**20)
        return (
            TextDefect.LIMIT_UNIT,
            f"memory_limit is in MiB: {written} {what}",
            "Nothing is raised, and nothing is limited",
            Purpose.LIMIT,
            "Give the limit in MiB" + (f": {mib:g}" if value > 0 else ""),
        )
    return None


def _keywords(reading: Reading) -> Iterator[Mention]:
    for match in _KEYWORD.finditer(reading.text):
        if match[1] not in purposes.KEYWORDS or reading.denied(match.start(), match.end()):
            continue
        share = purposes.KEYWORDS[match[1]] == "fraction"
        yield Mention(
            TextDefect.KEYWORD,
            reading.span(match.start(1), match.end(1)),
            f"LogicalDeviceConfiguration has no argument {match[1]}",
            f"Python raises TypeError: unexpected keyword argument '{match[1]}'",
            "Write memory_limit, in MiB" + (", with that share of the GPU's memory" if share else ""),
            Intent(Purpose.FRACTION if share else Purpose.LIMIT, "", None, match[2].strip()),
            details={"written": match[1], "replacement": None if share else "memory_limit"},
        )


def _shares(reading: Reading) -> Iterator[Mention]:
    for match in _SHARE.finditer(reading.text):
        value = float(match[1].replace("_", ""))
        if 0 <= value < 10 or reading.denied(match.start(), match.end()):
            continue
        percent = 10 <= value <= 100
        kind = "negative" if value < 0 else "not read as a percentage" if percent else "not read as MiB"
        outcome = (
            "Nothing is raised, and nothing is limited: the process takes nearly all of the memory"
            if value < 0
            else f"TensorFlow asks for unified memory {value:g} times the size of the GPU's; nothing is raised"
        )
        yield Mention(
            TextDefect.FRACTION,
            reading.span(match.start(1), match.end(1)),
            f"per_process_gpu_memory_fraction is a number between 0 and 1: {match[1]} is {kind}",
            outcome,
            f"Write {value / 100:g}" if percent else "Give the share of the memory",
            Intent(Purpose.FRACTION, "every GPU", value / 100 if percent else value),
            details={"written": match[1], "replacement": f"{value / 100:g}" if percent else None},
        )


def _keys(reading: Reading) -> Iterator[Mention]:
    for match in _KEY.finditer(reading.text):
        function, key = f"tf.config.experimental.{match[1]}", match[2]
        before = reading.text[max(match.start() - 40, 0) : match.start()]
        known = before.endswith(("config.experimental.", "experimental.", "tf.config."))
        if not known or key in purposes.REAL_KEYS[function] or reading.denied(match.start(), match.end()):
            continue
        report = purposes.KEYS.get(key)
        advice = "The number of bytes in use is tf.config.experimental.get_memory_info('GPU:0')['current']"
        if report == "peak":
            advice = "The highest number of bytes is tf.config.experimental.get_memory_info('GPU:0')['peak']"
        elif report in ("total", "free"):
            advice = "NVML knows the total memory of a GPU and how much of it is free"
        keys = " and ".join(repr(key) for key in purposes.REAL_KEYS[function])
        yield Mention(
            TextDefect.KEY,
            reading.span(match.start(2), match.end(2)),
            f"{match[1]} has no key {key!r}: its keys are {keys}",
            f"Python raises KeyError: {key!r}",
            advice if report else "",
            Intent(Purpose.REPORT, value=report) if report else None,
            details={"written": key, "name": f"{function}()[{key!r}]"},
        )


def _switches(reading: Reading) -> Iterator[Mention]:
    for match in _SWITCH.finditer(reading.text):
        alone = match[1] in ("True", "False")
        if alone is (match[2] == ",") or reading.denied(match.start(), match.end()):
            continue
        yield Mention(
            TextDefect.GROWTH_ARGUMENT,
            reading.span(match.start(1), match.end(1)),
            "set_memory_growth takes a device and True or False"
            if alone
            else f"set_memory_growth takes a device of tf.config.list_physical_devices, not {match[1]}",
            "Python raises TypeError: missing a required argument"
            if alone
            else f"TensorFlow raises ValueError: Unrecognized device: {match[1]}",
            "Use tf.config.experimental.set_memory_growth(gpu, True) for every GPU",
            Intent(Purpose.GROWTH, "every GPU"),
            details={"written": match[1]},
        )


def _infos(reading: Reading) -> Iterator[Mention]:
    if _LISTED.search(reading.text) is None:
        return
    for match in _INFO.finditer(reading.text):
        if not reading.is_code(reading.row(match.start())) or reading.denied(match.start(), match.end()):
            continue
        yield Mention(
            TextDefect.REPORT_DEVICE,
            reading.span(match.start(1), match.end(1)),
            "get_memory_info takes the name of a logical device, such as 'GPU:0', not a physical device",
            "TensorFlow raises TypeError",
            "Write 'GPU:0', or f'GPU:{i}' in a loop",
            Intent(Purpose.REPORT),
            details={"written": match[1]},
        )
