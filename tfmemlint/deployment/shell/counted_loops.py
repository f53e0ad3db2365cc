"""Loops of a shell script that count: what runs in them runs with each number, of which one stands for all.

``for i in 0 1 2``, ``for i in {0..3}``, ``for i in $(seq 0 3)`` and ``for ((i = 0; i < N; i++))``. The second number
is the one: the first is GPU 0, with which most mistakes do not show. A loop of which the end is not known has two
passes at least: nobody writes a loop for one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfmemlint.sources.config_files.shell.lexer import Word

_COUNTING = re.compile(
    r"\(\(\s{0,9}(?P<name>\w+)\s{0,9}=\s{0,9}(?P<first>\d{1,6})\s{0,9};(?P<test>[^;]{0,200});.{0,200}\)\)"
)
_TEST = re.compile(r"\s{0,9}\w+\s{0,9}(?P<sign><=?|!=)\s{0,9}(?P<end>\d{1,6})\s{0,9}\Z")
_SPAN = re.compile(r"\{(?P<first>\d{1,6})\.\.(?P<last>\d{1,6})\}\Z")
_SEQUENCE = re.compile(r"(?:\$\(|`)\s{0,9}seq\s{1,9}(?P<numbers>[^`]{1,200}?)\s{0,9}[)`]\Z")


def counted(words: Sequence[str]) -> tuple[str, str] | None:
    """Return the variable of a loop, and the number that stands for all of its own; None if it does not count.

    ``words``: what stands behind ``for``.
    """
    head = _COUNTING.match(" ".join(words)) if words and words[0].startswith("((") else None
    if head is not None:
        first, test = int(head["first"]), _TEST.match(head["test"])
        last = int(test["end"]) - (test["sign"] != "<=") if test is not None else first + 1
        return head["name"], str(min(first + 1, max(first, last)))
    if len(words) < 3 or words[1] != "in":
        return None
    number = _number(words[2:])
    return (words[0], number) if number is not None else None


def _number(words: Sequence[str]) -> str | None:
    if all(word.isdigit() for word in words):
        return words[min(1, len(words) - 1)]
    if len(words) > 1:
        return None
    span = _SPAN.match(words[0])
    if span is not None:
        first, last = int(span["first"]), int(span["last"])
        return str(min(first + 1, last)) if last >= first else None
    sequence = _SEQUENCE.match(words[0].strip('"'))
    numbers = sequence["numbers"].split(None, 1) if sequence is not None else []
    if len(numbers) == 1:
        return "1" if numbers[0] == "1" else "2"
    if numbers and numbers[0].isdigit():
        first, end = int(numbers[0]), numbers[1]
        return str(first if end == numbers[0] else first + 1)
    return None


def with_numbers(word: Word, numbers: Mapping[str, str]) -> Word:
    """Return a word with the numbers in place of the variables; as it is, if something else is unknown in it."""
    if word.value is not None or not numbers or any(mark in word.raw for mark in ("'", "\\", "`", "$(", "$((")):
        return word
    text = word.raw.replace('"', "")
    for name, number in numbers.items():
        text = re.sub(rf"\$(?:{re.escape(name)}(?!\w)|\{{{re.escape(name)}\}})", number, text)
    return word if "$" in text else replace(word, value=text)
