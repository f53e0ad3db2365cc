"""Random programs: what tfmemlint says of them, held against what the installed TensorFlow does with them."""
