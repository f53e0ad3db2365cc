"""A variable that the code sets counts as read where the code asks for it, too."""

from __future__ import annotations

import ast

import pytest

from tfmemlint.facts.reads import mentions_as_read, reads, rows_of_programs_started, starts_others

NAME = "TF_X"

SET = {
    "printed": "os.environ['TF_X'] = '1'\nprint('limit', os.environ['TF_X'])",
    "not mentioned": "import os",
    "another one": "os.environ['TF_Y']",
    "a longer text": "print('TF_X is set')",
    "set": "os.environ['TF_X'] = '1'",
    "set by a bare name": "environ['TF_X'] = '1'",
    "deleted": "del os.environ['TF_X']",
    "set where it is not": "os.environ.setdefault('TF_X', '1')",
    "set by putenv": "os.putenv('TF_X', '1')",
    "set by a bare putenv": "putenv('TF_X', '1')",
    "unset": "os.unsetenv('TF_X')",
    "updated": "os.environ.update({'TF_X': '1'})",
    "updated beside what is unpacked": "os.environ.update({**more, 'TF_X': '1'})",
    "taken out": "os.environ.pop('TF_X')",
    "taken out, with a default": "os.environ.pop('TF_X', None)",
    "handed to a process": "subprocess.run(['x'], env={'TF_X': '1'})",
    "set by a name for it": "NAME = 'TF_X'\nos.environ[NAME] = '1'",
}
READ = {
    "asked for": "os.environ['TF_X']",
    "asked for by a method": "os.environ.get('TF_X')",
    "asked for by a function": "os.getenv('TF_X')",
    "asked for and set": "os.environ['TF_X'] = os.environ.get('TF_X', '1')",
    "asked whether it is there": "'TF_X' in os.environ",
    "in a list": "NAMES = ['TF_X']",
    "a name for it that nothing uses here": "NAME = 'TF_X'",
    "a name for it, set and asked for": "NAME = 'TF_X'\nos.environ[NAME] = '1'\nvalue = os.environ[NAME]",
    "an attribute for it": "self.name = 'TF_X'\nos.environ['TF_Y'] = '1'",
    "two names for it": "A = B = 'TF_X'\nos.environ[A] = '1'\nos.environ[B] = '1'",
    "set in a dictionary of another kind": "options['TF_X'] = '1'",
    "taken out of another dictionary": "options.pop('TF_X')",
    "taken out, and used": "value = os.environ.pop('TF_X')",
    "another dictionary updated": "options.update({'TF_X': '1'})",
    "a default of another dictionary": "options.setdefault('TF_X', '1')",
    "the value of another variable": "os.environ['TF_Y'] = 'TF_X'",
    "the value of another variable, by a method": "os.environ.setdefault('TF_Y', 'TF_X')",
    "a value in an update": "os.environ.update({'TF_Y': 'TF_X'})",
    "handed on by another argument": "subprocess.run(['x'], extra={'TF_X': '1'})",
}


@pytest.mark.parametrize("code", SET.values(), ids=SET)
def test_what_is_only_set_is_not_read(code: str) -> None:
    assert not reads(ast.parse(code), NAME)


@pytest.mark.parametrize("code", READ.values(), ids=READ)
def test_what_may_be_asked_for_is_read(code: str) -> None:
    assert reads(ast.parse(code), NAME)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("TF_X", False),
        ("# 'TF_XY'", False),
        ("os.environ['TF_X'] = '1'", False),
        ('os.environ["TF_X"]="1"', False),
        ("os.environ.setdefault('TF_X', '1')", False),
        ("os.putenv( 'TF_X', '1')", False),
        ("os.environ['TF_X']", True),
        ("os.environ['TF_X'] == '1'", True),
        ("os.getenv('TF_X')", True),
        ("os.environ['TF_X'] = '1'\nprint(os.environ['TF_X'])", True),
        ("os.environ['TFuX']", False),
    ],
)
def test_another_module_reads_what_it_has_in_quotes_and_does_not_set(text: str, expected: bool) -> None:
    assert mentions_as_read(text, NAME) is expected


@pytest.mark.parametrize(
    "code",
    [
        *("print('subprocess.run')", "subprocess", "import subprocess", "subprocess.run", "run(['train'])"),
        *("subprocess.run(['nvidia-smi'])", "os.system('nvidia-smi -L')", "os.popen('git rev-parse HEAD')"),
        *("subprocess.check_output('ls', shell=True)", "subprocess.run(timeout=3, args=['nvcc', '--version'])"),
        *("os.path.join('a')", "os.getenv('a')", "mysubprocess.run(['train'])"),
    ],
)
def test_no_other_program_is_started(code: str) -> None:
    assert not starts_others(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        *(
            "subprocess.run(['python', 'train.py'])",
            "subprocess.Popen(command)",
            "Popen(command)",
            "os.system(command)",
        ),
        *("os.execv('x', [])", "os.spawnl(0, 'x')", "check_call(['x'])", "check_output(['x'])", "os.popen('train')"),
        *("subprocess.run([3, 'train'])", "a.subprocess.run(['x'])"),
        "subprocess.run(['nvidia-smi'])\nsubprocess.run(['python', 'train.py'])",
    ],
)
def test_another_program_is_started(code: str) -> None:
    assert starts_others(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        *("subprocess.Popen('python worker.py', shell=True)", "subprocess.run([sys.executable, '-m', 'worker'])"),
        *("subprocess.run(command)", "os.system(f'python3 train.py --index {i}')", "os.system('./run.sh')"),
        *("subprocess.check_call(['horovodrun', '-np', '2', 'train'])", "os.popen(command)"),
        "context = multiprocessing.get_context('spawn'); context.Process(target=train)",
        *("pass  #@tfmemlint:!python train.py", "out = None  #@tfmemlint:out = !CUDA_CACHE=1 python3 train.py"),
    ],
)
def test_a_program_that_may_use_tensorflow_is_started(code: str) -> None:
    assert rows_of_programs_started(ast.parse(code), code) == [1]


@pytest.mark.parametrize(
    "code",
    [
        *("os.system('clear')", "os.system('mkdir -p models')", "subprocess.run(['git', 'pull'])", "sys.executable"),
        *("pass  #@tfmemlint:!ls models", "pass  #@tfmemlint:%matplotlib inline", "'python train.py'"),
        "multiprocessing.Process(target=train)",
    ],
)
def test_no_program_that_may_use_tensorflow_is_started(code: str) -> None:
    assert rows_of_programs_started(ast.parse(code), code) == []
