"""What is read of a makefile, beside what GNU Make makes of it: each program that a recipe starts tells its environment
and its arguments."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processor_time import assert_linear
from tfmemlint.deployment.makefile import read_makefile

MAKE = shutil.which("gmake") or shutil.which("make")
NAMES = [f"TF_{letter}" for letter in "ABCDE"]

PROGRAM = f"""#!{sys.executable}
import json, os, sys
with open(os.environ["TOLD"], "a") as file:
    found = {{name: os.environ[name] for name in {NAMES!r} if name in os.environ}}
    words = [word for word in sys.argv[1:] if word != "-u"]
    print(json.dumps([words[0], found, words[1:]]), file=file)
"""

FILES = {
    "a line of its own": "all:\n\texport TF_A=1\n\tTF_B=2\n\tpython a.py\n",
    "one line": "all:\n\texport TF_A=1 && python a.py\n\tTF_B=2 python b.py\n",
    "joined lines": "all:\n\texport TF_A=1; \\\n\texport TF_B=2; \\\n\tpython a.py --b \\\n\t\t3\n\tpython b.py\n",
    "one shell": ".ONESHELL:\nall:\n\texport TF_A=1\n\tpython a.py\n\tpython b.py\n",
    "prefixes": "all:\n\t@export TF_A=1; python a.py\n\t-@ TF_B=2 python b.py\n\t+python c.py\n",
    "exported": "export TF_A = 1\nexport TF_B:=2\nTF_C=3\nTF_D = 4\nexport TF_D\nall:\n\tpython a.py\n",
    "all exported": "export\nTF_A = 1\nTF_B ?= 2\nall:\n\tpython a.py\n",
    "all exported by a target": ".EXPORT_ALL_VARIABLES:\nTF_A = 1\nall:\n\tpython a.py\n",
    "no longer exported": "export TF_A = 1\nexport TF_B = 2\nunexport TF_A\nall:\n\tpython a.py\n",
    "of a target": "all: export TF_A = 1\nall: b\n\tpython a.py\nb: export TF_B=2\nb:\n\tpython b.py\n",
    "of two targets": "all b: export TF_A=1\nall: b\n\tpython a.py\nb: TF_A=2\nb:\n\tpython b.py\n",
    "of a target over all": "export TF_A = 1\nall: TF_A = 2\nall: b\n\tpython a.py\nb:\n\tpython b.py\n",
    "of an unexported target": "all: TF_A=1\nall:\n\tpython a.py\n",
    "comments and blanks": "export TF_A = 1 # one\nexport TF_B =   2  \nexport TF_C = a\\\\#b\n"
    "export TF_D = a\\#b\nall: # x\n\tpython a.py # b\n",
    "quotes": 'export TF_A = "1"\nexport TF_B = \'x y\' z\nexport TF_C = 1 TF_D=2\nall:\n\tpython a.py "b c"\n',
    "references": "G = 1\nexport TF_A = $(G)$(G)\nall:\n\tTF_B=${G} TF_C=$G python a.py --gpu $(G) $(NONE)x\nG = 2\n",
    "expanded at once": "G = 1\nH := $(G)\nG = 2\nall:\n\tTF_A=$(G) python a.py\n\tTF_B=$(H) python b.py\n",
    "added to": "TF_A = 1\nTF_A += 2\nexport TF_A\nG ?= 3\nG ?= 4\nall:\n\tpython a.py $(G)\n",
    "of the shell": "all:\n\ti=3; TF_A=x$$i python a.py\n\tTF_B=$$HOME python b.py $$((1+1))\n",
    "of a command": "X != echo 5\nexport TF_A = $(shell echo 6)\nall:\n\tTF_B=$(X) python a.py $(word 2,a b)\n",
    "of the rule": "all: b.txt\n\tpython a.py $@ $<\nb.txt:\n\tpython b.py $(@D)\n\ttouch b.txt\n",
    "after a semicolon": "all: ; TF_A=1 python a.py\n\tpython b.py\n",
    "conditions": "ifdef NOPE\nexport TF_A = 1\nelse\nexport TF_B = 2\nendif\nall:\n"
    "ifeq (a,a)\n\tTF_C=3 python a.py\nelse\n\tpython b.py\nendif\n\tpython c.py\n",
    "included": "export TF_A = 1\n-include other.mk\nall:\n\tpython a.py\n",
    "defined": "define RUN\nexport TF_A=1\npython a.py\nendef\nexport TF_B = 1\nall:\n\tpython b.py\n\t$(RUN)\n",
    "evaluated": "export TF_A = 1\n$(eval TF_A = 2)\nall:\n\tpython a.py\n",
    "overridden": "override export TF_A = 1\nexport override TF_B = 2\nall:\n\tpython a.py\n",
    "continued": "export TF_A = 1 \\\n  2\nTF_B = \\\n 3\nexport TF_B\nall: \\\n  b\n\tpython a.py\nb:\n",
    "other shells": "SHELL := /bin/bash\n.SHELLFLAGS := -eu -c\nall:\n\t[[ a == a ]] && TF_A=1 python a.py\n",
    "a directory": "all:\n\tcd / && export TF_A=1 && python a.py\n",
    "double colon": "all::\n\tTF_A=1 python a.py\nall::\n\tpython b.py\n",
    "names in rules": "D = x\n$(D)/y: ; @true\nall: $(D)/y\n\tpython a.py $(D:x=z)\n",
    "the interpreter": "PYTHON ?= python\nPY = $(PYTHON) -u\nRUN = TF_A=1 $(PYTHON)\n"
    "all:\n\t$(PYTHON) a.py\n\t$(RUN) b.py\n",
    "after an assignment": "all: b\nX = 1\n\tTF_A = 1\nexport TF_A\nb:\n\tpython a.py\n",
    "in a subshell": "all:\n\t(export TF_A=1; python a.py); python b.py\n",
}


def _runs(text: str, folder: Path) -> list[tuple[str, dict[str, str], list[str]]]:
    assert MAKE is not None
    (folder / "python").write_text(PROGRAM, encoding="utf-8")
    (folder / "python").chmod(0o755)
    (folder / "Makefile").write_text(text, encoding="utf-8")
    told = folder / "told"
    told.touch()
    known = {name: value for name, value in os.environ.items() if name not in (*NAMES, "MAKEFLAGS", "MAKELEVEL")}
    environment = {**known, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "TOLD": str(told)}
    subprocess.run([MAKE, "-k", "all"], env=environment, cwd=folder, capture_output=True, timeout=60)
    return [tuple(json.loads(line)) for line in told.read_text(encoding="utf-8").splitlines()]


@pytest.mark.skipif(MAKE is None, reason="needs make")
@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_programs_get_what_is_told(text: str, tmp_path: Path) -> None:
    runs = _runs(text, tmp_path)
    assert runs
    starts = read_makefile(text).starts
    for program, seen, words in runs:
        found = [start for start in starts if start.program == program]
        if not found:
            # A text that functions, or several lines, define is not looked into.
            assert "define" in text
            continue
        (start,) = found
        told = {setting.name: setting.value for setting in start.settings}
        assert all(value is None or seen.get(name) == value for name, value in told.items()), (program, seen, told)
        assert seen.keys() <= told.keys(), (program, seen, told)
        assert all(name in seen for name, value in told.items() if value is not None), (program, seen, told)
        if None not in start.arguments:
            assert list(start.arguments) == words
        else:
            first = start.arguments.index(None)
            assert list(start.arguments[:first]) == words[:first]


LOST = {
    "a line of its own": ("all:\n\texport TF_A=1\n\tpython a.py\n", ["line"]),
    "an assignment": ("all:\n\t@TF_A=1\n\tpython a.py\n", ["line"]),
    "not exported": ("TF_A = 1\nall:\n\tpython a.py\n", ["unexported"]),
    "in a line of the shell": ("all:\n\tTF_A=1; python a.py\n", ["unexported"]),
    "in front of another": ("all:\n\tTF_A=1 cd . && python a.py\n", ["front"]),
    "under a condition": ("all:\nifdef X\n\texport TF_A=1\nendif\n\tpython a.py\n", ["line"]),
}
KEPT = {
    "joined": "all:\n\texport TF_A=1; \\\n\tpython a.py\n",
    "one shell": ".ONESHELL:\nall:\n\texport TF_A=1\n\tpython a.py\n",
    "another target": "a:\n\texport TF_A=1\nall:\n\tpython a.py\n",
    "later": "all:\n\tpython a.py\n\texport TF_A=1\n",
    "other branches": "all:\nifdef X\n\texport TF_A=1\nelse\n\tpython a.py\nendif\n",
    "given otherwise": "export TF_A = 2\nall:\n\texport TF_A=1\n\tpython a.py\n",
    "read": "TF_A = 1\nall:\n\tpython a.py $(TF_A)\n",
    "exported by another file": "include env.mk\nTF_A = 1\nall:\n\tpython a.py\n",
    "with what uses it": "all:\n\texport TF_A=1; ./run\n\tpython a.py\n",
    "for one target": "TF_A = 1\nb: export TF_A = 2\nall:\n\tpython a.py\n",
    "another prefix": ".RECIPEPREFIX = >\nall:\n>export TF_A=1\n>python a.py\n",
    "another shell": "SHELL := python\nall:\n\texport TF_A=1\n\tpython a.py\n",
    "under a condition": "ifdef X\nexport TF_A\nendif\nTF_A = 1\nall:\n\tpython a.py\n",
}


@pytest.mark.parametrize(("text", "whys"), LOST.values(), ids=LOST)
def test_what_no_program_gets(text: str, whys: list[str], tmp_path: Path) -> None:
    assert [lost.why for lost in read_makefile(text).lost] == whys
    if MAKE is not None:
        assert [seen for _, seen, _ in _runs(text, tmp_path)] == [{}]


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_nothing_is_lost(text: str) -> None:
    assert read_makefile(text).lost == []


@pytest.mark.parametrize(
    "piece",
    [
        "all:\n\texport TF_A=1\n\tpython a.py\n",
        "TF_A = 1\nexport TF_B = $(TF_A)\n",
        "a: export TF_A = 1\na:\n\tpython a.py $(TF_A)\n",
        "ifdef X\n",
        "define X\n",
        "\\\n",
        "$(",
        "X = $(X)$(X)\n",
        "a:\n\tpython a.py " + "$(A)" * 20 + "\n",
        "all:\n" + "\texport TF_A=1\n" * 20,
        "a b c d: e; python a.py\n",
        "#\\\n",
        ":" * 20,
        "X\\\\",
    ],
)
def test_the_cost_grows_with_the_length(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    assert_linear(lambda: read_makefile(text), lambda: read_makefile(text * 2))


def test_values_of_values_do_not_explode() -> None:
    text = "A0 = xx\n" + "".join(f"A{n} = $(A{n - 1})$(A{n - 1})\n" for n in range(1, 60))
    read = read_makefile(f"{text}export TF_A = $(A59)\nall:\n\tpython a.py $(A59)\n")
    assert [setting.value for setting in read.starts[0].settings] == [None]
