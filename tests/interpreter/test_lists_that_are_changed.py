"""Callbacks in lists and dictionaries: what is called for sure, what perhaps, and what is not."""

from __future__ import annotations

import textwrap

import pytest

from tfmemlint.engine.check_source import check_source
from tfmemlint.engine.context import RunContext
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Severity
from tfmemlint.sources import Source

HEAD = """\
import os, random, sys
from collections import defaultdict, deque
import tensorflow as tf
def start(): tf.constant(1)
def nothing(): pass
FLAG = os.environ.get("FLAG")
"""
TAIL = """\
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""
SURE = {
    "appended by another name": "a = []\nb = a\nb.append(start)\nfor f in a: f()",
    "in a list of a list": "a = [[]]\na[0].append(start)\nfor f in a[0]: f()",
    "extended by a list": "a = []\na += [nothing, start]\nfor f in a: f()",
    "a slice replaced": "a = [nothing]\na[:] = [start]\na[0]()",
    "an item replaced": "a = [nothing]\na[0] = start\na[0]()",
    "handed to a function": "def add(to): to.append(start)\na = []\nadd(a)\nfor f in a: f()",
    "a queue": "a = deque()\na.append(start)\na.popleft()()",
    "given by both branches": "a = []\nif FLAG: a.append(start)\nelse: a.append(start)\nfor f in a: f()",
    "taken out again by one who does not look": "a = [start]\nb = list(a)\nb.clear()\nfor f in a: f()",
    "a dictionary's list": "a = defaultdict(list)\na['x'].append(start)\nfor f in a['x']: f()",
    "a dictionary of dictionaries": "a = {}\na.setdefault('x', {})['y'] = start\na['x']['y']()",
    "a shared default": "def add(f, to=[]):\n    to.append(f)\n    return to\nadd(nothing)\nfor f in add(start): f()",
    "either list": "a, b = [start], [start]\nc = a if FLAG else b\nfor f in c: f()",
}
PERHAPS = {
    "put in by one branch": "a = []\nif FLAG: a.append(start)\nfor f in a: f()",
    "taken out by one branch": "a = [start]\nif FLAG: a.clear()\nfor f in a: f()",
    "one list or another": "a, b = [start], [nothing]\nc = a if FLAG else b\nfor f in c: f()",
    "put into one of two": "a, b = [], []\n(a if FLAG else b).append(start)\nfor f in a: f()",
    "in a loop that may not be gone through": "a = []\nfor _ in sys.argv[1:]: a.append(start)\nfor f in a: f()",
    "replaced by one branch": "a = {'x': start}\nif FLAG: a['x'] = nothing\na['x']()",
}
NOT = {
    "emptied by another name": "a = [start]\nb = a\nb.clear()\nfor f in a: f()",
    "another list with the same in it": "a, b = [], []\nb.append(start)\nfor f in a: f()",
    "shuffled by a library": "a = [start]\nrandom.shuffle(a)\na.pop()\nfor f in a: f()",
    "emptied by a method that was kept": "a = [start]\nempty = a.clear\nempty()\nfor f in a: f()",
    "emptied again": "a = []\ndef empty(): a.clear()\nempty()\na.append(start)\nempty()\nfor f in a: f()",
    "handed on and emptied": "def empty(b): b.clear()\nempty([])\na = [start]\nempty(a)\nfor f in a: f()",
    "of an unknown key": "a = {'x': start}\na[FLAG] = nothing\na['x']()",
    "out of what nobody knows": "import library\na = [start]\nlibrary.hooks = a\nlibrary.run()\nfor f in a: f()",
    "more than are followed": "a = []\n" + "a.append(nothing)\n" * 9 + "a.append(start)\nfor f in a: f()",
}


def _found(body: str) -> set[tuple[str, Severity]]:
    source = Source("main.py", HEAD + textwrap.dedent(body) + "\n" + TAIL)
    return {
        (finding.code, finding.severity)
        for finding in check_source(source, RunContext().rules_for("main.py"), Target.newest())
    }


@pytest.mark.parametrize("name", SURE)
def test_what_is_called_for_sure_is_an_error(name: str) -> None:
    assert _found(SURE[name]) == {("TFM101", Severity.ERROR)}


@pytest.mark.parametrize("name", PERHAPS)
def test_what_is_called_in_some_runs_is_a_warning(name: str) -> None:
    assert _found(PERHAPS[name]) == {("TFM101", Severity.WARNING)}


@pytest.mark.parametrize("name", NOT)
def test_what_is_not_called_or_not_known_is_silent(name: str) -> None:
    assert not _found(NOT[name])


def test_what_one_function_that_nothing_calls_puts_into_a_list_is_not_there_in_another() -> None:
    body = "a = []\ndef one(): a.append(start)\ndef other():\n    for f in a: f()\n    grow()\ndef grow():\n    "
    assert not _found(body + TAIL.replace("\n", "\n    ").strip())
