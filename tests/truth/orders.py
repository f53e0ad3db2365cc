"""Random programs in which configuration comes too late, and what becomes of them when they are fixed.

The reference of a program is the program itself on a TensorFlow that ignores late configuration: all that it prints
must still be printed, in the same order, once it is fixed.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent, indent

import pytest

from tests.fixture_runs import command
from tests.truth.harness import SECONDS, failure, has
from tests.truth.launching import launcher
from tfmemlint.verify.ground import Ground
from tfmemlint.verify.result import Result

LENIENT = """\
from tensorflow.python.eager import context as _context
def _lenient(name):
    original = getattr(_context.Context, name)
    def call(self, *args, **kwargs):
        try:
            return original(self, *args, **kwargs)
        except RuntimeError:
            return None
    setattr(_context.Context, name, call)
for _name in ("set_memory_growth", "set_logical_device_configuration", "set_visible_devices"):
    _lenient(_name)
"""
"""Makes TensorFlow ignore configuration that comes too late."""

STARTERS = {
    name: dedent(text).lstrip("\n")
    for name, text in {
        "constant": """
            TABLE = tf.constant([1.0, 2.0])


            def use():
                return float(TABLE[0])
            """,
        "variable": """
            STEP = tf.Variable(1.0)


            def use():
                return float(STEP.assign_add(1.0))
            """,
        "default": """
            def use(scale=tf.constant(3.0)):
                return float(scale)
            """,
        "keyword": """
            def use(*, shift=tf.zeros([])):
                return float(shift)
            """,
        "class": """
            class Table:
                ROWS = tf.ones([2])

                def total(self):
                    return float(self.ROWS[0])


            def use():
                return Table().total()
            """,
        "dataclass": """
            @dataclass
            class Settings:
                prior: object = tf.ones([2])


            def use():
                return float(Settings().prior[1])
            """,
        "decorator": """
            def scaled(function):
                factor = tf.constant(2.0)

                def call():
                    return float(factor) * function()

                return call


            @scaled
            def use():
                return 2.0
            """,
        "closure": """
            def make():
                state = tf.Variable(5.0)

                def read():
                    return float(state)

                return read


            use = make()
            """,
        "dataset": """
            DATA = tf.data.Dataset.range(3)


            def use():
                return [int(value) for value in DATA]
            """,
        "instance": """
            class Model:
                def __init__(self):
                    self.weight = tf.Variable(4.0)

                def value(self):
                    return float(self.weight)


            model = Model()


            def use():
                return model.value()
            """,
        "prints": """
            def load():
                print("load")
                return tf.range(2)


            ROWS = load()


            def use():
                return len(ROWS)
            """,
    }.items()
}
"""Code that starts the runtime when it is run or imported, with a function ``use`` for the program."""

GROW = "for gpu in tf.config.list_physical_devices('GPU'):\n    tf.config.experimental.set_memory_growth(gpu, True)\n"
LISTED = (
    "gpus = tf.config.list_physical_devices('GPU')\nif gpus:\n    for gpu in gpus:\n"
    "        tf.config.experimental.set_memory_growth(gpu, True)\n"
)
TRIED = (
    "gpus = tf.config.list_physical_devices('GPU')\nif gpus:\n    try:\n        for gpu in gpus:\n"
    "            tf.config.experimental.set_memory_growth(gpu, True)\n"
    "    except RuntimeError as error:\n        raise SystemExit(error)\n"
)
BODIES = (GROW, LISTED, TRIED)
HOWS = ("flat", "function", "method", "init", "static", "module", "flag", "printing")
"""Where a program configures."""
LAYOUTS = ("one file", "apart", "apart, circle")
"""Where the code is that starts the runtime."""
KINDS = frozenset((*STARTERS, *HOWS, *LAYOUTS))


@dataclass
class OrderProgram:
    """A random program: its files; ``main.py`` is run. ``kind``: what was drawn."""

    files: dict[str, str]
    kind: str


MOST = 1000
"""How many programs a sample is chosen from."""


def order_program(seed: int, number: int) -> OrderProgram:
    """Return a program whose configuration comes too late; the same numbers give the same program."""
    return _Draw(random.Random(f"{seed}-{number}")).program()


def sample(seed: int, count: int) -> list[int]:
    """Return the numbers of ``count`` programs, the first ones but for those without which a kind would be missing."""
    missing, new = set(KINDS), list[int]()
    for number in range(MOST):
        kinds = set(order_program(seed, number).kind.split(", ", 2))
        if kinds & missing:
            new.append(number)
            missing -= kinds
    assert not missing, f"no program has {missing}"
    others = [number for number in range(count) if number not in new]
    return sorted([*new, *others[: max(count - len(new), 0)]])


@dataclass
class _Draw:
    random: random.Random
    files: dict[str, str] = field(default_factory=dict)

    def program(self) -> OrderProgram:
        draw = self.random
        name = draw.choice(sorted(STARTERS))
        starter, use = STARTERS[name], "use()"
        how = draw.choice(HOWS)
        apart = draw.random() < 0.5
        circle = apart and draw.random() < 0.25
        lines: list[str] = ["import tensorflow as tf\n"]
        top = ""
        if apart:
            self.files["net.py"] = self._module(starter, "import util\n" if circle else "")
            if circle:
                self.files["util.py"] = "def helper():\n    import net\n\n    return net.use()\n"
            if draw.random() < 0.5:
                lines.append("from net import use\n")
            else:
                lines.append("import net\n")
                use = f"net.{use}"
        else:
            lines.insert(0, "from dataclasses import dataclass\n\n" if name == "dataclass" else "")
            top = starter
        definition, call = self._configuration(how, lines)
        body = f"{call}\n" if "\n" not in call.strip() else call
        uses = f"print('value', {use})\n"
        if circle:
            uses += "import util\n\nprint('helper', util.helper())\n"
        text = "".join(lines) + "\n\n" + (f"{top}\n\n" if top else "") + (f"{definition}\n\n" if definition else "")
        if draw.random() < 0.3:
            text += "print('begins')\n"
        if draw.random() < 0.5:
            guard = draw.random() < 0.7
            main = f"def main():\n{indent(body + uses, '    ')}\n\n"
            text += "\n" + main + ("if __name__ == '__main__':\n    main()\n" if guard else "main()\n")
        else:
            text += body + uses
        self.files["main.py"] = re.sub(r"\n{4,}", "\n\n\n", text)
        return OrderProgram(
            self.files, f"{name}, {how}, {'apart' if apart else 'one file'}{', circle' if circle else ''}"
        )

    def _module(self, code: str, imports: str) -> str:
        head = "from dataclasses import dataclass\n\n" if "@dataclass" in code else ""
        return f"{head}import tensorflow as tf\n{imports}\n\n{code}"

    def _configuration(self, how: str, lines: list[str]) -> tuple[str, str]:
        """Return definitions for the main file, and the code that configures."""
        body = self.random.choice(BODIES)
        if how == "flat":
            return "", body
        if how == "module":
            self.files["settings.py"] = f"import tensorflow as tf\n\n{body}\nSIZE = 3\n"
            return "", "import settings\n\nprint(settings.SIZE)\n"
        if how == "flag":
            lines.insert(0, "import sys\n")
            return "", f"if '--cpu' not in sys.argv:\n{indent(body, '    ')}"
        if how == "printing":
            body = f"print('configure')\n{body}"
        if how in ("function", "printing"):
            definition, call = f"def setup():\n{indent(body, '    ')}", "setup()"
        elif how == "static":
            definition = f"class Tools:\n    @staticmethod\n    def setup():\n{indent(body, '        ')}"
            call = "Tools.setup()"
        elif how == "method":
            inner = indent(body, "        ")
            definition = f"class Runner:\n    def setup(self):\n        self.ready = True\n{inner}        return self\n"
            call = "runner = Runner().setup()\nprint(runner.ready)\n"
        else:
            definition = (
                f"class Trainer:\n    def __init__(self, name):\n        self.name = name\n{indent(body, '        ')}"
            )
            call = "trainer = Trainer('t')\nprint(trainer.name)\n"
        if self.random.random() < 0.4:
            self.files["device.py"] = f"import tensorflow as tf\n\n\n{definition}"
            root = call.replace("runner = ", "").replace("trainer = ", "").split("(")[0].split(".")[0]
            lines.append(f"from device import {root}\n")
            return "", call
        return definition, call


@dataclass
class Outcome:
    """What became of programs: how many were definite, fixed, harmed, changed by a second fix; and which are odd."""

    counts: Counter[str] = field(default_factory=Counter)
    odd: list[str] = field(default_factory=list)


def examine(program: OrderProgram, ground: Ground) -> str:
    """Return what became of a program.

    It is ``fixed``, ``left``, ``harmed: ...``, ``twice``, ``not found`` or ``not late``.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "p"
        for name, text in {"pyproject.toml": '[project]\nname = "p"\n', **program.files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(dedent(text), encoding="utf-8")
        before = _run(root, ground)
        if "after being initialized" not in failure(before) and not isinstance(before.exit_code, str):
            return "not late"
        reference = _run(root, ground, LENIENT)
        old = _texts(root)
        if not _is_found(root):
            return "not found"
        _fix(root)
        new = _texts(root)
        _fix(root)
        if _texts(root) != new:
            return "twice"
        if new == old:
            return "left"
        after = _run(root, ground)
        if failure(after) or after.exit_code:
            return f"harmed: {failure(after) or after.exit_code}"
        if after.stdout != reference.stdout:
            return f"harmed: it prints {after.stdout!r} for {reference.stdout!r}"
        return "fixed" if has(after, {"allow_growth": True}) else "harmed: no memory growth"


def _is_found(root: Path) -> bool:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        return "TFM101" in command("check", "--no-cache", "--output-format", "concise", ".").out


def _fix(root: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        command("fix", "--unsafe-fixes", "--no-cache", ".")


def _texts(root: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted(root.glob("*.py"))}


def _run(root: Path, ground: Ground, prelude: str = "") -> Result:
    return ground.run(
        prelude + launcher("python main.py", root), gpus=1, cwd=root, filename="launcher.py", timeout=SECONDS
    )


def outcomes(seed: int, numbers: Iterable[int], ground: Ground) -> Outcome:
    """Return what became of the programs of these numbers."""
    found = Outcome()
    for number in numbers:
        program = order_program(seed, number)
        what = examine(program, ground)
        found.counts[what.split(":")[0]] += 1
        if what not in ("fixed", "not late"):
            found.odd.append(f"program {number} ({program.kind}): {what}")
    return found
