"""Code that runs beside the script. It needs only Python's standard library and TensorFlow."""
