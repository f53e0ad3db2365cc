"""Put this process into the sandbox, with whatever this kernel offers."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tfmemlint.verify.child.sandbox import kernel, landlock, mounts, places, seccomp

MAX_TASKS = 8192
"""The processes and threads that one run may have, where the kernel counts them for it alone. TensorFlow has some
threads for each processor.
"""
MAX_FILE_MIB = 16384
"""The size of a file that a run may write; a bound without a deeper reason."""
ALTERNATIVE_SCRATCH = "/var/tmp"
"""The parent of the scratch folder: /tmp itself has a layer."""


@dataclass(slots=True)
class Barriers:
    """The barriers around a program, in a word each; "" for one that this machine lacks.

    Attributes:
        network: ``namespace`` or ``seccomp``. writes: ``mounts`` or ``landlock``. secrets: ``mounts`` or ``landlock``.
        others: what keeps it from other processes, ``landlock``. tasks: what counts its processes, ``kernel``.
        layers: the folders in which its writes are taken, by the numbers of their layers.
        trouble: why the namespaces could not be made, or "".
    """

    network: str = ""
    writes: str = ""
    secrets: str = ""
    others: str = ""
    tasks: str = ""
    layers: dict[str, str] = field(default_factory=dict)
    trouble: str = ""

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def scratch_folder() -> str:
    """Make a scratch folder, in which a program may do what it wants."""
    for parent in (ALTERNATIVE_SCRATCH, None):
        with contextlib.suppress(OSError):
            return tempfile.mkdtemp(prefix="tfmemlint-", dir=parent)
    return tempfile.mkdtemp(prefix="tfmemlint-")


def enter(scratch: str, folders: Sequence[str], writable: Sequence[str], *, network: bool) -> Barriers:
    """Put this process, which has one thread, into the sandbox. It can't be left again.

    Args:
        scratch: an empty folder of its own. folders: those that the program works in, and of its files.
        writable: folders and files that it may really write. network: let it use the network.
    """
    found = Barriers()
    scratch = os.path.realpath(scratch)
    private, temporary = Path(scratch, "home"), Path(scratch, "tmp")
    for path in (private, temporary):
        path.mkdir(0o700)
    places.furnish(private)
    own = list(dict.fromkeys(os.path.realpath(path) for path in folders))
    writable = [os.path.realpath(path) for path in writable]
    hidden = places.hidden([*own, *writable, *places.needed(), *places.data_folders(), scratch])
    variables = places.variables(str(private), str(temporary))
    _namespaces(found, scratch, own, writable, hidden, network)
    with contextlib.suppress(OSError):
        kernel.refuse_new_privileges()
        kernel.drop_capabilities(files=bool(found.trouble))
    open_to_it = [scratch, *writable, *found.layers.values(), "/dev", "/proc/self"]
    with contextlib.suppress(OSError):
        version = landlock.restrict(open_to_it, () if found.secrets else hidden)
        found.writes = found.writes or ("landlock" if version else "")
        found.secrets = found.secrets or ("landlock" if version else "")
        found.others = "landlock" if version >= landlock.SIGNALS_SINCE else ""
    with contextlib.suppress(OSError):
        seccomp.refuse_keyrings()
        seccomp.refuse_machine_below()
    if not network and not found.network:
        with contextlib.suppress(OSError):
            seccomp.refuse_networks()
            found.network = "seccomp"
    for limit, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, MAX_FILE_MIB << 20)):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (value, value))
    os.environ.update(variables)
    tempfile.tempdir = None
    return found


def _namespaces(
    found: Barriers, scratch: str, own: Sequence[str], writable: Sequence[str], hidden: Sequence[str], network: bool
) -> None:
    """Make the namespaces, and use what they allow."""
    if not sys.platform.startswith("linux"):
        found.trouble = "this system has no namespaces"
        return
    network_kinds = 0 if network else kernel.CLONE_NEWNET
    try:
        kernel.new_user(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | network_kinds)
    except OSError as error:
        found.trouble = str(error)
        return
    if not network:
        found.network = "namespace"
        with contextlib.suppress(OSError):
            kernel.raise_loopback()
    try:
        layered = _layered(scratch, own)
        done, read_only = mounts.isolate(scratch, layered, writable, hidden)
        found.layers = {str(number): folder for number, folder in enumerate(layered) if folder in done}
        found.secrets, found.writes = "mounts", "mounts" if read_only else ""
    except OSError as error:
        found.trouble = str(error)
    with contextlib.suppress(OSError, ValueError):
        if os.getuid():  # the kernel does not hold the superuser to it
            resource.setrlimit(resource.RLIMIT_NPROC, (MAX_TASKS, MAX_TASKS))
            found.tasks = "kernel"


def _layered(scratch: str, own: Sequence[str]) -> list[str]:
    """Return the folders that get a layer, none inside another: those of the program, and those for temporary files."""
    wanted = [*own, "/tmp", os.path.realpath(tempfile.gettempdir())]
    usable = [
        path
        for path in dict.fromkeys(wanted)
        if Path(path).is_dir() and path != "/" and not f"{scratch}/".startswith(f"{path}/")
    ]
    return [path for path in usable if not any(path.startswith(f"{outer}/") for outer in usable)]


def used_mib(scratch: str, most_files: int) -> float:
    """Return the disk space that a scratch folder takes, in MiB, of as many files at most."""
    blocks = count = 0
    for place, _, files in os.walk(scratch):
        for name in files:
            with contextlib.suppress(OSError):
                blocks += Path(place, name).lstat().st_blocks
            count += 1
        if count > most_files:
            break
    return blocks / 2048
