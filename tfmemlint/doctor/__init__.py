"""Report what this machine has for TensorFlow and GPU memory, how fixes can be verified on it, and what is missing.

`diagnose` collects everything. `nvml_query.read` (the GPUs, by NVML) and `tensorflow.probe` (an interpreter's
TensorFlow and the GPUs that it lists) can be used on their own. TensorFlow is imported in a child process only.
"""

from __future__ import annotations

from tfmemlint.doctor.diagnosis import Diagnosis, diagnose
from tfmemlint.doctor.nvml_query import MigSlice, NvmlGpu, NvmlReport, Process
from tfmemlint.doctor.tensorflow import CudaLibrary, InterpreterError, ListedGpu, ProbedPython, TensorFlowBuild, probe
from tfmemlint.doctor.trouble import Trouble

__all__ = [
    "CudaLibrary",
    "Diagnosis",
    "InterpreterError",
    "ListedGpu",
    "MigSlice",
    "NvmlGpu",
    "NvmlReport",
    "ProbedPython",
    "Process",
    "TensorFlowBuild",
    "Trouble",
    "diagnose",
    "probe",
]
