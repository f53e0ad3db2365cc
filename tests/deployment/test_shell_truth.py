"""What is read of a shell script, beside what a shell makes of it: each program that it starts tells its
environment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processor_time import assert_linear
from tfmemlint.deployment.shell.script import read_shell

BASH = shutil.which("bash")
NAMES = [f"TF_{letter}" for letter in "ABCDE"]

PROGRAM = f"""#!{sys.executable}
import json, os, sys
with open(os.environ["TOLD"], "a") as file:
    found = {{name: os.environ[name] for name in {NAMES!r} if name in os.environ}}
    print(json.dumps([sys.argv[1], found]), file=file)
"""

SCRIPTS = {
    "exported": 'export TF_A=1 TF_B=\'two words\' TF_C="a\\"b"\npython a.py\n',
    "not exported": "TF_A=1\npython a.py\n",
    "exported before its value": "export TF_A\nTF_A=1\npython a.py\n",
    "exported after its value": "TF_A=1\npython a.py\nexport TF_A\npython b.py\n",
    "in front": "TF_A=1 TF_B=2 python a.py\npython b.py\n",
    "in front of a wrapper": "TF_A=1 nohup env TF_B=2 python a.py >/dev/null 2>&1\n",
    "env alone": "export TF_C=3\nenv -u TF_C TF_A=1 python a.py\n",
    "all exported": "set -a\nTF_A=1\nset +a\nTF_B=2\npython a.py\n",
    "unset": "export TF_A=1\nunset TF_A\npython a.py\nexport TF_A=2\nexport -n TF_A\npython b.py\n",
    "set anew": "export TF_A=1\nTF_A=2\npython a.py\nTF_A=3 python b.py\npython c.py\n",
    "subshell": "(export TF_A=1; python a.py)\npython b.py\n",
    "group": "{ export TF_A=1; python a.py; }\npython b.py\n",
    "pipe": "export TF_A=1 | cat\npython a.py | cat\n",
    "background": "export TF_A=1 &\nwait\npython a.py & wait\n",
    "branches": "if true; then\n export TF_A=1\n python a.py\nelse\n export TF_A=2\n python b.py\nfi\npython c.py\n",
    "loop": "for TF_A in 1 2; do\n  TF_B=$TF_A python a.py\n  export TF_C=3\ndone\npython b.py\n",
    "loop that counts": "for ((i = 0; i < 3; i++)); do\n  TF_A=$i TF_B=${i} python a.py\ndone\npython b.py\n",
    "loop that counts to 0": "for ((i = 0; i <= 0; i++)); do TF_A=$i python a.py; done\n",
    "loop to an end": 'N=3\nfor ((i = 0; i < N; ++i)); do export TF_A="$i"; python a.py; done\npython b.py\n',
    "loop over a span": "for i in {1..3}; do TF_A=$i$i TF_B='$i' python a.py; done\n",
    "loop over a sequence": "for i in $(seq 2 4); do for j in `seq 2`; do TF_A=$i-$j python a.py; done; done\n",
    "loop over one": "for i in 7; do TF_A=x$i python a.py; done\n",
    "case": "case x in\n  y) export TF_A=1 ;;\n  x|z) export TF_B=2\n    python a.py ;;\nesac\npython b.py\n",
    "case with brackets": "case x in\n  (y) export TF_A=1 ;;\n  (x) export TF_B=2; python a.py ;;\nesac\npython b.py\n",
    "function": "f() {\n  export TF_B=2\n  python a.py\n}\nexport TF_A=1\nf\npython b.py\n",
    "function and before": "export TF_A=1\nf() { python a.py; }\nexport TF_A=2\nf\n",
    "and": "true && export TF_A=1 && python a.py\nfalse && export TF_B=2\npython b.py\n",
    "or": "false || export TF_A=1\npython a.py\ntrue || export TF_A=2\npython b.py\n",
    "and then a change": 'export TF_A=1\n[ -n "$NOPE" ] && export TF_A=2\npython a.py\n',
    "heredoc": "cat <<EOF >/dev/null\nexport TF_A=1\nEOF\ncat <<-'END' >&2\n\texport TF_B=1\n\tEND\npython a.py\n",
    "two heredocs": "cat <<A <<B >/dev/null\nexport TF_A=1\nA\nexport TF_B=1\nB\nexport TF_C=1\npython a.py\n",
    "comments": "# export TF_A=1\nexport TF_B=2 # TF_C=3\npython a.py # b\n",
    "continued": "export TF_A=1 \\\n  TF_B=2\nTF_C=3 \\\npython \\\n  a.py\n",
    "quotes": 'export TF_A=\'a\'"b"c TF_B=$\'x\' TF_C=\\"d TF_D="a # b" TF_E=a#b\npython a.py\n',
    "inner shell": "export TF_A=1\nbash -c 'export TF_B=2; TF_C=3; python a.py'\npython b.py\n",
    "inner shell with words": 'sh -c "TF_A=1 python a.py"\n',
    "declared": "declare -x TF_A=1\ndeclare TF_B=2\nreadonly TF_C=3\ntypeset -x TF_D=4\npython a.py\n",
    "arrays": "TF_A=(1 2)\nexport TF_B=2\n((TF_C = 3))\n[[ $TF_B == 2 ]]\npython a.py\n",
    "test": "[[ -n x ]] && export TF_A=1\npython a.py\n[ -n x ] || export TF_B=2\npython b.py\n",
    "redirected": "TF_A=1 python a.py > /dev/null 2>&1\n> /dev/null TF_B=2 python b.py\n",
    "negated": "! TF_A=1 python a.py\ntime TF_B=2 python b.py\n",
    "one line": "if true; then export TF_A=1; fi; export TF_B=2; python a.py; TF_C=3; python b.py\n",
    "nested": "if true; then (cd / && export TF_A=1; python a.py); export TF_B=1; fi\npython b.py\n",
    "while": "i=0\nwhile [ $i -lt 2 ]; do i=$((i+1)); export TF_A=1; python a.py; export TF_A=2; done\npython b.py\n",
    "eval": "export TF_A=1\neval 'export TF_A=2'\npython a.py\n",
    "appended": "export TF_A=1\nTF_A+=2\npython a.py\n",
    "windows": "export TF_A=1; python a.py\nexport TF_B=$(echo 2)\npython b.py\n",
    "env drops one": "export TF_A=1 TF_B=2\nenv -uTF_A python a.py\nTF_C=3 env -u TF_C --unset=TF_B python b.py\n",
    "env drops all": 'export TF_A=1\nTF_C=3 env -iu TF_B PATH="$PATH" TOLD="$TOLD" TF_D=4 python a.py\n',
    "unset of a function": "export TF_A=1\nunset -f TF_A\npython a.py\n",
    "words of its own": "set -- -a\nTF_A=1\npython a.py\nset -e -- -a\nTF_A=1\npython b.py\n",
    "read": 'export TF_A=1 TF_B=1\nread -r x TF_A <<< "5 6"\nmapfile -t TF_B <<< 7\npython a.py\n',
    "printed": "export TF_A=1\nprintf -v TF_A %s 6\npython a.py\n",
    "options": "export TF_A=1\nset -- -x\ngetopts x TF_A\npython a.py\n",
    "sums": "export TF_A=1 TF_B=1\nlet TF_A=2\n((TF_B++))\n((x = 1 << 2))\npython a.py\n",
    "no longer exported": "export TF_A=1\ndeclare +x TF_A\npython a.py\n",
    "expanded": "export TF_A=~ TF_B=a:~/x TF_C={1,2}\nenv TF_D={1,2} python a.py\nTF_D={1,2} python b.py\n",
    "names in a variable": "export TF_A=1\nexport $(echo TF_A=2)\npython a.py\n",
    "function called later": "f() { unset TF_A; TF_B=3; }\nexport TF_A=1 TF_B=2\nf\npython a.py\n",
    "function in a subshell": "function f() (\n  export TF_A=1\n)\nf\nexport TF_B=2\npython a.py\n",
    "group in a pipe": "echo 1 | { export TF_A=1; python a.py; }\n{ export TF_B=1; } 2>&1 | cat\npython b.py\n",
    "group in the background": "{ export TF_A=1; python a.py; } &\nwait\npython b.py\n",
    "group under a condition": "false && { export TF_A=1; }\ntrue || { export TF_B=1; }\npython a.py\n",
    "behind a compound command": "(false) && export TF_A=1\n{ true; } || export TF_B=1\npython a.py\n",
    "heredoc in a substitution": "x=$(cat <<EOF\ndon't :)\nEOF\n)\nexport TF_B=2\npython a.py\n",
    "case in a substitution": 'x="$(case a in a) echo "1";; esac)"\nexport TF_B=2\npython a.py\n',
    "quotes in a parameter": 'x=${y:-\'}\'} z="${y:-{}" w=${y:-"}"}\nexport TF_B=2\npython a.py\n',
    "quoted quotes in a parameter": 'v=\'"q"\'\nv="${v#\'"\'}"\nexport TF_B=2\npython a.py\n',
    "all exported in a subshell": "(set -a; TF_A=1; python a.py)\nTF_B=1\npython b.py\n",
    "unset by another name": "export TF_A=1\nx=TF_A\nunset $x\npython a.py\n",
    "declared as a number": "declare -ix TF_A=1+1\ndeclare -ux TF_B=b\npython a.py\n",
    "in front of a function": "f() { python a.py; }\nexport TF_A=0\nTF_A=1 f\n",
    "in front of a directory": "TF_A=1 cd . && python a.py\nTF_B=2 pushd . > /dev/null; python b.py\n",
    "in front of a pipe": "TF_A=1 cat /dev/null | python a.py\nprintf x | TF_B=2 python b.py\n",
    "in front of built-ins": "TF_A=1 export TF_B=2\nTF_C=3 : && python a.py\nTF_D=4 . /dev/null\npython b.py\n",
    "in front of what runs it": "TF_A=1 nohup python a.py\n(TF_B=2 exec python b.py)\nTF_C=3 command python c.py\n",
    "in a substitution": "x=$(export TF_A=1)\nx=`export TF_B=2`\npython a.py\n",
    "in parentheses": "(export TF_A=1)\n(export TF_B=2; :) && python a.py\n",
    "old sums": "x=$[1<<2]\nexport TF_B=2\npython a.py\n",
}


QUIET = {
    "pip": "#!/bin/sh\npython -m pip install x\nexport TF_A=1\n",
    "pip below": "TF_A=1\npython3 -m pip install x\n./train\n",
    "venv": "#!/bin/sh\npython3 -m venv v\n. v/bin/activate\nexport TF_A=1\n",
    "setup.py": "#!/bin/sh\npython setup.py develop\nexport TF_A=1\n",
    "a text that is read by another shell": "python check.py\nexport TF_A=1\n",
    "values from a file": "TF_A=1\nexport $(cut -d= -f1 names)\npython train.py\n",
}


@pytest.mark.parametrize("script", QUIET.values(), ids=QUIET)
def test_nothing_is_lost(script: str) -> None:
    assert read_shell(script).lost == []


def test_it_is_lost_in_a_script() -> None:
    (lost,) = read_shell("#!/bin/sh\npython train.py\nexport TF_A=1\n").lost
    assert lost.why == "late"


@pytest.mark.parametrize(
    "words", ["echo -e 'TF_A=1\\nTF_B=2'", "printf 'TF_A=1\\n'", "printf TF_A=%s 1", "echo TF_A=1 TF_B=2"]
)
def test_what_is_printed_for_later_steps_is_not_told(words: str) -> None:
    (handed,) = read_shell(f"{words} >> $GITHUB_ENV\n").handed[:1]
    assert handed.name == "TF_A" and handed.value is None


@pytest.mark.skipif(BASH is None, reason="needs bash")
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_programs_get_what_is_told(script: str, tmp_path: Path) -> None:
    assert BASH is not None
    (tmp_path / "python").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "python").chmod(0o755)
    told = tmp_path / "told"
    told.touch()
    known = {name: value for name, value in os.environ.items() if name not in NAMES}
    environment = {**known, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "TOLD": str(told)}
    subprocess.run([BASH, "-c", script], env=environment, cwd=tmp_path, capture_output=True, timeout=60)
    runs = [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]
    starts = read_shell(script).starts
    assert runs
    for program in {program for program, _ in runs}:
        # In a loop, a program runs several times. The start that is told is for all of them; of a loop that counts, it
        # is one of them.
        (start,) = [one for one in starts if one.program == program]
        told_of = {setting.name: setting.value for setting in start.settings}
        passes = [seen for one, seen in runs if one == program]
        agree = [all(value is None or seen.get(name) == value for name, value in told_of.items()) for seen in passes]
        assert any(agree) if "for " in script else all(agree), (program, passes, told_of)
        assert all(seen.keys() <= told_of.keys() for seen in passes), (program, passes, told_of)


@pytest.mark.parametrize(
    "change", ["pushd a\npopd\n", "cd $X\n", "cd a || cd b\n", "if true; then cd a; fi\n", "cd -\n"]
)
def test_a_directory_that_is_not_known_is_not_told(change: str) -> None:
    (start,) = read_shell(f"{change}python b.py\n").starts
    assert start.directory is None


def test_a_comma_ends_a_value_that_slurm_is_given() -> None:
    read = read_shell("srun --export=ALL,TF_A=1,CUDA_VISIBLE_DEVICES=0,1 python a.py\n")
    assert {setting.name: setting.value for setting in read.starts[0].settings} == {
        "TF_A": "1",
        "CUDA_VISIBLE_DEVICES": None,
    }


LOST = {
    "front of a directory": ("TF_A=1 cd . && python a.py\n", ["front"]),
    "front of a directory, below": ("TF_A=1 TF_B=2 cd .\npython a.py\n", ["front", "front"]),
    "front of a directory in a function": ('f() {\n  TF_A=1 cd "$PWD" && python a.py\n}\nf\n', ["front"]),
    "front of a directory in a loop": ("for i in 1 2; do TF_A=$i cd . && python a.py; done\n", ["front"]),
    "front of a pipe": ("TF_A=1 cat /dev/null | python a.py\n", ["front"]),
    "front of a built-in of bash": ("#!/bin/bash\nTF_A=1 export TF_B=1; TF_B= python a.py\n", ["front"]),
    "env in front of a directory": ("env TF_A=1 cd . ; python a.py\n", ["front"]),
    "parentheses": ("(export TF_A=1); python a.py\n", ["apart"]),
    "parentheses with more": ("(cd . && export TF_A=1)\npython a.py\n", ["apart"]),
    "background": ("export TF_A=1 &\nwait\npython a.py\n", ["apart"]),
    "a pipe": ("export TF_A=1 | cat\npython a.py\n", ["apart"]),
    "an assignment": ("TF_A=1 && python a.py\n", ["unexported"]),
}
NOT_LOST = {
    "time": "TF_A=1 time python a.py\n",
    "exec": "TF_A=1 exec python a.py\n",
    "nohup": "TF_A=1 nohup python a.py &\n",
    "given again": "TF_A=1 cd . && TF_A=1 python a.py\n",
    "exported": "export TF_A=0\nTF_A=1 cd . && python a.py\n",
    "read": 'TF_A=1 cd . && python a.py "$TF_A"\n',
    "what may use it": "TF_A=1 ./run && python a.py\n",
    "a file that is read": "TF_A=1 source env.sh\npython a.py\n",
    "of a shell that keeps it": "#!/bin/sh\nTF_A=1 . bin/activate\npython a.py\n",
    "another branch": "if x; then TF_A=1 cd a; else python a.py; fi\n",
    "parentheses with a program": "(export TF_A=1; python a.py); python b.py\n",
    "parentheses with another": "(export TF_A=1; ./serve); python b.py\n",
    "sudo that keeps all": "TF_A=1 sudo -E python a.py\n",
    "sudo that keeps it": "export TF_A=1\nsudo --preserve-env=TF_A python a.py\n",
    "sudo with it": "sudo TF_A=1 python a.py\n",
    "sudo beside another": "export TF_A=1\npython a.py\nsudo python b.py\n",
    "ssh with it": "ssh host TF_A=1 python a.py\n",
    "ssh for another": "TF_A=1 ssh host ls\n",
}


@pytest.mark.parametrize(("script", "whys"), LOST.values(), ids=LOST)
def test_what_no_program_gets(script: str, whys: list[str], tmp_path: Path) -> None:
    lost = read_shell(script).lost
    assert [each.why for each in lost] == whys
    if BASH is not None:
        (tmp_path / "python").write_text(PROGRAM, encoding="utf-8")
        (tmp_path / "python").chmod(0o755)
        told = tmp_path / "told"
        known = {name: value for name, value in os.environ.items() if name not in NAMES}
        environment = {**known, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "TOLD": str(told)}
        subprocess.run([BASH, "-c", script], env=environment, cwd=tmp_path, capture_output=True, timeout=60)
        runs = [json.loads(line)[1] for line in told.read_text(encoding="utf-8").splitlines()]
        assert runs and all(each.setting.name not in seen for each in lost for seen in runs)


@pytest.mark.parametrize("script", NOT_LOST.values(), ids=NOT_LOST)
def test_what_a_program_may_get(script: str) -> None:
    assert read_shell(script).lost == []


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("TF_A=1 sudo -u x python a.py\n", "sudo"),
        ("export TF_A=1\nsudo python a.py\n", "sudo"),
        ("TF_A=1 ssh -p 22 host 'cd x; python a.py'\n", "ssh"),
    ],
)
def test_what_is_not_passed_on(script: str, why: str) -> None:
    (lost,) = read_shell(script).lost
    assert lost.why == why


@pytest.mark.parametrize(
    "piece",
    [
        "(export X=1); python a.py\n",
        "(export X=1)\n",
        "X=1 cd a && python a.py\n",
        "X=1 cd a\n",
        "export X=1\nsudo python a.py\n",
        "X=1 sudo ",
        "X=1 ssh a python b.py\n",
        "(export X=1; ",
        "export X=1 | cat\n",
    ],
)
def test_the_cost_grows_with_the_length(piece: str) -> None:
    text = piece * (12_000 // len(piece)) + "\npython z.py\n"
    assert_linear(lambda: read_shell(text), lambda: read_shell(text + text))
