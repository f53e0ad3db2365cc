"""Write ``tfmemlint/knowledge/data/signatures.txt``: the parameters of functions and classes, release by release.

Usage: python tools/knowledge/make_signatures.py FOLDER [RELEASE ...]

``FOLDER`` is what ``fetch_wheels.py`` made. A public module of TensorFlow imports each name from where it is defined;
there the definition is read, and none of it is run. A class has the parameters of its ``__init__``, or of its
``__new__`` or those of a base class. What the table says of other releases than those named stays.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tfmemlint.knowledge.releases import KNOWN, position  # noqa: E402

TABLE = ROOT / "tfmemlint" / "knowledge" / "data" / "signatures.txt"

_CONFIG = """
LogicalDeviceConfiguration get_logical_device_configuration get_visible_devices list_logical_devices
list_physical_devices set_logical_device_configuration set_visible_devices
experimental.VirtualDeviceConfiguration experimental.get_device_details experimental.get_memory_growth
experimental.get_memory_info experimental.get_memory_usage experimental.get_virtual_device_configuration
experimental.get_visible_devices experimental.list_logical_devices experimental.list_physical_devices
experimental.reset_memory_stats experimental.set_memory_growth experimental.set_virtual_device_configuration
experimental.set_visible_devices
"""
_STRATEGIES = """
MirroredStrategy OneDeviceStrategy MultiWorkerMirroredStrategy ParameterServerStrategy TPUStrategy
experimental.CentralStorageStrategy experimental.MultiWorkerMirroredStrategy experimental.ParameterServerStrategy
experimental.TPUStrategy
"""
NAMES = (
    *(f"tf.config.{name}" for name in _CONFIG.split()),
    *(f"tf.distribute.{name}" for name in _STRATEGIES.split()),
    *(f"tf.compat.v1.distribute.{name}" for name in _STRATEGIES.split()),
)
"""The names whose parameters are read, where a release has them."""

Parameters = tuple[str, ...]
"""Names in order; ``*`` stands before those that are given by keyword alone, ``**`` for any others."""


class Wheel:
    """The files of one release."""

    def __init__(self, place: Path) -> None:
        self.roots = [
            root / package
            for root in (place, *place.glob("*.data/purelib"))
            for package in ("tensorflow_core", "tensorflow")
            if (root / package).is_dir()
        ]
        self.api = next(api for root in self.roots for api in ("v2", "v1") if (root / "_api" / api).is_dir())

    def parameters(self, name: str) -> Parameters | None:
        """Return the parameters of a public function or class; None if the release does not have it."""
        module, _, last = name.removeprefix("tf.").rpartition(".")
        public = self.tree(f"_api.{self.api}.{module}")
        if public is None:
            return None
        for origin, original, bound in _imports(public):
            if bound == last:
                return self._of(origin, original)
        return None

    def _of(self, module: str, name: str) -> Parameters | None:
        tree = self.tree(module)
        if tree is None:
            return None
        for node in tree.body:
            match node:
                case ast.FunctionDef() if node.name == name:
                    return _of_function(node, bound=0)
                case ast.ClassDef() if node.name == name:
                    return self._of_class(node, module)
                case ast.Assign(targets=[ast.Name(id=bound)], value=ast.Name(id=other)) if bound == name:
                    return self._of(module, other)
        for origin, original, bound in _imports(tree):
            if bound == name:
                return self._of(origin, original)
        return None

    def _of_class(self, node: ast.ClassDef, module: str) -> Parameters | None:
        own = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
        for maker in ("__init__", "__new__"):
            if maker in own:
                return _of_function(own[maker], bound=1)
        for base in node.bases:
            match base:
                case ast.Name(id=name):
                    return self._of(module, name)
                case ast.Attribute(value=ast.Name(id=prefix), attr=name):
                    tree = self.tree(module)
                    origins = [f"{origin}.{original}" for origin, original, bound in _imports(tree) if bound == prefix]
                    return self._of(origins[0], name) if origins else None
        return None

    @cache  # noqa: B019
    def tree(self, module: str) -> ast.Module | None:
        """Return the syntax tree of a module below ``tensorflow``; None if its file is not kept."""
        parts = module.removeprefix("tensorflow.").split(".")
        for root in self.roots:
            for path in (root.joinpath(*parts) / "__init__.py", root.joinpath(*parts[:-1], f"{parts[-1]}.py")):
                if path.is_file():
                    return ast.parse(path.read_bytes())
        return None


def _imports(tree: ast.Module | None) -> Iterator[tuple[str, str, str]]:
    """Yield what a module imports by name: from which module, its name there, and its name here."""
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            for alias in node.names:
                yield node.module.replace("tensorflow_core", "tensorflow"), alias.name, alias.asname or alias.name


def _of_function(node: ast.FunctionDef, bound: int) -> Parameters:
    given = node.args
    names = [arg.arg for arg in (*given.posonlyargs, *given.args)][bound:]
    if given.kwonlyargs or given.vararg is not None:
        names += ["*", *(arg.arg for arg in given.kwonlyargs)]
    return tuple([*names, "**"] if given.kwarg is not None else names)


def read_table() -> dict[str, dict[str, Parameters]]:
    """Return what the table says: by release and name, the parameters."""
    found: dict[str, dict[str, Parameters]] = {}
    for line in TABLE.read_text(encoding="ascii").splitlines() if TABLE.exists() else ():
        if not line.startswith("#"):
            name, releases, *parameters = line.split(" ")
            first, last = releases.split("-")
            for release in KNOWN[position(first) : position(last) + 1]:
                found.setdefault(release, {})[name] = tuple(parameters)
    return found


def table(found: dict[str, dict[str, Parameters]]) -> str:
    """Return the text of the table."""
    lines = ["# parameters, as the definitions in TensorFlow's wheels have them; by tools/knowledge/make_signatures.py"]
    for name in NAMES:
        pairs = [(release, found.get(release, {}).get(name)) for release in KNOWN]
        for parameters, group in groupby(pairs, itemgetter(1)):
            releases = [release for release, _ in group]
            if parameters is not None:
                lines.append(" ".join([name, f"{releases[0]}-{releases[-1]}", *parameters]))
    return "\n".join(lines) + "\n"


def main(folder: str, *releases: str) -> int:
    """Write the table."""
    found = read_table()
    for release in releases or [release for release in KNOWN if (Path(folder) / release).is_dir()]:
        wheel = Wheel(Path(folder) / release)
        read = {name: wheel.parameters(name) for name in NAMES}
        found[release] = {name: parameters for name, parameters in read.items() if parameters is not None}
        print(f"{release}: {len(found[release])} signatures")
    TABLE.write_text(table(found), encoding="ascii")
    return 0


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit(__doc__)
    raise SystemExit(main(*sys.argv[1:]))
