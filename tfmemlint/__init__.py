"""tfmemlint: what TensorFlow will really do with GPU memory, found before a GPU is touched."""

__version__ = "0.1.0"
