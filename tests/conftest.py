"""What all tests share: what the machine lacks is skipped with a sentence, and the user's cache is left alone."""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import os
import socket
from collections.abc import Iterator
from typing import NoReturn

import pytest

from tests import fixture_files, longest_files, program_files
from tfmemlint.engine import cache
from tfmemlint.reporters import language

GROUNDS = frozenset({"edge", "driver", "gpu", "ground"})
"""The pytest fixtures that run TensorFlow: whatever test uses one needs it."""
ALONE = frozenset({"verify", "fit", "doctor", "truth"})
"""The folders of tests of what runs programs of the user's: what these do is theirs."""
NO_TENSORFLOW = "needs TensorFlow, which is not installed here: python -m pip install tensorflow"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let one rule be tested alone."""
    parser.addoption("--rule", metavar="CODE", default="", help="use the fixtures of this rule only, such as TFM305")
    parser.addoption(
        "--all-programs", action="store_true", help="use all programs of --rule, and all random programs, not a sample"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Before the test modules ask for the fixtures, say which are wanted; forget what a CI sets for the tool."""
    for name in [name for name in os.environ if name == "GITHUB_ACTIONS" or name.startswith("TFMEMLINT_")]:
        del os.environ[name]
    code = config.getoption("--rule")
    if code:
        from tfmemlint.rulekit.rule import codes

        if code not in codes():
            raise pytest.UsageError(f"--rule: there is no rule {code!r}")
    fixture_files.choose_rule(code, everything=config.getoption("--all-programs"))
    if config.pluginmanager.hasplugin("hypothesispytest"):
        from hypothesis import HealthCheck, settings

        # Both are about the clock on the wall, which goes on while a busy machine does something else.
        settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
        settings.load_profile("any-machine")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Of several processes that all load all test files, let each begin with others of them.

    pytest rewrites the assertions of a file that it has not seen yet, which takes seconds for all of them, and keeps
    what comes of it. Each process then finds most files rewritten by another one.
    """
    about = getattr(session.config, "workerinput", None)
    if about is None or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    count, own = about["workercount"], int(about["workerid"].removeprefix("gw"))
    for path in sorted((fixture_files.ROOT / "tests").rglob("test_*.py"))[own::count]:
        # What is wrong with it, or skips it, is said when it is collected.
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(fixture_files.ROOT).with_suffix("").parts))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the longest files first. Mark what runs TensorFlow, and skip it where there is none; leave out what is not
    about the chosen rule."""
    if config.getoption("--rule"):
        # A test without parameters is about all fixtures, and one without values for them about none.
        items[:] = [item for item in items if "[" in item.name and "[NOTSET" not in item.name]
    items.sort(key=lambda item: longest_files.place(item.path))
    there = importlib.util.find_spec("tensorflow") is not None
    for item in items:
        if not GROUNDS.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.tensorflow)
        if not there and item.get_closest_marker("tensorflow") is not None:
            item.add_marker(pytest.mark.skip(reason=NO_TENSORFLOW))


def pytest_collection_finish() -> None:
    """Take the tests themselves for no garbage: to look through all of them, again and again, takes long."""
    gc.freeze()


@pytest.fixture(autouse=True)
def no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forbid to connect to anything in the tests of what must never do so: all but those that run TensorFlow."""
    if request.node.get_closest_marker("tensorflow") is not None or ALONE & set(request.node.path.parts):
        return

    def refuse(self: socket.socket, address: object) -> NoReturn:
        raise AssertionError(f"a connection to {address!r} was tried")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were skipped for want of TensorFlow, or of a GPU, and which programs a single rule lacks."""
    code = terminalreporter.config.getoption("--rule")
    left_out, programs = program_files.programs_left_out()
    if left_out:
        terminalreporter.write_line(
            f"left out: {left_out} of the {programs} programs in which {code} is expected; a sample was run, and what"
            f" is new or changed. All of them: python3 tools/run.py rule-test {code} --all"
        )
    skipped = [report for report in terminalreporter.stats.get("skipped", ()) if hasattr(report, "keywords")]
    reasons = [str(report.longrepr[2]) for report in skipped if isinstance(report.longrepr, tuple)]
    without = sum(reason.endswith(NO_TENSORFLOW) for reason in reasons)
    if without:
        terminalreporter.write_line(f"{without} tests were skipped: each {NO_TENSORFLOW}")
    needing = [
        str(report.longrepr[2])
        for report in skipped
        if "gpu" in report.keywords and isinstance(report.longrepr, tuple) and NO_TENSORFLOW not in report.longrepr[2]
    ]
    if needing:
        terminalreporter.write_line(f"{len(needing)} tests need a real GPU and were skipped: {needing[0]}")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what the command line remembers from one run to the next out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(cache.VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _common_runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let the processes of this run of the tests share the runs of the fixtures."""
    if hasattr(request.config, "workerinput"):
        from tests.fixture_runs import share_runs

        # Each process has a folder of its own, below that of the run.
        common = tmp_path_factory.getbasetemp().parent / "fixture-runs"
        common.mkdir(exist_ok=True)
        share_runs(common)


@pytest.fixture(autouse=True)
def _english_afterwards() -> Iterator[None]:
    """Let no test leave the language that it has chosen to the next one in the same process."""
    yield
    language.choose("")
