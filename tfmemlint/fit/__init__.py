"""How much GPU memory a training script needs, by TensorFlow's own allocator on a simulated driver.

``command`` is the command line, ``measure`` runs the script, ``seen`` reads what comes back, ``report`` says what it
amounts to; ``child`` is what runs in the process that holds TensorFlow.
"""
