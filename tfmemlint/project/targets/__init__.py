"""Which TensorFlow release a file is for, as its project's own files say."""
