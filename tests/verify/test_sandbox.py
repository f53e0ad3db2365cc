"""The sandbox, on all that this kernel offers and with parts of it missing: programs that try to get out."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import pwd
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.verify.child.left_behind import remove
from tfmemlint.verify.child.sandbox import kernel, landlock, places, seccomp
from tfmemlint.verify.child.sandbox.enter import enter, scratch_folder
from tfmemlint.verify.child.sandbox.mounts import written

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the barriers are those of Linux")

FULL, NO_NAMESPACES, NOTHING = "everything", "no namespaces", "nothing"


def _refuse(*_arguments: Any) -> None:
    raise OSError("refused by the test")


class Inside:
    """Runs functions in a sandbox, each in a process of its own."""

    def __init__(self, home: Path, work: Path, kind: str) -> None:
        self.home, self.work, self.kind = home, work, kind
        self.barriers: dict[str, Any] = {}
        self.written: list[str] = []

    def __call__(self, attempt: Callable[[], Any], *, network: bool = False, write: Path | None = None) -> str:
        """Return what ``attempt`` returned as text, or the name of the error that it raised."""
        scratch = scratch_folder()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            answer: list[Any] = [{}, "not tried"]
            try:
                self._take_away()
                found = enter(scratch, [str(self.work)], [str(write)] if write else [], network=network)
                answer[0] = found.as_data()
                answer[1] = str(attempt())
            except BaseException as error:
                answer[1] = type(error).__name__
            finally:
                os.write(writing, json.dumps(answer).encode())
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            self.barriers, said = json.loads(pipe.read())
        os.waitpid(child, 0)
        self.written = written(scratch, self.barriers.get("layers", {}), 10)
        remove(Path(scratch))
        return str(said)

    def _take_away(self) -> None:
        if self.kind != FULL:
            kernel.new_user = _refuse  # type: ignore[assignment]
        if self.kind == NOTHING:
            landlock.version = lambda: 0
            seccomp.refuse_networks = _refuse


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "user"
    (found / ".aws").mkdir(parents=True)
    (found / ".aws" / "credentials").write_text("secret")
    (found / ".netrc").write_text("secret")
    (found / ".keras").mkdir()
    (found / ".keras" / "data").write_text("data")
    (found / "notes").write_text("notes")
    monkeypatch.setenv("HOME", str(found))
    return found


@pytest.fixture(params=[FULL, NO_NAMESPACES])
def inside(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Inside:
    work = tmp_path / "work"
    work.mkdir()
    (work / "data").write_text("data")
    found = Inside(home, work, request.param)
    found(lambda: None)
    if not found.barriers["writes"] or not found.barriers["network"]:
        pytest.skip("this kernel has no barrier of this kind")
    return found


@pytest.fixture
def listening() -> Iterator[tuple[str, int]]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()


def test_what_it_needs_it_can_do(inside: Inside) -> None:
    assert inside(lambda: (inside.work / "data").read_text()) == "data"
    assert inside(lambda: (inside.home / "notes").read_text()) == "notes"
    assert inside(lambda: Path(os.environ["TMPDIR"], "x").write_text("x")) == "1"
    assert inside(lambda: Path("~/x").expanduser().write_text("x")) == "1"
    assert inside(lambda: Path("/dev/null").write_text("x")) == "1"
    assert inside(lambda: os.waitpid(os.spawnv(os.P_NOWAIT, "/bin/true", ["true"]), 0)[1]) == "0"
    assert inside(lambda: Path("/proc/self/stat").read_text() != "") == "True"
    assert inside(lambda: __import__("decimal").Decimal(1)) == "1"


def test_the_data_of_libraries_is_there_under_the_private_home(inside: Inside) -> None:
    assert inside(lambda: Path("~/.keras/data").expanduser().read_text()) == "data"
    assert inside(lambda: (inside.home / ".keras" / "data").read_text()) == "data"
    inside(lambda: Path("~/.keras/new").expanduser().write_text("x"))
    assert not (inside.home / ".keras" / "new").exists()


def test_credentials_in_the_home_folder_can_not_be_read(inside: Inside) -> None:
    assert inside(lambda: Path("~/.aws/credentials").expanduser().read_text()) == "FileNotFoundError"
    assert inside(lambda: (inside.home / ".aws" / "credentials").read_text()) in (
        "FileNotFoundError",
        "PermissionError",
    )
    assert inside(lambda: (inside.home / ".netrc").read_text()) in ("", "PermissionError")


def test_a_program_in_the_home_folder_itself_does_not_open_it(home: Path) -> None:
    for kind in (FULL, NO_NAMESPACES):
        inside = Inside(home, home, kind)
        said = inside(lambda: (home / ".aws" / "credentials").read_text())
        assert said in ("FileNotFoundError", "PermissionError") or not inside.barriers["secrets"]
        assert inside(lambda: (home / "notes").read_text()) == "notes"


def test_what_a_hidden_folder_has_of_python_stays(tmp_path: Path, home: Path) -> None:
    kept = home / ".venv" / "lib"
    kept.mkdir(parents=True)
    (home / ".venv" / "token").write_text("secret")
    hidden = places.hidden([str(kept)])
    assert str(home / ".venv" / "token") in hidden
    assert not any(str(kept).startswith(path) for path in hidden)


def test_nothing_outside_is_written(inside: Inside, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("as before")
    for attempt in (
        lambda: outside.write_text("changed"),
        lambda: outside.unlink(),
        lambda: outside.rename(tmp_path / "other"),
        lambda: os.truncate(outside, 0),
        lambda: os.link(outside, tmp_path / "link"),
        lambda: (tmp_path / "folder").mkdir(),
        lambda: (inside.work / "data").write_text("changed"),
        lambda: (inside.work / "new").write_text("changed"),
        lambda: shutil.rmtree(inside.work),
        lambda: os.system(f"echo changed > {outside}"),
        lambda: Path("/etc/tfmemlint-test").write_text("changed"),
    ):
        inside(attempt)
    assert outside.read_text() == "as before"
    assert (inside.work / "data").read_text() == "data"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside", "user", "work"]
    assert not Path("/etc/tfmemlint-test").exists()


def test_what_a_layer_takes_is_listed(inside: Inside) -> None:
    said = inside(lambda: (inside.work / "new").write_text("x"))
    if not inside.barriers["layers"]:
        assert said in ("OSError", "PermissionError")
        return
    assert said == "1"
    assert inside.written == [str(inside.work / "new")]


def test_a_folder_that_is_named_is_really_written(inside: Inside, tmp_path: Path) -> None:
    named = tmp_path / "named"
    named.mkdir()
    assert inside(lambda: (named / "x").write_text("x"), write=named) == "1"
    assert (named / "x").read_text() == "x"


def test_no_connection_is_made(inside: Inside, listening: tuple[str, int]) -> None:
    refused = ("ConnectionRefusedError", "PermissionError", "OSError")
    assert inside(lambda: socket.create_connection(listening, 2)) in refused
    assert inside(lambda: socket.create_connection(("192.0.2.1", 9), 2)) in refused
    datagram = inside(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 9)))
    assert datagram in refused

    def within() -> int:
        one, other = socket.socketpair()
        return other.send(b"x") and len(one.recv(1))

    assert inside(within) == "1"


def test_with_a_network_it_is_made(inside: Inside, listening: tuple[str, int]) -> None:
    assert inside(lambda: socket.create_connection(listening, 2).send(b"x"), network=True) == "1"


def test_the_processes_around_it_are_out_of_reach(inside: Inside) -> None:
    parent = os.getpid()
    assert inside(lambda: Path(f"/proc/{parent}/environ").read_bytes()) == "PermissionError"
    if inside.barriers["others"]:
        assert inside(lambda: os.kill(parent, signal.SIGCONT)) == "PermissionError"


def test_what_was_done_can_not_be_undone(inside: Inside, tmp_path: Path) -> None:
    for attempt in (
        lambda: kernel.mount("none", "/", flags=0x20),  # a remount, writable
        lambda: kernel.call("umount2", os.fsencode(inside.work), 2),
        lambda: kernel.mount("tmpfs", str(inside.work), "tmpfs"),
        lambda: kernel.set_read_only("/", False, recursive=True),
    ):
        assert inside(attempt) in ("OSError", "PermissionError")

    def nested() -> Any:
        kernel.call("unshare", 0x10000000 | 0x00020000)
        kernel.set_read_only("/", False, recursive=True)
        (tmp_path / "got-out").write_text("x")

    inside(nested)
    inside(lambda: os.system(f"unshare -rm sh -c 'mount -o remount,rw / ; echo x > {tmp_path}/got-out'"))
    assert not (tmp_path / "got-out").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="this is an ordinary user already, and all tests here are such a test")
def test_an_ordinary_user_has_the_same_sandbox() -> None:
    user = pwd.getpwnam("nobody")
    home, work = Path(scratch_folder()), Path(scratch_folder())
    (home / ".netrc").write_text("secret")
    for path in (home, home / ".netrc", work):
        os.chown(path, user.pw_uid, user.pw_gid)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said: list[Any] = []
        try:
            os.setgroups([])
            os.setgid(user.pw_gid)
            os.setuid(user.pw_uid)
            kernel.call("prctl", 4, 1, 0, 0, 0)  # as after the start of a program: /proc/self is the user's own
            os.environ["HOME"] = str(home)
            inside = Inside(home, work, FULL)
            said += [inside(lambda: (work / "new").write_text("x")), inside.barriers]
            said.append(inside(lambda: (home / ".netrc").read_text()))
        finally:
            os.write(writing, json.dumps(said).encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer, barriers, secret = json.loads(pipe.read())
    os.waitpid(child, 0)
    kept = list(work.iterdir())
    for path in (home, work):
        shutil.rmtree(path)
    if barriers["network"] != "namespace":
        pytest.skip(f"ordinary users can't make namespaces here: {barriers}")
    assert barriers["tasks"] == "kernel"
    assert (answer, secret) == ("1", "")
    assert not kept


def test_a_machine_without_any_of_it_runs_the_program_and_says_so(home: Path, tmp_path: Path) -> None:
    inside = Inside(home, tmp_path, NOTHING)
    assert inside(lambda: Path(os.environ["TMPDIR"], "x").write_text("x")) == "1"
    assert Path(os.environ["HOME"]) == home
    barriers = {name: inside.barriers[name] for name in ("network", "writes", "secrets", "others", "tasks", "layers")}
    assert barriers == {"network": "", "writes": "", "secrets": "", "others": "", "tasks": "", "layers": {}}
    assert inside.barriers["trouble"] == "refused by the test"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of system calls differ")
def test_keys_that_the_kernel_keeps_are_not_there(inside: Inside) -> None:
    def add() -> int:
        libc = ctypes.CDLL(None, use_errno=True)
        made = libc.syscall(
            248, b"user", b"tfmemlint-test", b"secret", ctypes.c_size_t(6), -3
        )  # add_key, of the session
        return ctypes.get_errno() if made < 0 else 0

    def session() -> int:
        libc = ctypes.CDLL(None, use_errno=True)
        return ctypes.get_errno() if libc.syscall(250, 0, -3, 0) < 0 else 0  # KEYCTL_GET_KEYRING_ID

    assert inside(add) == inside(session) == str(errno.ENOSYS)
