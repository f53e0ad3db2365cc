"""The simple commands of shell scripts, beside those that shfmt's parser finds."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT
from tests.deployment.test_shell_truth import SCRIPTS
from tfmemlint.sources.config_files.shell.compound_commands import simple_commands


def _shfmt() -> str | None:
    """The command that the package shfmt-py installs, or another of that name."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.files("shfmt-py") or ():
            if file.stem == "shfmt" and Path(str(file.locate())).is_file():
                return str(file.locate())
    return shutil.which("shfmt")


SHFMT = _shfmt()
pytestmark = pytest.mark.skipif(SHFMT is None, reason="there is no shfmt (pip install shfmt-py) to compare with")

Commands = list[list[str]]


def theirs(script: str) -> Commands | None:
    """The words of each simple command, as shfmt has them; None where it refuses the script."""
    assert SHFMT is not None
    data = script.encode()
    done = subprocess.run([SHFMT, "--language-dialect", "bash", "--to-json"], input=data, capture_output=True)
    if done.returncode != 0:
        return None
    found = sorted(_commands(json.loads(done.stdout), data))
    return [words for _, words in found]


def _commands(node: Any, data: bytes) -> Iterator[tuple[int, list[str]]]:
    if isinstance(node, list):
        for item in node:
            yield from _commands(item, data)
        return
    if not isinstance(node, dict):
        return
    kind = node.get("Type")
    at = node["Pos"]["Offset"] if "Pos" in node else 0
    match kind:
        case "CallExpr":
            yield at, [_text(part, data) for part in (*node.get("Assigns", ()), *node.get("Args", ()))]
        case "DeclClause":
            yield at, [node["Variant"]["Value"], *(_text(part, data) for part in node.get("Args", ()))]
        case "LetClause":
            yield at, ["let", *(_text(part, data) for part in node["Exprs"])]
        case "TestClause":
            yield at, ["[["]
        case "ArithmCmd":
            yield at, [_text(node, data)]
        case "TimeClause":
            (_, first), *rest = _commands(node["Stmt"], data)
            yield at, ["time", *(["-p"] if node.get("PosixFormat") else []), *first]
            yield from rest
        case _:
            # Commands within words are the word's own.
            yield from _commands([value for key, value in node.items() if key not in ("Redirs", "Parts")], data)


def _text(node: Any, data: bytes) -> str:
    return data[node["Pos"]["Offset"] : node["End"]["Offset"]].decode()


def ours(script: str) -> Commands:
    """The same, as the project has them."""
    return [[word.raw for word in words] for words in simple_commands(script)]


HAND_MADE = {
    "redirections": "> out a b 2>&1 < in\nc &> all &\nd <<< word >> e\n2>/dev/null f g\nh 3<&- 4>&1\ni >| j\n",
    "heredocs": "a <<X <<-'Y' b\n$c\nX\n\td\n\tY\ne <<\"Z Z\"\nf\nZ Z\ng\n",
    "heredoc in a substitution": "a $(cat <<X\n)\nX\n) b\nc\n",
    "quotes": "a 'b c'\"d $e\"f\\ g $'h\\'i' $\"j\" k\\\nl\n",
    "expansions": 'a ${b:-"c d"} ${e%%\'}\'} $((1 + (2))) $(f; g "h)") `i \\`j\\`` <(k) >(l) "${m[@]}" $@ $#\n',
    "words with dots": "a $DIR/$job.$TAG.log x=$y.z --o=${p}_$q\n",
    "arrays": "a=(1 2 'b c') b+=(3)\nc[1]=4\ndeclare -A e=([f]=g)\n",
    "lists": "a && b || c; d & e | f |& g\n! h\n",
    "groups": "{ a; b; } > c\n(d; (e)) | f\n{ g; } && h\n",
    "ifs": "if a; then b; elif c && d; then e; else f; fi > g\nif h\nthen\ni\nfi\n",
    "loops": "for a in b c $d; do e; done\nfor f; do g; done\nfor ((h = 0; h < 3; h++)); do i; done\n"
    "while a; do b; done < c\nuntil d; do e; done\nselect f in g; do h; done\n",
    "cases": "case $a in\n  b | c) d ;;\n  (e) f ;&\n  g*) ;;\n  *) h\nesac\ncase i in j) k;; esac\n",
    "functions": "a() { b; }\nfunction c { d; }\nfunction e() ( f )\ng()\n{\n  h\n}\n",
    "conditions": "[[ a == b && (c || d) ]] && e\n[ f -gt 1 ] || g\n[[ h =~ ^i.*$ ]]\n((j++))\n",
    "comments": "# a\nb # c 'd\ne#f\n  # g \"\nh \\\n  i # j\n",
    "names of reserved words": "a if then fi\necho done esac\nb { }\n",
    "times": "time a b\ntime -p c | d\n",
    "continued": "a && \\\nb |\nc ||\n\nd\ne \\\n\n",
    "carriage returns": "a 'b\r\nc'\n",
    "nothing": "\n\n# only a comment\n",
}


@pytest.mark.parametrize("kind", HAND_MADE)
def test_commands_are_those_of_shfmt(kind: str) -> None:
    expected = theirs(HAND_MADE[kind])
    assert expected is not None, "shfmt refuses it"
    assert ours(HAND_MADE[kind]) == expected


def test_scripts_of_the_fixtures_are_read_as_by_shfmt() -> None:
    files = sorted((ROOT / "fixtures").rglob("*.sh"))
    texts = {path.as_posix(): path.read_text(encoding="utf-8") for path in files} | SCRIPTS
    compared = 0
    for name, text in texts.items():
        expected = theirs(text)
        if expected is None:
            continue
        compared += 1
        assert ours(text) == expected, name
    assert compared > 0.9 * len(texts)


WORDS = (
    "a", "b.py", "x=1", "--c=d", "'e f'", '"g $h"', "$i", "${j:-k}", "$(l m)", "`n`", "o\\ p", "q#r", "$((1 + 2))",
    '"s\\"t"', "$'u'", "v/*.w", "{x,y}", "~/z", "''", '"$(aa "bb")"', "cc$DD.ee",
)  # fmt: skip


def generated(chance: random.Random, depth: int = 0) -> str:
    """A statement, with others in it."""

    def words() -> str:
        return " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, 4)))

    def inner() -> str:
        return generated(chance, depth + 1) if depth < 3 else words()

    match chance.randint(0, 13):
        case 0:
            return f"if {inner()}; then {inner()}\nelse {inner()}; fi"
        case 1:
            return f"for f in {words()}; do\n{inner()}\ndone"
        case 2:
            return f"while {inner()}; do {inner()}; done"
        case 3:
            return f"{{ {inner()}; }}"
        case 4:
            return f"( {inner()}; {inner()} )"
        case 5:
            return f"case $x in a|'b c') {inner()} ;; (*) {inner()}\nesac"
        case 6:
            return f"{words()} {chance.choice(('&&', '||', '|', '|&'))} {words()}"
        case 7:
            return f"{words()} > {chance.choice(WORDS)} 2>&1"
        case 8:
            return f"export A={chance.choice(WORDS)} B"
        case 9:
            return f"cmd <<'EOF' {words()}\n{words()} $(\nEOF\n{words()}"
        case 10:
            return f"[[ -n {chance.choice(WORDS[:4])} ]] && {words()}"
    return f"{words()}"


@pytest.mark.parametrize("seed", range(4))
def test_generated_scripts_are_read_as_by_shfmt(seed: int) -> None:
    chance = random.Random(seed)
    statements = [generated(chance) for _ in range(150)]
    script = "\n".join(statements) + "\n"
    expected = theirs(script)
    assert expected is not None, "the generator made something that shfmt refuses"
    assert ours(script) == expected
