"""Repositories that run a command as soon as git, or a tool that obeys their configuration, looks at them.

Each builder is given an empty directory and the path of a canary: the command that it plants creates that file. It
returns the file to fix; the program in it always has something to fix.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

BAD = """\
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
gpus = strategy.extended.list_physical_devices("GPU")
"""
"""A program with a safe fix."""
FIXED = BAD.replace("strategy.extended", "tf.config")

Builder = Callable[[Path, str], Path]
BUILDERS: dict[str, Builder] = {}


def hostile(builder: Builder) -> Builder:
    """Register a builder under its name."""
    BUILDERS[builder.__name__] = builder
    return builder


def git(directory: Path, *arguments: str, **environment: str) -> str:
    """Run git with an identity and without the user's configuration."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *settings, *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        env={**known, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def committed(directory: Path, **files: str) -> Path:
    """A repository with ``train.py`` committed in it."""
    directory.mkdir(parents=True, exist_ok=True)
    git(directory, "init", "-q")
    for name, text in {"train.py": BAD, **files}.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text, encoding="utf-8")
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "-m", "first")
    return directory / "train.py"


def touch(path: Path) -> Path:
    """Give a file another time, so that git's index does not vouch for it any more."""
    os.utime(path, (1_600_000_000, 1_600_000_000))
    return path


def configure(directory: Path, text: str) -> None:
    """Append to the configuration of a repository."""
    with (directory / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write(text)


def script(directory: Path, canary: str, name: str = "command.sh") -> Path:
    """A program that leaves the canary and fails."""
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\ntouch "{canary}"\ncat\nexit 1\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def _bare(directory: Path, canary: str, setting: str) -> None:
    """What git takes for a bare repository: four plain files that any clone can hold."""
    for name in ("objects", "refs"):
        (directory / name).mkdir(parents=True)
        (directory / name / ".keep").touch()
    (directory / "HEAD").write_text("ref: refs/heads/main\n")
    (directory / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n"
        f'\t{setting} = "touch {canary}; false"\n'
    )


@hostile
def a_bare_repository_in_a_folder(top: Path, canary: str) -> Path:
    committed(top)
    _bare(top / "examples", canary, "fsmonitor")
    path = top / "examples" / "train.py"
    path.write_text(BAD)
    git(top, "add", "-f", "-A")
    git(top, "commit", "-q", "-m", "second")
    return path


@hostile
def a_bare_repository_without_another_around_it(top: Path, canary: str) -> Path:
    _bare(top, canary, "fsmonitor")
    (top / "train.py").write_text(BAD)
    return top / "train.py"


@hostile
def a_bare_repository_that_is_named_as_one(top: Path, canary: str) -> Path:
    committed(top)
    _bare(top / "project.git", canary, "fsmonitor")
    path = top / "project.git" / "train.py"
    path.write_text(BAD)
    return path


@hostile
def fsmonitor(top: Path, canary: str) -> Path:
    path = committed(top)
    configure(top, f'[core]\n\tfsmonitor = "touch {canary}; false"\n')
    return touch(path)


@hostile
def fsmonitor_in_an_included_file(top: Path, canary: str) -> Path:
    path = committed(top, **{"settings.inc": f'[core]\n\tfsmonitor = "touch {canary}; false"\n'})
    configure(top, '[include]\n\tpath = ../settings.inc\n[includeIf "gitdir:**"]\n\tpath = ../settings.inc\n')
    return touch(path)


@hostile
def fsmonitor_of_a_worktree(top: Path, canary: str) -> Path:
    path = committed(top)
    configure(top, "[extensions]\n\tworktreeConfig = true\n")
    (top / ".git" / "config.worktree").write_text(f'[core]\n\tfsmonitor = "touch {canary}; false"\n')
    return touch(path)


@hostile
def a_clean_filter(top: Path, canary: str) -> Path:
    path = committed(top, **{".gitattributes": "*.py filter=run\n"})
    configure(
        top, f'[filter "run"]\n\tclean = "touch {canary}; cat"\n\tsmudge = "touch {canary}; cat"\n\trequired = true\n'
    )
    return touch(path)


@hostile
def a_filter_process(top: Path, canary: str) -> Path:
    path = committed(top, **{".gitattributes": "*.py filter=run\n"})
    configure(top, f'[filter "run"]\n\tprocess = "{script(top / ".git", canary)}"\n\trequired = true\n')
    return touch(path)


@hostile
def a_filter_named_in_the_repositorys_own_attributes(top: Path, canary: str) -> Path:
    path = committed(top)
    (top / ".git" / "info").mkdir(exist_ok=True)
    (top / ".git" / "info" / "attributes").write_text("*.py filter=run diff=run merge=run\n")
    configure(top, f'[filter "run"]\n\tclean = "touch {canary}; cat"\n')
    return touch(path)


@hostile
def a_text_conversion_and_another_diff(top: Path, canary: str) -> Path:
    path = committed(top, **{".gitattributes": "*.py diff=run\n"})
    command = script(top / ".git", canary)
    configure(
        top, f'[diff]\n\texternal = "{command}"\n[diff "run"]\n\ttextconv = "{command}"\n\tcommand = "{command}"\n'
    )
    path.write_text(BAD + "\n# mine\n")
    return path


@hostile
def hooks(top: Path, canary: str) -> Path:
    path = committed(top)
    for name in ("post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman", "reference-transaction"):
        script(top / ".git" / "hooks", canary, name)
    return touch(path)


@hostile
def hooks_from_the_working_tree(top: Path, canary: str) -> Path:
    path = committed(top)
    script(top / "hooks", canary, "post-index-change")
    configure(top, "[core]\n\thooksPath = hooks\n")
    return touch(path)


@hostile
def a_pager_an_editor_an_askpass(top: Path, canary: str) -> Path:
    path = committed(top)
    command = script(top / ".git", canary)
    configure(
        top,
        f'[core]\n\tpager = "{command}"\n\teditor = "{command}"\n\taskPass = "{command}"\n\tsshCommand = "{command}"\n'
        f'\tgitProxy = "{command}"\n\talternateRefsCommand = "{command}"\n[pager]\n\tstatus = true\n'
        f'[credential]\n\thelper = "!{command}"\n',
    )
    return touch(path)


@hostile
def aliases(top: Path, canary: str) -> Path:
    path = committed(top)
    names = "".join(f'\t{name} = "!touch {canary}"\n' for name in ("status", "ls-files", "cat-file", "hash-object"))
    configure(top, f"[alias]\n{names}")
    return touch(path)


@hostile
def a_git_file_that_points_elsewhere(top: Path, canary: str) -> Path:
    committed(top / "other")
    configure(top / "other", f'[core]\n\tfsmonitor = "touch {canary}; false"\n\tworktree = ../../project\n')
    project = top / "project"
    project.mkdir()
    (project / ".git").write_text("gitdir: ../other/.git\n")
    path = project / "train.py"
    path.write_text(BAD)
    return path


@hostile
def a_submodule_with_settings_of_its_own(top: Path, canary: str) -> Path:
    committed(top / "inner")
    committed(top / "outer")
    git(top / "outer", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../inner", "inner")
    git(top / "outer", "commit", "-q", "-m", "second")
    with (top / "outer" / ".git" / "modules" / "inner" / "config").open("a") as file:
        file.write(f'[core]\n\tfsmonitor = "touch {canary}; false"\n')
    return touch(top / "outer" / "inner" / "train.py")


@hostile
def a_submodule_that_is_looked_at_from_outside(top: Path, canary: str) -> Path:
    a_submodule_with_settings_of_its_own(top, canary)
    return touch(top / "outer" / "train.py")


@hostile
def an_object_of_a_partial_clone(top: Path, canary: str) -> Path:
    """Asking for an object that isn't there asks the remote, through a command of the configuration."""
    path = committed(top)
    configure(
        top,
        f'[remote "origin"]\n\turl = ext::sh -c "touch% {canary}"\n\tpromisor = true\n'
        '[extensions]\n\tpartialClone = origin\n[protocol "ext"]\n\tallow = always\n',
    )
    shutil.rmtree(top / ".git" / "objects")
    (top / ".git" / "objects").mkdir()
    return touch(path)


@hostile
def a_program_called_git(top: Path, canary: str) -> Path:
    path = committed(top)
    for name in ("git", "git.exe", "git.bat", "git.cmd", "git-status"):
        script(top, canary, name)
    return touch(path)


@hostile
def a_head_that_is_a_link(top: Path, canary: str) -> Path:
    path = committed(top)
    configure(top, f'[core]\n\tfsmonitor = "touch {canary}; false"\n\tpreferSymlinkRefs = true\n')
    (top / ".git" / "HEAD").unlink()
    (top / ".git" / "HEAD").symlink_to("refs/heads/main")
    return touch(path)
