"""What runs in the processes that hold TensorFlow: needs nothing but Python's standard library, and TensorFlow."""
