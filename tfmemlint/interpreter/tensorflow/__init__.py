"""Handlers of TensorFlow's functions, registered by ``@models`` and ``@outcome_of``.

The configuring calls follow TensorFlow's checks in ``tensorflow/python/eager/context.py``, in their order; all other
calls are looked up in the measured table of effects.
"""
