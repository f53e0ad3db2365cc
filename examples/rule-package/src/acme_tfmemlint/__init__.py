"""Rules of tfmemlint for programs on Acme's cluster."""
