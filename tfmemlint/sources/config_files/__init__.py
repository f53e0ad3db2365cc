"""Readers of the formats of configuration files: shell scripts, Dockerfiles, YAML.

A reader takes a text and returns its structure with the place of each part; it never runs anything, survives any text,
and knows nothing about TensorFlow or GPUs. `tfmemlint.deployment` builds on these readers to say what a file sets and
launches, `tfmemlint.project.targets` to say which packages it installs.
"""
