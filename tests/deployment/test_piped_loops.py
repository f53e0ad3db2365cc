"""Variables that a loop behind a pipe exports, and the programs that do not get them, as bash and sh run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.deployment import program_of
from tfmemlint.interpreter.program import EnvLost
from tfmemlint.knowledge.releases import Target
from tfmemlint.sources import Source
from tfmemlint.sources.documents import blocks

SETTINGS = "# settings\nTF_FORCE_GPU_ALLOW_GROWTH=true\nCUDA_VISIBLE_DEVICES=1\nEPOCHS=3\n"
ALL = {"TF_FORCE_GPU_ALLOW_GROWTH", "CUDA_VISIBLE_DEVICES", "EPOCHS"}
EACH = 'while IFS= read -r line; do export "$line"; done'


def lost(folder: Path, script: str) -> set[str]:
    """The variables that are lost in a script beside a file of settings."""
    (folder / "pyproject.toml").touch()
    (folder / "settings.env").write_text(SETTINGS, encoding="utf-8")
    program = program_of(Source(str(folder / "run.sh"), script), blocks.SHELL, Target.newest())
    assert program is not None
    return {event.name for event in program.of(EnvLost)}


@pytest.mark.parametrize(
    "pipe",
    [
        f'grep -v "^#" settings.env | {EACH}',
        f"grep -Ev '^[[:space:]]*(#|$)' settings.env | {EACH}",
        f"egrep -v '^#|^$' settings.env | {EACH}",
        "cat settings.env | while read l; do export $l; done",
        f'cat settings.env | grep -v "^#" |\n{EACH}',
        f"cat settings.env | ({EACH})",
        f"grep -v '^\\s*#' < settings.env | {EACH}",
        f'sed -e "/^#/d" settings.env | {EACH}',
        'cat settings.env | tr -d "\\r" | while IFS== read -r k v; do export "$k=$v"; done',
        'cat settings.env | while read -r l; do [ -n "$l" ] && export "$l"; done',
        'cat settings.env | while IFS== read -r k v; do case $k in \\#*) continue ;; esac; export "${k}"="${v}"; done',
        f"if [ -f settings.env ]; then cat settings.env | {EACH}; fi",
        f"load() {{ cat settings.env | {EACH}; }}\nload",
    ],
)
def test_the_lines_of_a_file_are_lost(pipe: str, tmp_path: Path) -> None:
    assert lost(tmp_path, f"#!/bin/bash\n{pipe}\nexec python train.py\n") == ALL


def test_what_a_filter_leaves_is_lost(tmp_path: Path) -> None:
    assert lost(tmp_path, f"#!/bin/sh\ngrep TF_ settings.env | {EACH}\npython train.py\n") == {
        "TF_FORCE_GPU_ALLOW_GROWTH"
    }


def test_the_directory_of_the_script(tmp_path: Path) -> None:
    script = f'#!/bin/sh\ncd "$(dirname "$0")"\ncat settings.env | {EACH}\npython train.py\n'
    assert lost(tmp_path, script) == ALL
    assert not lost(tmp_path, script.replace('"$(dirname "$0")"', '"$HOME"'))


@pytest.mark.parametrize(
    "script",
    [
        'while IFS= read -r line; do export "$line"; done < settings.env\npython train.py',
        f"{EACH} < <(grep -v '^#' settings.env)\npython train.py",
        f"shopt -s lastpipe\ncat settings.env | {EACH}\npython train.py",
        "set -a; . ./settings.env; set +a\npython train.py",
        'export $(grep -v "^#" settings.env | xargs)\npython train.py',
        'cat settings.env | while read -r line; do export "$line"; python train.py; done',
        f"cat settings.env | {{ {EACH}; python train.py; }}",
        f"cat settings.env | (\n{EACH}\nexec python train.py\n)",
        f"cat settings.env | {EACH}\n. ./settings.env\npython train.py",
        f"python train.py\ncat settings.env | {EACH}",
        f"load() {{ cat settings.env | {EACH}; }}\npython train.py",
        'cat settings.env | while read -r l; do echo "export $l" >> all.sh; export "$l"; done\npython train.py',
        'cat settings.env | while read -r l; do [[ $l == EPOCHS* ]] || continue; export "$l"; done\npython train.py',
        f"awk -f settings.awk settings.env | {EACH}\npython train.py",
        f"cat other.env | {EACH}\npython train.py",
        f'cat "$1" | {EACH}\npython train.py',
        f"if [ -f settings.env ]; then cat settings.env | {EACH}; else python train.py; fi",
    ],
)
def test_what_a_program_gets_and_what_is_not_known_is_not_lost(script: str, tmp_path: Path) -> None:
    assert not lost(tmp_path, f"#!/bin/bash\n{script}\n")


@pytest.mark.parametrize("shell", ["zsh", "/usr/bin/env ksh"])
def test_other_shells_run_the_end_of_a_pipe_themselves(shell: str, tmp_path: Path) -> None:
    assert not lost(tmp_path, f"#!/bin/{shell}\ncat settings.env | {EACH}\npython train.py\n")
