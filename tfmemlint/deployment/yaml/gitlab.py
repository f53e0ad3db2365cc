"""GitLab CI files: ``variables`` of the pipeline and its jobs, and the scripts of the jobs.

Source: GitLab's "CI/CD YAML syntax reference". A job's variables override those of the pipeline, and those of a job
that it extends. ``before_script`` and ``script`` run in one shell, in the repository's root. A value is a string or an
integer; releases differ about booleans, so a boolean is not judged. The values of variables that ``rules`` or
``parallel:matrix`` set are not known, nor is a script that another file may change (``include``, ``inherit``,
``!reference``).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

import yaml

from tfmemlint.deployment.shell.script import read_shell
from tfmemlint.deployment.yaml.variables import YamlFile
from tfmemlint.model.configuration import VariableSetting
from tfmemlint.model.records import dataclass
from tfmemlint.sources.config_files.text_places import Places
from tfmemlint.sources.config_files.yaml_nodes import Node, get, items, pairs, scalar

_NOT_JOBS = frozenset({"cache", "default", "image", "include", "services", "spec", "stages", "variables", "workflow"})
"""Keys of the root whose values are not jobs."""
_MAX_JOBS = 200
"""Further jobs are not read: each is read with all that it inherits."""
_MAX_SCRIPT_LINES = 10_000
"""Lines of all scripts together; a ``before_script`` counts for each job that it belongs to."""


def read(file: YamlFile, node: Node) -> None:
    """Read a GitLab CI file."""
    scope = (next(file.numbers),)
    shared = _variables(file, node, scope)
    file.out.settings += shared
    jobs = ((name, job) for key, job in pairs(node) if (name := scalar(key)) is not None and name not in _NOT_JOBS)
    pipeline = _Pipeline(file, node, dict(itertools.islice(jobs, _MAX_JOBS)), shared)
    for name in pipeline.jobs:
        pipeline.read_job(name, (*scope, next(file.numbers)))


@dataclass(slots=True)
class _Pipeline:
    """A file that is being read.

    Attributes:
        root: the root node.
        jobs: the jobs and the hidden jobs by name.
        shared: the variables of all jobs.
        lines_left: the number of script lines, and of lists of them, that may still be read.
    """

    file: YamlFile
    root: Node
    jobs: dict[str, Node]
    shared: list[VariableSetting]
    lines_left: int = _MAX_SCRIPT_LINES

    def read_job(self, name: str, scope: tuple[int, ...]) -> None:
        """Read the variables and the script of a job."""
        own = _variables(self.file, self.jobs[name], scope)
        self.file.out.settings += own
        chain = list(self._extended(name))
        before = _first([*chain, get(self.root, "default"), self.root], "before_script")
        parts = [self._lines(node) for node in (before, _first(chain, "script")) if node is not None]
        lines = [line for part in parts for line in part or ()]
        if not lines or self.lines_left < 0:
            return
        text, places = "".join(f"{line}\n" for line, _ in lines), self.file.places.of_lines(lines)
        given = self._given(chain, own, scope)
        found = read_shell(text, places, inherited=given, numbers=self.file.numbers, base=scope, where=f"job {name}")
        found.problems.clear()
        if name.startswith(".") or None in parts or self._may_change_elsewhere(chain, before):
            # It does not run by itself, or another file or an unknown command adds to it.
            found.starts.clear()
            found.lost.clear()
        self.file.out.add(found)

    def _given(self, chain: list[Node], own: list[VariableSetting], scope: tuple[int, ...]) -> list[VariableSetting]:
        """Return the variables that a job gets, in the order in which they override each other."""
        inherited = [setting for job in reversed(chain[1:]) for setting in _variables(self.file, job, scope)]
        elsewhere = set(self._set_by_rules(chain))
        return [
            replace(setting, value=None) if setting.name in elsewhere else setting
            for setting in (*self.shared, *inherited, *own)
        ]

    def _extended(self, name: str) -> Iterator[Node]:
        """Yield a job, then the jobs that it extends, each before those that it overrides."""
        pending, seen = [name], set[str]()
        while pending:
            current = pending.pop(0)
            if current in self.jobs and current not in seen:
                seen.add(current)
                yield self.jobs[current]
                pending[:0] = reversed(_parents(self.jobs[current]))

    def _set_by_rules(self, chain: list[Node]) -> Iterator[str]:
        """Yield the names of variables that a rule or a matrix may set."""
        rules = items(get(self.root, "workflow", "rules"))
        rules += [rule for job in chain for rule in items(get(job, "rules"))]
        mappings = [get(rule, "variables") for rule in rules]
        mappings += [mapping for job in chain for mapping in items(get(job, "parallel", "matrix"))]
        for mapping in mappings:
            yield from (name for key, _ in pairs(mapping) if (name := scalar(key)) is not None)

    def _may_change_elsewhere(self, chain: list[Node], before: Node | None) -> bool:
        """True if another file may add to the script of a job, or to what it inherits."""
        if any(get(job, "inherit") is not None or not set(_parents(job)) <= set(self.jobs) for job in chain):
            return True
        return get(self.root, "include") is not None and before is None

    def _lines(self, node: Node) -> list[tuple[str, Places]] | None:
        """Return the commands of a script, in which lists may be nested; None if one of them can't be read."""
        self.lines_left -= 1
        if self.lines_left < 0:
            return None
        if isinstance(node, yaml.ScalarNode):
            line = self.file.script(node)
            return None if line is None else [line]
        if not isinstance(node, yaml.SequenceNode) or node.tag.startswith("!"):
            return None
        found = []
        for item in items(node):
            inner = self._lines(item)
            if inner is None:
                return None
            found += inner
        return found


def _variables(file: YamlFile, node: Node, scope: tuple[int, ...]) -> list[VariableSetting]:
    """Return the variables of a job, or of the pipeline, where ``NAME: {value: VALUE}`` is allowed as well."""
    found = []
    for key, value in pairs(get(node, "variables")):
        inner = get(value, "value")
        setting = file.entry(key, value if inner is None else inner, scope, booleans=False)
        if setting is not None:
            found.append(setting)
    return found


def _parents(job: Node) -> list[str]:
    given = get(job, "extends")
    names = [scalar(given)] if scalar(given) is not None else [scalar(item) for item in items(given)]
    return [name for name in names if name is not None]


def _first(nodes: Iterable[Node], name: str) -> Node | None:
    return next((value for node in nodes if (value := get(node, name)) is not None), None)
