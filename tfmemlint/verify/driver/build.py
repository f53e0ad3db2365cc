"""Build the stand-ins with the platform's C compiler, once for each kind of TensorFlow release."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_SOURCES = _HERE / "src"
_SYMBOLS = _HERE / "symbols"
_COMPILE_SECONDS = 300
TOOLKIT = "toolkit"
"""The folder beside the libraries that stands for the CUDA toolkit."""
_LIBDEVICE = "; The functions of CUDA's mathematics, none of which is run.\n"
"""A module without functions in LLVM's language, which LLVM reads like a compiled one. What is missing stays a call."""
PROGRAMS = ("ptxas", "nvlink")
"""The programs of the toolkit that XLA starts."""


class DriverError(RuntimeError):
    """The simulated driver can't be built or used here; the message says why."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """The sources of a stand-in, and its answer to a function that isn't simulated."""

    sources: tuple[str, ...]
    refusal: int


_CUDA = (
    *("log", "machine", "ledger", "context", "device", "memory", "copy", "pool", "mapping", "stream", "module"),
    *("kernels", "kernels_elementwise"),
)
# The error code by which each library says that it doesn't support a request.
LIBRARIES: Mapping[str, StandIn] = {
    "cuda": StandIn(_CUDA, 801),
    "cudart": StandIn(("cudart", "cudart_kernels", "properties"), 801),
    "nvml": StandIn(("nvml",), 3),
    "nccl": StandIn(("nccl",), 5),
    "cublas": StandIn(("cublas",), 15),
    "cublasLt": StandIn(("cublaslt",), 15),
    "cudnn": StandIn(("cudnn", "cudnn_tensors", "cudnn_rnn"), 9),
    "cufft": StandIn(("cufft",), 16),
    "curand": StandIn(("curand",), 999),
    "cusolver": StandIn(("cusolver",), 9),
    "cusparse": StandIn(("cusparse",), 10),
}


@dataclass(frozen=True, slots=True)
class Variant:
    """The names and versions of the libraries that a TensorFlow release opens."""

    names: Mapping[str, str]
    defines: Mapping[str, int]


_SAME = {"cuda": "libcuda.so.1", "nvml": "libnvidia-ml.so.1", "nccl": "libnccl.so.2", "curand": "libcurand.so.10"}
_NAMES_11 = _SAME | {
    "cudart": "libcudart.so.11.0",
    "cublas": "libcublas.so.11",
    "cublasLt": "libcublasLt.so.11",
    "cudnn": "libcudnn.so.8",
    "cufft": "libcufft.so.10",
    "cusolver": "libcusolver.so.11",
    "cusparse": "libcusparse.so.11",
}
_NAMES_12 = _SAME | {
    "cudart": "libcudart.so.12",
    "cublas": "libcublas.so.12",
    "cublasLt": "libcublasLt.so.12",
    "cudnn": "libcudnn.so.8",
    "cufft": "libcufft.so.11",
    "cusolver": "libcusolver.so.11",
    "cusparse": "libcusparse.so.12",
}
_CUDA_11 = Variant(
    _NAMES_11,
    {"CUDART_VERSION": 11080, "CUBLAS_VERSION": 110800, "CUFFT_VERSION": 10900, "CUDNN_VERSION": 8700},
)
_CUDA_12 = Variant(
    _NAMES_12,
    {"CUDART_VERSION": 12030, "CUBLAS_VERSION": 120300, "CUFFT_VERSION": 11000, "CUDNN_VERSION": 8907},
)
_CUDA_12_CUDNN_9 = Variant(
    _NAMES_12 | {"cudnn": "libcudnn.so.9"},
    {"CUDART_VERSION": 12050, "CUBLAS_VERSION": 120500, "CUFFT_VERSION": 11200, "CUDNN_VERSION": 90300},
)
# The minor releases that were run on the stand-ins.
VARIANTS: Mapping[tuple[int, int], Variant] = {
    (2, 12): _CUDA_11,
    (2, 13): _CUDA_11,
    (2, 14): _CUDA_11,
    (2, 15): _CUDA_12,
    (2, 16): _CUDA_12,
    (2, 17): _CUDA_12,
    (2, 18): _CUDA_12_CUDNN_9,
    (2, 19): _CUDA_12_CUDNN_9,
    (2, 20): _CUDA_12_CUDNN_9,
    (2, 21): _CUDA_12_CUDNN_9,
}


def minor_of(tensorflow: str) -> tuple[int, int] | None:
    """Return the release ``2.21.0`` as ``(2, 21)``; None if the text isn't a version."""
    parts = tensorflow.split(".")
    if len(parts) < 2 or not (parts[0].isdigit() and parts[1].isdigit()):
        return None
    return int(parts[0]), int(parts[1])


def variant_of(tensorflow: str) -> Variant:
    """Return the libraries that a TensorFlow release such as ``2.21.0`` opens.

    Raises:
        DriverError: the release isn't known to work.
    """
    minor = minor_of(tensorflow)
    if minor is None or minor not in VARIANTS:
        first, last = min(VARIANTS), max(VARIANTS)
        raise DriverError(
            f"the simulated driver is known to work with TensorFlow {first[0]}.{first[1]} to {last[0]}.{last[1]}, "
            f"not with {tensorflow}"
        )
    return VARIANTS[minor]


def compiler() -> list[str] | None:
    """Return the command that compiles C: ``$CC``, or the first of ``cc``, ``gcc`` and ``clang``; None if there is
    none.
    """
    chosen = shlex.split(os.environ.get("CC", ""))
    if chosen and shutil.which(chosen[0]):
        return chosen
    return next(([name] for name in ("cc", "gcc", "clang") if shutil.which(name)), None)


def cache_folder() -> Path:
    """Return the folder of the built libraries: ``$TFMEMLINT_CACHE_DIR``, or ``tfmemlint`` in the user's cache
    folder.
    """
    own = os.environ.get("TFMEMLINT_CACHE_DIR")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tfmemlint"


def libraries(tensorflow: str) -> Path:
    """Return the folder with the stand-ins for a release such as ``2.21.0``. They are built if they don't exist yet.

    Raises:
        DriverError: the release isn't known, there is no compiler, or compiling failed.
    """
    variant = variant_of(tensorflow)
    command = compiler()
    folder = cache_folder() / "driver" / _key(variant)
    if folder.is_dir():
        return folder
    if command is None:
        raise DriverError(NO_COMPILER)
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    try:
        for name in LIBRARIES:  # libcuda first: the others are linked to it
            _compile(command, name, variant, building)
        _make_toolkit(command, variant, building / TOOLKIT)
        building.chmod(0o755)
        # Renaming fails where another process was faster; its folder holds the same.
        with contextlib.suppress(OSError):
            building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    if not folder.is_dir():
        raise DriverError(f"the simulated driver can't be put into {folder.parent}")
    return folder


NO_COMPILER = (
    "the simulated driver needs a C compiler to be built, and none was found (cc, gcc, clang, or the one in CC); "
    "on Debian and Ubuntu `apt-get install gcc libc6-dev` installs one, on Fedora `dnf install gcc`"
)


def stubs(name: str) -> str:
    """Return C code for the functions of one library that TensorFlow calls. It is weak, so that written code
    replaces it.
    """
    lines = ['#include "sim.h"']
    for symbol in (_SYMBOLS / f"{name}.txt").read_text(encoding="ascii").split():
        lines.append(
            f"API __attribute__((weak)) int {symbol}(void) "
            f'{{ static int said; return sim_unsimulated("{symbol}", &said, {LIBRARIES[name].refusal}); }}'
        )
    return "\n".join(lines) + "\n"


def _compile(command: list[str], name: str, variant: Variant, folder: Path) -> None:
    generated = folder / f"{name}_stubs.c"
    generated.write_text(stubs(name), encoding="ascii")
    soname = variant.names[name]
    flags = ["-std=gnu11", "-O1", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden", "-w", f"-I{_SOURCES}"]
    # Never unloaded: TensorFlow closes libraries while threads may still be inside them.
    flags += [f"-Wl,-soname,{soname}", "-Wl,-z,nodelete"]
    flags += [f"-D{macro}={value}" for macro, value in variant.defines.items()]
    inputs = [str(_SOURCES / f"{source}.c") for source in LIBRARIES[name].sources]
    if name == "cuda":
        inputs += [str(generated), "-ldl"]
    else:
        inputs += [str(generated), f"-L{folder}", f"-l:{variant.names['cuda']}", "-Wl,-rpath,$ORIGIN"]
    try:
        _call([*command, *flags, "-o", str(folder / soname), *inputs])
    finally:
        generated.unlink()


def _make_toolkit(command: list[str], variant: Variant, folder: Path) -> None:
    programs = folder / "bin"
    programs.mkdir(parents=True)
    first, *others = (programs / name for name in PROGRAMS)
    flags = ["-std=gnu11", "-O1", "-w", f"-DCUDART_VERSION={variant.defines['CUDART_VERSION']}"]
    _call([*command, *flags, "-o", str(first), str(_SOURCES / "toolkit.c")])
    for other in others:
        shutil.copy2(first, other)
    library = folder / "nvvm" / "libdevice" / "libdevice.10.bc"
    library.parent.mkdir(parents=True)
    library.write_text(_LIBDEVICE, encoding="ascii")


def _call(line: list[str]) -> None:
    """Call the compiler.

    Raises:
        DriverError: it failed.
    """
    try:
        # A compiler that is killed leaves its own files: in a folder that goes.
        with tempfile.TemporaryDirectory(prefix="tfmemlint-", ignore_cleanup_errors=True) as scratch:
            env = {**os.environ, "TMPDIR": scratch}
            done = subprocess.run(line, capture_output=True, text=True, timeout=_COMPILE_SECONDS, check=False, env=env)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DriverError(f"the simulated driver can't be built: {error}") from error
    if done.returncode:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-20:])
        raise DriverError(f"the simulated driver can't be built; `{shlex.join(line[:1])}` says:\n{said}")


def _key(variant: Variant) -> str:
    """Return a key of everything that the result depends on, except the compiler."""
    digest = hashlib.sha256(platform.machine().encode())
    digest.update(repr((sorted(variant.names.items()), sorted(variant.defines.items()))).encode())
    for path in _inputs():
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


def _inputs() -> Iterator[Path]:
    yield Path(__file__)
    yield from sorted(_SOURCES.glob("*.[ch]"))
    yield from sorted(_SYMBOLS.glob("*.txt"))
