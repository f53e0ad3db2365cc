"""The context of a run: all that holds for every file."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from tfmemlint.config.selection import is_document
from tfmemlint.interpreter.modules import ModuleStore
from tfmemlint.model.finding import UNLESS_NAMED, Finding, Severity
from tfmemlint.model.records import dataclass
from tfmemlint.sources import Source
from tfmemlint.sources.kinds import DEFAULT

if TYPE_CHECKING:
    from tfmemlint.config.files import Config
    from tfmemlint.config.selection import Selection
    from tfmemlint.deployment.launches import Launch
    from tfmemlint.engine.results import Unproven
    from tfmemlint.engine.shard import Shard
    from tfmemlint.fixes.compute_fix import Options
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.rule import Rule


class ByFile(Protocol):
    """Gives each file its options."""

    def at(self, path: str, context: RunContext) -> RunContext:
        """Return the context for one file."""


class Prover(Protocol):
    """Runs programs to prove fixes."""

    def __call__(self, source: Source, text: str) -> list[Unproven]:
        """Return the intents that do not take effect in the new text of a file."""

    def program(self, root: str, entry: str, texts: Mapping[str, str]) -> str:
        """Return why new texts of several files do not take effect in a program, or ""."""


def _no_line_length(_: str) -> None:
    """Return None: a text that is no file has no project that says how long its lines may be."""


_GRAVITY = (Severity.ADVICE, Severity.WARNING, Severity.ERROR)
_NEEDS_MIGRATE = "the file has other names that this release lacks: --migrate rewrites all of them together"


@dataclass(frozen=True, slots=True)
class RunContext:
    """The context of a run: its rules, releases and launches.

    It is the same for every file, but for what configuration files decide for the files that they are the nearest ones
    of: `at` returns the context for one file.

    Attributes:
        target: the release to judge for; None for the one that each file's project states, or else the newest.
        selection: the rules; None for the default ones.
        severities: the severities that are set, by code.
        min_severity: findings that are less grave are left out.
        config: the options that the fields above are from; None if they are from none.
        by_file: gives each file its options; None if all have the same.
        only_rules: exactly these rules for every file, in place of ``selection``.
        fix: fix what can be fixed.
        write: write the fixed files; False only returns the new texts.
        keep_suppressed: also return what comments silence, in results of their own.
        explain_fixes: compute the fixes of the findings that are left: ``always``, ``never``, or for a ``few``.
        unsafe: apply unsafe fixes, too.
        gpu_memory_mib: the memory of one GPU in MiB, where the user states it.
        jobs: the processes to use at most; None for one a core.
        read_gpu_memory: where the user does not, fixes may write code that asks NVML for it.
        cache: use the results of earlier runs over the same contents.
        fix_only: the codes of rules, or their beginnings, whose findings alone are fixed; () for all.
        allow_dirty: also write files with changes that git does not have.
        named: the paths of the command line: a link from below them to a file outside is not written; () for no limit.
        whole_program: also change files that the user did not name, if they are in the project of one that was named.
        kinds: the kinds of files to look at besides those that are named. Launches are read from the configuration
            files of these kinds only; without `DOCSTRING`, examples in docstrings are not looked at.
        ask: asked before each change, with the finding, and the old and new text of each file that changes. Stays in
            this process.
        prove: runs new texts and returns the intents that do not take effect. Stays in this process.
        in_project: the files belong to projects. False for a text that is no file: nothing but ``target`` tells its
            release, and nothing launches it.
        in_process: start no further process, whatever the number of files: a library's caller may have threads.
        shard: judge the files of this share alone; None for all.
        checkpoint: called before each file and program; what it raises ends the run, if it is no `Exception`.
        modules: the modules that this run has read: the one part that fills up as the run goes.
    """

    target: Target | None = None
    selection: Selection | None = None
    fix: bool = False
    write: bool = False
    keep_suppressed: bool = False
    explain_fixes: str = "few"
    unsafe: bool = False
    gpu_memory_mib: float | None = None
    read_gpu_memory: bool = False
    cache: bool = False
    jobs: int | None = None
    fix_only: tuple[str, ...] = ()
    allow_dirty: bool = False
    named: tuple[str, ...] = ()
    whole_program: bool = False
    kinds: frozenset[str] = DEFAULT
    ask: Callable[[Finding, Sequence[tuple[Source, Source]]], bool] | None = None
    prove: Prover | None = None
    only_rules: tuple[Rule, ...] | None = None
    severities: Mapping[str, Severity] = field(default_factory=dict)
    min_severity: Severity = Severity.ADVICE
    config: Config | None = field(default=None, compare=False, repr=False)
    by_file: ByFile | None = field(default=None, compare=False, repr=False)
    in_project: bool = True
    in_process: bool = False
    shard: Shard | None = None
    checkpoint: Callable[[], None] | None = None
    modules: ModuleStore = field(default_factory=ModuleStore, compare=False, repr=False)

    def at(self, path: str) -> RunContext:
        """Return the context for one file: the options of its nearest configuration file hold."""
        if self.by_file is None or self.only_rules is not None or not self.in_project:
            return self
        return self.by_file.at(path, self)

    @property
    def named_codes(self) -> frozenset[str]:
        """The codes of the rules that the user selected by name."""
        return self.selection.named if self.selection is not None else frozenset()

    @property
    def reads_every_tensorflow_file(self) -> bool:
        """True if a rule is selected by name that may fire in any file that mentions TensorFlow."""
        from tfmemlint.rulekit.triggers import reads_every_tensorflow_file

        return reads_every_tensorflow_file(self.named_codes)

    @property
    def asks_for_names(self) -> bool:
        """True if a rule about names of other releases is selected by name: then none of them tells the release."""
        if not self.named_codes:
            return False
        from tfmemlint.rulekit.rule import codes_where

        return not self.named_codes.isdisjoint(codes_where(lambda rule: rule.of_another_release))

    def rules_for(self, path: str) -> Sequence[Rule]:
        """Return the rules to run on a file."""
        if self.only_rules is not None:
            return self.only_rules
        from tfmemlint.rulekit.rule import rules

        selection = self.at(path).selection
        if selection is not None:
            return [rule for rule in rules() if selection.enabled(rule, path)]
        in_document = is_document(path)
        return [
            rule
            for rule in rules()
            if rule.severity is not Severity.ADVICE or (in_document and rule.default_in_documents)
        ]

    def stated_target(self, path: str) -> Target | None:
        """Return the release that the user, or else the file's own project, states; None where nobody does."""
        target = self.at(path).target
        if target is not None or not self.in_project:
            return target
        from tfmemlint.project.targets.find import current

        found = current().of_file(path)
        return found.target if found.last is not None else None

    def target_of(self, path: str) -> Target:
        """Return the release to judge a file for, or the program that starts there: the newest if none is stated."""
        own = self.at(path)
        if own.target is not None:
            return own.target
        if not self.in_project:
            from tfmemlint.knowledge.releases import Target

            return Target.newest()
        from tfmemlint.project.targets.find import current

        found = current().of_file(path)
        return found.asked if own.asks_for_names else found.judged

    def oldest_target_of(self, path: str) -> Target | None:
        """Return the oldest release that a file's project supports; None if it states none, or the user states one."""
        if self.at(path).target is not None or not self.in_project:
            return None
        from tfmemlint.project.targets.find import current

        return current().of_file(path).first

    def launches_of(self, path: str) -> tuple[Launch, ...]:
        """Return the environments in which configuration files of its project start the program in a file."""
        if is_document(path) or not self.in_project:
            return ()
        from tfmemlint.deployment.project_launches import launches_of

        return launches_of(path, self.at(path).kinds)

    def keep(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return the findings without those that the user did not ask for.

        Advice is selected by its code; names of other releases that are not about GPU memory by their code, too, or by
        a release that the user states.
        """
        named, all_names = self.named_codes, self.target is not None
        kept: list[Finding] = []
        left: set[object] = set()
        for finding in findings:
            if finding.code not in named and finding.on_request and not all_names:
                left.add(finding.details.get("whole"))
            elif finding.code in named or finding.severity is not Severity.ADVICE:
                kept.append(finding)
        kept = [finding for finding in kept if not _is_refuted(finding)]
        left -= {None, ""}
        if self.severities:
            kept = [_with_severity(finding, self.severities.get(finding.code)) for finding in kept]
        if self.min_severity is not Severity.ADVICE:
            least = _GRAVITY.index(self.min_severity)
            kept = [finding for finding in kept if _GRAVITY.index(finding.severity) >= least]
        # Code that is half rewritten runs on no release at all.
        return [
            dataclasses.replace(finding, fixable=False, withheld=_NEEDS_MIGRATE)
            if left and finding.details.get("whole") in left
            else finding
            for finding in kept
        ]

    def fix_options(self) -> Options:
        """Return what the user allows of fixes."""
        from tfmemlint.fixes.compute_fix import Options
        from tfmemlint.project.line_length import line_length_of

        return Options(
            self.unsafe,
            self.gpu_memory_mib,
            self.read_gpu_memory,
            self.fix_only,
            line_length_of=line_length_of if self.in_project else _no_line_length,
        )

    def for_snippet(self, target: Target, rules: Sequence[Rule]) -> RunContext:
        """Return the context for one program within a document: its release, the document's rules, no launches."""
        return dataclasses.replace(self, target=target, only_rules=tuple(rules), kinds=frozenset())


def _is_refuted(finding: Finding) -> bool:
    """True if another file of the project may call the function that a finding takes for uncalled.

    It is asked in each run: what is cached of a file must not depend on the others.
    """
    name = finding.details.get(UNLESS_NAMED)
    if not isinstance(name, str) or not name:
        return False
    from tfmemlint.deployment.project_readers import others_mention

    return others_mention(finding.path, name)


def _with_severity(finding: Finding, severity: Severity | None) -> Finding:
    return finding if severity is None else dataclasses.replace(finding, severity=severity)


def reset_project_caches(open_texts: Mapping[str, bytes] | None = None) -> None:
    """Forget the files of projects: they may have changed since the last run in this process.

    ``open_texts`` are the contents of files in place of those on disk (`ModuleStore.open_texts`).
    """
    finder = sys.modules.get("tfmemlint.project.targets.find")
    if open_texts and finder is None:
        finder = importlib.import_module("tfmemlint.project.targets.find")
    if finder is not None:
        finder.reset_cache(open_texts)
    for name in (
        "tfmemlint.project.line_length",
        "tfmemlint.deployment.project_launches",
        "tfmemlint.deployment.project_readers",
        "tfmemlint.deployment.program_paths",
    ):
        module = sys.modules.get(name)
        if module is not None:
            module.reset_cache()
