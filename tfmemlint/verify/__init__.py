"""Proof on the real TensorFlow: what a program asks of GPU memory, held against what TensorFlow does with it.

Reached from the command line alone. Nothing here imports TensorFlow, save in child processes (``child/``, ``edge/``).
"""
