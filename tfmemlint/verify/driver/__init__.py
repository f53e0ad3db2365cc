"""A simulated CUDA driver, on which TensorFlow's real GPU build runs its own allocator without a GPU.

Stand-ins for the libraries that TensorFlow opens at start are built from the C sources in ``src``, and found by way of
``LD_LIBRARY_PATH``. Memory is reserved address space of the process; copies copy, kernels compute nothing. So how much
memory is taken, in which pieces, and what is refused, is TensorFlow's own doing; the numbers that come out are not.
"""

from tfmemlint.verify.driver.build import DriverError, libraries
from tfmemlint.verify.driver.log import GpuUsage, Usage, read_log
from tfmemlint.verify.driver.setup import environment, missing, server_environment

__all__ = ["DriverError", "GpuUsage", "Usage", "environment", "libraries", "missing", "read_log", "server_environment"]
