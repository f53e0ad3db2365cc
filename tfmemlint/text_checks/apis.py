"""Names of functions and modules in a text: names that TensorFlow never had, and names that the release lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge import names, purposes
from tfmemlint.knowledge.instead import NEAREST, SAME, Instead, of_api
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import attribute_error
from tfmemlint.rulekit.made_up import ADVICE
from tfmemlint.rulekit.missing_names import NEVER, of_lack, why
from tfmemlint.text_checks.mention import Mention
from tfmemlint.text_checks.names import NAME, canonical, made_up

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.text_checks.reading import Reading

_CALLED = re.compile(r"\s?\(\s*(?![\s)])")
_SET = re.compile(r"\s*=(?!=)\s*(?:True|False|\d[\d.]*|['\"]\w*['\"])")
_IMPORTED = re.compile(r"\bfrom\s+(tensorflow(?:\.\w+)*)\s+import\s+(?:\(\s*)?(\w+(?:\s*,\s*\w+)*)")
_OF_JAVASCRIPT = frozenset({"tf.memory", "tf.MemoryInfo"})
"""Names that TensorFlow.js has. Source: its API reference (js.tensorflow.org/api)."""
_EXTENDED = re.compile(r"\b(?:\w*strategy|get_strategy\(\))\.extended\.(\w+)(?=\s?\()", re.IGNORECASE)
_STRATEGY = "tf.distribute.MirroredStrategy().extended."
_OLD = re.compile(
    r"tf\.(?:contrib\.memory_stats(?:\.|$)|GPUOptions$|ConfigProto$|Session$|InteractiveSession$|random_normal$"
    r"|random_uniform$|placeholder$|global_variables_initializer$|report_|config\.experimental\.)"
)
"""Names of other releases that are reported in code that cannot be parsed; in sentences they may well be history."""
_TF1 = re.compile(
    r"TensorFlow\s?1|TF\s?1\b|TF-?v1|(?<![.\w])v1\b|\b1\.x|1\.1[0-5]\b|disable_(?:eager|v2)|migrat|upgrad|legacy|tf\.app\.",
    re.IGNORECASE,
)
_TF2 = re.compile(
    r"TensorFlow\s?(?:v|>=\s?)?2|\bTF\s?2|\b2\.x\b|\btf\.(?:function\b|config\.|GradientTape)", re.IGNORECASE
)
_SESSIONS = frozenset({"tf.Session", "tf.InteractiveSession", "tf.ConfigProto", "tf.GPUOptions"})


def scan(reading: Reading, target: Target) -> Iterator[Mention]:
    """Yield every name that does not exist."""
    for match in NAME.finditer(reading.text):
        if not reading.short and not match[0].startswith("tensorflow"):
            continue
        name = made_up(match[0])
        if match[0] in _OF_JAVASCRIPT and reading.about_javascript:
            continue
        if name is not None:
            mention = _made_up(reading, match, name, target)
            if not reading.denied(match.start(), match.end()) and not _is_class_in_words(mention):
                yield mention
        else:
            yield from _of_another_release(reading, match, target)
    yield from _imported(reading, target)
    for match in _EXTENDED.finditer(reading.text):
        name = _STRATEGY + match[1]
        if purposes.purpose_of(name) is not None and not reading.denied(match.start(), match.end()):
            advice = ADVICE[Purpose.DEVICES]
            instead = of_api("tf.config.list_gpus", target)
            yield Mention(
                TextDefect.MADE_UP_SETTING,
                reading.span(match.start(), match.end()),
                f"tf.distribute.Strategy.extended.{match[1]} {NEVER}",
                attribute_error(name),
                advice,
                Intent(Purpose.DEVICES),
                details={"name": f"tf.distribute.Strategy.extended.{match[1]}", "instead": instead},
            )


def _made_up(reading: Reading, match: re.Match[str], name: str, target: Target) -> Mention:
    row = reading.row(match.start())
    behind = reading.text[match.end() : match.end() + 60]
    wanted = purposes.purpose_of(name)
    instead = of_api(name, target)
    # In a comment it is a mention, even if the line used to be a call.
    commented = reading.in_comment(match.start())
    is_call = not commented and (_CALLED.match(behind) is not None or reading.is_code(row))
    assigned = purposes.assigned(name) if not commented and _SET.match(behind) else None
    span = reading.span(match.start(), match.start() + _length(match[0], name))
    outcome = attribute_error(name)
    if assigned is not None:
        defect, outcome = TextDefect.ASSIGNMENT, "Nothing is raised, and nothing happens: TensorFlow never reads it"
        wanted = assigned
    else:
        called = TextDefect.MADE_UP_SETTING if wanted is not None else TextDefect.MADE_UP_CALL
        defect = called if is_call else TextDefect.MADE_UP_MENTION
    preview = f"; only {names.PREVIEW[name]} had it" if name in names.PREVIEW else ""
    return Mention(
        defect,
        span,
        f"{name} {NEVER}{preview}",
        outcome,
        _advice(wanted.purpose if wanted is not None else None, instead),
        Intent(wanted.purpose) if wanted is not None else None,
        details={"name": name, "instead": instead},
    )


def _is_class_in_words(mention: Mention) -> bool:
    """Return True for a class that a sentence writes in small letters: it means the class, and is nothing to copy."""
    instead = mention.details["instead"]
    return (
        mention.defect is TextDefect.MADE_UP_MENTION
        and isinstance(instead, Instead)
        and instead.name.lower() == str(mention.details["name"])
    )


def _length(written: str, name: str) -> int:
    """Return the length of the part of the written text that is the missing name."""
    return len(written) - len("tf" + written.removeprefix("tensorflow").removeprefix("tf")) + len(name)


def _advice(purpose: Purpose | None, instead: Instead | None) -> str:
    if instead is not None and instead.relation == SAME:
        return f"Use {instead.name}"
    if purpose is not None:
        return ADVICE.get(purpose, "Leave it out: there is nothing to set")
    if instead is not None and instead.relation == NEAREST:
        return f"The nearest real name is {instead.name}"
    return ""


def _imported(reading: Reading, target: Target) -> Iterator[Mention]:
    """Yield names such as ``from tensorflow.config import set_memory_limit`` in text that cannot be parsed as
    Python."""
    for match in _IMPORTED.finditer(reading.text):
        for word in re.finditer(r"\w+", match[2]):
            name = made_up(f"{match[1]}.{word[0]}")
            start, end = match.start(2) + word.start(), match.start(2) + word.end()
            if name is None or name.rpartition(".")[2] != word[0] or reading.denied(start, end):
                continue
            wanted = purposes.purpose_of(name)
            instead = of_api(name, target)
            yield Mention(
                TextDefect.MADE_UP_SETTING if wanted is not None else TextDefect.MADE_UP_CALL,
                reading.span(start, end),
                f"{name} {NEVER}",
                attribute_error(name, "ImportError", name),
                _advice(wanted.purpose if wanted is not None else None, instead),
                Intent(wanted.purpose) if wanted is not None else None,
                details={"name": name, "instead": instead},
            )


def _of_another_release(reading: Reading, match: re.Match[str], target: Target) -> Iterator[Mention]:
    """Yield a name that other releases have."""
    name = canonical(match[0])
    if _OLD.match(name) is None:
        return
    missing = names.missing_part(name, target)
    if missing is None or not names.ever_existed(missing):
        return
    row = reading.row(match.start())
    if not (reading.is_code(row) or name.startswith("tf.contrib.memory_stats")) or reading.in_comment(match.start()):
        return
    if not reading.mentions(_TF2) or reading.mentions(_TF1) or reading.denied(match.start(), match.end()):
        return
    new = names.replacement(missing, target)
    instead = of_api(missing, target)
    defect = TextDefect.SESSION if missing in _SESSIONS else TextDefect.OTHER_RELEASE
    advice = of_lack(missing, target, new)
    if name.startswith("tf.contrib.memory_stats"):
        advice = ADVICE[Purpose.REPORT]
        instead = of_api("tf.report_memory_usage", target)
        if defect == TextDefect.OTHER_RELEASE and "(" in reading.text[match.end() : match.end() + 2]:
            defect = TextDefect.CONTRIB_MEMORY
    yield Mention(
        defect,
        reading.span(match.start(), match.start() + _length(match[0], missing)),
        f"TensorFlow {target} has no {missing}: {why(missing, target, new)}",
        attribute_error(missing),
        advice,
        details={"name": missing, "instead": instead},
    )
