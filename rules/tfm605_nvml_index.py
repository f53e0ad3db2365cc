"""TFM605: NVML is asked for a GPU by a number that TensorFlow uses for another GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Const, Value
from tfmemlint.knowledge.device_names import logical_gpu
from tfmemlint.knowledge.functions import MEMORY_REPORTS
from tfmemlint.knowledge.variables import VISIBLE, shown
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.env_writes import write_of
from tfmemlint.rulekit.explain import in_line
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_HANDLE = re.compile(r"(?:pynvml|nvidia_smi|py3nvml(?:\.py3nvml)?)\.nvmlDeviceGetHandleByIndex(?:_v2)?")


class NvmlIndex(Rule):
    """NVML is asked for a GPU by a number that TensorFlow uses for another GPU.

    What it does
    ------------
    Finds ``nvmlDeviceGetHandleByIndex(0)`` in programs whose ``CUDA_VISIBLE_DEVICES`` hides the machine's GPU 0 from
    TensorFlow, or makes it another GPU than the one that the program compares it with.

    Why it matters
    --------------
    ``CUDA_VISIBLE_DEVICES`` renumbers the GPUs for CUDA, and so for TensorFlow: with ``"2"`` the machine's GPU 2 is
    ``GPU:0``. NVML (``pynvml``, ``nvidia-smi``) ignores that variable and always counts all GPUs of the machine, in the
    order of the PCI bus. The program reads the memory of a GPU that it does not use.

    Example
    -------
    ```python
    import os

    os.environ["CUDA_VISIBLE_DEVICES"] = "1"
    import pynvml
    import tensorflow as tf

    x = tf.zeros((2, 2))
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    print(pynvml.nvmlDeviceGetMemoryInfo(handle).used)
    ```

    Use instead
    -----------
    ```python
    import os

    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    os.environ["CUDA_VISIBLE_DEVICES"] = "1"
    import pynvml
    import tensorflow as tf

    x = tf.zeros((2, 2))
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(1)
    print(pynvml.nvmlDeviceGetMemoryInfo(handle).used)
    ```
    """

    code = "TFM605"
    name = "nvml-index"
    severity = Severity.WARNING
    triggers = ("nvmlDeviceGetHandle",)
    fixable = "sometimes"
    sees_launch_environment = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each NVML index that is TensorFlow's index of a GPU."""
        values = (call.value(0, "device") for call in program.calls(*MEMORY_REPORTS))
        asked = {logical_gpu(value.value) for value in values if isinstance(value, Const)}
        for call in program.calls():
            if not _HANDLE.fullmatch(call.name) or call.repeated or call.path != program.source.path:
                continue
            number = call.arg(0, "index")
            given: Value | None = call.state.env.get(VISIBLE)
            text = given.value if isinstance(given, Const) and isinstance(given.value, str) else None
            order = shown(text) if text is not None else None
            index = number.value.value if number is not None and isinstance(number.value, Const) else None
            if number is None or not order or type(index) is not int or index < 0:
                continue
            used = str(index) in order
            if index >= len(order) or order[index] == str(index) or (used and index not in asked):
                # The index is not TensorFlow's, is the same in both, or may be intended.
                continue
            write = write_of(program, VISIBLE, call.state)
            if write is None or write.how == "setdefault":
                continue
            yield self.finding(
                program,
                call,
                f"NVML's GPU {index} is not TensorFlow's GPU {index}: {VISIBLE}={text!r}, set "
                f"{in_line(write)}, makes NVML's GPU {order[index]} TensorFlow's GPU {index}",
                span=number.span,
                intent=Intent(Purpose.REPORT, f"GPU {index}", "current"),
                outcome=f"NVML reports on its GPU {index}, which "
                + ("is another of TensorFlow's GPUs" if used else "this program does not use"),
                advice=f"Write {order[index]}, and set CUDA_DEVICE_ORDER=PCI_BUS_ID so that both number the GPUs alike",
                details={"index": index, "meant": order[index]},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write NVML's index of the GPU."""
        from tfmemlint.fixes.rewrites import env_variables

        env_variables.renumber_nvml_gpu(editor, finding)
