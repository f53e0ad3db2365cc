"""Programs for the tests of the verifier, and short ways to cut, run and judge them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfmemlint.intents import stated_intents
from tfmemlint.interpreter import analyze
from tfmemlint.interpreter.program import Program
from tfmemlint.knowledge.releases import Target
from tfmemlint.sources import Source
from tfmemlint.verify.ground import Ground
from tfmemlint.verify.judge import judge
from tfmemlint.verify.observation import Observation
from tfmemlint.verify.prove import Proof, RunOptions, prove
from tfmemlint.verify.result import Result
from tfmemlint.verify.slicing.slices import Slice, slice_program
from tfmemlint.verify.verdict import GroundFacts, Verdict

TF = "import tensorflow as tf\n"
GROW = """\
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""
GROWING = TF + GROW


def limited(size: object) -> str:
    """Lines that limit the first GPU."""
    return (
        'gpus = tf.config.list_physical_devices("GPU")\n'
        "tf.config.set_logical_device_configuration(\n"
        f"    gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit={size})]\n"
        ")\n"
    )


def indented(text: str) -> str:
    """``text`` one level further in."""
    return "".join(f"    {line}\n" for line in text.splitlines())


def program_of(text: str, path: str = "program.py") -> Program:
    """The analysed program."""
    return analyze(Source(path, text), Target.newest())


def sliced(text: str, path: str = "program.py", entry: str = "module", *, local: bool = True) -> Slice:
    """The slice of a program."""
    program = program_of(text, path)
    return slice_program(
        program, [intent for intent in stated_intents(program) if intent.entry == entry], entry, local=local
    )


def kept(text: str, path: str = "program.py", entry: str = "module") -> list[str]:
    """The lines of a program's slice that hold something."""
    return [line for line in sliced(text, path, entry).text.split("\n") if line.strip()]


def proved(ground: Ground, text: str, path: Path | str = "program.py", **conditions: Any) -> Proof:
    """The proof of a program; it stands in the file ``path``, where that is a path."""
    if isinstance(path, Path):
        path.write_text(text, encoding="utf-8", newline="")
    return prove(Source(str(path), text), ground, RunOptions(**{"timeout": 20.0, **conditions}), Target.newest())


def verdicts(ground: Ground, text: str, path: Path | str = "program.py", **conditions: Any) -> list[tuple[str, str]]:
    """What became of each intent of a program, and why."""
    found = proved(ground, text, path, **conditions).verdicts
    return [(one.kind.value, one.reason or one.configuration) for one in found]


@dataclass
class Ran:
    """A run that is made up: what a program did, without TensorFlow."""

    text: str
    ground: str = "edge"
    total_mib: tuple[float, ...] = (16384.0, 16384.0)
    overhead_mib: tuple[float, ...] = (300.0, 300.0)

    def judged(self, **result: Any) -> list[Verdict]:
        """The verdicts on the intents of the program, for a run with this result."""
        program = program_of(self.text)
        intents = stated_intents(program)
        given: dict[str, Any] = {"ok": True, "physical": 2, **result}
        given.setdefault("notes", [{"reached": intent.statement.row} for intent in intents])
        seen = Observation(Result(**given))
        facts = GroundFacts(self.ground, self.total_mib, self.overhead_mib)
        return [judge(intent, seen, facts, [other.span for other in intents]) for intent in intents]

    def only(self, **result: Any) -> Verdict:
        """The verdict on the one intent of the program."""
        (verdict,) = self.judged(**result)
        return verdict


def config(**settings: Any) -> dict[str, Any]:
    """A configuration in force on two GPUs, with nothing set but ``settings``."""
    plain: Mapping[str, Any] = {
        "allow_growth": None,
        "visible": [0, 1],
        "limits": [[], []],
        "per_process_gpu_memory_fraction": 0.0,
        "forced": False,
    }
    return {**plain, **settings}


def asked(function: str, line: int, *args: Any, error: str = "") -> dict[str, Any]:
    """A note of a call that the program made of TensorFlow."""
    return {"call": function, "lines": [line], "args": list(args), "value": None, "error": error}


def gpu(number: int) -> str:
    """A physical GPU's name."""
    return f"/physical_device:GPU:{number}"
