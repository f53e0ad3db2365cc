"""Spell names of modules as a file does, and add the imports and the NVML helper that a rewrite needs."""

from __future__ import annotations

import re

import libcst as cst

from tfmemlint.fixes.concrete_tree import ConcreteTree
from tfmemlint.fixes.imports import (
    RELATIVE,
    ImportBindings,
    imported_module,
    insertion_index,
    is_docstring,
    is_import,
    is_standard,
)
from tfmemlint.fixes.rewrites import memory_sizes
from tfmemlint.fixes.trivia import Line, parse
from tfmemlint.knowledge.names import exists
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.records import dataclass

_V1 = "tf.compat.v1"


class ImportAdder:
    """The imports that one rewrite of a file uses and adds."""

    def __init__(self, tree: ConcreteTree, imports: ImportBindings) -> None:
        self._tree = tree
        self._imports = imports
        self._added: dict[str, str] = {}
        self._relied: dict[str, int] = {}
        self._helper = ""
        self._new_helper = ""
        self.sorted_imports: list[NewImport] = []
        """The new imports that go between the file's own; set by `top_lines`."""

    def tf(self, name: str, at: cst.CSTNode | None, target: Target) -> str:
        """Return the spelling of canonical ``name`` at ``at``. An import is added if the file has none to use."""
        for binding in self._imports.visible(at):
            if binding.name == "tensorflow" or binding.name == "tensorflow.compat.v2":
                self._rely(binding.node, at)
                return binding.local + name.removeprefix("tf")
            if binding.name == "tensorflow.compat.v1":
                rest = name.removeprefix(_V1).removeprefix("tf")
                if name.startswith(_V1) or (rest.startswith((".config", ".test")) and exists(_V1 + rest, target)):
                    self._rely(binding.node, at)
                    return binding.local + rest
            full = binding.name.replace("tensorflow", "tf", 1) if binding.name.startswith("tensorflow.") else ""
            if full and (name == full or name.startswith(full + ".")):
                self._rely(binding.node, at)
                return binding.local + name.removeprefix(full)
        if self._imports.is_from_star("tf"):
            return name
        return self.add("tensorflow", None, "tf") + name.removeprefix("tf")

    def add(self, module: str, name: str | None = None, asname: str | None = None) -> str:
        """Return the text by which ``module`` (or ``name`` of it) is used. It is imported if it isn't yet."""
        full = f"{module}.{name}" if name else module
        for binding in self._imports.visible(None):
            plain = isinstance(binding.node, cst.Import) and "." not in full
            if binding.name == full and (plain or name or binding.local == asname):
                self._rely(binding.node, None)
                return binding.local
        what = f"from {module} import {name}" if name else f"import {module}"
        local = asname or name or module
        if what in self._added:
            return self._added[what]
        free = self._free(local.split(".")[0])
        if free != local.split(".")[0]:
            local = asname = free
        self._added[what] = local
        return local

    def memory_helper(self) -> str:
        """Return the name of the function that asks NVML for a device's memory. It is added if the file lacks it."""
        if self._helper:
            return self._helper
        for line in self._tree.module.body:
            if isinstance(line, cst.FunctionDef) and self._tree.code(line).strip() == self._text(line.name.value):
                self._helper = line.name.value
                return self._helper
        self._helper = self._free(memory_sizes.HELPER)
        self._new_helper = self._text(self._helper, add=True)
        return self._helper

    def top_lines(self, touched: set[cst.CSTNode]) -> dict[int, list[Line]]:
        """Return the new lines at the top of the module, by the index of the statement that they follow."""
        body = self._tree.module.body
        indices = [index for node in touched if (index := self._index(node)) is not None]
        limit = min(indices, default=len(body))
        for text, index in self._relied.items():
            if index > limit:
                # The import that was to be used is below the code that needs it.
                self._added.setdefault(text, "")
        texts = [_import_text(what, local) for what, local in self._added.items()]
        if not texts and not self._new_helper:
            return {}
        run = self._run(limit)
        self.sorted_imports = [new_import for text in texts if (new_import := _sorted_in(run, text)) is not None]
        self.sorted_imports.sort(key=lambda new_import: _sort_key(parse(new_import.text)[0]))
        known = {new_import.text for new_import in self.sorted_imports}
        texts = [text for text in texts if text not in known]
        after = insertion_index(self._tree.module, limit)
        found = parse("\n".join(texts)) if texts else []
        future = after >= 0 and is_docstring(body[after])
        blank = cst.EmptyLine(indent=False)
        if found and future:
            found[0] = found[0].with_changes(leading_lines=[blank])
        if self._new_helper:
            helper = parse(self._new_helper)[0]
            found.append(helper.with_changes(leading_lines=[blank, blank] if after >= 0 or found else []))
        return {after: found} if found else {}

    def _run(self, limit: int) -> list[cst.SimpleStatementLine]:
        """Return the imports at the beginning of the file, above statement ``limit``, without those of
        ``__future__``.
        """
        found: list[cst.SimpleStatementLine] = []
        for line in self._tree.module.body[:limit]:
            if isinstance(line, cst.SimpleStatementLine) and is_import(line):
                if "__future__" not in self._tree.code(line):
                    found.append(line)
            elif not is_docstring(line):
                break
        return found

    def blank_lines_below(self) -> int:
        """Return how many blank lines have to follow the new lines."""
        return 2 if self._new_helper else 1

    def _text(self, name: str, *, add: bool = False) -> str:
        text = re.sub(rf"\b{memory_sizes.HELPER}\b", name, memory_sizes.helper(), count=1)
        for module in ("os", "pynvml"):
            known = next((binding.local for binding in self._imports.visible(None) if binding.name == module), module)
            local = self.add(module) if add else known
            text = re.sub(rf"\b{module}\.(?=[a-z])", f"{local}.", text)
        return text.strip()

    def _free(self, name: str) -> str:
        taken = self._imports.taken | set(self._added.values())
        if name not in taken:
            return name
        for tail in ("_", "_2", "_3"):
            if name + tail not in taken:
                return name + tail
        return f"tfmemlint_{name}"

    def _rely(self, node: cst.Import | cst.ImportFrom, at: cst.CSTNode | None) -> None:
        index = self._index(node)
        if index is not None and self._tree.function_of(node) is self._tree.module:
            self._relied[self._tree.code(node).strip().rstrip(";").rstrip()] = index

    def _index(self, node: cst.CSTNode) -> int | None:
        """Return the index of the module's statement that is ``node`` or contains it."""
        for around in (node, *self._tree.ancestors(node)):
            if self._tree.parents.get(around) is self._tree.module:
                return next(index for index, line in enumerate(self._tree.module.body) if line is around)
        return None


@dataclass(frozen=True, slots=True)
class NewImport:
    """An import to put above or below an import of the file. ``apart``: a blank line separates the two."""

    text: str
    beside: cst.SimpleStatementLine
    below: bool = False
    apart: bool = False


def _sorted_in(run: list[cst.SimpleStatementLine], text: str) -> NewImport | None:
    """Return an import with its place in ``run``: the standard library first, then by name.

    Return None if ``run`` has only imports of the standard library and this is not one.
    """
    if imported_module(parse(text)[0]) == RELATIVE:
        return _among_relative(run, text)
    key = _sort_key(parse(text)[0])
    alike = [line for line in run if _sort_key(line)[0] == key[0] and imported_module(line) != RELATIVE]
    if alike:
        later = next((line for line in alike if _sort_key(line) > key), None)
        return NewImport(text, later if later is not None else alike[-1], below=later is None)
    relative = next((line for line in run if imported_module(line) == RELATIVE), None)
    first = relative if key[0] else next(iter(run), None)
    return NewImport(text, first, apart=True) if first is not None else None


def _among_relative(run: list[cst.SimpleStatementLine], text: str) -> NewImport | None:
    """Return a relative import with its place among those of ``run``, or below all others."""
    relative = [line for line in run if imported_module(line) == RELATIVE]
    if not relative:
        return NewImport(text, run[-1], below=True, apart=True) if run else None
    later = next((line for line in relative if cst.Module([line]).code.strip() > text), None)
    return NewImport(text, later if later is not None else relative[-1], below=later is None)


def _sort_key(line: cst.CSTNode) -> tuple[bool, bool, str]:
    """Return the sort key of an import: not in the standard library, written with ``from``, the module's name."""
    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else line
    return not is_standard(line), not isinstance(first, cst.Import), imported_module(line)


def _import_text(what: str, local: str) -> str:
    last = what.split()[-1]
    return what if not local or local == last else f"{what} as {local}"


__all__ = ["ImportAdder", "is_import"]
