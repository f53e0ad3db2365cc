"""The questions about single files whose answers infer a release, as `tfmemlint.project.name_answers` keeps them."""

NAMES = "names"
"""The names of TensorFlow in a file that some releases lack."""
MASKS = "masks"
"""The releases that a file may tell apart, read off its text."""
STORED = "stored"
"""The names that a file puts into TensorFlow."""
