"""The command ``rule``: the list of rules, or the pages of some."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfmemlint.reporters.destination import FULL, JSON
from tfmemlint.reporters.say import say

if TYPE_CHECKING:
    from tfmemlint.rulekit.rule import Rule

CLEAN, FAILED = 0, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``rule``."""
    add = parser.add_argument
    add("selector", nargs="?", metavar="RULE", help="a code, a prefix of codes, or a name, such as TFM101 or TFM1")
    add("--all", action="store_true", help="explain all rules")
    add("--output-format", choices=(FULL, JSON), default=FULL, help="full, or json (default: full)")


def run(arguments: argparse.Namespace) -> int:
    """List or explain rules; return 0, or 2 if no rule is meant."""
    from tfmemlint.config.selection import ConfigError, codes_of
    from tfmemlint.reporters import page
    from tfmemlint.rulekit.rule import rules

    chosen: Sequence[Rule] = rules()
    if arguments.selector is not None:
        try:
            codes = codes_of(arguments.selector.strip(), rules(), "", "rule")
        except ConfigError as error:
            said = str(error).partition("; ")[2]
            say(f"there is no rule {arguments.selector!r}" + (f"; {said}" if said else ""))
            return FAILED
        chosen = [rule for rule in rules() if rule.code in codes]
    as_json = arguments.output_format == JSON
    if len(chosen) == 1 and not arguments.all:
        page.show(chosen[0], sys.stdout, output_format=arguments.output_format)
    elif arguments.all or as_json:
        page.show_all(chosen, sys.stdout, output_format=arguments.output_format)
    else:
        page.show_list(chosen, sys.stdout)
    return CLEAN
