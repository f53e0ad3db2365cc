"""What a generator knows at a place of the program that it is making."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tests.truth.programs.model import Line, Statement, block

T = TypeVar("T")
LISTING = 'tf.config.list_physical_devices("GPU")'
HERE = "§"
"""Stands in a text for what a name of another module is reached by: ``helpers.``, or nothing."""


@dataclass(frozen=True, slots=True)
class Use:
    """One way of using something that was defined: some lines, then a statement with a body if there is a ``head``."""

    lines: tuple[str, ...] = ()
    head: str = ""


@dataclass(frozen=True, slots=True)
class Callee:
    """Something defined that can be used.

    Attributes:
        name: its name. uses: the ways, each as likely; ``§`` stands before each global name.
        plain: an expression that calls it, without arguments; "" if there is none. cls, method: of a class, what makes
        an instance and a method without arguments, "" otherwise.
    """

    name: str
    uses: tuple[Use, ...]
    plain: str = ""
    cls: str = ""
    method: str = ""
    prefix: str = ""

    def via(self, prefix: str) -> Callee:
        """The same, seen from another module."""
        return replace(self, prefix=prefix)

    def text(self, template: str) -> str:
        """A template with the names as they are reached here."""
        return template.replace(HERE, self.prefix)


@dataclass(slots=True)
class Shared:
    """What is one for the whole program."""

    gpus: int
    switches: list[str] = field(default_factory=list)
    names: int = 0
    budget: int = 20


@dataclass(slots=True)
class Scope:
    """A place in the making.

    Attributes:
        callees: what can be used here. flags: names of the module's flags. gpus_name: a variable with the GPUs, or "".
        function: it is in a function's body. depth: of nesting. loops: it is in a loop. imports: asked for by the body.
    """

    rng: random.Random
    shared: Shared
    callees: list[Callee] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    gpus_name: str = ""
    function: bool = False
    loop: bool = False
    depth: int = 0

    def name(self, stem: str) -> str:
        """A name that nothing else has."""
        self.shared.names += 1
        return f"{stem}{self.shared.names}"

    def inner(self, *, function: bool | None = None, loop: bool | None = None) -> Scope:
        """The scope of a suite here; in a function the names are its own."""
        return Scope(
            self.rng,
            self.shared,
            list(self.callees),
            list(self.flags),
            self.gpus_name,
            self.function if function is None else function,
            self.loop if loop is None else loop,
            self.depth + 1,
        )

    def chance(self, share: float) -> bool:
        """True in ``share`` of all cases."""
        return self.rng.random() < share

    def one_of(self, *choices: T) -> T:
        """One of them, each as likely."""
        return self.rng.choice(choices)

    def weighted(self, choices: Sequence[tuple[float, T]]) -> T:
        """One of them by weight."""
        return self.rng.choices([one for _, one in choices], [weight for weight, _ in choices])[0]

    def gpus(self) -> str:
        """An expression: the list of GPUs."""
        if self.gpus_name and self.chance(0.7):
            return self.gpus_name
        return LISTING

    def gpu(self) -> str:
        """An expression: one GPU."""
        index = self.rng.randrange(self.shared.gpus) if self.chance(0.3) else 0
        return f"{self.gpus()}[{index}]"

    def flag(self) -> str:
        """A condition: a constant flag, or one that only the run decides."""
        if self.flags and self.chance(0.6):
            return self.rng.choice(self.flags)
        return self.switch() if self.chance(0.7) else self.one_of("True", "False")

    def switch(self) -> str:
        """A condition that depends on the environment or the arguments."""
        name = self.one_of("FLAG_A", "FLAG_B", "--a")
        if name not in self.shared.switches:
            self.shared.switches.append(name)
        return f'"{name}" in sys.argv' if name.startswith("-") else f'os.environ.get("{name}")'

    def used(self, callee: Callee, body: Callable[[Scope], Sequence[Statement]]) -> list[Statement]:
        """The statements of one of the ways of using it."""
        use = self.rng.choice(callee.uses)
        own = self.name("v")
        lines: list[Statement] = [Line(callee.text(text).replace("$", own)) for text in use.lines]
        if use.head:
            lines.append(block(callee.text(use.head).replace("$", own), list(body(self.inner()))))
        return lines
