"""Prove intents on the real TensorFlow: compare what a program asks of GPU memory with what TensorFlow does.

Only the command line uses this package. It imports TensorFlow in child processes only (``child/``, ``edge/``).
"""
