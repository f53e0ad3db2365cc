"""Have all repositories of an estate checked: one after the other, or as tasks on Dask distributed.

Whoever started the run writes each record as it comes, whole or not at all, so that a run that was cut off goes on
where it was. A task may be done twice, where a worker died with a result that nobody had seen; its record is written
once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tfmemlint import __version__
from tfmemlint.estate.limits import judge_of_thread
from tfmemlint.estate.listing import Repository

MISSING = "needs more packages: pip install 'tfmemlint[estate]'"
ALLOWED_DEATHS = 10
"""Workers that may die with one task before Dask gives it up: it cannot tell the task at fault from others."""
Record = dict[str, Any]


class EstateError(Exception):
    """The run can't start; the text is a message."""


@dataclass(frozen=True, slots=True)
class Request:
    """The options and limits of each repository.

    Attributes:
        options: fields of `tfmemlint.api.request.Options`.
        seconds: the time limit of one repository, that of cloning it besides.
        mib: its limit of resident memory in MiB.
        retries: how often a repository is tried again whose process died.
    """

    options: Record = field(default_factory=dict)
    seconds: float = 600.0
    mib: float = 4096.0
    retries: int = 3


def judge_repository(name: str, source: str, request: Record) -> Record:
    """Return the record of one repository; runs on a worker.

    Args:
        name: its name. source: its path or URL. request: the fields of a `Request`.
    """
    from tfmemlint.estate.clone import clone
    from tfmemlint.history.objects import HistoryError
    from tfmemlint.history.scratch import scratch_folder

    judge, options = judge_of_thread(), request["options"]
    with scratch_folder("estate") as directory:
        place, commit = source, ""
        if Repository(name, source).is_url:
            try:
                place, commit = clone(source, name, directory, request["seconds"])
            except (HistoryError, OSError) as error:
                return {"name": name, "source": source, "outcome": "not cloned", "problem": str(error)}
        for _ in range(1 + request["retries"]):
            record = judge(place, options, request["seconds"], request["mib"])
            if record["outcome"] != "died":
                break
    return {"name": name, "source": source, **record, **({"commit": commit} if commit else {})}


class State:
    """The records of a run on disk.

    Attributes:
        out: the directory of the run.
        resumed: the number of records that an earlier start of this run has left.
    """

    def __init__(self, out: str, repositories: Sequence[Repository], request: Request, *, restart: bool) -> None:
        """Begin a run, or go on with one that was cut off.

        Raises:
            EstateError: the directory can't be written.
        """
        self.out = Path(out)
        self._folder = self.out / "state"
        about = [__version__, [asdict(repository) for repository in repositories], asdict(request)]
        digest = hashlib.blake2b(json.dumps(about).encode(), digest_size=16).hexdigest()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            known = _json(self._folder / "run.json") or {}
            if restart or known.get("digest") != digest or known.get("done"):
                self._begin(digest)
        except OSError as error:
            raise EstateError(f"{out}: {error.strerror or error}") from None
        self._keys = {repository.name: repository.key for repository in repositories}
        self.resumed = len(self.records())

    def _begin(self, digest: str) -> None:
        shutil.rmtree(self._folder / "records", ignore_errors=True)
        (self._folder / "records").mkdir()
        table = self.out / "findings.parquet"
        if table.is_file():
            write_whole(self._folder / "last.parquet", table.read_bytes())
        self._write("run.json", {"digest": digest, "done": False})

    def records(self) -> dict[str, Record]:
        """Return the records that there are, by the names of repositories."""
        found = {name: _json(self._folder / "records" / f"{key}.json") for name, key in self._keys.items()}
        return {name: record for name, record in found.items() if record is not None}

    def add(self, record: Record) -> None:
        """Write a record."""
        self._write(f"records/{self._keys[record['name']]}.json", record)

    def end(self) -> None:
        """Remember that all is done: the next start is a new run."""
        self._write("run.json", {**(_json(self._folder / "run.json") or {}), "done": True})

    @property
    def last(self) -> Path:
        """The table of the last run, which need not be there."""
        return self._folder / "last.parquet"

    def _write(self, name: str, data: Record) -> None:
        write_whole(self._folder / name, json.dumps(data).encode())


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(data)
    beside.replace(path)


def _json(path: Path) -> Record | None:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def run_serial(repositories: Sequence[Repository], request: Request) -> Iterator[Record]:
    """Yield the record of each repository, one after the other."""
    try:
        for repository in repositories:
            yield judge_repository(repository.name, repository.source, asdict(request))
    finally:
        judge_of_thread().close()


@contextlib.contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    """Enter with a client of a cluster on this machine.

    Raises:
        EstateError: Dask distributed is not installed.
    """
    import logging

    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise EstateError(MISSING) from None
    settings = {
        "distributed.scheduler.allowed-failures": ALLOWED_DEATHS,
        "distributed.scheduler.work-stealing": True,
    }
    # No page of Dask's, and no file: what is to be said is said here. The memory of a repository is limited, not that
    # of a worker, which does nothing but wait.
    with (
        tempfile.TemporaryDirectory(prefix="tfmemlint-dask-") as scratch,
        dask.config.set(settings),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit=0,
            silence_logs=logging.CRITICAL,
            local_directory=scratch,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextlib.contextmanager
def remote_cluster(address: str) -> Iterator[Any]:
    """Enter with a client of a scheduler.

    Raises:
        EstateError: Dask distributed is not installed, or there is no scheduler.
    """
    try:
        from distributed import Client
    except ImportError:
        raise EstateError(MISSING) from None
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise EstateError(f"--scheduler {address}: {error or 'does not answer'}") from None
    with client:
        yield client


def run_tasks(repositories: Sequence[Repository], request: Request, client: Any) -> Iterator[Record]:
    """Yield the record of each repository as it comes, whatever becomes of the workers."""
    from distributed import as_completed

    fields = asdict(request)

    def submit(repository: Repository, attempt: int) -> Any:
        key = f"tfmemlint-{repository.key}-{attempt}"
        return client.submit(judge_repository, repository.name, repository.source, fields, key=key, pure=False)

    running = {submit(repository, 0): (repository, 0) for repository in repositories}
    waiting = as_completed(list(running))
    for future in waiting:
        repository, attempt = running.pop(future)
        error = future.exception() if future.status != "finished" else None
        if future.status == "finished":
            yield future.result()
        elif attempt < request.retries:
            again = submit(repository, attempt + 1)
            running[again] = (repository, attempt + 1)
            waiting.add(again)
        else:
            words = f"given up after {attempt + 1} attempts: {type(error).__name__}"
            yield {"name": repository.name, "source": repository.source, "outcome": "died", "problem": words}
