"""The command ``tfmemlint fit``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tfmemlint.fit.gpu_models import GPU_MODELS, gpu_model
from tfmemlint.reporters.json_text import json_text
from tfmemlint.reporters.say import say
from tfmemlint.verify.shared_options import (
    add_options,
    folder,
    missing_for_pictures,
    print_report,
    progress,
    sandbox,
    seconds,
    size,
)

if TYPE_CHECKING:
    from tfmemlint.fit.runner import FitOptions

FAILED = 2
MAX_GPUS = 32
"""The simulated driver has no more."""
MIN_GPU_MEMORY_MIB = 512
"""Less than the memory that others use by default leaves next to nothing; a bound without a deeper reason."""
_ABOUT = """\
Runs a training script, or its first steps, on a simulated GPU with TensorFlow's own allocator. Reports how much GPU
memory it takes, whether that fits the GPU, and what the memory is for. No GPU is needed: the simulated one is in this
machine's memory, and takes only as much as is written to it. Kernels compute nothing, so computed values have no
meaning.
THIS RUNS THE SCRIPT, in this directory (as `python SCRIPT` would; see --cwd), so that it finds its data, and in a
sandbox as good as this machine allows (`tfmemlint doctor` lists it): without the network, your environment variables
and your credentials; what it writes is refused, or not kept. It runs twice if it does not fit, and more often with
--check-limit.
"""
_AFTER = """\
Arguments after -- are passed to the script. With --find-batch, {} in them is the batch size:
`tfmemlint fit train.py --gpu-memory T4 --find-batch -- --batch-size {}`. A training step is a call that takes
gradients: by Keras, by a tf.function or a loop of your own, or by a session of TensorFlow 1. Environment variables that
begin with TF_, KERAS_ or XLA_ are passed to the script. Exit code: 0 if it fits, 1 if it does not, 2 if that could not
be found out.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``fit`` to ``parser``."""
    parser.description, parser.epilog = _ABOUT, _AFTER
    add = parser.add_argument
    add("script", metavar="SCRIPT", nargs="?", help="the training script to run")
    add(
        "--gpu-memory",
        metavar="SIZE|NAME",
        default="16GiB",
        help=f"the memory of each GPU, or its name: {', '.join(model.name for model in GPU_MODELS)} (default: 16GiB)",
    )
    add("--gpus", type=int, metavar="N", default=1, help="the number of GPUs (default: 1)")
    add(
        "--in-use",
        metavar="SIZE",
        default="300MiB",
        help="memory of each GPU that TensorFlow can't take: of other processes, and of the CUDA context"
        " (default: 300MiB)",
    )
    add(
        "--steps",
        type=int,
        metavar="N",
        default=3,
        help="stop after N training steps; 0 runs the script to its end (default: 3)",
    )
    add(
        "--check-limit",
        action="store_true",
        help="search for the smallest memory limit that works, by running under it",
    )
    add(
        "--find-batch",
        action="store_true",
        help="search for the largest batch that fits, by running with it in place of {} in the script's arguments",
    )
    add(
        "--what-would-help",
        action="store_true",
        help="run it with mixed precision, with gradient checkpointing, and so on, and say what each saves",
    )
    add("--compare", nargs=2, metavar=("BEFORE", "AFTER"), help="compare two results in JSON; runs nothing")
    add(
        "--jit",
        choices=("on", "off"),
        default="on",
        help="off: XLA compiles nothing, even where the script or Keras asks for it; faster, with another peak"
        " (default: on)",
    )
    add("--html", metavar="FILE", help="write the result as a page with pictures, too (needs matplotlib)")
    add_options(parser, timeout=600, cwd="this one", json="what was found")
    add("-v", "--verbose", action="store_true", help="show the script's output, too")


def run(arguments: argparse.Namespace) -> int:
    """Run the script, and return the exit code."""
    if arguments.compare:
        return _compare(arguments)
    lacking = missing_for_pictures(arguments.html)
    if lacking:
        return _failed(lacking)
    if arguments.script is None:
        return _failed("name the script to run, or two results with --compare")
    from tfmemlint.fit.measure import measure, measure_largest
    from tfmemlint.fit.report import as_data, exit_code, show
    from tfmemlint.sources import Unreadable, decode, read_bytes
    from tfmemlint.verify.choose_ground import DriverGround
    from tfmemlint.verify.result import GroundError

    try:
        conditions = _conditions(arguments)
        script = Path(arguments.script).resolve()
        code = decode(str(script), read_bytes(str(script))).text
        compile(code, str(script), "exec", dont_inherit=True)
    except Unreadable as error:
        return _failed(f"{arguments.script}: {error}")
    except SyntaxError as error:
        return _failed(f"{arguments.script}: line {error.lineno or 1}: it can't be parsed: {error.msg}")
    except ValueError as error:
        return _failed(str(error))
    try:
        with progress() as tell:
            tell("starting TensorFlow")
            with DriverGround(arguments.python) as ground:
                measured = measure_largest if arguments.find_batch else measure
                found = measured(script, code, ground, conditions, tell)
    except GroundError as error:
        return _failed(f"{error}\n`tfmemlint doctor` says what this machine has, and what is missing")
    printed = print_report(
        arguments,
        lambda: json_text(as_data(arguments.script, found)) + "\n",
        lambda stream: show(arguments.script, found, stream, verbose=arguments.verbose),
    )
    if arguments.html:
        from tfmemlint.fit.pictures import as_page
        from tfmemlint.reporters.pictures.page import write

        problem = write(arguments.html, as_page(as_data(arguments.script, found)))
        if problem:
            return _failed(problem)
    return exit_code(found) if printed else FAILED


def _compare(arguments: argparse.Namespace) -> int:
    """Compare two results, and return the exit code."""
    from tfmemlint.fit.compare import compare, load, show

    if arguments.script is not None:
        return _failed("--compare: it runs nothing, so that a script has no place here")
    before, after = arguments.compare
    try:
        found = compare(load(before), load(after))
    except ValueError as error:
        return _failed(str(error))
    printed = print_report(
        arguments,
        lambda: json_text(found) + "\n",
        lambda stream: show((before, after), found, stream),
    )
    return 0 if printed else FAILED


def _conditions(arguments: argparse.Namespace) -> FitOptions:
    """Return the options of the run.

    Raises:
        ValueError: an option has an impossible value.
    """
    from tfmemlint.fit.find_batch import PLACEHOLDER
    from tfmemlint.fit.runner import FitOptions
    from tfmemlint.verify.sandbox_options import variables

    named = gpu_model(arguments.gpu_memory)
    memory = float(named.memory_mib) if named is not None else size("--gpu-memory", arguments.gpu_memory)
    in_use = size("--in-use", arguments.in_use, zero=True)
    if arguments.find_batch and not any(PLACEHOLDER in argument for argument in arguments.program_arguments):
        raise ValueError(f"--find-batch: put {PLACEHOLDER} for the batch size among the script's arguments, after --")
    if memory < MIN_GPU_MEMORY_MIB:
        raise ValueError(f"--gpu-memory: at least {MIN_GPU_MEMORY_MIB} MiB")
    if in_use >= memory:
        raise ValueError("--in-use: no memory of the GPU would be left")
    if not 1 <= arguments.gpus <= MAX_GPUS:
        raise ValueError(f"--gpus: from 1 to {MAX_GPUS}")
    if arguments.steps < 0:
        raise ValueError("--steps: 0 or more")
    return FitOptions(
        memory_mib=int(memory),
        gpus=arguments.gpus,
        in_use_mib=in_use,
        steps=arguments.steps,
        argv=tuple(arguments.program_arguments),
        timeout=seconds(arguments.timeout),
        host_mib=size("--host-memory", arguments.host_memory),
        cwd=folder(arguments.cwd),
        env=variables(arguments.env),
        sandbox=sandbox(arguments),
        check_limit=arguments.check_limit,
        jit=arguments.jit == "on",
        what_helps=arguments.what_would_help,
        gpu_model=named.name if named is not None else "",
    )


def _failed(message: str) -> int:
    say(message)
    return FAILED
