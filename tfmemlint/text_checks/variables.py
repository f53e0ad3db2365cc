"""Environment variables in a text: names that TensorFlow never reads, values that it does not accept, two settings in
one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge import environment
from tfmemlint.knowledge.variables import (
    ALLOCATOR,
    GROWTH,
    VISIBLE,
    BadName,
    BadValue,
    judge_name,
    judge_value,
    run_together,
    shows_owner,
)
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.text_checks.mention import Mention

if TYPE_CHECKING:
    from tfmemlint.text_checks.reading import Reading

_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""Characters of no width, as they are copied from web pages."""
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Letters of Chinese, Japanese and Korean, which stand beside a name without a blank."""
_LETTER = rf"[^\W{_UNSPACED}]"
_PART = rf"(?:{_LETTER}|[{_INVISIBLE}])"
_NAME = re.compile(
    rf"(?<!{_LETTER})(?<![$%.\-/{{}}\\])(?:TF|\uff34\uff26|CUDA|CUDAVIS|XLA|PYTORCH|GPU){_PART}{{0,100}}_{_PART}{{1,100}}(?<![{_INVISIBLE}])"
    rf"(?!{_LETTER}|[*<{{(])"
)
_MARKS = r"[`'\"*]{0,3}"
_VALUE = r"(?:\"(?P<double>[^\"\n]*)\"|'(?P<single>[^'\n]*)'|(?P<bare>[^\s\"'`;)\]}<>|&]*))"
_AFTER = (
    # `NAME=value`, `environ["NAME"] = "value"`, `("NAME", "value")`, `NAME: value`, `NAME to value`
    re.compile(rf"{_MARKS}\s?=(?!=)\s?{_VALUE}"),
    re.compile(rf"['\"]\s?\]\s?=(?!=)\s?{_VALUE}"),
    re.compile(rf"['\"]\s?,\s?(?=['\"]){_VALUE}"),
    re.compile(rf"{_MARKS}:\s{_MARKS}{_VALUE}(?=\s*(?:$|\n))"),
    re.compile(
        rf"{_MARKS}\s+(?:(?:environment )?variable\s+)?(?:to|as)\s+{_MARKS}"
        r"(?!all\s+\w)(?P<bare>[\w:]+)(?=[`'\".,;)*\s]|$)"
    ),
)
_SPACED = re.compile(r"\s+(?P<bare>[\w,:.-]+)(?=\s*(?:$|\n|#))")
_PUTS = re.compile(
    r"(?:\bENV|\bsetenv|\bset|\bexport|\bputenv\(['\"]|\bsetdefault\(['\"]|environ\[['\"]|-e|--env|\$env:"
    r"|设置|設置|设定|导出|\b(?:[Ss]etzen? Sie|[Ss]etze|[Ff]ijar?|[Dd]efin(?:e|ir)|[Ee]stablec(?:e|er)))\s?$"
)
_CONSTANT = re.compile(r"\s+=\s|\s*=\s*(?:True|False|None)\b")
_READ = r"(?:environ\.get\(\s*['\"]|getenv\(\s*['\"]|\$\{{?|%){}\b"
_ABOUT = re.compile(
    r"tensorflow|\btf\.|environment variable|env(?:ironment)?\.? var|\bgrowth\b|gpu memory"
    r"|环境变量|環境變數|環境変数|환경\s?변수|umgebungsvariable|variables? (?:de entorno|d.environnement)|显存|顯存",
    re.IGNORECASE,
)
_TWO = re.compile(
    r"\b(?:ENV|export)[ \t]{1,8}(?P<first>[A-Z][A-Z0-9_]{0,63})(?P<sign>[ \t]{0,8}=[ \t]{0,8}|[ \t]{1,8})"
    r"(?P<value>[^\s=]{0,200}?)(?P<gap>[ \t]{0,8})(?P<word>ENV|(?<=[a-z0-9])export)[ \t]{1,8}"
    r"(?P<second>[A-Z][A-Z0-9_]{0,63})[ \t]{0,8}[= \t][ \t]{0,8}(?P<other>[^\s`'\"]*)"
)
"""All is bounded: runs of blanks in four places, each of any length, would make the search quadratic."""
_ADVICE = {
    Purpose.GROWTH: "Set TF_FORCE_GPU_ALLOW_GROWTH=true",
    Purpose.LIMIT: "Call tf.config.set_logical_device_configuration with a memory_limit in MiB",
    Purpose.FRACTION: "Call tf.config.set_logical_device_configuration with a memory_limit in MiB",
    Purpose.ALLOCATOR: "Set TF_GPU_ALLOCATOR=cuda_malloc_async where that is what is wanted",
    Purpose.VISIBLE: "Set CUDA_VISIBLE_DEVICES",
}


def scan(reading: Reading, own: Collection[str]) -> Iterator[Mention]:
    """Yield every variable that TensorFlow does not know, and every value that it does not accept."""
    for match in _NAME.finditer(reading.text):
        name = match[0]
        if name != name.upper() or name in own:
            continue
        setting = _setting(reading.text, match)
        bad = judge_name(name)
        if bad is not None:
            if _is_meant(reading, match, bad, setting is not None) and not reading.denied(match.start(), match.end()):
                yield _of_name(reading, match, bad)
        elif setting is not None and environment.read_at(name) is not None:
            found = _of_value(reading, match, setting)
            if found is not None and not reading.denied(match.start(), setting[2]):
                yield found


def _setting(text: str, match: re.Match[str]) -> tuple[str, int, int] | None:
    """Return the value that a variable gets after its name, with its place; None if it gets none there."""
    before = text[max(match.start() - 16, 0) : match.start()]
    patterns = (*_AFTER, _SPACED) if re.search(r"\b(?:ENV|setenv)\s$", before) else _AFTER
    for pattern in patterns:
        found = pattern.match(text, match.end())
        if found is None:
            continue
        groups = found.groupdict()
        for group in ("double", "single", "bare"):
            if groups.get(group) is None:
                continue
            value = groups[group]
            if group == "bare":
                value = value.rstrip(".,:*")
                if not value:
                    return None
            return value, found.start(group), found.start(group) + len(value)
    return None


def _is_meant(reading: Reading, match: re.Match[str], bad: BadName, is_set: bool) -> bool:
    """Return True if a variable that TensorFlow does not know is meant for TensorFlow."""
    if reading.mentions(re.compile(_READ.format(re.escape(match[0])))):
        # The text reads the variable.
        return False
    if bad.kind == "foreign":
        about = is_set and re.search(r"tensorflow|\btf\.", reading.whole, re.IGNORECASE) is not None
        return about and not shows_owner(reading.whole, bad.owner)
    if bad.kind == "made-up" and _CONSTANT.match(reading.text, match.end()):
        # `TF_GPU_ALLOW_GROWTH = True`: a constant of a program.
        return False
    if (
        is_set
        or bad.kind in ("typo", "invisible")
        or _PUTS.search(reading.text, max(match.start() - 20, 0), match.start())
    ):
        return True
    row = reading.row(match.start())
    around = " ".join(reading.lines[max(row - 2, 0) : row + 1])
    return _ABOUT.search(around) is not None and not reading.lines[row - 1].lstrip().startswith("|")


def _of_name(reading: Reading, match: re.Match[str], bad: BadName) -> Mention:
    name = match[0]
    match bad.kind:
        case "foreign":
            message = f"{name} is {bad.owner}'s: TensorFlow never reads it"
        case "invisible":
            message = f"The name {name!a} only looks like {bad.real}: TensorFlow never reads it"
        case "typo":
            message = f"TensorFlow never reads {name}: the variable is called {bad.real}"
        case _:
            message = f"No release of TensorFlow reads {name}"
    plain = bad.kind in ("typo", "invisible")
    return Mention(
        TextDefect.VARIABLE,
        reading.span(match.start(), match.end()),
        message,
        "TensorFlow behaves as if it were not set; nothing is raised",
        f"Write {bad.real}" if plain else _ADVICE.get(bad.purpose, "Leave it out"),
        Intent(bad.purpose),
        details={"name": name, "kind": bad.kind, "real": bad.real},
    )


_KINDS = frozenset({"growth", "allocator", "visible", "twice"})
"""Kinds of values that are told of in texts: the variables of the others are seldom in one with a value."""


def _of_value(reading: Reading, match: re.Match[str], setting: tuple[str, int, int]) -> Mention | None:
    name, (value, start, end) = match[0], setting
    settings = run_together(name, value)
    if settings:
        never_set = ", ".join(name for name, _ in settings[1:])
        return Mention(
            TextDefect.RUN_TOGETHER,
            reading.span(match.start(), end),
            f"The value of {name} holds a second setting: {never_set} is never set",
            f"{name} gets {value!r}, which TensorFlow does not accept; nothing is raised",
            f"Set {' and '.join(name for name, _ in settings)} separately",
            Intent(Purpose.OTHER, text=", ".join(f"{name}={given}" for name, given in settings)),
            details={"settings": settings},
        )
    bad = judge_value(name, value)
    if bad is None or bad.kind not in _KINDS or not _is_sure(name, value, bad):
        return None
    meant = bad.meant or _meant_allocator(name, value)
    if name == GROWTH:
        message = f"{name} is either 'true' or 'false', in lower case: {value!r} is ignored"
        outcome = "TensorFlow logs that the value could not be parsed, and behaves as if it were not set"
    elif name == ALLOCATOR:
        message = f"TensorFlow has no allocator {value!r}: {name} is ignored"
        outcome = "TensorFlow uses its own allocator (BFC), and says nothing"
    elif bad.kind == "twice":
        message = f"{name} names a GPU twice: CUDA then shows no GPU"
        outcome = "TensorFlow finds no GPU, and the program runs on the CPU"
    else:
        message = f"CUDA identifies GPUs by number: {value!r} in {name} hides every GPU"
        outcome = "TensorFlow finds no GPU, and the program runs on the CPU"
    purpose = {GROWTH: Purpose.GROWTH, ALLOCATOR: Purpose.ALLOCATOR, VISIBLE: Purpose.VISIBLE}[name]
    return Mention(
        TextDefect.VARIABLE_VALUE,
        reading.span(start, end),
        message,
        outcome,
        f"Write {meant!r}" if meant else "Use one of the values that TensorFlow knows",
        Intent(purpose, text=meant or value),
        details={"name": name, "value": value, "meant": meant},
    )


def _is_sure(name: str, value: str, bad: BadValue) -> bool:
    """Return True if a value is one that somebody would set, and not a placeholder."""
    if name == ALLOCATOR:
        return bool(bad.meant or _meant_allocator(name, value))
    if name == VISIBLE and bad.kind == "visible":
        return value == "all" or (bool(bad.meant) and not value.isalpha())
    return bool(bad.meant)


def _meant_allocator(name: str, value: str) -> str:
    """Return the allocator whose name is misspelled in a value."""
    if name != ALLOCATOR:
        return ""
    allowed = environment.allowed(name) or ()
    words = sorted(value.lower().replace("-", "_").split("_"))
    same = [allocator for allocator in allowed if sorted(allocator.split("_")) == words]
    near = same or difflib.get_close_matches(value.lower().replace("-", "_"), allowed, n=1, cutoff=0.8)
    return near[0] if near else ""


def two_on_a_line(reading: Reading) -> Iterator[Mention]:
    """Yield two instructions of a Dockerfile, or two exports, that have run together on one line."""
    for match in _TWO.finditer(reading.text):
        first, second, value = match["first"], match["second"], match["value"]
        if not (_is_known(first) or _is_known(second)) or reading.denied(match.start(), match.end()):
            continue
        if not match["gap"]:
            outcome = f"{first} gets {value + match['word']!r}"
        elif "=" in match["sign"]:
            outcome = 'Docker refuses the line: can\'t find = in "ENV"'
        else:
            outcome = f"{first} gets all the rest of the line as its value, and {second} is not set"
        yield Mention(
            TextDefect.RUN_TOGETHER,
            reading.span(match.start("first"), match.end("second")),
            f"Two settings have run together on one line: {first} and {second}",
            outcome,
            f"Set {first} and {second} each in a line of its own",
            Intent(Purpose.OTHER, text=f"{first}={value}, {second}={match['other']}"),
            details={"settings": ((first, value), (second, match["other"]))},
        )


def _is_known(name: str) -> bool:
    return environment.read_at(name) is not None or name == "NVIDIA_VISIBLE_DEVICES" or judge_name(name) is not None
