"""Completion of the command line: the shells ask the command itself, through argcomplete.

argcomplete serves bash, zsh and fish; it is imported when a shell asks, and for the command ``completion``. A script
that is made once would be cheaper at each key, but shtab, which makes one, does not serve fish.
"""

from __future__ import annotations

import argparse
from typing import Any

from tfmemlint.reporters.say import say

CLEAN, FAILED = 0, 2
SHELLS = ("bash", "zsh", "fish")
_MISSING = "completion needs the package argcomplete: pip install 'tfmemlint[completion]'"
_ABOUT = """\
Prints the script by which a shell completes the command. Put it into the file that your shell reads at its start:

  bash, ~/.bashrc:                   eval "$(tfmemlint completion bash)"
  zsh, ~/.zshrc, below compinit:     eval "$(tfmemlint completion zsh)"
  fish, ~/.config/fish/config.fish:  tfmemlint completion fish | source
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``completion``."""
    parser.description = _ABOUT
    parser.add_argument("shell", choices=SHELLS, help=", ".join(SHELLS))


def run(arguments: argparse.Namespace) -> int:
    """Print the lines for a shell; return 0, or 2 if the package for it is missing."""
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        say(_MISSING)
        return FAILED
    print(shellcode(["tfmemlint"], shell=arguments.shell))
    return CLEAN


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell, and end the process; return if argcomplete is not installed."""
    try:
        from argcomplete import autocomplete
    except ImportError:
        return
    _add_completers(parser)
    autocomplete(parser)


def _add_completers(parser: argparse.ArgumentParser) -> None:
    from tfmemlint.knowledge.releases import KNOWN
    from tfmemlint.model.finding import Severity
    from tfmemlint.reporters.formats import FORMATS
    from tfmemlint.sources.kinds import ALL

    def rules(prefix: str, **_: Any) -> list[str]:
        from tfmemlint.rulekit.rule import rules as all_rules

        *before, last = prefix.split(",")
        head = "".join(f"{item}," for item in before)
        return [f"{head}{word}" for rule in all_rules() for word in (rule.code, rule.name) if word.startswith(last)]

    def words(known: Any) -> Any:
        return lambda **_: list(known)

    completers: dict[str, Any] = {
        **dict.fromkeys(("select", "extend_select", "ignore", "extend_ignore", "fix_only", "selector"), rules),
        **dict.fromkeys(("kinds", "extend_kinds", "ignore_kinds"), words(ALL)),
        "min_severity": words(severity.value for severity in Severity),
        "output_format": words(FORMATS),
        "target_version": words(KNOWN),
    }
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _add_completers_to(command, completers)


def _add_completers_to(parser: argparse.ArgumentParser, completers: dict[str, Any]) -> None:
    for action in parser._actions:
        if action.dest in completers and not action.choices:
            action.completer = completers[action.dest]  # type: ignore[attr-defined]
