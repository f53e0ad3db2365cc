"""The rules, one per file. The registry finds every module of this package by itself."""
