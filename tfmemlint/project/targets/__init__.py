"""The TensorFlow release that a file is for, by its project's own files."""
