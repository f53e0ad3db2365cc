"""Which files the tests of a module are about, so that TensorFlow can run several of them at a time."""

from __future__ import annotations

from pathlib import Path

import pytest


def chosen_paths(request: pytest.FixtureRequest, name: str = "path") -> list[Path]:
    """The values of the parameter ``name`` among the tests of this module that are to run."""
    mine = [item for item in request.session.items if getattr(item, "module", None) is request.module]
    found = [item.callspec.params.get(name) for item in mine if hasattr(item, "callspec")]
    return list(dict.fromkeys(path for path in found if path))
