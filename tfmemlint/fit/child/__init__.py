"""What runs beside the script: needs nothing but Python's standard library, and TensorFlow."""
