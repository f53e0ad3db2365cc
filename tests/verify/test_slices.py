"""The slice of a program: what configures GPU memory, what that needs, and nothing else."""

from __future__ import annotations

import ast
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.fixture_files import FIXTURES
from tests.truth.harness import read_case
from tests.verify.programs import GROW, GROWING, TF, indented, kept, limited, program_of, sliced
from tfmemlint.intents import stated_intents
from tfmemlint.verify.edge import Edge, Result
from tfmemlint.verify.observation import Observation
from tfmemlint.verify.run_options import gpus_named
from tfmemlint.verify.slicing.slices import CannotSlice, slice_program


def test_what_does_not_matter_is_left_out_and_every_line_stays_where_it_was() -> None:
    text = f"""\
import pandas as pd
import tensorflow as tf

frame = pd.read_csv("data.csv")
{GROW}
model = build(frame)
model.fit(frame)
"""
    part = sliced(text)
    assert [line for line in part.text.split("\n") if line] == GROWING.splitlines()
    for row, line in enumerate(part.text.split("\n")):
        assert line in ("", text.split("\n")[row])
    assert (part.rows, part.of) == (3, 7)


def test_what_starts_the_runtime_before_is_part_of_it_and_what_does_after_is_not() -> None:
    assert "x = tf.constant(1)" in kept(f"{TF}x = tf.constant(1)\n{GROW}")
    assert "x = tf.constant(1)" not in kept(f"{GROWING}x = tf.constant(1)\n")


OPTIONS = (
    "from types import SimpleNamespace as Options\nconfig = Options(gpu=Options(size=1), all=[[1]], by={'a': [1]})\n"
)
ANOTHER_NAME = [
    f"{OPTIONS}{lines}\nSIZE = config.gpu.size + config.all[0][0] + config.by['a'][0] - 2"
    for lines in (
        "opts = config.gpu\nsame = opts\nsame.size = 512",
        "opts = config.gpu\nanother = config.gpu\nanother.size = 512",
        "first = config.all[0]\nfirst[0] = 512",
        "first = config.by.get('a')\nfirst[0] = 512",
        "opts, nothing = config.gpu, 1\nopts.size = 512",
        "[first] = config.all\nfirst[0] = 512",
        "(first, *rest) = [config.gpu, 1, 2]\nfirst.size = 512",
        "a = b = config.gpu\nb.size = 512",
        "opts: object = config.gpu\nopts.size = 512",
        "if (opts := config.gpu):\n    opts.size = 512",
        "(opts := config.gpu).size = 512",
        "opts = config.gpu if config else None\nopts.size = 512",
        "opts = config and config.gpu\nopts.size = 512",
        "for opts in (config.gpu,):\n    opts.size = 512",
        "for one in config.all:\n    one[0] = 512",
        "for number, one in enumerate(config.all):\n    one[number] = 512",
        "for name, one in config.by.items():\n    one[0] = 512",
        "from contextlib import nullcontext\nwith nullcontext(config.gpu) as opts:\n    opts.size = 512",
        "match config.gpu:\n    case opts:\n        opts.size = 512",
        "match config.all:\n    case [first]:\n        first[0] = 512",
        "setattr(config.gpu, 'size', 512)",
        "done = setattr(config.gpu, 'size', 512)",
        "[setattr(one, 'size', 512) for one in [config.gpu]]",
        "getattr(config, 'gpu').size = 512",
        "opts = getattr(config, 'gpu')\nopts.size = 512",
        "vars(config.gpu)['size'] = 512",
        "vars(config.gpu).update(size=512)",
        "table = vars(config)['gpu'].__dict__\ntable['size'] = 512",
        "from operator import attrgetter\nattrgetter('gpu')(config).size = 512",
        "from operator import attrgetter\nopts = attrgetter('gpu')(config)\nopts.size = 512",
        "import operator\npart = operator.attrgetter('gpu')\npart(config).size = 512",
        "import operator\noperator.setitem(config.all[0], 0, 512)",
        "part = lambda of: of.gpu\npart(config).size = 512",
        "part = lambda: config.gpu\nopts = part()\nopts.size = 512",
        "from functools import partial\nput = partial(setattr, config.gpu, 'size')\nput(512)",
        "put = config.all[0].__setitem__\nput(0, 512)",
        "def part(of):\n    return of.gpu\nopts = part(config)\nopts.size = 512",
        "def part(of):\n    opts = of.gpu\n    return opts\npart(of=config).size = 512",
        "def parts(of):\n    yield of.gpu\nfor opts in parts(config):\n    opts.size = 512",
        "def put(opts):\n    same = opts\n    same.size = 512\ndone = put(config.gpu)",
        "def put(of, *, size):\n    inner(of.gpu, size)\ndef inner(opts, size):\n    opts.size = size\n"
        "done = put(config, size=512)",
        "def put(*several):\n    for one in several:\n        one.size = 512\ndone = put(config.gpu)",
        "class Setup:\n    def put(self, opts):\n        opts.size = 512\ndone = Setup().put(config.gpu)",
        "class Setup:\n    def __init__(self, config):\n        self.config = config\n    def put(self):\n"
        "        self.config.gpu.size = 512\nsetup = Setup(config)\nsetup.put()",
        "class Setup:\n    opts = config.gpu\nSetup.opts.size = 512",
        "holder = Options()\nholder.config = config\nholder.config.gpu.size = 512",
        "several = [config]\nseveral[0].gpu.size = 512",
        "several = []\nseveral.append(config.gpu)\nfor one in several:\n    one.size = 512",
        "several = {'a': config.gpu}\nseveral['a'].size = 512",
        "several = [one for one in (config.gpu,) if one]\nseveral[0].size = 512",
        "def put():\n    opts = config.gpu\n    opts.size = 512\nput()",
        "first = config.all[0]\nfirst += [2]\nfirst[0] = 512",
        "first = config.all[0]\nfirst.clear()\nfirst.append(512)",
        "first = config.all[0]\nlast = first.pop()\nfirst.insert(0, 511 + last)",
    )
]
"""What is configured under another name than the one that is looked at in the end."""


@pytest.mark.parametrize(
    "lines",
    [
        "opts = config.gpu\nprint(opts)",
        "for one in config.all:\n    print(one)",
        "other = Options(width=1)\nother.width = 2\nsame = other\nprint(same)",
        "def part(of):\n    return len(of)\nnumber = part(config)\nprint(number)",
        "total = config.gpu.size * 2\nresult = Options(width=total)\nresult.width += 1\nprint(result)",
        "import numpy as np\ntable = np.zeros(config.gpu.size)\ntable[0] = 1\nprint(table)",
        "class Log:\n    def write(self):\n        self.lines.append(1)\nlog = Log()\nlog.write()",
    ],
)
def test_what_is_made_of_an_object_and_leaves_it_as_it_is_is_left_out(lines: str) -> None:
    text = f"{OPTIONS}{lines}\n{TF}{limited('config.gpu.size')}"
    assert sliced(text).text.split() == f"{OPTIONS}{TF}{limited('config.gpu.size')}".split()


@pytest.mark.parametrize(
    "needed",
    [
        "SIZE = 512",
        "SIZE = 1\nSIZE = SIZE + 511",
        "def size():\n    return 512\nSIZE = size()",
        "SIZE = 1\ndef change():\n    global SIZE\n    SIZE = 512\nchange()",
        "class Settings:\n    size = 512\nSIZE = Settings().size",
        "class Settings:\n    def __init__(self):\n        self.size = 512\nSIZE = Settings().size",
        "class Settings:\n    def read(self):\n        global SIZE\n        SIZE = 512\nSettings().read()",
        "settings = {}\nsettings['size'] = 512\nSIZE = settings['size']",
        "settings = {}\ndef change():\n    settings['size'] = 512\nchange()\nSIZE = settings['size']",
        "def change(of):\n    of['size'] = 512\nsettings = {}\ndone = change(settings)\nSIZE = settings['size']",
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--size', type=int, default=512)\n"
        "SIZE = parser.parse_args([]).size",
        "from typing import NamedTuple\nclass Settings(NamedTuple):\n    size: int = 512\nSIZE = Settings().size",
        "match 2:\n    case 1:\n        SIZE = 1\n    case _:\n        SIZE = 512",
        "TEXT = '''\n  of\n\nseveral lines'''\nSIZE = len(TEXT) * 0 + 512",
        "SIZE = 1; SIZE += 511",
        *ANOTHER_NAME,
    ],
)
def test_all_that_a_size_comes_from_is_part_of_it(needed: str) -> None:
    text = f"import sys\n{needed}\nprint('a')\n{TF}{limited('SIZE')}train = print\ntrain(SIZE)\n"
    part = sliced(text).text
    assert "print" not in part
    # As far as it doesn't name TensorFlow, it is run here: it must come to the size.
    without = part[: part.index("import tensorflow")]
    known: dict[str, Any] = {"__name__": "program"}
    exec(compile(without, "program.py", "exec"), known)
    assert known["SIZE"] == 512


@pytest.mark.parametrize(
    "lines",
    [
        'if gpus: tf.config.experimental.set_memory_growth(gpus[0], True)\nelse: print("none")',
        'if not gpus: print("none")\nelse: tf.config.experimental.set_memory_growth(gpus[0], True)',
        "if (not gpus and\n        len(gpus) > 0): print(1)\nelif (gpus\n   ): "
        "tf.config.experimental.set_memory_growth(gpus[0], True)\nelse:\n    print(2)",
        "try: tf.config.experimental.set_memory_growth(gpus[0], True)\nexcept OSError: print(1)\nfinally: print(2)",
        "if gpus:\n\tif 1:\n\t\tprint(1)\n\t\ttf.config.experimental.set_memory_growth(gpus[0], True)\n"
        "\telse:\n\t\tprint(2)",
        "for one in gpus:\n  if 1: tf.config.experimental.set_memory_growth(one, True)\n  else: pass",
        "print('\\x0c \\u2028 \\x1c')\n\x0c\ntf.config.experimental.set_memory_growth(gpus[0], True)\nx = '\u2028'",
        "match len(gpus):\n  case 1: print(1)\n  case _: tf.config.experimental.set_memory_growth(gpus[0], True)",
        "@print\n@staticmethod\ndef f(\n): pass\nif 1:\n    @print\n    def f(): pass\n"
        "tf.config.experimental.set_memory_growth(gpus[0], True)",
        "if gpus: a = 1; tf.config.experimental.set_memory_growth(gpus[0], True); b = (2 +\n 1)\nelse: print(1)",
    ],
)
def test_whatever_the_layout_it_is_python_and_has_the_intent(lines: str) -> None:
    part = sliced(f'{TF}gpus = tf.config.list_physical_devices("GPU")\n{lines}\nprint("end")\n').text
    ast.parse(part)
    assert "set_memory_growth(" in part
    assert "end" not in part


@pytest.mark.parametrize(
    "gone",
    [
        "del os.environ['TF_FORCE_GPU_ALLOW_GROWTH']",
        "os.environ.pop('TF_FORCE_GPU_ALLOW_GROWTH')",
        "def clean():\n    os.environ.pop('TF_FORCE_GPU_ALLOW_GROWTH')\nclean()",
    ],
)
def test_a_variable_that_is_taken_out_before_the_runtime_starts_is_not_there(gone: str, edge: Edge) -> None:
    text = f"import os\nos.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = 'false'\n{GROWING}{gone}\nx = tf.constant(1)\n"
    assert edge.run(sliced(text).text).config == edge.run(text).config
    later = text.replace(f"{gone}\nx = tf.constant(1)\n", f"x = tf.constant(1)\n{gone}\n")
    assert Observation(edge.run(sliced(later).text)).in_force == Observation(edge.run(later)).in_force


PUT = "import sys, types\nmade = types.ModuleType('made_here')\nmade.SIZE = 512\n"


@pytest.mark.parametrize(
    "lines",
    [
        "sys.modules['made_here'] = made",
        "sys.modules.setdefault('made_here', made)",
        "sys.modules.update({'made_here': made})",
        "sys.modules.update(made_here=made)",
        "sys.modules.__setitem__('made_here', made)",
        "for name in ['made_here']:\n    sys.modules[name] = made",
        "from sys import modules\nmodules['made_here'] = made",
        "table = sys.modules\ntable['made_here'] = made",
        "def put():\n    sys.modules['made_here'] = made\nput()",
        "import operator\noperator.setitem(sys.modules, 'made_here', made)",
    ],
)
def test_a_module_that_the_program_makes_itself_is_there_to_be_imported(lines: str) -> None:
    text = f"{PUT}{lines}\nprint(1)\nfrom made_here import SIZE\n{TF}{limited('SIZE')}"
    part = sliced(text).text
    assert "print" not in part
    known: dict[str, Any] = {}
    try:
        exec(compile(part[: part.index("import tensorflow")], "program.py", "exec"), known)
    finally:
        sys.modules.pop("made_here", None)
    assert known["SIZE"] == 512


def test_a_module_that_nothing_which_is_needed_imports_is_not_made() -> None:
    text = f"{PUT}sys.modules['made_here'] = made\nimport made_here\n{GROWING}"
    assert kept(text) == GROWING.splitlines()


def test_imports_from_the_future_stay() -> None:
    text = f'"""Text."""\nfrom __future__ import annotations\n{TF}def f(x: Nowhere) -> None:\n{indented(GROW)}f(1)\n'
    assert kept(text)[0] == "from __future__ import annotations"


def test_a_way_out_before_the_intent_stays_where_its_condition_is_known_anyway() -> None:
    text = f"""\
import sys
{TF}gpus = tf.config.list_physical_devices("GPU")
if not gpus:
    sys.exit("no GPU")
assert gpus, "no GPU"
tf.config.experimental.set_memory_growth(gpus[0], True)
"""
    assert '    sys.exit("no GPU")' in kept(text)
    assert 'assert gpus, "no GPU"' in kept(text)
    other = f"import sys, data\n{TF}if not data.ready():\n    sys.exit(1)\nassert data.whole()\n{GROW}"
    assert kept(other) == GROWING.splitlines()


def test_a_way_out_stays_where_its_condition_reads_what_is_written_out() -> None:
    loop = """\
for i, gpu in enumerate(tf.config.list_physical_devices("GPU")):
    if i in {name}:
        continue
    tf.config.experimental.set_memory_growth(gpu, True)
"""
    assert "SKIP = (1, -1)" in kept(f"{TF}SKIP = (1, -1)\n{loop.format(name='SKIP')}")
    assert "continue" not in kept(f"{TF}import pandas as pd\nSKIP = pd.read_csv('a')\n{loop.format(name='SKIP')}")


def test_modules_of_the_project_stay_unless_they_are_to_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("")
    (tmp_path / "package").mkdir()
    text = f"{TF}import own\nfrom package.part import thing\nimport other\n{GROW}import own.later\n"
    path = str(tmp_path / "program.py")
    part = sliced(text, path)
    assert sorted(part.local) == [2, 3]
    assert [line for line in part.text.split("\n") if "import" in line] == text.splitlines()[:3]
    assert sliced(text, path, local=False).text.split("\n")[1:3] == ["", ""]


def test_a_module_of_the_project_that_is_needed_stays_in_any_case(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("SIZE = 512\n")
    text = f"{TF}import own\n{limited('own.SIZE')}"
    assert "import own" in sliced(text, str(tmp_path / "program.py"), local=False).text


def test_what_comes_after_the_last_intent_is_not_run_even_where_it_gets_what_was_configured() -> None:
    text = f"""\
{TF}def train(gpus):
    print(gpus)
def main():
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.experimental.set_memory_growth(gpus[0], True)
    train(gpus)
    return gpus
found = main()
train(found)
"""
    part = kept(text)
    assert "found = main()" in part
    assert not any("train" in line or "print" in line for line in part)


def test_how_a_program_goes_on_after_an_error_is_part_of_it() -> None:
    text = f"""\
{TF}try:
{indented(GROW)}    print("done")
except RuntimeError as error:
    print(error)
    raise
"""
    part = kept(text)
    assert part[-2:] == ["except RuntimeError as error:", "    raise"]
    assert not any("print" in line for line in part)


def test_what_a_function_does_after_an_intent_counts_where_another_intent_comes_later() -> None:
    text = f"""\
{TF}class Setup:
    def __init__(self):
        self.gpus = tf.config.list_physical_devices("GPU")
        tf.config.experimental.set_memory_growth(self.gpus[0], True)
        self.second = self.gpus[1]
    def more(self):
        tf.config.experimental.set_memory_growth(self.second, True)
setup = Setup()
setup.more()
"""
    assert kept(text) == text.splitlines()


def test_a_function_that_nothing_calls_is_called() -> None:
    text = f"{TF}def setup(verbose=False):\n{indented(GROW)}    return verbose\n\n\ndef train():\n    print(1)\n"
    part = sliced(text, entry="setup")
    assert part.text.rstrip().endswith("\nsetup()")
    # No line of the file is taken for the call when an error comes through it.
    assert part.text.split("\n").index("setup()") >= len(text.splitlines())
    assert "train" not in part.text
    ast.parse(part.text)


@pytest.mark.parametrize(
    "definition", ["def setup(size):", "def setup(*, size):", "async def setup():", "class A:\n  def setup(self):"]
)
def test_a_function_that_can_not_be_called_just_so_is_said(definition: str) -> None:
    text = TF + definition + "\n" + "".join(f"    {line}\n" for line in GROW.splitlines())
    program = program_of(text)
    with pytest.raises(CannotSlice, match=r"setup\(.*verify the program that calls it"):
        slice_program(program, stated_intents(program), "setup")


@pytest.mark.slow
def test_a_slice_does_what_the_whole_program_does(edge: Edge) -> None:
    """The same configuration in force, the same lines reached, the same error: on a share of the fixtures, with one GPU
    and with two by turns, or as many as the program names."""
    programs: list[tuple[str, str]] = []
    for path in sorted(FIXTURES.glob("TFM*/*.py")):
        if not path.name.endswith(".fixed.py"):
            case = read_case(path)
            if case.groundless:
                continue
            sides = {path.name: case.code, path.stem + ".fixed.py": case.fixed_code or ""}
            programs += [(f"{path.parent.name}/{name}", text) for name, text in sides.items() if text]

    def differs(number: int) -> str:
        name, text = programs[number]
        try:
            program = program_of(text)
        except SyntaxError:
            return ""
        intents = [intent for intent in stated_intents(program) if intent.entry == "module"]
        if not intents:
            return ""
        if name.replace(".fixed.py", ".py") in CUT_WRONG:
            return ""
        part = slice_program(program, intents)
        # With fewer than it names it is another program.
        gpus = max(1 + len(name) % 2, gpus_named(program, intents))
        rows = {row for row, line in enumerate(part.text.split("\n"), 1) if line}
        results = [edge.run(one, gpus=gpus, filename="x.py", rows=part.marks) for one in (part.text, text)]
        if results[1].exception == "ModuleNotFoundError":
            return ""  # what it needs isn't here; its slice may do without
        ends = [_end(result, rows) for result in results]
        same = ends[0] == ends[1] or (ends[0][1:] == ends[1][1:] and ends[1][0] == BEHIND and not ends[0][0])
        return "" if same else f"{name} with {gpus} GPUs: the slice {ends[0]}, the program {ends[1]}"

    with ThreadPoolExecutor(2) as pool:
        # Chosen by their names: a new program beside them changes nothing.
        chosen = [number for number, (name, _) in enumerate(programs) if zlib.crc32(name.encode()) % STEP == 0]
        problems = [one for one in pool.map(differs, chosen) if one]
    assert not problems, "\n".join(problems)


STEP = 6
"""One program in so many."""

CUT_WRONG = {
    "TFM318/ok_generator_kept.py": "a generator whose value is kept in a variable is left out of the slice",
    "TFM510/bad_method.py": "the lines that raise before the session of a method are not left out alike",
    "TFM510/bad_private_backend.py": "the session that a function of Keras makes first is left out of the slice",
    "TFM302/bad_option_string.py": "the options that a parser is given are left out of the slice",
    "TFM610/bad_through_a_method.py": "the value that a traced function returns is left out of the slice",
    "TFM508/bad_after_session.py": "the session that a helper returns is left out of the slice",
}
"""The programs whose slices do not do yet what they do, and why."""

BEHIND = "an error of a line that the slice doesn't have"
"""As what comes before the intents isn't left out without a difference in the lines that are reached, this is a line
behind them."""


def _end(result: Result, rows: set[int]) -> tuple[str, object, list[int]]:
    """The error, the configuration in force, and the watched lines that were reached."""
    seen = Observation(result)
    force = {key: value for key, value in (seen.in_force or {}).items() if key != "forced"}
    error = (result.error or result.init_error).split("<capsule")[0]  # what follows is an address
    foreign = result.traceback_line is not None and result.traceback_line not in rows
    if foreign and result.error not in {start.error for start in seen.starts}:
        error = BEHIND
    return error, force, sorted(seen.reached)
