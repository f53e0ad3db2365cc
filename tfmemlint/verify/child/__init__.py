"""Code that runs in the processes that hold TensorFlow. It needs only Python's standard library and TensorFlow."""
