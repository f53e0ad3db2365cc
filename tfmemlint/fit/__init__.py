"""Measure how much GPU memory a training script needs, with TensorFlow's own allocator on a simulated driver.

``command`` is the command line, ``measure`` runs the script, ``observation`` reads the result of a run, ``report``
prints it; ``child`` runs in the process that holds TensorFlow.
"""
