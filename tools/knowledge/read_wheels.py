"""Read the public names of TensorFlow from the files of its wheels, without running any of them.

Usage: python tools/knowledge/read_wheels.py FOLDER [RELEASE ...]

``FOLDER`` is what ``fetch_wheels.py`` made. TensorFlow's wheels have a package for each public module (``_api``),
whose ``__init__.py`` imports each public name from where it is defined; ``tf.keras`` and ``tf.estimator`` are such
packages in wheels of their own, loaded lazily. What is imported, assigned to a module, and deleted is followed; a name
is public where no part of it begins with an underscore. The result goes to ``measured/names.json.gz``, beside what is
there of other releases.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MEASURED = Path(__file__).parent / "measured" / "names.json.gz"

_SKIPPED = ("tf.compat.v2", "tf.compat.v1.compat", "tf.contrib")
"""Modules whose members are those of another module, and ``tf.contrib``, whose members come from files that are not
kept: their contents are not listed."""
_API = re.compile(r"\.(?:_api|api|_tf_keras)\.")


@dataclass
class Module:
    """A module: its members, each another module or None for a function, class or value."""

    name: str
    members: dict[str, Module | None] = field(default_factory=dict)


class Wheels:
    """The files of one release."""

    def __init__(self, place: Path) -> None:
        self.roots = [place, *place.glob("*.data/purelib")]
        self._modules: dict[str, Module | None] = {}
        keras = next(place.glob("keras-*.dist-info"), None)
        self.keras = 0 if keras is None else int(keras.name.split("-")[1].split(".")[0])

    def module(self, name: str) -> Module | None:
        """Return the package of this name; None where the wheels have none."""
        if name not in self._modules:
            path = self._path(name)
            if path is None:
                self._modules[name] = None
            else:
                module = self._modules[name] = Module(name)
                _Reader(self, module, name).read(path)
                for inner in sorted(path.parent.iterdir()) if _API.search(f"{name}.") else ():
                    # Can be imported by its name, whether or not the package imports it.
                    if not inner.name.startswith("_") and (inner / "__init__.py").is_file():
                        module.members.setdefault(inner.name, self.module(f"{name}.{inner.name}"))
        return self._modules[name]

    def _path(self, name: str) -> Path | None:
        parts = name.split(".")
        for root in self.roots:
            places = [root.joinpath(*parts)]
            if parts[0] == "tensorflow" and len(parts) > 1:
                places.insert(0, root.joinpath("tensorflow_core", *parts[1:]))
            for place in places:
                if (place / "__init__.py").is_file():
                    return place / "__init__.py"
        return None


class _Reader:
    """Follows the statements of one package."""

    def __init__(self, wheels: Wheels, module: Module, name: str) -> None:
        self.wheels, self.module, self.name = wheels, module, name
        self.texts: dict[str, str] = {}
        self.private: dict[str, Module | None] = {}

    def read(self, path: Path) -> None:
        self.statements(ast.parse(path.read_bytes()).body)

    def statements(self, body: list[ast.stmt]) -> None:
        for node in body:
            match node:
                case ast.ImportFrom():
                    self.imported(node)
                case ast.Import(names=names):
                    for alias in names:
                        if alias.asname or "." not in alias.name:
                            self.bind(alias.asname or alias.name, None)
                case ast.Assign(targets=[target], value=value):
                    self.assigned(target, value)
                case ast.Expr(value=ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=base), name, value])):
                    if base == "_current_module" and isinstance(name, ast.Constant):
                        self.bind(str(name.value), self.value(value))
                case ast.Expr(value=ast.Call(func=ast.Attribute(attr="package_hook"), keywords=keywords)):
                    # How TensorFlow 1.13 has its estimator.
                    words = {keyword.arg: self.text(keyword.value) for keyword in keywords}
                    child = words.get("child_package_str", "")
                    self.bind(child.rpartition(".")[2], self.wheels.module(child))
                case ast.Delete(targets=targets):
                    for target in targets:
                        if isinstance(target, ast.Name):
                            self.module.members.pop(target.id, None)
                case ast.If(test=ast.Attribute(attr="TYPE_CHECKING")):
                    pass  # for tools that read types; it never runs
                case ast.If(body=inner, orelse=other):
                    self.statements(inner)
                    self.statements(other)
                case ast.Try(body=inner, orelse=other):
                    self.statements(inner)
                    self.statements(other)
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    self.bind(name, None)

    def imported(self, node: ast.ImportFrom) -> None:
        source = node.module or ""
        if node.level:
            parents = self.name.split(".")
            source = ".".join([*parents[: len(parents) - node.level + 1], *([source] if source else [])])
        for alias in node.names:
            if alias.name == "*":
                other = self.wheels.module(source)
                for name, member in (other.members if other is not None else {}).items():
                    self.bind(name, member)
            elif source != "__future__":
                name = alias.asname or alias.name
                member, old = self.wheels.module(f"{source}.{alias.name}"), self.module.members.get(name)
                if member is None and source == "tensorflow_core":
                    # The package that TensorFlow 1.15 to 2.1 really is in; some of its modules have another name.
                    core = self.wheels.module(source)
                    member = core.members.get(alias.name) if core is not None else None
                if member is not None and old is not None and source.startswith("tensorboard."):
                    # TensorBoard's module takes all names of the one that it stands in for, when it is run.
                    member.members = {**old.members, **member.members}
                    member.members.pop("reexport_tf_summary", None)
                self.bind(name, member)

    def assigned(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Name(id=name), ast.Constant(value=str(text)):
                self.texts[name] = text
                self.bind(name, None)
            case ast.Name(id=name), ast.Subscript(value=ast.Attribute(attr="modules")) if name in self.module.members:
                pass  # the same module, by another way
            case ast.Name(id=name), _:
                self.bind(name, self.value(value))
            case ast.Attribute(value=base, attr=name), _:
                owner = self.value(base)
                if owner is not None and not name.startswith("_"):
                    owner.members[name] = self.value(value)

    def bind(self, name: str, member: Module | None) -> None:
        if name.startswith("_"):
            self.private[name] = member
        else:
            self.module.members[name] = member

    def value(self, node: ast.expr) -> Module | None:
        """Return the module that an expression stands for, if it is one."""
        match node:
            case ast.Name(id="_current_module"):
                return self.module
            case ast.Name(id=name):
                return self.module.members.get(name) or self.private.get(name)
            case ast.Attribute(value=base, attr=name):
                owner = self.value(base)
                return owner.members.get(name) if owner is not None else None
            case ast.Call(func=ast.Name(id="_KerasLazyLoader"), keywords=keywords):
                words = {
                    keyword.arg: keyword.value.value for keyword in keywords if isinstance(keyword.value, ast.Constant)
                }
                return self.keras(str(words.get("mode", "v2")), str(words.get("submodule", "")))
            case ast.Call(func=ast.Name(id=loader), args=[_, _, place, *_]) if loader.endswith("LazyLoader"):
                return self.wheels.module(self.text(place))
        return None

    def text(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id=name):
                return self.texts.get(name, "")
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self.text(left) + self.text(right)
        return ""

    def keras(self, mode: str, inner: str) -> Module | None:
        """Return the module that ``tensorflow/python/util/lazy_loader.py`` loads: with Keras 3 one package for both
        modes, without the layers of TF1, whose attributes raise."""
        if self.wheels.keras >= 3:
            if inner.startswith("__internal__.legacy"):
                return Module(inner)
            package = "keras._tf_keras.keras"
        else:
            package = f"keras.api._{mode}.keras"
        return self.wheels.module(f"{package}.{inner}" if inner else package)


def names(place: Path) -> set[str]:
    """Return the public names of one release: ``tf.config.list_physical_devices``."""
    wheels = Wheels(place)
    top = wheels.module("tensorflow")
    if top is None:
        raise SystemExit(f"{place} has no wheel of TensorFlow; fetch_wheels.py fetches it")
    return set(_below(top, "tf", (top.name,)))


def _below(module: Module, name: str, inside: tuple[str, ...]) -> Iterator[str]:
    for child, member in module.members.items():
        full = f"{name}.{child}"
        yield full
        if member is not None and member.name not in inside and full not in _SKIPPED:
            yield from _below(member, full, (*inside, member.name))


def order(release: str) -> tuple[int, int]:
    """Return a sort key for releases."""
    major, _, minor = release.partition(".")
    return int(major), int(minor)


def merge(found: dict[str, set[str]]) -> None:
    """Put the names of some releases into the measured file, beside the others."""
    known = load()
    releases = sorted(known.keys() | found.keys(), key=order)
    by_release = {**known, **found}
    table: dict[str, list[list[str]]] = {}
    for name in sorted(set().union(*by_release.values())):
        parts: list[list[str]] = []
        before = False
        for release in releases:
            has = name in by_release[release]
            if has and not before:
                parts.append([release, release])
            elif has:
                parts[-1][1] = release
            before = has
        table[name] = parts
    text = json.dumps({"releases": releases, "names": table}, separators=(",", ":"))
    with (
        MEASURED.open("wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", compresslevel=9, mtime=0, filename="") as out,
    ):
        out.write(text.encode())


def load() -> dict[str, set[str]]:
    """Return the measured names of each release."""
    if not MEASURED.exists():
        return {}
    raw = json.loads(gzip.decompress(MEASURED.read_bytes()))
    releases: list[str] = raw["releases"]
    place = {release: number for number, release in enumerate(releases)}
    found: dict[str, set[str]] = {release: set() for release in releases}
    for name, parts in raw["names"].items():
        for first, last in parts:
            for release in releases[place[first] : place[last] + 1]:
                found[release].add(name)
    return found


def main(folder: str, *releases: str) -> None:
    """Read the releases, or all that are there."""
    there = sorted((place.name for place in Path(folder).iterdir() if (place / "DONE").exists()), key=order)
    found = {release: names(Path(folder) / release) for release in releases or there}
    merge(found)
    for release, public in found.items():
        print(f"{release}: {len(public)} names")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
