"""A simulated CUDA driver, on which TensorFlow's real GPU build runs its own allocator without a GPU.

Stand-ins for the libraries that TensorFlow opens at start are built from the C sources in ``src``, and found through
``LD_LIBRARY_PATH``. Memory is reserved address space of the process. Copies copy, kernels compute nothing. So the
amount of memory that is taken, its pieces and the refusals are TensorFlow's own; computed values have no meaning.
"""

from tfmemlint.verify.driver.build import DriverError, libraries
from tfmemlint.verify.driver.log import GpuUsage, Usage, read_log
from tfmemlint.verify.driver.setup import environment, missing, server_environment

__all__ = ["DriverError", "GpuUsage", "Usage", "environment", "libraries", "missing", "read_log", "server_environment"]
