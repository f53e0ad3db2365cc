"""Programs on TensorFlow that try to leave the sandbox, and what is said of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.verify.programs import GROWING
from tfmemlint.verify.edge import Edge
from tfmemlint.verify.result import Result
from tfmemlint.verify.sandbox_options import Sandbox, hint, kept_apart, lacking, passed_environment, variables

pytestmark = pytest.mark.slow

SANDBOX = Sandbox()


def test_no_variable_is_inherited_that_is_not_in_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "TF_TOKEN_app", "TF_API_KEY", "KERAS_KEY", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    code = "import os\nprint(*sorted(os.environ))\nprint(b'secret' in open('/proc/self/environ', 'rb').read())\n"
    with Edge() as ground:
        names, in_memory = ground.run(code, sandbox=SANDBOX, env={"GIVEN": "1"}).stdout.splitlines()
    assert not [name for name in names.split() if name.endswith(("KEY", "TOKEN", "_app", "SOCK"))]
    assert {"GIVEN", "HOME", "LC_ALL", "PATH"} <= set(names.split())
    assert in_memory == "False" or not sys.platform.startswith("linux")


def test_the_list_has_no_prefix_but_that_of_the_language() -> None:
    given = {"LC_TIME": "C", "PATH": "/bin", "PATHS": "x", "HOME_TOKEN": "x", "": "x"}
    assert passed_environment(given) == {"LC_TIME": "C", "PATH": "/bin"}


def test_a_variable_is_given_by_its_name_or_with_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA", "/data")
    assert variables(["DATA", "BATCH=32", "EMPTY=", "EQUAL=a=b"]) == {
        "DATA": "/data",
        "BATCH": "32",
        "EMPTY": "",
        "EQUAL": "a=b",
    }
    for wrong in ("", "=x", "TFMEMLINT_TEST_UNSET"):
        with pytest.raises(ValueError, match="--env"):
            variables([wrong])


def test_a_thousand_processes_are_ended(edge: Edge) -> None:
    code = """\
import os, time
for _ in range(1000):
    os.posix_spawn("/bin/sleep", ["sleep", "60"], os.environ)
time.sleep(60)
print("all of them")
"""
    result = edge.run(code, sandbox=SANDBOX, timeout=50)
    assert (result.ok, result.timed_out, result.stdout) == (False, False, "")
    assert result.message == "started more than 256 processes"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("while True: print('x' * 1_000_000)", "printed more than 256 MiB"),
        ("import time; time.sleep(600)", "did not end within 2 s"),
        (
            "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); signal.pause()",
            "did not end within 2 s",
        ),
    ],
)
def test_what_does_not_end_is_ended(edge: Edge, code: str, words: str) -> None:
    timeout = 2 if "2 s" in words else 60
    assert edge.run(code, sandbox=SANDBOX, timeout=timeout).message == words


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a family of sockets of Linux")
def test_no_socket_leads_to_what_runs_a_virtual_machine(edge: Edge) -> None:
    code = """\
import ctypes, socket
try:
    socket.socket(40, socket.SOCK_STREAM)
except OSError as error:
    print(error.strerror)
print(ctypes.CDLL(None).syscall(425, 8, 0))
"""
    assert edge.run(code, sandbox=SANDBOX, timeout=60).stdout.splitlines() == ["Permission denied", "-1"]


def test_shared_memory_counts(edge: Edge) -> None:
    code = """\
import mmap, time
shared = mmap.mmap(-1, 600 << 20)
for at in range(0, 600 << 20, 1 << 20):
    shared[at : at + (1 << 20)] = bytes(1 << 20)
time.sleep(60)
"""
    result = edge.run(code, sandbox=SANDBOX, host_mib=400, timeout=50)
    assert result.out_of_memory
    assert "more than the 400 MiB allowed" in result.message


@pytest.mark.parametrize(
    "line",
    [
        "os.symlink('/dev/zero', folder + '/report'); os.symlink('/dev/zero', folder + '/notes')",
        "os.mkfifo(folder + '/report')",
        "os.mkdir(folder + '/report')",
        "open(folder + '/report', 'w').write('[' * 100_000)",
        "open(folder + '/sandbox', 'w').write('[1]')",
        "open(folder + '/sandbox', 'w').write('{\"layers\": {\"../../..\": 1, \"0\": {}}}')",
        "os.chmod(folder, 0)",
        "os.makedirs('a/b'); os.chmod('a/b', 0); os.chmod('a', 0)",
    ],
)
def test_whatever_it_puts_into_its_folder_the_run_ends_and_nothing_stays(edge: Edge, line: str) -> None:
    start = "import os\nfolder = os.path.dirname(os.environ['HOME'])\nprint(folder, flush=True)\n"
    code = f"{start}{line}\nos.kill(os.getpid(), 9)\n"
    result = edge.run(code, sandbox=SANDBOX, timeout=30)
    assert not result.ok
    assert not Path(result.stdout.strip()).exists()


def test_a_program_is_judged_as_before(edge: Edge, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("value = 1\n")
    program = tmp_path / "program.py"
    code = f"{GROWING}from module import value\nprint(value)\n"
    program.write_text(code)
    result = edge.run(code, filename=str(program), sandbox=SANDBOX)
    assert (result.ok, result.stdout) == (True, "1\n")
    assert result.config is not None
    assert result.config["allow_growth"] is True
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix) == ["module.py", "program.py"]


def test_without_a_sandbox_everything_is_as_the_user_has_it(edge: Edge, tmp_path: Path) -> None:
    result = edge.run(f"import os\nopen({str(tmp_path / 'x')!r}, 'w').write('x')\nprint(os.environ['HOME'])\n")
    assert result.sandbox is None
    assert result.stdout.strip() == os.environ["HOME"]
    assert (tmp_path / "x").exists()


def _with(**barriers: object) -> Result:
    all_of_them = {"network": "namespace", "writes": "mounts", "secrets": "mounts"}
    return Result(True, sandbox={"kept_apart": [], "more_kept_apart": False, **all_of_them, **barriers})


def test_what_lacks_is_said() -> None:
    assert lacking(_with(), SANDBOX) == ""
    assert lacking(_with(network=""), Sandbox(network=True)) == ""
    assert lacking(_with(network="", writes=""), None) == ""
    words = lacking(_with(network="", writes="", secrets=""), SANDBOX)
    assert "using the network, writing to files and reading credentials in the home folder" in words


def test_what_was_not_kept_is_said() -> None:
    assert kept_apart(_with()) == ""
    assert kept_apart(_with(kept_apart=["a", "b"])) == "what it wrote or removed is not kept: a, b"
    assert kept_apart(_with(kept_apart=list("abcdef"))).endswith("a, b, c, d, e, and more")


@pytest.mark.parametrize(
    ("exception", "message", "words"),
    [
        ("URLError", "<urlopen error [Errno -3] Temporary failure in name resolution>", "--network"),
        ("OSError", "[Errno 101] Network is unreachable", "--network"),
        ("Exception", "URL fetch failure on https://a/b: None -- [Errno -3] name resolution", "--network"),
        ("OSError", "[Errno 30] Read-only file system: '/data/x'", "--write"),
        ("PermissionError", "[Errno 13] Permission denied: '/data/x'", "--write"),
        ("ValueError", "Permission denied", ""),
        ("ConnectionRefusedError", "[Errno 111] Connection refused", ""),
    ],
)
def test_the_way_out_is_said(exception: str, message: str, words: str) -> None:
    failed = Result(False, exception, message, sandbox={})
    assert (words in hint(failed, SANDBOX)) if words else hint(failed, SANDBOX) == ""
    assert hint(failed, None) == ""
    assert "--network" not in hint(failed, Sandbox(network=True))
