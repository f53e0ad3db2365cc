"""The thresholds of the interpreter: bounded work for any input.

None of them is measured to the unit. Each is several times what the public programs need that the tool was tried on,
and far below what would make a check slow.
"""

from __future__ import annotations

MAX_CALL_DEPTH = 24
"""Calls within calls that are followed. Programs seldom nest their own functions deeper than ten."""
MAX_STEPS = 100_000
"""Statements and expressions that are interpreted of a single file: some seconds of processor time."""
MAX_STEPS_OF_PROJECT_PROGRAM = 100_000
"""The same for a program of several modules, as a project may have hundreds of such programs: for what it runs itself,
and again for each module that it imports, whose import is interpreted once for all programs."""
STEPS_WITH_ALL_CODE = 30_000
"""Steps of a program, or of one import, after which calls of functions that configure nothing are left out. The other
steps are for code that configures: without this, a program that does much else never comes to it."""
STEPS_WITH_ALL_RUNS = 10_000
"""Steps of a program, or of one import, after which a function that may configure something is not followed within
itself, nor again once `MAX_IDLE_RUNS` calls of it have done nothing. Functions that call each other in circles, or for
each item of what they are given, would take all steps otherwise."""
MAX_IDLE_RUNS = 8
"""Calls with the same arguments, as far as the function decides by them, that configured and started nothing."""
MAX_CLASSES_MADE = 40
"""Classes that one ``__new__`` of a metaclass, or one ``__init_subclass__``, makes while it is followed: the schemas of
a project may be thousands."""
MAX_RECURSIONS = 2
"""Frames of one configuring function within each other: a second one can find the runtime started by the first."""
MAX_COUNTED_RECURSIONS = 5
"""The same where all arguments are constants, as in a recursion that counts down."""
MAX_IMPORT_DEPTH = 60
"""Modules that are imported within modules."""
MAX_CONTAINER_CHANGES = 500
"""Places where code is put into containers, or taken out of them, that are recorded for `Program.put`."""
MAX_ITEMS_UNROLLED = 8
"""Items of a list that a loop goes through one by one: machines have up to eight GPUs."""
MAX_CODE_ITEMS_UNROLLED = 32
"""The same of a list or dictionary of functions, which a loop calls one by one: each is interpreted once."""
MAX_FILE_ITEMS_UNROLLED = 60
"""Values of a configuration file that a loop puts into an object one by one."""
MAX_RUNS_OF_HARMLESS_FUNCTION = 4
"""Calls of one function without configuration that are followed while its containers keep changing."""
MAX_CONSTANTS_GIVEN = 40
"""Calls of such a function that are followed while it makes a constant of constants, as one that reads sizes does."""
MAX_DICTIONARIES_MADE = 60
"""The same of a constructor of a subclass of ``dict``: a configuration is made of dozens of them."""
MAX_NESTED_SECOND_PASSES = 3
"""Loops within loops that get a second pass: each of them doubles the work."""
MAX_ENTRIES = 2_000
"""Functions of one file that nothing calls and that are interpreted as entry points of their own."""
MAX_DEVICES_UNROLLED = 8
"""The devices of a slice, or beside a list in ``zip``, that a loop goes through one by one: few machines have more."""
