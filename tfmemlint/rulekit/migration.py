"""Conditions that the rest of a program puts on rewriting one of its files for TensorFlow 2."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfmemlint.knowledge import names
from tfmemlint.project.listing import called
from tfmemlint.project.targets.find import current
from tfmemlint.rulekit.missing_names import successor

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target

_GRAPH_MODE = re.compile(rb"\bdisable_(?:v2_behavior|eager_execution)\b|\bSession\(")


def stays_elsewhere(path: str, target: Target) -> str:
    """Return a name that another file of the program uses, that ``target`` lacks and has no replacement for, with
    its place; "" if there is none.

    A program of which one file stays as it is, and the others are rewritten, runs on no release at all.
    """
    own = called(path)
    for use in current().inference.names_in_program(path):
        place = called(use.path)
        missing = names.missing_part(use.name, target)
        if place != own and missing is not None and successor(use.name, missing, target) is None:
            return f"{use.name} ({place}, line {use.row})"
    return ""


def is_imported(path: str) -> bool:
    """Return True if other files of the project import a file: what it switches on, it switches on for all of them."""
    return current().inference.is_imported(path)


def importers_use_graph_mode(path: str) -> bool:
    """Return True if one of the files that import a file, directly or not, turns graph mode on or has a session: then
    that one is where graph mode is turned on."""
    finder = current()
    return any(_GRAPH_MODE.search(finder.source(other) or b"") for other in finder.inference.importers_of(path))
