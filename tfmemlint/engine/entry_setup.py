"""Set up the run of the program that starts at an entry point: its name, its package, the code that runs before it."""

from __future__ import annotations

from tfmemlint.interpreter.modules import ProgramModules
from tfmemlint.interpreter.unit import EntrySetup
from tfmemlint.project.entries import Entry
from tfmemlint.project.kinds import Kind


def package_of(entry: Entry) -> str:
    """Return the package that the file of an entry point is in; "" for none."""
    return entry.module if entry.path.endswith("__init__.py") else entry.module.rpartition(".")[0]


def entry_setup(entry: Entry, modules: ProgramModules, *, has_relative_imports: bool) -> EntrySetup:
    """Return how the program that starts at ``entry`` is run.

    A script that imports relatively is taken to be run as a module of its package (``python -m``).
    """
    package = package_of(entry) or None
    if entry.kind in (Kind.SCRIPT, Kind.MAIN_MODULE):
        in_package = entry.kind is not Kind.SCRIPT or has_relative_imports
        return EntrySetup(modules, package=package if in_package else None)
    conftests = (modules.store.get(path) for path in entry.conftests if path != entry.path)
    before = tuple(conftest for conftest in conftests if conftest is not None)
    return EntrySetup(modules, entry.module, package, before, entry.function)
