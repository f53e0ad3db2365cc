"""Find the ways to run the program that starts in a file: by itself, by a command of its project, by functions."""

from __future__ import annotations

from tfmemlint.project.entries import Entry, console_scripts, entry_of
from tfmemlint.project.kinds import Kind
from tfmemlint.project.listing import Listings
from tfmemlint.project.roots import package_root, project_root


def entry_at(path: str, data: bytes, listings: Listings) -> Entry:
    """Return the entry point of the program that starts in a file; a library where nothing says how it is run."""
    return entry_of(path, data, listings) or console_entry(path, listings) or library_entry(path, listings)


def console_entry(path: str, listings: Listings | None = None) -> Entry | None:
    """Return the first command of its project that calls a function of a file; None if there is none."""
    module = package_root(path, listings)[1]
    for owner, function in console_scripts(project_root(path, listings)):
        if owner == module:
            return Entry(Kind.CONSOLE, path, module, function)
    return None


def library_entry(path: str, listings: Listings | None = None) -> Entry:
    """Return the entry point for a file whose functions others call."""
    return Entry(Kind.LIBRARY, path, package_root(path, listings)[1])
