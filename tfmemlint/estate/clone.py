"""Clone a repository without giving it a chance to run anything.

git fetches objects into a bare repository, and no more: there is no checkout, so that no filter, hook or submodule of
the tree is looked at. No template is copied, hooks are looked for in no place, and only transports are allowed that run
no command of the URL's choice. The files are then written from the objects, as data (`tfmemlint.history.objects`).
"""

from __future__ import annotations

import os
import subprocess

from tfmemlint.history.objects import History, HistoryError, is_read

PROTOCOLS = "https:http:ssh:git:file"
_SETTINGS = (
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "transfer.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
)


def clone(url: str, name: str, directory: str, seconds: float) -> tuple[str, str]:
    """Clone the newest commit of a repository; return the folder with its files, and the commit.

    Args:
        url: what to clone. name: the name of the folder. directory: an empty directory, for both. seconds: the limit.

    Raises:
        HistoryError: it can't be cloned, or read.
    """
    bare = os.path.join(directory, "objects.git")
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    options = [
        "--quiet",
        "--bare",
        "--depth=1",
        "--single-branch",
        "--no-tags",
        "--no-recurse-submodules",
        "--template=",
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": PROTOCOLS, "GIT_LFS_SKIP_SMUDGE": "1"}
    try:
        subprocess.run(
            ["git", *settings, "clone", *options, "--", url, bare],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=seconds,
            env=environment,
            cwd=directory,
        )
    except subprocess.TimeoutExpired:
        raise HistoryError("cloning took too long") from None
    except subprocess.CalledProcessError as error:
        words = error.stderr.decode("utf-8", "replace").strip().splitlines() or [f"git exits with {error.returncode}"]
        raise HistoryError(f"can't be cloned: {words[-1]}") from None
    except OSError as error:
        raise HistoryError(f"can't be cloned: git: {error.strerror or error}") from None
    history = History.of_bare(bare)
    commit = history.commit("HEAD")
    top = os.path.join(directory, "tree", name)
    # The mark of a project's top; nothing is in it.
    os.makedirs(os.path.join(top, ".git"))
    history.write(history.files(commit), top, is_read)
    return top, commit
