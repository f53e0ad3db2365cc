"""Events about what Python gets in the place of something else: a result for a function, a copy that is thrown away."""

from __future__ import annotations

from tfmemlint.interpreter.state.model import Event
from tfmemlint.model.finding import Span
from tfmemlint.model.records import record


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CallHanded(Event):
    """A function that configures a GPU is called where a new process is to call it: ``Process(target=claim_gpu(512))``.

    Attributes:
        called: the function of TensorFlow. text: that of the program, as written. place: the call of it.
        parameter: ``initializer`` or ``target``. sure: a new process has nothing of what this one has configured.
        may_be_sent: a process that is started anew can find the function by its name.
    """

    called: str
    text: str
    parameter: str
    place: Span
    sure: bool
    may_be_sent: bool


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CopyDropped(Event):
    """A changed copy of an object is made, and nothing gets it: ``dataclasses.replace(settings, memory=4096)``.

    Attributes:
        receiver: the object, as written. keys: the names that are changed; "" for one that is not known.
        made: what makes the copy: ``dataclasses.replace()``, ``settings._replace()``, ``settings | {...}``.
        method: the last name of a method that does. of_dict: the object is a dictionary.
        may_assign: the name of the object can be assigned to here.
    """

    receiver: str
    keys: tuple[str, ...]
    made: str
    method: str = ""
    of_dict: bool = False
    may_assign: bool = True
