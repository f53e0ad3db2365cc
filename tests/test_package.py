"""The wheel: what is in it, and that it works on its own, without TensorFlow."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.checkout import ROOT, copy_checkout
from tests.safety.hostile_modules import plant
from tfmemlint import __version__

pytestmark = pytest.mark.slow

LATE = """\
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""
CLEAN = """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)

strategy = tf.distribute.MirroredStrategy()
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the source distribution of this checkout, and the wheel that is made of that."""
    folder = tmp_path_factory.mktemp("release")
    source = copy_checkout(folder / "source")
    _succeed(sys.executable, "-m", "build", "--outdir", str(folder / "dist"), str(source))
    return folder / "dist"


@pytest.fixture(scope="module")
def wheel(release: Path) -> Path:
    """The wheel of this checkout."""
    (built,) = release.glob("tfmemlint-*.whl")
    return built


@pytest.fixture(scope="module")
def sdist(release: Path) -> Path:
    """The source distribution of this checkout."""
    (built,) = release.glob("tfmemlint-*.tar.gz")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the commands of an environment in which there is the wheel, and what it asks for."""
    return _installed(wheel, tmp_path_factory.mktemp("environment") / "venv", sys.executable)


def _installed(distribution: Path, environment: Path, python: str) -> Path:
    # The pip of the tests installs into it: one more pip for each environment takes as long as all that it installs.
    _succeed(python, "-m", "venv", "--without-pip", str(environment))
    # Of what it asks for, most is never imported: to compile all of it takes longer than to unpack it.
    install = ("install", "--quiet", "--no-compile", str(distribution))
    _succeed(sys.executable, "-m", "pip", "--python", str(environment), *install)
    return environment / ("Scripts" if os.name == "nt" else "bin")


def _succeed(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"


def _run(commands: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Neither this checkout nor the packages of the tests may help.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [str(commands / arguments[0]), *arguments[1:]], cwd=folder, capture_output=True, text=True, env=environment
    )


def test_the_wheel_holds_what_the_tool_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    wanted = {f"tfmemlint/rules/{path.name}" for path in (ROOT / "rules").glob("*.py")}
    for package in ("tfmemlint", "tfmemlint/knowledge/data", "tfmemlint/fixes/rewrites/templates"):
        wanted |= {f"{package}/{path.name}" for path in (ROOT / package).iterdir() if path.is_file()}
    wanted |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "tfmemlint").rglob("*.py")}
    wanted.add("tfmemlint/py.typed")
    assert wanted - names == set()


def test_a_release_has_one_version_and_what_it_is_read_by(release: Path, wheel: Path, sdist: Path) -> None:
    assert sorted(path.name for path in release.iterdir()) == sorted((wheel.name, sdist.name))
    assert wheel.name.split("-")[1] == sdist.name.removesuffix(".tar.gz").split("-")[1] == __version__
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    assert f"\nVersion: {__version__}\n" in metadata
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert metadata.endswith(readme), "the README is the page of the release"
    extras = {line.removeprefix("Provides-Extra: ") for line in metadata.splitlines() if "Provides-Extra" in line}
    assert extras == {
        *("completion", "docs", "estate", "mcp", "pictures", "server", "since", "tensorflow", "test", "watch")
    }


def test_the_source_distribution_holds_no_more_than_the_checkout(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    made = {name for name in names if name in ("PKG-INFO", "setup.cfg") or ".egg-info/" in name}
    assert not {name for name in names - made if not (ROOT / name).is_file()}
    assert {"LICENSE", "README.md", "pyproject.toml", "setup.py"} <= names


@pytest.mark.slow
def test_the_source_distribution_works_on_its_own(sdist: Path, tmp_path: Path) -> None:
    commands = _installed(sdist, tmp_path / "venv", sys.executable)
    (tmp_path / "late.py").write_text(LATE, encoding="utf-8")
    version = _run(commands, tmp_path, "tfmemlint", "--version")
    assert (version.stdout.strip(), version.stderr) == (f"tfmemlint {__version__}", "")
    check = _run(commands, tmp_path, "tfmemlint", "check", "late.py")
    assert (check.returncode, check.stderr) == (1, "")
    fix = _run(commands, tmp_path, "tfmemlint", "fix", "--unsafe-fixes", "late.py")
    assert (fix.returncode, (tmp_path / "late.py").read_text(encoding="utf-8")) == (0, CLEAN)


@pytest.mark.slow
def test_the_library_works_on_its_own(installed: Path, tmp_path: Path) -> None:
    code = f"import tfmemlint; print(tfmemlint.fix({LATE!r}, unsafe=True).text == {CLEAN!r})"
    code += f"; print(len(tfmemlint.plan({LATE!r}).programs))"
    done = _run(installed, tmp_path, "python", "-c", code)
    assert (done.stdout.split(), done.stderr) == (["True", "1"], "")


def test_the_wheel_holds_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
        licenses = [name for name in archive.namelist() if name.endswith("/LICENSE")]
    assert {top for top in tops if not top.endswith(".dist-info")} == {"tfmemlint", "tfmemlint.pth"}
    assert len(licenses) == 1


def test_it_works_without_tensorflow(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LATE, encoding="utf-8")
    assert _run(installed, tmp_path, "python", "-c", "import tensorflow").returncode != 0
    rule = _run(installed, tmp_path, "tfmemlint", "rule", "TFM101")
    assert (rule.returncode, rule.stderr) == (0, "")
    assert "growth-after-init" in rule.stdout
    check = _run(installed, tmp_path, "tfmemlint", "check", "late.py")
    assert (check.returncode, check.stderr) == (1, "")
    assert "late.py:5:5: error: TFM101" in check.stdout


def test_it_mends_without_tensorflow(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LATE, encoding="utf-8")
    share = "import tensorflow as tf\n\ngpus = tf.config.list_physical_devices('GPU')\n"
    share += "tf.config.experimental.set_memory_limit(gpus[0], 0.5)\n"
    (tmp_path / "share.py").write_text(share, encoding="utf-8")
    fix = _run(installed, tmp_path, "tfmemlint", "fix", "--unsafe-fixes", "--read-gpu-memory")
    assert (fix.returncode, fix.stderr) == (0, "")
    assert (tmp_path / "late.py").read_text(encoding="utf-8") == CLEAN
    assert "pynvml" in (tmp_path / "share.py").read_text(encoding="utf-8")


def test_it_runs_as_a_module(installed: Path, tmp_path: Path) -> None:
    done = _run(installed, tmp_path, "python", "-m", "tfmemlint", "--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "tfmemlint")


@pytest.mark.parametrize("command", [("python", "-m", "tfmemlint"), ("python", "-mtfmemlint"), ("tfmemlint",)])
def test_nothing_in_the_working_directory_is_imported(
    installed: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Not even a package of the tool's own name, which Python would find first."""
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "late.py").write_text(LATE, encoding="utf-8")
    plant(folder, tmp_path / "canary", [*sys.stdlib_module_names, "tfmemlint", "sitecustomize", "usercustomize"])
    check = _run(installed, folder, *command, "check", "late.py")
    assert (check.returncode, check.stderr) == (1, "")
    assert "late.py:5:5: error: TFM101" in check.stdout
    assert _run(installed, folder, *command, "fix", "-q", "--unsafe-fixes", ".").stderr == ""
    assert (folder / "late.py").read_text(encoding="utf-8") == CLEAN
    assert not (tmp_path / "canary").exists()


def _loaded(folder: Path, *arguments: str) -> set[str]:
    """The top-level modules that a run of the tool imports."""
    code = (
        "import sys, tfmemlint.cli.main as cli; cli.main(sys.argv[1:]); "
        "print(' '.join({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize(
    ("text", "options"),
    [(CLEAN, ()), ("import os\n", ()), (LATE, ("--output-format", "github"))],
    ids=["clean", "no TensorFlow", "annotations"],
)
def test_a_check_imports_nothing_that_it_does_not_need(tmp_path: Path, text: str, options: tuple[str, ...]) -> None:
    (tmp_path / "program.py").write_text(text, encoding="utf-8")
    loaded = _loaded(tmp_path, "check", *options, "program.py")
    assert "tfmemlint" in loaded
    assert loaded & {"tensorflow", "keras", "numpy", "rich", "libcst", "pynvml"} == set()


def test_rich_is_not_imported_to_print_to_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LATE, encoding="utf-8")
    assert "rich" not in _loaded(tmp_path, "check", "late.py")


def _other_pythons() -> dict[str, str]:
    """The oldest and the newest Python on this machine that the tool is for, besides the one of the tests."""
    code = "import sys, venv, ensurepip; print(sys.version_info.minor)"
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    found = {}
    for minor in range(10, 20):
        paths = [shutil.which(f"python3.{minor}"), *map(str, sorted(pyenv.glob(f"3.{minor}.*/bin/python3.{minor}")))]
        for path in filter(None, paths) if minor != sys.version_info.minor else ():
            done = subprocess.run([path, "-c", code], capture_output=True, text=True)
            if done.stdout.strip() == str(minor):
                found[minor] = path
    return {"oldest": found[min(found)], "newest": found[max(found)]} if found else {}


COMPARED = (
    ("check", "--no-cache", "--select", "TFM", "--output-format", "json"),
    ("fix", "--diff", "--no-cache", "--unsafe-fixes", "--output-format", "concise"),
    ("plan", "--json"),
)
"""What every Python has to print in the same way."""


@pytest.fixture(scope="module")
def printed(
    installed: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[subprocess.CompletedProcess[str]]]:
    """Fixtures, and what the Python of the tests prints about them."""
    fixtures = tmp_path_factory.mktemp("compared") / "fixtures"
    for name in ("articles", "everywhere", "TFM202", "TFM301", "TFM403"):
        shutil.copytree(ROOT / "fixtures" / name, fixtures / name)
    return fixtures, [_run(installed, fixtures, "tfmemlint", *words, ".") for words in COMPARED]


@pytest.mark.slow
@pytest.mark.parametrize("age", ["oldest", "newest"])
def test_every_python_finds_and_writes_the_same(
    wheel: Path, printed: tuple[Path, list[subprocess.CompletedProcess[str]]], tmp_path: Path, age: str
) -> None:
    others = _other_pythons()
    if age not in others or (age == "newest" and others["newest"] == others["oldest"]):
        pytest.skip(f"there is no {age} other Python on this machine, or it is the same as the other one")
    fixtures, expected = printed
    other = _installed(wheel, tmp_path / "venv", others[age])
    for words, ours in zip(COMPARED, expected, strict=True):
        theirs = _run(other, fixtures, "tfmemlint", *words, ".")
        assert (theirs.returncode, theirs.stderr) == (ours.returncode, ours.stderr)
        assert theirs.stdout.splitlines() == ours.stdout.splitlines()
        assert len(ours.stdout) > 10_000
