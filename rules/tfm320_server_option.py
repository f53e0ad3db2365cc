"""TFM320: an option of TensorFlow Serving or Triton that does not do what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import OptionGiven
from tfmemlint.knowledge.servers import BACKEND_FRACTION, FRACTION, SERVING, BadOption, backend_setting, judge_option
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program


class ServerOption(Rule):
    """An option of TensorFlow Serving or Triton does not limit the memory as it says.

    What it does
    ------------
    Finds options about GPU memory in the commands of Dockerfiles, shell scripts, compose files and Kubernetes
    manifests that start ``tensorflow_model_server`` or ``tritonserver``: names that the servers do not have, keys that
    Triton's TensorFlow backend does not look up, fractions that are percentages or amounts, and values that
    cannot be parsed.

    Why it matters
    --------------
    TensorFlow Serving prints a line about an unknown argument and starts: it takes all the memory of every GPU. Triton
    ignores an unknown key of a backend in silence. A fraction above 1 asks for unified memory of that many times the
    GPU's size. A number with anything behind it ends TensorFlow Serving with its usage. The functions of ``tf.config``
    are of no use here: neither server runs Python. ``TF_FORCE_GPU_ALLOW_GROWTH=true`` acts in both.

    Example
    -------
    ```dockerfile
    FROM tensorflow/serving:latest-gpu
    CMD ["--model_name=net", "--per_process_gpu_memory_fraction=50"]
    ```

    Use instead
    -----------
    ```dockerfile
    FROM tensorflow/serving:latest-gpu
    CMD ["--model_name=net", "--per_process_gpu_memory_fraction=0.5"]
    ```

    Seen as
    -------
    ``unknown argument: --gpu_memory_fraction=0.5``
    """

    code = "TFM320"
    name = "server-option"
    severity = Severity.ERROR
    triggers = ("tensorflow_model_server", "tensorflow/serving", "tritonserver", "tf_serving_entrypoint")
    fixable = "never"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each option about memory that does not do what it says."""
        for option in program.of(OptionGiven):
            bad = judge_option(option.server, option.name, option.value, apart=option.apart)
            if bad is None:
                continue
            yield self.finding(
                program,
                option,
                _message(option, bad),
                intent=Intent(bad.purpose, "every GPU", text=option.value or ""),
                outcome=_outcome(option, bad),
                advice=_advice(option, bad),
            )


def _message(option: OptionGiven, bad: BadOption) -> str:
    name, value = _name_and_value(option)
    match bad.kind:
        case "name":
            return f"{option.server} has no option --{name}"
        case "key":
            return f"Triton's TensorFlow backend looks up no key {name}"
        case "apart":
            return f"TensorFlow Serving takes --{name}=VALUE as one argument: this one has no value"
        case "number":
            return f"{name} is a number between 0 and 1: {value!r} cannot be parsed"
        case "percent":
            return f"{name} is a number between 0 and 1: {value} is not read as a percentage"
        case _:
            return f"{name} is a number between 0 and 1, not an amount: {value}"


def _outcome(option: OptionGiven, bad: BadOption) -> str:
    match bad.kind:
        case "name" | "apart" if option.server == SERVING:
            return "The server prints that the argument is unknown, starts, and takes nearly all of the memory"
        case "key":
            return "Nothing is said, and the option has no effect"
        case "number" if option.server != SERVING:
            return "The backend is not loaded"
        case "name" | "number":
            return "The server prints its usage and exits"
        case _:
            return "TensorFlow asks for unified memory of that many times the size of the GPU's; nothing is raised"


def _advice(option: OptionGiven, bad: BadOption) -> str:
    if bad.purpose is Purpose.GROWTH:
        return "Set TF_FORCE_GPU_ALLOW_GROWTH to 'true' in the server's environment"
    if bad.meant:
        return f"Write {bad.meant}"
    if option.server == SERVING:
        return f"Give the share of the GPU's memory: --{FRACTION}=0.5"
    return f"Give the share of the GPU's memory: --backend-config=tensorflow,{BACKEND_FRACTION}=0.5"


def _name_and_value(option: OptionGiven) -> tuple[str, str]:
    """Return what an option sets, and the value."""
    setting = backend_setting(option.name, option.value) if option.server != SERVING else None
    return setting if setting is not None else (option.name, option.value or "")
