"""Uses of the words that ``parse_known_args`` leaves at which no option is looked at."""

from __future__ import annotations

import ast

import pytest

from tfmemlint.rulekit.words_left import idle_uses

IDLE = [
    "tags = [word for word in rest if word.startswith('+')]",
    "tags = [word for word in rest if not word.startswith('-')]",
    "tags = {word[1:] for word in rest if len(word) > 1 and word[0] == '+'}",
    "tags = dict(word.split('=') for word in rest if word.startswith(('a.', 'b.')))",
    "tags = list(filter(lambda word: word.startswith('+'), rest))",
    "for word in rest:\n    if word[0] != '-':\n        files.append(word)",
    "print('ignored:', rest)",
    "print(f'ignored: {rest}')",
    "logging.warning('ignored: %s', rest)",
    "warnings.warn('ignored: ' + ' '.join(rest))",
    "if rest:\n    print('unknown:', rest)",
]
READ = [
    "tags = [word for word in rest if word.startswith('--')]",
    "tags = [word for word in rest if word.startswith('')]",
    "tags = [word for word in rest if word.startswith(sign)]",
    "tags = [word for word in rest if '=' in word]",
    "tags = [word for word in rest if other.startswith('+')]",
    "tags = [word for word in rest if word.startswith('+') or deep]",
    "for word in rest:\n    if word[0] != '-':\n        files.append(word)\n    else:\n        take(word)",
    "for word in rest:\n    take(word)\n    if word[0] == '+':\n        files.append(word)",
    "logging.error(rest)",
    "parser.error(f'unknown: {rest}')",
    "if rest:\n    print('unknown')\n    sys.exit(2)",
    "if rest:\n    raise SystemExit(rest)",
    "shown = print(other(rest))",
]


def _uses(code: str) -> list[bool]:
    tree = ast.parse(code)
    idle = idle_uses(tree)
    return [id(node) in idle for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "rest"]


@pytest.mark.parametrize("code", IDLE)
def test_no_option_is_looked_at(code: str) -> None:
    assert all(_uses(code))


@pytest.mark.parametrize("code", READ)
def test_an_option_may_be_looked_at(code: str) -> None:
    assert not all(_uses(code))
