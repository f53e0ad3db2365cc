"""What a program asks of each GPU, and what it will get: ``tfmemlint plan``, by static analysis alone."""
