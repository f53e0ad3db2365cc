"""The modules of a project, the imports between them, the entry points of its programs. No code is interpreted."""
