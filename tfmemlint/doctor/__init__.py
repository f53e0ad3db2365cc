"""What this machine has for TensorFlow and GPU memory, how fixes can be verified on it, and what is missing.

`examine` puts it all together; `machine.read` (the cards, by NVML) and `tensorflow.probe` (what an interpreter's
TensorFlow is and sees) can be used on their own. TensorFlow is imported in a child process only.
"""

from __future__ import annotations

from tfmemlint.doctor.diagnosis import Examination, examine
from tfmemlint.doctor.nvml_query import Card, Machine, MigSlice, Process
from tfmemlint.doctor.tensorflow import Gpu, Interpreter, InterpreterError, Library, TensorFlow, probe
from tfmemlint.doctor.trouble import Trouble

__all__ = [
    "Card",
    "Examination",
    "Gpu",
    "Interpreter",
    "InterpreterError",
    "Library",
    "Machine",
    "MigSlice",
    "Process",
    "TensorFlow",
    "Trouble",
    "examine",
    "probe",
]
