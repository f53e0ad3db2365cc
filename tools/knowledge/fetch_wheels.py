"""Fetch TensorFlow's wheels, and keep of each only the files that say which names are public, and what they take.

Usage: python tools/knowledge/fetch_wheels.py FOLDER [RELEASE ...]

A wheel has some 500 MB, of which 10 MB say what is public. Wheels are fetched one at a time by ``pip download``, what
is needed is unpacked into ``FOLDER/RELEASE``, and the wheel is deleted. A release that is in the folder already is not
fetched again. Nothing is installed, and nothing of the wheels is run.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

RELEASES = (*(f"1.{minor}" for minor in range(12, 16)), *(f"2.{minor}" for minor in range(22)))
"""Every minor release from 1.12 on."""

PYTHONS = ("312", "311", "310", "39", "38", "37", "36")
"""Versions of Python for which wheels are asked, until there is one."""
PLATFORMS = ("manylinux_2_27", "manylinux_2_17", "manylinux2014", "manylinux2010", "manylinux1")
PARTS = ("keras", "tensorflow-estimator", "tensorboard")
"""Packages that TensorFlow's own API consists of besides its wheel; which release of them its metadata says."""

_NEEDED = re.compile(
    r"(?:^|/)__init__\.py$|/_api/.*\.py$|\.dist-info/METADATA$|/python/(?:distribute|eager|framework)/[^/]*\.py$"
)
_MAX_FILE_BYTES = 4 * 2**20


def fetch(release: str, folder: Path) -> Path:
    """Return the files of a release that say what is public, with those of the packages that it is made of.

    Raises:
        LookupError: the registry has no wheel of that release for Linux.
    """
    place = folder / release
    if (place / "DONE").exists():
        return place
    got, python = "", ""
    for python in PYTHONS:
        got = _download(f"tensorflow=={release}.*", python, place)
        if got:
            break
    else:
        raise LookupError(f"there is no wheel of TensorFlow {release} for Linux")
    lines = [got]
    for needed in _parts(place):
        # The packages are the ones that pip would have brought along.
        lines += filter(None, [_download(str(needed), python, place)])
    (place / "DONE").write_text("\n".join(lines) + "\n")
    return place


def _download(wanted: str, python: str, place: Path) -> str:
    """Unpack the newest wheel that fits; its file name, or "" where there is none."""
    platforms = [word for platform in PLATFORMS for word in ("--platform", f"{platform}_x86_64")]
    with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        command += ["--python-version", python, "--implementation", "cp", *platforms, "--dest", scratch, wanted]
        done = subprocess.run(command, capture_output=True, text=True)
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode or not wheels:
            return ""
        with zipfile.ZipFile(wheels[0]) as wheel:
            for member in wheel.infolist():
                if _NEEDED.search(member.filename) and member.file_size <= _MAX_FILE_BYTES:
                    wheel.extract(member, place)
        return wheels[0].name


def _parts(place: Path) -> list[Requirement]:
    found = []
    for metadata in place.glob("tensorflow-*.dist-info/METADATA"):
        for line in metadata.read_text(encoding="utf-8", errors="replace").split("\n\n", 1)[0].splitlines():
            name, _, text = line.partition(": ")
            if name != "Requires-Dist":
                continue
            try:
                needed = Requirement(text)
            except InvalidRequirement:
                continue
            if needed.name in PARTS and (needed.marker is None or "extra" not in str(needed.marker)):
                needed.marker = None
                found.append(needed)
    return found


def main(folder: str, *releases: str) -> None:
    """Fetch the releases, or all."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for release in releases or RELEASES:
        try:
            place = fetch(release, Path(folder))
        except LookupError as error:
            print(error, flush=True)
            continue
        print(f"{release}: {', '.join((place / 'DONE').read_text().split())}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
