"""Programs as they are started: in the environments in which configuration files start them, and without any argument.

What is wrong in such a run, and can't be told of others, is found there.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from tfmemlint.engine.config_files import named_config_files
from tfmemlint.engine.run_rules import run_rules
from tfmemlint.model.finding import AT_LAUNCHES, LAUNCHED, RIGHT_FOR_ANY_VALUE, Finding, Severity, Step
from tfmemlint.model.intent import Purpose
from tfmemlint.project.roots import project_root

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch
    from tfmemlint.interpreter.program import EnvWrite, Program
    from tfmemlint.interpreter.unit import EntrySetup
    from tfmemlint.rulekit.rule import Rule
    from tfmemlint.sources import Source


def findings_at_launches(
    path: str,
    found: Iterable[Finding],
    launches: Sequence[Launch],
    rules: Sequence[Rule],
    analyze: Callable[[Launch], Program],
) -> Iterator[Finding]:
    """Yield what rules about variables find in the program at ``path`` when ``launches`` start it, besides what was
    ``found`` without.

    Each finding is a warning at most, as the program may be started otherwise as well. It has a fix where that is right
    for each of the launches, and changes the file that is started.

    Args:
        path: the file that the program starts in.
        found: the findings in the program as it is started by hand.
        launches: the environments.
        rules: the rules that are selected; those that do not look at the launch environment are left aside.
        analyze: interprets the program as it is launched. What it raises is passed over: the program was
            analyzed without the variables before.
    """
    concerned = [rule for rule in rules if rule.sees_launch_environment]
    if not concerned or not launches:
        return
    known = {(finding.code, finding.path, finding.span) for finding in found}
    for launch in launches:
        said: set[tuple[str, str]] = set()
        try:
            besides = list(run_rules(analyze(launch), concerned))
        except Exception:  # a program that can be analyzed without the variables keeps those findings
            continue
        for finding in besides:
            place = (finding.code, finding.path, finding.span)
            if place not in known and (finding.code, finding.message) not in said:
                known.add(place)
                said.add((finding.code, finding.message))
                yield _at_launch(finding, launch, path, launches)


def as_started(setup: EntrySetup, launch: Launch | None) -> EntrySetup:
    """Return how a program is run where a configuration file starts it; None for a start without arguments."""
    environment, arguments = (launch.environment, launch.arguments) if launch is not None else ((), ())
    optimized = launch is not None and launch.optimized
    return dataclasses.replace(setup, environment=environment, arguments=arguments, optimized=optimized)


_TOLD = re.compile(
    r"""(?x) \b (?: argparse | argv | (?:absl|tf(?:\.compat\.v1)?\.app) (?:\.|\s+import\s+) flags | click | typer
    | configparser | dotenv | hydra | omegaconf | tomli | tomllib | toml\.load | yaml | json\.load | getenv
    | environ (?! \[ [^\]\n]{0,60} \] [ ]? = (?!=)) ) \b"""
)
"""Finds programs that ask for a command line, or read settings or variables."""
_WORDS = (
    *("argparse", "argv", "flags", "click", "typer", "configparser", "dotenv", "hydra", "omegaconf", "toml", "yaml"),
    *("json", "environ", "getenv"),
)
"""One of these is in all that it finds."""
_SIZES_AND_NUMBERS = re.compile(r"(?:Logical|Virtual)Device|memory_fraction|visible_device|VISIBLE_DEVICES|memory_info")
"""Finds programs in which a number may be wrong. Words of the triggers of rules."""
_OTHER_LAUNCHES = "it is right for this way to start the program only"
_AMOUNTS = (Purpose.LIMIT, Purpose.FRACTION)
_FOR_ALL = frozenset({RIGHT_FOR_ANY_VALUE, "parting"})


def findings_by_default(
    program: Program, found: Iterable[Finding], rules: Sequence[Rule], analyze: Callable[[], Program]
) -> Iterator[Finding]:
    """Yield what rules find in a run without arguments that reads the files of settings as they are.

    A program that reads no such file, and imports no modules by names that it is given, is looked at only by rules
    about numbers: options rarely decide what comes first.

    Each finding is a warning at most: there may be arguments, and other files.

    Args:
        program: the program, whoever starts it. found: what was found in it.
        rules: as of `findings_at_launches`. analyze: interprets it as it is started without arguments.
    """
    reads = any(map(os.path.isfile, program.config_files)) or any(_names_file(unit.source) for unit in program.units)
    reads = reads or _chooses_modules(program)
    concerned = [rule for rule in rules if rule.sees_launch_environment or (reads and rule.whole_program)]
    if not concerned or not (reads or _has_numbers_from_outside(program)):
        return
    known = {(finding.code, finding.path, finding.span) for finding in found}
    try:
        as_it_is = analyze()
        besides = list(run_rules(as_it_is, concerned))
    except Exception:  # a program that can be analyzed without keeps those findings
        return
    files = ", ".join(sorted({os.path.basename(path) for path in as_it_is.config_files if os.path.isfile(path)}))
    read = f", and reads {files}" if files else ""
    for finding in besides:
        if (finding.code, finding.path, finding.span) not in known:
            yield dataclasses.replace(
                finding,
                severity=Severity.WARNING if finding.severity is Severity.ERROR else finding.severity,
                # An amount is converted, whatever it is. A number of a GPU would be written in the place of the option.
                # What comes first for some is put in order for all.
                fixable=finding.fixable and (_is_about_amount(finding) or not _FOR_ALL.isdisjoint(finding.details)),
                notes=(
                    *finding.notes,
                    f"This is the case where the program is started without arguments and variables{read}.",
                ),
            )


def _is_about_amount(finding: Finding) -> bool:
    return finding.intent is not None and finding.intent.purpose in _AMOUNTS


def _has_numbers_from_outside(program: Program) -> bool:
    found = [_about(unit.source.text) for unit in program.units]
    return any(told for told, _ in found) and any(numbers for _, numbers in found)


def _names_file(source: Source) -> bool:
    """True if a module names a file of settings that is there: without arguments it may be the one that is read."""
    if _TOLD.search(source.text) is None:
        return False
    path = os.path.abspath(source.path)
    return any(map(os.path.isfile, _named_in(path, project_root(path), source.text)))


def _chooses_modules(program: Program) -> bool:
    """True if a program may import modules by names that somebody gives to it."""
    texts = [unit.source.text for unit in program.units]
    return any(word in text for text in texts for word in _IMPORTING) and any(_about(text)[0] for text in texts)


_IMPORTING = ("import_module(", "__import__(")


@lru_cache(maxsize=8192)
def _named_in(path: str, root: str, text: str) -> frozenset[str]:
    """Return the files that a module names; the project, below ``root``, may be another one by the next run."""
    return named_config_files(path, text.encode("utf-8", "replace"))


@lru_cache(maxsize=8192)
def _about(text: str) -> tuple[bool, bool]:
    """Return whether a module asks for a command line or settings, and whether it has sizes or numbers of GPUs. Most
    modules are part of many programs."""
    told = any(word in text for word in _WORDS) and _TOLD.search(text) is not None
    return told, _SIZES_AND_NUMBERS.search(text) is not None


def _at_launch(finding: Finding, launch: Launch, path: str, launches: Sequence[Launch]) -> Finding:
    """Return a finding that holds where ``launch``, one of several, starts the program at ``path``, with that in its
    trace."""
    writes = [write for write in launch.environment if write.name in finding.message]
    places = {(write.path, write.span) for write in writes}
    steps = [Step(write.path, write.span, f"{write.name} is set to {_value(write)!r}") for write in writes]
    steps.append(Step(launch.path, launch.span, f"{launch.where} starts {path}"))
    rest = [step for step in finding.trace if (step.path, step.span) not in places]
    other = "" if finding.path == path and _is_right_for(finding, launches) else _OTHER_LAUNCHES
    if not rest:
        rest = [Step(finding.path, finding.span, "it is in force here")]
    return dataclasses.replace(
        finding,
        severity=Severity.WARNING if finding.severity is Severity.ERROR else finding.severity,
        trace=(*steps, *rest),
        notes=(
            *finding.notes,
            f"This is the case where {launch.path}:{launch.span.row} starts the program ({launch.where}).",
        ),
        fixable=finding.fixable and not other,
        withheld=finding.withheld or (other if finding.fixable else ""),
        details={**finding.details, LAUNCHED: True},
    )


def _is_right_for(finding: Finding, launches: Sequence[Launch]) -> bool:
    """True if a fix that one launch needs is right for the others, too."""
    needed = finding.details.get(AT_LAUNCHES)
    left = {launch.gpus_left for launch in launches}
    if needed == "one GPU":
        return all(gpus is not None and len(gpus) == 1 for gpus in left)
    return needed == "any" or (needed == "same GPUs" and len(left) == 1 and None not in left)


def _value(write: EnvWrite) -> object:
    return getattr(write.value, "value", None)
