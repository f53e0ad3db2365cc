"""What the project's own readers find, beside what the reference implementation of each format finds.

A missing one is a skipped test. Differences that are meant are listed in the tests, each with its reason.
"""
