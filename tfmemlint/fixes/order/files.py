"""The files of a program as an order repair sees them, and what a call in one of them does in another."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field
from functools import cached_property

import libcst as cst

from tfmemlint.fixes.call_effects import Known
from tfmemlint.fixes.concrete_tree import ConcreteTree, Statement, tree_of
from tfmemlint.fixes.def_use import DefUse
from tfmemlint.fixes.hoist import ForeignCall, Hoist, changed_collections
from tfmemlint.fixes.imports import ImportBindings, imports_of
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.records import dataclass
from tfmemlint.project.roots import package_root
from tfmemlint.project.search import SearchPath, locate_relative
from tfmemlint.sources import Source

_MAX_CALLS = 12
"""The number of calls that are followed from function to function; a bound against recursion."""


MAX_SHARED_CHARACTERS = 2**20
"""Characters of the files whose trees are kept for other repairs: each tree takes some 300 times its text."""

_SEEDS = re.compile(r"\b(?:set_seed|set_random_seed|seed)\s*\(")
_SPEAKING = """
    print input open write info warning error debug exception exit system run Popen seed set_seed set_random_seed
"""
_SPEAKS = frozenset(_SPEAKING.split())
"""Last names of calls that are seen or felt outside of the module."""
_OUTPUT = frozenset(["print", "open", "write", "info", "warning", "error", "debug", "exception"])
"""Those of them that only say or keep something: it matters little in which order."""


_SETS_ENVIRONMENT = re.compile(
    r"environ\s*\[[^\]\n]*\]\s*=(?!=)|environ\.(?:setdefault|update|pop|clear)\b|\b(?:putenv|unsetenv|load_dotenv)\b"
)


@dataclass(frozen=True, slots=True)
class Target:
    """The meaning of a name: a module (``name`` is "") or something that its file defines."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class _Answer:
    """The effect of a call, as long as of the functions that were ``looked_for`` those ``found`` are being followed."""

    looked_for: frozenset[Target]
    found: AbstractSet[Target]
    call: ForeignCall | None


class CodeFile:
    """One file of the program, parsed once."""

    def __init__(self, files: Files, source: Source) -> None:
        self.files = files
        self.path = source.path
        self.source = source
        self.tree: ConcreteTree = files.tree_of(source)
        self.imports: ImportBindings = imports_of(self.tree)

    @cached_property
    def hoist(self) -> Hoist:
        """Return the planner of moves in this file, which looks into functions of other files."""
        return Hoist(
            self.tree,
            self.imports,
            self.files.foreign_of(self.path),
            lambda statement: self.files.import_speaks(self.path, statement),
            output_may_move=self.files.output_may_move,
        )

    @cached_property
    def bindings(self) -> dict[str, list[cst.CSTNode]]:
        """Return the places anywhere in this file that bind each name, or each attribute: asked of every call."""
        found: dict[str, list[cst.CSTNode]] = {}
        for node in self.tree.ranges:
            if isinstance(node, cst.AssignTarget):
                found.setdefault(self.tree.code(node.target), []).append(node)
            elif isinstance(node, (cst.Param, cst.NameItem, cst.AsName)):
                found.setdefault(self.tree.code(node.name), []).append(node)
        return found

    @cached_property
    def package(self) -> str:
        """Return the package that relative imports start from."""
        name = package_root(self.path)[1]
        return name if self.path.endswith("__init__.py") else name.rpartition(".")[0]

    def module_of(self, node: cst.ImportFrom) -> str:
        """Return the absolute name of the module that ``from ... import`` names; "" if it has none."""
        module = self.tree.code(node.module) if node.module is not None else ""
        return locate_relative(self.package, len(node.relative), module) or "" if node.relative else module

    @cached_property
    def classes(self) -> dict[str, cst.ClassDef]:
        """Return the classes of the top level, of several with one name the first."""
        return {line.name.value: line for line in reversed(self.tree.module.body) if isinstance(line, cst.ClassDef)}

    @cached_property
    def stars(self) -> list[str]:
        """Return the modules of which the file imports all names."""
        nodes = (node for node in self.tree.ranges if isinstance(node, cst.ImportFrom))
        return [self.module_of(node) for node in nodes if isinstance(node.names, cst.ImportStar)]

    @cached_property
    def bound(self) -> dict[str, tuple[str, str]]:
        """Return the names that imports bind: the module, and what is taken from it ("" for the module itself)."""
        found: dict[str, tuple[str, str]] = {}
        for node in self.tree.ranges:
            if isinstance(node, cst.Import):
                for alias in node.names:
                    name = self.tree.code(alias.name)
                    local = self.tree.code(alias.asname.name) if alias.asname else ""
                    found.setdefault(local or name.split(".")[0], (name if local else name.split(".")[0], ""))
            elif isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
                module = self.module_of(node)
                for alias in node.names:
                    name = self.tree.code(alias.name)
                    found.setdefault(self.tree.code(alias.asname.name) if alias.asname else name, (module, name))
        return found


@dataclass
class Files:
    """The files of a program, by their names in reports.

    Attributes:
        read: returns a file's text as it is now; None if there is none.
        search: where the program finds its modules; None for a file on its own.
        name_of: returns the name in reports of the file at a path.
        line_length_of: returns how many characters a line of a file may have; None if nothing says it.
        output_may_move: what is printed, logged or written to files may come in another order.
        trees: those of the program's files as they are, by their texts, for whoever asks for the same files again.
    """

    read: Callable[[str], Source | None]
    search: SearchPath | None = None
    name_of: Callable[[str], str] = str
    line_length_of: Callable[[str], int | None] = lambda _: None
    output_may_move: bool = False
    trees: dict[str, ConcreteTree] = field(default_factory=dict)
    _changed: AbstractSet[str] = frozenset()
    _known: dict[str, CodeFile] = field(default_factory=dict)
    _asked: set[Target] = field(default_factory=set)
    _answers: dict[tuple[str, str], list[_Answer]] = field(default_factory=dict)
    _looked_for: list[set[Target]] = field(default_factory=lambda: [set()])
    """The targets that were looked for in ``_asked`` by each of the questions that are being answered, and by none."""

    def with_texts(self, texts: Mapping[str, str]) -> Files:
        """Return the same files, some of them with other texts."""

        def read(path: str) -> Source | None:
            source = self.read(path)
            return source.replace_text(texts[path]) if source is not None and path in texts else source

        known = {path: file for path, file in self._known.items() if path not in texts}
        changed = Files(read, self.search, self.name_of, self.line_length_of, self.output_may_move, self.trees)
        changed._known, changed._changed = known, self._changed | texts.keys()
        return changed

    def letting_output_move(self) -> Files:
        """Return the same files, for changes after which output comes in another order."""
        moving = Files(
            self.read, self.search, self.name_of, self.line_length_of, output_may_move=True, trees=self.trees
        )
        moving.trees, moving._changed = self.trees, self._changed
        return moving

    def tree_of(self, source: Source) -> ConcreteTree:
        """Return the tree of a file.

        Raises:
            Withheld: there is none.
        """
        tree = self.trees.get(source.text)
        if tree is None:
            tree = tree_of(source.text)
            if source.path not in self._changed and sum(map(len, self.trees)) < MAX_SHARED_CHARACTERS:
                self.trees[source.text] = tree
        return tree

    def get(self, path: str) -> CodeFile:
        """Return a file.

        Raises:
            Withheld: it can't be read.
        """
        if path not in self._known:
            source = self.read(path)
            if source is None:
                raise Withheld(f"{path} can't be read")
            self._known[path] = CodeFile(self, source)
        return self._known[path]

    def locate(self, module: str) -> str | None:
        """Return the file of a module of the program; None if it is not one of its own."""
        located = self.search.locate(module) if self.search is not None and module else None
        return self.name_of(located.path) if located is not None and located.path is not None else None

    def resolve(self, path: str, dotted: str, depth: int = _MAX_CALLS) -> Target | None:
        """Return what a dotted name in a file means, if that is a module of the program or something in it."""
        root, _, rest = dotted.partition(".")
        bound = self.get(path).bound.get(root)
        if depth == 0:
            return None
        if bound is None:
            return self._from_star(path, dotted, depth - 1)
        module, name = bound
        parts = [part for part in (name, *rest.split(".")) if part]
        while parts and self.locate(f"{module}.{parts[0]}") is not None:
            module = f"{module}.{parts.pop(0)}"
        where = self.locate(module)
        if where is None:
            return None
        name = ".".join(parts)
        if name:
            # An `__init__.py` hands on what it imports.
            further = self.resolve(where, name, depth - 1)
            return further or Target(where, name)
        return Target(where, "")

    def _from_star(self, path: str, dotted: str, depth: int) -> Target | None:
        """Return what a name means that the last star import with it gives."""
        root = dotted.partition(".")[0]
        file = self.get(path)
        if root in file.hoist.binds:
            return None
        for module in reversed(file.stars):
            where = self.locate(module)
            if where is None:
                continue
            if root in self.get(where).hoist.binds:
                return self.resolve(where, dotted, depth) or Target(where, dotted)
        return None

    def foreign_of(self, path: str) -> Callable[[str], ForeignCall | None]:
        """Return what says what a call in a file does in another one."""

        def foreign(dotted: str) -> ForeignCall | None:
            answers = self._answers.setdefault((path, dotted), [])
            for answer in answers:
                if answer.looked_for & self._asked == answer.found:
                    self._looked_for[-1].update(answer.looked_for)
                    return answer.call
            self._looked_for.append(set())
            try:
                call = self._answer(path, dotted)
            finally:
                looked_for = frozenset(self._looked_for.pop())
                self._looked_for[-1].update(looked_for)
            answers.append(_Answer(looked_for, looked_for & self._asked, call))
            return call

        return foreign

    def _answer(self, path: str, dotted: str) -> ForeignCall | None:
        try:
            target = self.resolve(path, dotted) or self._method_of_object(path, dotted) or Target(path, dotted)
            self._looked_for[-1].add(target)
            if target in self._asked:
                return None
            # Functions that call each other are followed once.
            self._asked.add(target)
            try:
                return self._foreign(dotted, target)
            finally:
                self._asked.remove(target)
        except Withheld:
            return None

    def _constructor(self, file: CodeFile, name: str) -> DefUse | None:
        """Return what it does to make an object of a class at the top level of a file; None if that is not known."""
        cls = file.classes.get(name)
        if cls is None or cls.bases or cls.keywords or cls.decorators:
            return None
        inside = file.tree.statements_within(cls)
        made = {line.name.value for line in inside if isinstance(line, cst.FunctionDef)}
        if "__new__" in made:
            return None
        return file.hoist.effects.method(f"{name}.__init__") if "__init__" in made else DefUse()

    def _method_of_object(self, path: str, dotted: str) -> Target | None:
        """Return the method that ``config.setup`` is where a file makes ``config`` once, of a class of the program."""
        name, _, method = dotted.partition(".")
        file = self.get(path)
        bindings = file.bindings.get(name, [])
        made = file.tree.parents.get(bindings[0]) if len(bindings) == 1 else None
        if not isinstance(made, cst.Assign) or not isinstance(made.value, cst.Call) or len(made.targets) > 1:
            return None
        cls = file.tree.code(made.value.func)
        target = self.resolve(path, cls) or Target(path, cls)
        return Target(target.path, f"{target.name}.{method}")

    def _foreign(self, dotted: str, target: Target) -> ForeignCall | None:
        file = self.get(target.path)
        names = file.hoist.effects.body_of(target.name) or file.hoist.effects.method(target.name)
        names = names or self._constructor(file, target.name)
        if names is None:
            return None
        unrelated = file.hoist.unrelated_call(names, seen=frozenset({target.name}))
        if not unrelated and names.declared:
            unrelated = f"{dotted}(...), which sets {min(names.declared)}"
        entry = file.hoist.entry_of(None, names.copy(), 0)
        outside = names.copy()
        outside.forget_paths(set(names.parameters))
        kept = {path[0] for path in outside.touches}
        state = (entry.changes - changed_collections(names)) | (changed_collections(names) & kept)
        if not unrelated and state:
            unrelated = f"{dotted}(...), which changes {min(state)}"
        prints = entry.prints or entry.calls_print
        known = Known(names, file.hoist.effects)
        return ForeignCall(unrelated, entry.names.environment, frozenset(entry.names.keys), prints, known)

    def import_does(self, path: str, statement: Statement) -> str:
        """Return what an import runs in modules of the program besides definitions and configuration; "" if nothing."""
        # The packages that the file is in have begun already.
        parts = package_root(path)[1].split(".")
        around = {self.locate(".".join(parts[:count])) for count in range(1, len(parts) + 1)}
        return self._import_does(path, statement, {path, *(known for known in around if known)})

    def _import_does(self, path: str, statement: Statement, seen: set[str]) -> str:
        for module, _ in self._imported(path, statement):
            found = self._module_does(module, seen)
            if found:
                return found
        return ""

    def _imported(self, path: str, statement: Statement) -> list[tuple[str, str]]:
        """Return the modules that an import may run, each with the name that is taken from it ("" for none)."""
        lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
        file = self.get(path)
        found: list[tuple[str, str]] = []
        for node in lines:
            if isinstance(node, cst.Import):
                found += [(file.tree.code(alias.name), "") for alias in node.names]
            elif isinstance(node, cst.ImportFrom):
                module = file.module_of(node)
                names = [] if isinstance(node.names, cst.ImportStar) else [file.tree.code(a.name) for a in node.names]
                found += [(module, name) for name in names if self.locate(f"{module}.{name}") is None] or [(module, "")]
                found += [(f"{module}.{name}", "") for name in names if self.locate(f"{module}.{name}") is not None]
        return found

    def leads_back(self, path: str, statement: Statement) -> bool:
        """True if what an import runs imports this very file: it may need names that the file has not bound yet."""
        return any(self._leads_to(module, path, set()) for module, _ in self._imported(path, statement))

    def is_seeded(self, path: str) -> bool:
        """True if a file, or one that it imports, sets a seed: then the order of random operations matters."""
        pending, seen = [path], {path}
        while pending:
            file = self.get(pending.pop())
            if _SEEDS.search(file.source.text):
                return True
            for module, _ in file.bound.values():
                where = self.locate(module)
                if where is not None and where not in seen:
                    seen.add(where)
                    pending.append(where)
        return False

    def module_leads_back(self, module: str, path: str) -> bool:
        """True if the import of a module runs an import of the file at ``path``."""
        return self._leads_to(module, path, set())

    def _leads_to(self, module: str, path: str, seen: set[str]) -> bool:
        where = self.locate(module)
        if where is None or where in seen:
            return False
        seen.add(where)
        file = self.get(where)
        for statement in file.tree.statements(file.tree.module):
            for other, name in self._imported(where, statement):
                package = path.endswith("__init__.py") and not name
                if self.locate(other) == path and not package:
                    return True
                if self._leads_to(other, path, seen):
                    return True
        return False

    def import_speaks(self, path: str, statement: Statement) -> bool:
        """True if an import runs something in modules of the program that prints, or uses files or the environment."""
        return any(self.module_speaks(module) for module, _ in self._imported(path, statement))

    @property
    def _speaks(self) -> frozenset[str]:
        return _SPEAKS - _OUTPUT if self.output_may_move else _SPEAKS

    def module_speaks(self, module: str) -> bool:
        """True if the import of a module prints, or uses files or the environment; not output that may move."""
        return bool(self._module_does(module, set(), only_heard=True))

    def _module_does(self, module: str, seen: set[str], *, only_heard: bool = False) -> str:
        """Return what importing a module, and the packages that it is in, runs; ``only_heard``: that others notice.

        ``seen``: the files that do nothing, or are being looked at. It grows.
        """
        parts = module.split(".")
        for count in range(1, len(parts) + 1):
            where = self.locate(".".join(parts[:count]))
            if where is None or where in seen:
                continue
            seen.add(where)
            file = self.get(where)
            for statement in file.tree.statements(file.tree.module):
                if isinstance(statement, cst.SimpleStatementLine) and all(
                    isinstance(node, (cst.Import, cst.ImportFrom)) for node in statement.body
                ):
                    found = next(
                        (
                            does
                            for name, _ in self._imported(where, statement)
                            if (does := self._module_does(name, seen, only_heard=only_heard))
                        ),
                        "",
                    )
                else:
                    names = file.hoist.read(statement)
                    if only_heard:
                        entry = file.hoist.entry_of(None, names.copy(), 0)
                        heard = self._speaks.intersection(name.rpartition(".")[2] for name in names.called)
                        speaks = entry.calls_print and not self.output_may_move
                        environment = entry.names.environment and (
                            not self.output_may_move or _SETS_ENVIRONMENT.search(file.source.text)
                        )
                        if heard or speaks or environment:
                            return min(heard, default="print")
                        continue
                    found = file.hoist.unrelated_call(names, allow_pure=True) or names.leaves
                if found:
                    return f"{found} in {where}" if " in " not in found else found
        return ""
