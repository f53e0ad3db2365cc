"""The past of a project, read from git's objects as data: git is never run."""
