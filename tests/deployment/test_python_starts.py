"""What a Python file starts is what Python itself starts: each snippet is run, and what it would start recorded."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.deployment.python.starts import read_python

STARTED: list[tuple[list[str] | str, dict[str, str]]] = []


def _record(words: list[str] | str, *_: object, env: dict[str, str] | None = None, **__: object) -> Any:
    STARTED.append((words, dict(os.environ if env is None else env)))
    return 0


SNIPPETS = {
    "list": "subprocess.run([sys.executable, 'work.py', '--gpu', '3'], env={'CUDA_VISIBLE_DEVICES': '2'})",
    "more than its own": "subprocess.run(['python', 'work.py'], env={**os.environ, 'CUDA_VISIBLE_DEVICES': '2'})",
    "keyword": "subprocess.call(args=('python', 'work.py'), env=dict(os.environ, CUDA_VISIBLE_DEVICES='0'))",
    "loop": """
        for i in range(2):
            subprocess.Popen([sys.executable, 'work.py', str(i)], env=dict(os.environ, CUDA_VISIBLE_DEVICES=str(i)))
    """,
    "loop over names": """
        for name, gpu in [('a', '0'), ('b', '3')]:
            subprocess.Popen([sys.executable, 'work.py', name], env=os.environ | {'CUDA_VISIBLE_DEVICES': gpu})
    """,
    "zip": """
        for lr, gpu in zip((0.1, 0.2), ['4', '5']):
            env = os.environ.copy()
            env['CUDA_VISIBLE_DEVICES'] = gpu
            subprocess.Popen(['python3', 'work.py', '--gpu', gpu], env=env)
    """,
    "enumerate": """
        def start(rank, gpu):
            env = dict(os.environ)
            env.update(RANK=str(rank), CUDA_VISIBLE_DEVICES=gpu)
            return subprocess.Popen([sys.executable, 'work.py', f'--rank={rank}'], env=env)
        jobs = [start(rank, gpu) for rank, gpu in enumerate('6,7'.split(','), 1)]
    """,
    "own environment": """
        os.environ['TF_GPU_ALLOCATOR'] = 'cuda_malloc_async'
        def main():
            for gpu in (0, 1):
                os.environ['CUDA_VISIBLE_DEVICES'] = str(gpu)
                subprocess.check_call([sys.executable, 'work.py'])
        main()
    """,
    "shell": "os.system('CUDA_VISIBLE_DEVICES={} python work.py --gpu {}'.format(1, 2))",
    "shell of a function": """
        def run(gpu, name='work'):
            subprocess.getoutput(f'CUDA_VISIBLE_DEVICES={gpu} python {name}.py --gpu {gpu}')
        for gpu in range(4, 6):
            run(gpu)
    """,
    "words that are added": """
        command = [sys.executable, 'work.py']
        command += ['--gpu', '1']
        command.append('--fast')
        command.extend(['--size', '%d' % 3])
        subprocess.run(command, env={'CUDA_VISIBLE_DEVICES': '0'})
    """,
    "path": """
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run([sys.executable, os.path.join(here, 'work.py')], env={'CUDA_VISIBLE_DEVICES': '0'})
    """,
    "made elsewhere": """
        def environment(gpu):
            made = dict(os.environ)
            made['CUDA_VISIBLE_DEVICES'] = str(gpu // 2)
            return made
        for gpu in range(2, 5, 2):
            subprocess.run([sys.executable, 'work.py'], env=environment(gpu))
    """,
    "thread": """
        import threading
        def work(gpu):
            subprocess.run([sys.executable, 'work.py', '-g', str(gpu)], env={'CUDA_VISIBLE_DEVICES': str(gpu)})
        threads = [threading.Thread(target=work, args=(gpu,)) for gpu in range(2)]
        for thread in threads:
            thread.start()
            thread.join()
    """,
    "method": """
        class Farm:
            def start(self, gpu):
                subprocess.Popen([sys.executable, 'work.py', str(gpu)], env={'CUDA_VISIBLE_DEVICES': str(gpu)})
            def run(self):
                for gpu in [0, 2]:
                    self.start(gpu)
        Farm().run()
    """,
    "asynchronous": """
        import asyncio
        async def work(gpu):
            env = {'CUDA_VISIBLE_DEVICES': str(gpu)}
            await asyncio.create_subprocess_exec(sys.executable, 'work.py', str(gpu), env=env)
        async def main():
            await asyncio.gather(*(work(gpu) for gpu in range(2)))
        asyncio.run(main())
    """,
}
UNKNOWN = {
    "an option": "subprocess.run([sys.executable, sys.argv[1]], env={'CUDA_VISIBLE_DEVICES': '0'})",
    "another command": "subprocess.run(['nvidia-smi'], env={'CUDA_VISIBLE_DEVICES': '0'})",
    "an environment from elsewhere": "subprocess.run([sys.executable, 'work.py'], env=load('env.json'))",
    "options from elsewhere": "subprocess.run([sys.executable, 'work.py'], **options)",
    "another run": "runner.run([sys.executable, 'work.py'], env={'CUDA_VISIBLE_DEVICES': '0'})",
    "no Python": "subprocess.run([sys.executable, 'work.py'",
}


def _code(snippet: str) -> str:
    lines = snippet.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    body = "\n".join(line[indent:] for line in lines)
    return f"import os\nimport subprocess\nimport sys\n{body}\n"


def _run(code: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str] | str, dict[str, str]]]:
    STARTED.clear()
    for name in ("run", "call", "check_call", "check_output", "Popen", "getoutput"):
        monkeypatch.setattr(subprocess, name, _recorder())
    monkeypatch.setattr(os, "system", _record)
    monkeypatch.setattr(os, "environ", dict(os.environ))

    async def started(*words: str, env: dict[str, str] | None = None) -> None:
        _record(list(words), env=env)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", started)
    exec(compile(code, str(path), "exec"), {"__name__": "__main__", "__file__": str(path)})
    return list(STARTED)


def _recorder() -> Callable[..., Any]:
    return lambda words=None, *rest, args=None, **given: _record(args if words is None else words, **given)


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_program_is_started_as_python_starts_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = _code(SNIPPETS[name])
    (found,) = read_python(code, str(tmp_path / "start.py"))
    really = _run(code, tmp_path / "start.py", monkeypatch)
    words, environment = really[min(1, len(really) - 1)]
    if isinstance(words, str):
        variable, _, rest = words.partition(" ")
        key, _, value = variable.partition("=")
        words, environment = rest.split(), {**environment, key: value}
    assert Path(found.program).name == Path(words[1]).name == "work.py"
    assert [*found.arguments] == list(map(str, words[2:]))
    given = {setting.name: setting.value for setting in found.settings}
    assert "CUDA_VISIBLE_DEVICES" in given
    assert given == {key: environment[key] for key in given}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_not_known_is_not_started(name: str) -> None:
    assert list(read_python(_code(UNKNOWN[name]), "start.py")) == []


def test_what_may_not_be_set_is_not_known() -> None:
    code = _code("""
        env = dict(os.environ)
        if sys.argv[1:]:
            env['CUDA_VISIBLE_DEVICES'] = '1'
        subprocess.run([sys.executable, 'work.py', *sys.argv[1:]], env=env)
    """)
    (found,) = read_python(code, "start.py")
    assert [setting.value for setting in found.settings] == [None]
    assert found.arguments == (None,)
