"""The command ``estate``: check many repositories, and write tables, SARIF and a page about all of them."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tfmemlint.reporters.say import say

if TYPE_CHECKING:
    from tfmemlint.estate.listing import Repository
    from tfmemlint.estate.run import Record, Request, State

CLEAN, FOUND, FAILED = 0, 1, 2
_ABOUT = """\
Checks many repositories, each by itself with its own configuration, and writes to the folder of --out:

  index.html            which rules, which repositories, what is fixable, what has changed since the last run
  findings.parquet      a row for each finding
  repositories.parquet  a row for each repository
  estate.sarif          all findings

A run that is cut off goes on where it was when the same command is given again. No code of a repository is run.
"""
_EXAMPLES = """\
examples:
  tfmemlint estate clones --out report                    each folder in clones
  tfmemlint estate list.txt --out report --workers 4      a line each: a path, or with --clone a URL
  tfmemlint estate list.txt --out report --scheduler tcp://10.0.0.1:8786

Exit code: 0 if nothing is found, 1 if something is, 2 if a repository could not be checked.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``estate``."""
    parser.description, parser.epilog = _ABOUT, _EXAMPLES
    parser.add_argument("list", metavar="LIST", help="a file with a repository a line, or a folder of clones")
    add = parser.add_argument
    add("--out", metavar="DIR", required=True, help="the folder to write to")
    add("--clone", action="store_true", help="clone what the list names by a URL; nothing of it is checked out by git")
    add("--restart", action="store_true", help="begin anew, also where a run was cut off")
    add("--exit-zero", action="store_true", help="exit with 0 even where something is found")
    add("-q", "--quiet", action="store_true", help="print nothing but problems")
    add = parser.add_argument_group("rules").add_argument
    add("--select", metavar="CODES", help="run these rules only")
    add("--extend-select", metavar="CODES", default="", help="run these rules besides")
    add("--ignore", metavar="CODES", default="", help="do not run these rules")
    add("--target-version", metavar="X.Y", help="the TensorFlow release (default: the one that each project requires)")
    add("--gpu-memory", metavar="SIZE", help="the memory of one GPU, such as 16GiB")
    add("--isolated", action="store_true", help="read no configuration file of a repository")
    add = parser.add_argument_group("run").add_argument
    add(
        "--workers", metavar="N", type=int, help="workers of the cluster on this machine (default: one a core, up to 8)"
    )
    add("--serial", action="store_true", help="without a cluster: one repository after the other")
    add("--scheduler", metavar="ADDRESS", help="a scheduler of Dask; its workers need this tool, and the same paths")
    add("--timeout", metavar="SECONDS", type=float, default=600.0, help="time for a repository (default: 600)")
    add("--memory", metavar="MIB", type=float, default=4096.0, help="memory for a repository (default: 4096)")
    add("--retries", metavar="N", type=int, default=3, help="attempts after a process died (default: 3)")


def run(arguments: argparse.Namespace) -> int:
    """Check the estate; return the exit code."""
    from tfmemlint.estate.listing import ListError, repositories
    from tfmemlint.estate.run import MISSING, EstateError, Request, State

    try:
        import psutil  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError:
        say(f"estate {MISSING}")
        return FAILED
    options = {name: getattr(arguments, name) for name in ("select", "extend_select", "ignore", "isolated")}
    options |= {"target_version": arguments.target_version, "gpu_memory": arguments.gpu_memory}
    request = Request(options, arguments.timeout, arguments.memory, arguments.retries)
    try:
        if not hasattr(os, "fork"):
            raise EstateError("needs a system that can fork processes")
        listed = repositories(arguments.list)
        urls = [repository.source for repository in listed if repository.is_url]
        if urls and not arguments.clone:
            raise EstateError(f"{urls[0]}: is a URL, and nothing is cloned without --clone")
        _check_options(options)
        state = State(arguments.out, listed, request, restart=arguments.restart)
        if state.resumed and not arguments.quiet:
            say(f"{state.resumed} of {len(listed)} were checked before")
        _run(arguments, [repository for repository in listed if repository.name not in state.records()], request, state)
    except (ListError, EstateError) as error:
        say(f"estate: {error}")
        return FAILED
    return _finish(arguments, [state.records()[repository.name] for repository in listed], state)


def _check_options(options: Record) -> None:
    """Refuse options that can't be followed before any repository is looked at.

    Raises:
        EstateError: there is one.
    """
    from tfmemlint.api.request import ConfigError, Options
    from tfmemlint.config.files import Config
    from tfmemlint.estate.run import EstateError

    try:
        Options(**options).context(Config())
    except ConfigError as error:
        raise EstateError(str(error)) from None


def _run(arguments: argparse.Namespace, left: list[Repository], request: Request, state: State) -> None:
    done = state.resumed
    if not left:
        return
    with _records(arguments, left, request) as records:
        for record in records:
            state.add(record)
            done += 1
            if not arguments.quiet and (record["outcome"] != "checked" or done % 50 == 0):
                say(f"{done} of {done + len(left) - (done - state.resumed)}: {record['name']}: {record['outcome']}")


@contextlib.contextmanager
def _records(arguments: argparse.Namespace, left: list[Repository], request: Request) -> Iterator[Iterator[Record]]:
    from tfmemlint.estate import run as running

    if arguments.serial:
        yield running.run_serial(left, request)
        return
    workers = arguments.workers or min(os.cpu_count() or 1, 8)
    cluster = (
        running.remote_cluster(arguments.scheduler)
        if arguments.scheduler
        else running.local_cluster(max(1, min(workers, len(left))))
    )
    with cluster as client:
        yield running.run_tasks(left, request, client)


def _finish(arguments: argparse.Namespace, records: list[Record], state: State) -> int:
    """Write the outputs; return the exit code."""
    from tfmemlint.estate import output
    from tfmemlint.estate.page import page
    from tfmemlint.estate.run import write_whole

    findings, repositories = output.finding_rows(records), output.repository_rows(records)
    last = output.read_findings(state.last) if state.last.is_file() else None
    made = {
        "findings.parquet": output.parquet(findings, output.FINDINGS),
        "repositories.parquet": output.parquet(repositories, output.REPOSITORIES),
        "estate.sarif": output.sarif(records),
        "index.html": page(repositories, findings, last).encode("utf-8", "backslashreplace"),
    }
    try:
        for name, data in made.items():
            write_whole(Path(arguments.out, name), data)
        state.end()
    except OSError as error:
        say(f"estate: {arguments.out}: {error.strerror or error}")
        return FAILED
    failed = [record for record in records if record["outcome"] != "checked" or record.get("problem")]
    for record in failed:
        say(f"{record['name']}: {record['outcome']}: {record.get('problem', '')}")
    if not arguments.quiet:
        print(f"{len(findings)} findings in {len(records)} repositories: {Path(arguments.out, 'index.html')}")
    if failed:
        return FAILED
    return FOUND if findings and not arguments.exit_zero else CLEAN
