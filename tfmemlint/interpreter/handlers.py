"""Fill the interpreter's tables: each of these modules registers its handlers when it is imported.

A new module of handlers needs a line here; ``tests/interpreter/test_structure.py`` fails where one is forgotten.
"""

from __future__ import annotations

import importlib

MODULES = (
    "nodes.assignments",
    "nodes.branches",
    "nodes.calls",
    "nodes.comprehensions",
    "nodes.contexts",
    "nodes.definitions",
    "nodes.deletions",
    "nodes.discarded",
    "nodes.displays",
    "nodes.exits",
    "nodes.imports",
    "nodes.leaves",
    "nodes.lookups",
    "nodes.loops",
    "nodes.operators",
    "nodes.targets",
    "nodes.tries",
    "nodes.yields",
    "kinds.amounts",
    "kinds.choices",
    "kinds.classes",
    "kinds.config_files",
    "kinds.constants",
    "kinds.devices",
    "kinds.dicts",
    "kinds.environ",
    "kinds.functions",
    "kinds.lists",
    "kinds.own_dicts",
    "kinds.protos",
    "kinds.references",
    "kinds.results",
    "builtins.amounts",
    "builtins.attributes",
    "builtins.classes",
    "builtins.config_files",
    "builtins.containers",
    "builtins.dataclasses",
    "builtins.evaluation",
    "builtins.functions",
    "builtins.given_code",
    "builtins.imports",
    "builtins.iterators",
    "builtins.library",
    "builtins.named_tuples",
    "builtins.numbers",
    "builtins.programs",
    "builtins.versions",
    "tensorflow.by_arguments",
    "tensorflow.growth",
    "tensorflow.listing",
    "tensorflow.logical_devices",
    "tensorflow.programs",
    "tensorflow.sessions",
    "tensorflow.threads",
    "tensorflow.visible_devices",
)
for _name in MODULES:
    importlib.import_module(f"tfmemlint.interpreter.{_name}")
