#!/usr/bin/env python3
"""Count the rooms of the house: packages, the imports between them, the floors they make, and their circles.

``tools/structure.py`` prints the counts of the working tree; with git refs, those of each ref side by side; ``--svg``
draws the last edge. Imports are read from the syntax trees, so that any checkout can be counted without installing it,
and an import within a function or under ``TYPE_CHECKING`` counts between rooms as any other.
"""

from __future__ import annotations

import argparse
import ast
import html
import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "tfmemlint"

Graph = Mapping[str, Iterable[str]]


@dataclass(frozen=True, slots=True)
class Import:
    """One import of a module of the package by another.

    Attributes:
        importer, imported: the modules, as ``engine.run``; ``""`` is the package itself. path, row: where it is.
        text: the statement. at_import: it runs when the importer is imported: it is neither in a function nor under
            ``TYPE_CHECKING``.
    """

    importer: str
    imported: str
    path: str
    row: int
    text: str
    at_import: bool

    @property
    def rooms(self) -> tuple[str, str]:
        """The rooms of the two modules."""
        return room(self.importer), room(self.imported)

    def __str__(self) -> str:
        return f"{self.path}:{self.row}: {self.text}"


@dataclass(frozen=True, slots=True)
class House:
    """A checkout, counted.

    Attributes:
        modules: the names of all modules. packages: those of them that are packages. imports: all imports among them.
    """

    modules: frozenset[str]
    packages: frozenset[str]
    imports: tuple[Import, ...]

    @property
    def rooms(self) -> list[str]:
        """The top-level packages, and the modules that are in none; the package's own ``__init__`` is not edge."""
        return sorted({room(module) for module in self.modules} - {"", "__main__"})

    @property
    def loose(self) -> list[str]:
        """The rooms that are no packages but modules beside them."""
        return sorted(set(self.rooms) - self.packages)

    def arrows(self) -> dict[str, set[str]]:
        """The rooms that each room imports from."""
        found: dict[str, set[str]] = {name: set() for name in self.rooms}
        for edge in self.imports:
            importer, imported = edge.rooms
            if importer != imported and importer in found and imported in found:
                found[importer].add(imported)
        return found

    def module_arrows(self, *, at_import: bool, within_rooms: bool = False) -> dict[str, set[str]]:
        """The modules that each module imports.

        Args:
            at_import: count only the imports that run when the module is imported.
            within_rooms: count only the imports within one room.
        """
        found: dict[str, set[str]] = {name: set() for name in self.modules}
        for edge in self.imports:
            counts = (edge.at_import or not at_import) and (len(set(edge.rooms)) == 1 or not within_rooms)
            if counts and edge.importer != edge.imported:
                found[edge.importer].add(edge.imported)
        return found


def room(module: str) -> str:
    """The room of a module: its top-level package, or itself where it is in none."""
    return module.partition(".")[0]


def read(root: Path) -> House:
    """Count the checkout at ``root``; its ``rules/`` is the package ``tfmemlint.rules``."""
    files: dict[str, Path] = {}
    for folder, prefix in ((root / PACKAGE, ""), (root / "rules", "rules")):
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            files[".".join(filter(None, (prefix, *parts))).removesuffix("__init__").rstrip(".")] = path
    imports = [found for module, path in files.items() for found in _imports(module, path, files.keys(), root)]
    packages = frozenset(name for name, path in files.items() if path.name == "__init__.py")
    return House(frozenset(files), packages, tuple(imports))


def _imports(module: str, path: Path, modules: Iterable[str], root: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_bytes())
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    known = set(modules)
    for node, at_import in _statements(tree, True):
        for target in dict.fromkeys(_targets(node, package, known)):
            place = path.relative_to(root).as_posix()
            yield Import(module, target, place, node.lineno, ast.unparse(node), at_import)


def _statements(node: ast.AST, at_import: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """The import statements below ``node``, each with whether it runs when the module is imported."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node, at_import
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        at_import = False
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for child in node.body:
            yield from _statements(child, False)
        for child in node.orelse:
            yield from _statements(child, at_import)
        return
    for below in ast.iter_child_nodes(node):
        yield from _statements(below, at_import)


def _targets(node: ast.Import | ast.ImportFrom, package: str, modules: set[str]) -> Iterator[str]:
    """The modules of the package that a statement imports."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.startswith(f"{PACKAGE}."):
                yield alias.name.removeprefix(f"{PACKAGE}.")
        return
    base = node.module or ""
    if node.level:
        parts = package.split(".") if package else []
        above = parts[: len(parts) - node.level + 1]
        base = ".".join(filter(None, (PACKAGE, *above, base)))
    if base != PACKAGE and not base.startswith(f"{PACKAGE}."):
        return
    base = base.removeprefix(PACKAGE).lstrip(".")
    for alias in node.names:
        inner = f"{base}.{alias.name}".lstrip(".")
        yield inner if inner in modules else base


def circles(graph: Graph) -> list[list[str]]:
    """The groups of nodes that all reach each other (strongly connected components of two or more), sorted."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    for start in sorted(graph):
        work = [(start, iter(sorted(graph[start])))] if start not in order else []
        while work:
            node, following = work[-1]
            if node not in order:
                order[node] = lowest[node] = len(order)
                stack.append(node)
            for other in following:
                if other not in order:
                    work.append((other, iter(sorted(graph.get(other, ())))))
                    break
                if other in stack:
                    lowest[node] = min(lowest[node], order[other])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[node])
                if lowest[node] == order[node]:
                    place = stack.index(node)
                    found.append(sorted(stack[place:]))
                    del stack[place:]
    return sorted(group for group in found if len(group) > 1)


def floors(graph: Graph) -> dict[str, int]:
    """The floor of each node: 0 where it imports nothing, else one above the highest that it imports.

    The nodes of a circle are on one floor.
    """
    group: dict[str, tuple[str, ...]] = {name: (name,) for name in graph}
    for circle in circles(graph):
        group |= {name: tuple(circle) for name in circle}
    found: dict[tuple[str, ...], int] = {}

    def floor(names: tuple[str, ...]) -> int:
        if names not in found:
            below = {group[other] for name in names for other in graph[name]} - {names}
            found[names] = 1 + max((floor(other) for other in below), default=-1)
        return found[names]

    return {name: floor(group[name]) for name in graph}


def counts(house: House) -> dict[str, int]:
    """The figures of a checkout, by what they count."""
    arrows = house.arrows()
    return {
        "modules": len(house.modules),
        "rooms": len(arrows),
        "loose modules": len(house.loose),
        "arrows between rooms": sum(map(len, arrows.values())),
        "floors": 1 + max(floors(arrows).values()),
        "circles of rooms": len(circles(arrows)),
        "rooms in circles": sum(map(len, circles(arrows))),
        "circles of modules": len(circles(house.module_arrows(at_import=False))),
        "modules in circles": sum(map(len, circles(house.module_arrows(at_import=False)))),
        "circles of modules at import": len(circles(house.module_arrows(at_import=True))),
    }


def text(house: House) -> str:
    """The rooms from the top floor down, with what each imports from; ``!`` marks an import within a circle."""
    arrows = house.arrows()
    level = floors(arrows)
    tangled = [set(circle) for circle in circles(arrows)]
    lines = []
    for floor in range(max(level.values()), -1, -1):
        for name in sorted(each for each in arrows if level[each] == floor):
            others = sorted(arrows[name], key=lambda other: (-level[other], other))
            marked = [f"{other}!" if any({name, other} <= circle for circle in tangled) else other for other in others]
            lines.append(f"{floor:3d}  {name:<14} {' '.join(marked)}".rstrip())
    return "\n".join(lines)


WIDTH, STEP, BOX = 1180, 74, 26
"""Pixels: of the picture, from floor to floor, and the height of a room."""


def svg(house: House, title: str) -> str:
    """The rooms floor by floor, with an arrow for each import; those within circles are red."""
    arrows = house.arrows()
    level = floors(arrows)
    top = max(level.values())
    tangled = [set(circle) for circle in circles(arrows)]
    center: dict[str, tuple[float, float]] = {}
    boxes = []
    for floor in range(top + 1):
        names = sorted(each for each in arrows if level[each] == floor)
        for place, name in enumerate(names):
            x, y = WIDTH * (place + 1) / (len(names) + 1), 70 + STEP * (top - floor)
            center[name] = x, y
            wide = 7.2 * len(name) + 16
            boxes.append(
                f'<rect x="{x - wide / 2:.0f}" y="{y - BOX / 2:.0f}" width="{wide:.0f}" height="{BOX}" rx="4"/>'
                f'<text x="{x:.0f}" y="{y + 4:.0f}">{html.escape(name)}</text>'
            )
    lines = []
    for name, others in arrows.items():
        for other in sorted(others):
            (left, upper), (right, lower) = center[name], center[other]
            bad = any({name, other} <= circle for circle in tangled)
            bend = (right - left) / 6 + (28.0 if upper == lower else 0.0)
            lines.append(
                f'<path class="{"bad" if bad else "good"}" marker-end="url(#{"bad" if bad else "good"})" '
                f'd="M{left:.0f} {upper + BOX / 2:.0f} '
                f"Q{(left + right) / 2 + bend:.0f} {(upper + lower) / 2 + bend / 3:.0f} "
                f'{right:.0f} {lower - BOX / 2 - 4:.0f}"/>'
            )
    shown = ("rooms", "loose modules", "arrows between rooms", "floors", "circles of modules")
    figures = ", ".join(f"{counts(house)[what]} {what}" for what in shown)
    marker = (
        '<marker id="{0}" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
        '<path class="{0}-tip" d="M0 0 6 3 0 6z"/></marker>'
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {110 + STEP * top}">',
            "<style>rect{fill:#fff;stroke:#444}text{font:12px monospace;text-anchor:middle;fill:#111}"
            ".good{fill:none;stroke:#4a7ab5;stroke-opacity:.35}.bad{fill:none;stroke:#c0392b;stroke-opacity:.8}"
            ".good-tip{fill:#4a7ab5}.bad-tip{fill:#c0392b}.title{font-size:15px;font-weight:bold}</style>",
            f'<rect width="{WIDTH}" height="{110 + STEP * top}" style="stroke:none"/>',
            f"<defs>{marker.format('good')}{marker.format('bad')}</defs>",
            f'<text class="title" x="{WIDTH / 2:.0f}" y="22">{html.escape(title)}</text>',
            f'<text x="{WIDTH / 2:.0f}" y="42">{html.escape(figures)}</text>',
            *lines,
            *boxes,
            "</svg>",
            "",
        ]
    )


def at(ref: str) -> House:
    """Count the checkout that a git ref stands for.

    Raises:
        subprocess.CalledProcessError: git knows no such ref.
    """
    archive = subprocess.run(
        ["git", "archive", "--format=tar", ref, PACKAGE, "rules"], cwd=ROOT, capture_output=True, check=True
    )
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        if sys.version_info >= (3, 12):
            files.extractall(folder, filter="data")
        else:
            files.extractall(folder)
        return read(Path(folder))


def main() -> int:
    """Print the figures, and the rooms of the last checkout; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="tools/structure.py", description="Count the packages of a checkout, their imports, floors and circles."
    )
    parser.add_argument("refs", nargs="*", metavar="REF", help="git refs; by default, the working tree")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the last of them")
    arguments = parser.parse_args()
    try:
        houses = {ref: at(ref) for ref in arguments.refs} or {"working tree": read(ROOT)}
    except subprocess.CalledProcessError as error:
        print(f"tools/structure.py: {error.stderr.decode(errors='replace').strip()}", file=sys.stderr)
        return 2
    table = {name: counts(house) for name, house in houses.items()}
    print(f"{'':30}" + "".join(f"{name[:24]:>26}" for name in table))
    for what in next(iter(table.values())):
        print(f"{what:30}" + "".join(f"{figures[what]:26d}" for figures in table.values()))
    name, house = list(houses.items())[-1]
    print(f"\n{name}, floor by floor (! within a circle):\n{text(house)}")
    for circle in circles(house.module_arrows(at_import=False)):
        print(f"circle of modules: {' '.join(circle)}")
    if arguments.svg is not None:
        arguments.svg.write_text(svg(house, f"{PACKAGE}: {name}"), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
