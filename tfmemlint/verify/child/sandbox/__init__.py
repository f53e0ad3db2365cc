"""The sandbox: what a program that is run may reach of this machine.

``enter`` puts a process into it, with whatever this kernel offers; ``kernel``, ``mounts``, ``landlock`` and ``seccomp``
are the parts; ``places`` says what is hidden and what is kept; ``abilities`` says what this machine offers. It needs
only Python's standard library.
"""
