"""Workflows of GitHub Actions: ``env`` of the workflow, its jobs and their steps, and the scripts of the steps.

Source: GitHub's "Workflow syntax": the most specific ``env`` wins; each ``run`` is a process of its own, in the
repository's root or ``working-directory``. Later steps get the variables that a step appends to ``GITHUB_ENV``. The
value of ``${{ }}`` is not known.
"""

from __future__ import annotations

from dataclasses import replace

from tfmemlint.deployment.shell.script import read_shell
from tfmemlint.deployment.yaml.variables import YamlFile
from tfmemlint.model.configuration import Lost, VariableSetting
from tfmemlint.sources.config_files.yaml_nodes import Node, get, items, known, pairs, scalar

_SHELLS = ("bash", "sh", "bash -l {0}", "bash -el {0}", "bash -leo pipefail {0}")
_MAX_APPENDED_VARIABLES = 200
"""Variables that the steps of one job append to ``GITHUB_ENV``; further ones are ignored."""


def read(file: YamlFile, node: Node) -> None:
    """Read a workflow, or an action that consists of steps."""
    scope = (next(file.numbers),)
    whole = file.mapping(get(node, "env"), scope, booleans=True)
    file.out.settings += whole
    directory, shell = _defaults(node, "", "bash")
    for key, job in pairs(get(node, "jobs")):
        inner = (*scope, next(file.numbers))
        own = file.mapping(get(job, "env"), inner, booleans=True)
        own += file.mapping(get(job, "container", "env"), inner, booleans=True)
        file.out.settings += own
        _steps(
            file, get(job, "steps"), [*whole, *own], inner, f"job {scalar(key)}, ", *_defaults(job, directory, shell)
        )
    _steps(file, get(node, "runs", "steps"), [], scope, "", None, "bash")


def _defaults(node: Node, directory: str | None, shell: str) -> tuple[str | None, str]:
    given = get(node, "defaults", "run", "working-directory")
    if given is not None:
        directory = known(given)
    return directory, scalar(get(node, "defaults", "run", "shell")) or shell


def _steps(
    file: YamlFile,
    steps: Node,
    inherited: list[VariableSetting],
    scope: tuple[int, ...],
    where: str,
    directory: str | None,
    shell: str,
) -> None:
    handed: list[VariableSetting] = []
    waiting: list[VariableSetting] = []
    for number, step in enumerate(items(steps), 1):
        inner = (*scope, next(file.numbers))
        own = file.mapping(get(step, "env"), inner, booleans=True)
        file.out.settings += own
        script = file.script(get(step, "run"))
        if script is None or (scalar(get(step, "shell")) or shell) not in _SHELLS:
            continue
        given = get(step, "working-directory")
        found = read_shell(
            *script,
            inherited=[*inherited, *handed, *own],
            numbers=file.numbers,
            base=inner,
            where=f"{where}step {number}",
            directory=known(given) if given is not None else directory,
        )
        found.problems.clear()
        for start in found.starts:
            for setting in [setting for setting in waiting if not start.shell]:
                if setting.name not in {each.name for each in start.settings}:
                    file.out.lost.append(Lost(setting, "step", start.span, f"{start.where}"))
                waiting.remove(setting)
        if found.idle and not found.starts and not found.handed:
            waiting += [
                setting
                for setting in found.settings
                if setting.how == "export" and setting.certain and not found.asked & {setting.name}
            ]
        given_on = [replace(setting, scope=(*scope, next(file.numbers))) for setting in found.handed]
        file.out.settings += given_on
        if get(step, "if") is not None:
            given_on = [replace(setting, value=None) for setting in given_on]
        handed += given_on[: _MAX_APPENDED_VARIABLES - len(handed)]
        file.out.add(found)
