"""Explain why TensorFlow has no GPU here, and what would give it one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from tfmemlint.doctor.cuda_libraries import OF_THE_DRIVER
from tfmemlint.doctor.environment import hides_all
from tfmemlint.doctor.host import Host
from tfmemlint.doctor.nvml_query import NO_BINDING, NO_LIBRARY, NvmlReport
from tfmemlint.doctor.tensorflow import ProbedPython, TensorFlowBuild
from tfmemlint.doctor.trouble import Trouble

_PLATFORMS = {
    "win32": Trouble(
        "TensorFlow releases after 2.10 do not use GPUs on Windows", "use TensorFlow in WSL2, Linux under Windows"
    ),
    "darwin": Trouble("there is no CUDA on macOS", "use a Linux machine with an NVIDIA GPU"),
}
_FIRST_WITH_LIBRARIES = (2, 14)
"""The first release with the extra ``and-cuda``."""


def troubles(python: ProbedPython, machine: NvmlReport, around: Host, env: Mapping[str, str]) -> tuple[Trouble, ...]:
    """Return the problems that keep this TensorFlow from a GPU, those of the machine first. It must list no GPU.

    Args:
        python: the interpreter, and its TensorFlow. machine, around: the hardware and the driver.
        env: the environment in which TensorFlow listed its devices.
    """
    if python.platform in _PLATFORMS:
        return (_PLATFORMS[python.platform],)
    found = list(_of_machine(machine, around))
    tensorflow = python.tensorflow
    if python.trouble is not None:
        found.append(python.trouble)
    if tensorflow is None:
        return tuple(found)
    if not tensorflow.cuda_build:
        found.append(not_for_cuda(python, tensorflow))
        return tuple(found)
    found.extend(_of_libraries(python, tensorflow, driver=not found))
    found.extend(_of_versions(machine, tensorflow))
    if hides_all(env):
        shown = f"CUDA_VISIBLE_DEVICES={shlex.quote(env['CUDA_VISIBLE_DEVICES'])}"
        found.append(Trouble(f"{shown} hides every GPU", "unset it, or name the GPUs that TensorFlow may use"))
    return tuple(found) or (_unexplained(machine, tensorflow),)


def _unexplained(machine: NvmlReport, tensorflow: TensorFlowBuild) -> Trouble:
    """Return the problem if nothing seems to be missing: TensorFlow's own messages, if there are any, say most."""
    there = ["NVML lists a GPU"] * bool(machine.cards) + ["all libraries can be opened"] * bool(tensorflow.libraries)
    said = f": {'; '.join(tensorflow.said)}" if tensorflow.said else ""
    return Trouble(
        f"{', '.join([*there, 'but TensorFlow lists none'])}{said}" if there else f"TensorFlow lists no GPU{said}",
        "check that other CUDA programs run, and that this user may use /dev/nvidia*",
    )


def _of_machine(machine: NvmlReport, around: Host) -> Iterator[Trouble]:
    if machine.trouble is None:
        usable = [card for card in machine.cards if card.name or card.uuid or not card.problem]
        if not machine.cards:
            yield Trouble(
                "the NVIDIA driver runs but lists no GPU", _into_container(around) or "run on a machine with one"
            )
        elif not usable:
            yield Trouble(f"no GPU can be used: {machine.cards[0].problem}", "see `nvidia-smi` and `dmesg`")
        elif all(card.mig and not card.slices for card in usable):
            yield Trouble(
                "MIG is on but there is no MIG device, so CUDA sees no GPU",
                "make one (`nvidia-smi mig -cgi ... -C`), or switch MIG off",
            )
        return
    if machine.trouble not in (NO_LIBRARY, NO_BINDING):
        yield machine.trouble
    elif machine.trouble == NO_BINDING and around.nvidia_on_bus != 0:
        return  # it's tfmemlint that can't ask; TensorFlow doesn't need the binding
    elif around.container and around.nvidia_on_bus != 0:
        yield Trouble("this container sees no NVIDIA driver", _into_container(around))
    elif around.wsl:
        yield Trouble("WSL has no library of the NVIDIA driver", "install the NVIDIA driver on the Windows side")
    elif around.nvidia_on_bus:
        yield Trouble("there is an NVIDIA GPU, but no NVIDIA driver", "install the NVIDIA driver")
    elif around.nvidia_on_bus == 0:
        yield Trouble("there is no NVIDIA GPU in this machine", "run on a machine with one")
    else:
        yield Trouble("no NVIDIA driver is installed", "install it, or run on a machine with an NVIDIA GPU")


def _into_container(around: Host) -> str:
    """Return how to give a container the GPUs of its host, whose PCI bus it sees; "" if this is not that case."""
    if around.container and around.nvidia_on_bus != 0:
        return "start the container with its GPUs, as with `docker run --gpus all`"
    return ""


def not_for_cuda(python: ProbedPython, tensorflow: TensorFlowBuild, *, libraries: bool = True) -> Trouble:
    """Return the problem that this TensorFlow is not a CUDA build, and which one to install.

    Args:
        python: the interpreter. tensorflow: its TensorFlow.
        libraries: True to install the CUDA libraries as well.
    """
    if tensorflow.rocm_build:
        return Trouble("this TensorFlow is built for ROCm; tfmemlint supports CUDA only")
    named = f" ({tensorflow.distribution})" if tensorflow.distribution not in ("", "tensorflow") else ""
    what = f"TensorFlow {tensorflow.version}{named} is a CPU build"
    if python.machine != "x86_64":
        return Trouble(what, "use an x86-64 machine: the packages for others have no GPU code")
    pip = f"{python.command} -m pip"
    # Both packages put their files into the same folder: remove the one before installing the other.
    remove = f"{pip} uninstall {tensorflow.distribution} && " if tensorflow.distribution.endswith("-cpu") else ""
    name = "tensorflow" if tensorflow.release >= (2, 1) else "tensorflow-gpu"
    extra = "[and-cuda]" if libraries and tensorflow.release >= _FIRST_WITH_LIBRARIES else ""
    return Trouble(what, f"{remove}{pip} install '{name}{extra}=={tensorflow.version}'")


def _of_libraries(python: ProbedPython, tensorflow: TensorFlowBuild, *, driver: bool) -> Iterator[Trouble]:
    missing = [library for library in tensorflow.libraries if not library.opened]
    # Without a driver its libraries are missing, too; that has been reported.
    for library in missing:
        if driver and library.name in OF_THE_DRIVER:
            inside = "start the container with its GPUs, or " if library.name == "libcuda.so.1" else ""
            yield Trouble(
                f"{library.name} can't be opened: {library.problem}",
                f"{inside}install the complete NVIDIA driver, which contains it",
            )
    others = [library for library in missing if library.name not in OF_THE_DRIVER]
    if not others:
        return
    names = ", ".join(library.name for library in others)
    odd = next((library.problem for library in others if "No such file" not in library.problem), "")
    if tensorflow.and_cuda:
        do = f"{python.command} -m pip install '{tensorflow.distribution}[and-cuda]=={tensorflow.version}'"
    else:
        do = f"install CUDA {tensorflow.cuda} and cuDNN {tensorflow.cudnn}, and name their folders in LD_LIBRARY_PATH"
    yield Trouble(f"{names} can't be opened" + (f": {odd}" if odd else ""), do)


def _of_versions(machine: NvmlReport, tensorflow: TensorFlowBuild) -> Iterator[Trouble]:
    """Yield a problem if the driver is too old.

    A driver supports the CUDA that it is made for and older ones, and within one major version later ones, too.
    """
    has, needs = (text.split(".")[0] for text in (machine.cuda, tensorflow.cuda))
    if has.isdecimal() and needs.isdecimal() and int(has) < int(needs):
        yield Trouble(
            f"the NVIDIA driver {machine.driver} supports CUDA {machine.cuda} and older,"
            f" and TensorFlow {tensorflow.version} is built with CUDA {tensorflow.cuda}",
            f"update the NVIDIA driver to one for CUDA {needs}",
        )
