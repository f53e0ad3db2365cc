"""What git has of a project's past, read as data: git is never run."""
