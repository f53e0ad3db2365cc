"""What was found before is found again without a look, and nothing else: not where anything has changed."""

from __future__ import annotations

import ast
import json
import os
import pickle
import random
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfmemlint.interpreter
from tests.fixes.projects import make
from tfmemlint.engine import cache, cached_values, prefilter_cache
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import MIN_ITEMS_FOR_CACHE, run
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.project import name_answers
from tfmemlint.project.name_uses import FileNames, names_in
from tfmemlint.sources import walk

PROGRAMS = Path(__file__).parent.parent / "fixtures" / "programs"
VERSION = cache._version
LATE = """
    import tensorflow as tf

    from core.yolov4 import decode

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    """


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    # The tool itself doesn't change meanwhile.
    monkeypatch.setattr(cache, "_version", lambda modules: "1")
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")


def found(context: RunContext | None = None, *, cached: bool = True) -> list[Finding]:
    context = replace(context or RunContext(), explain_fixes="never", cache=cached)
    outcomes = run([(path, False) for path in walk(["."]).files], context)
    return sorted((finding for outcome in outcomes for finding in outcome.findings), key=lambda one: one.sort_key)


def nothing_is_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a file is gone through")

    monkeypatch.setattr(tfmemlint.interpreter, "analyze", refuse)
    monkeypatch.setattr("tfmemlint.engine.programs.analyze", refuse)


@pytest.mark.parametrize("name", sorted(path.name for path in PROGRAMS.iterdir() if path.name.startswith("bad_"))[::8])
def test_a_second_run_says_the_same(name: str) -> None:
    shutil.copytree(PROGRAMS / name, ".", dirs_exist_ok=True)
    without = found(cached=False)
    assert without or "suppressed" in name
    assert found() == without
    assert found() == without


def test_a_second_run_goes_through_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    make(Path(), {"train.py": LATE, "other.py": "import tensorflow as tf\ntf.config.set_memory_limit(0, 0.5)\n"})
    first = found()
    assert {finding.code for finding in first} == {"TFM101", "TFM202"}
    nothing_is_gone_through(monkeypatch)
    assert found() == first


def test_a_run_without_a_cache_leaves_none() -> None:
    make(Path(), {"train.py": LATE})
    found(cached=False)
    assert not Path("../cache").exists()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("core/yolov4.py", "def decode(x):\n    return x\n"),
        ("core/__init__.py", "raise SystemExit\n"),
        ("core.py", "decode = len\n"),
        ("core/yolov4/__init__.py", "def decode(x):\n    return x\n"),
        ("train.py", "import core.yolov4\n"),
    ],
)
def test_a_change_in_any_file_of_a_program_is_seen(path: str, text: str) -> None:
    make(Path(), {"train.py": LATE})
    assert [finding.code for finding in found()] == ["TFM101"]
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")
    assert found() == found(cached=False)


LIMITED = """
    from pathlib import Path

    import tensorflow as tf
    import yaml

    {load}
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(
            gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=config["limit"])]
        )
    """
OF_FILE = 'config = yaml.safe_load((Path(__file__).parent / "config.yaml").read_text())'
COMPUTED = 'config = yaml.safe_load((Path(__file__).parent / ("con" + "fig") / "gpu.yaml").read_text())'
IMPORTED = "from settings import config"
SETTINGS = """
    import yaml

    with open("config.yaml") as file:
        config = yaml.safe_load(file)
    """


@pytest.mark.parametrize(
    ("load", "path"), [(OF_FILE, "config.yaml"), (COMPUTED, "config/gpu.yaml"), (IMPORTED, "config.yaml")]
)
def test_a_change_in_a_configuration_file_is_seen(load: str, path: str) -> None:
    make(Path(), {"train.py": LIMITED.format(load=load), "settings.py": SETTINGS})
    Path("config").mkdir()
    assert found() == found(cached=False) == []
    for value, codes in (('"4096"', ["TFM302"]), ("0.5", ["TFM301"]), ("4096", []), ("2", ["TFM302"])):
        Path(path).write_text(f"limit: {value}\n", encoding="utf-8")
        assert [finding.code for finding in found()] == codes
        assert found() == found(cached=False)
    Path(path).unlink()
    assert found() == []


def test_a_program_that_names_its_configuration_file_is_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    make(Path(), {"train.py": LIMITED.format(load=IMPORTED), "settings.py": SETTINGS})
    make(Path(), {"alone.py": LIMITED.format(load=OF_FILE), "config.yaml": "limit: 0.5\n"})
    first = found()
    assert [finding.code for finding in first] == ["TFM301", "TFM301"]
    nothing_is_gone_through(monkeypatch)
    assert found() == first


def test_a_module_that_is_gone_is_missed() -> None:
    make(Path(), {"train.py": LATE})
    assert found()
    Path("core/yolov4.py").unlink()
    assert found() == found(cached=False) == []


COMPUTED = LATE.replace(
    "from core.yolov4 import decode", "import core, importlib; importlib.import_module('co' + 're.yolov4')"
)


def test_a_change_in_a_module_whose_name_is_computed_is_seen() -> None:
    make(Path(), {"train.py": COMPUTED})
    before = found()
    assert [finding.code for finding in before] == ["TFM101"]
    Path("core/yolov4.py").write_text("x = 1\n", encoding="utf-8")
    assert found() == found(cached=False) == []


def test_a_program_that_computes_the_name_of_a_module_is_not_gone_through_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make(Path(), {"train.py": COMPUTED})
    before = found()
    with monkeypatch.context() as patched:
        nothing_is_gone_through(patched)
        assert found() == before


def test_another_file_of_the_project_that_changes_is_looked_at_where_names_are_computed() -> None:
    make(Path(), {"train.py": COMPUTED, "core/later.py": "x = 1\n"})
    assert [finding.code for finding in found()] == ["TFM101"]
    Path("core/yolov4.py").rename("core/before.py")
    Path("core/later.py").rename("core/yolov4.py")
    assert found() == found(cached=False) == []


def test_what_is_found_for_one_release_is_not_taken_for_another() -> None:
    text = "import tensorflow as tf\n\nsession = tf.Session(config=tf.ConfigProto())\n"
    make(Path(), {f"train{number}.py": text for number in range(MIN_ITEMS_FOR_CACHE)})
    assert found(RunContext(target=Target.parse("2.15")))
    assert found(RunContext(target=Target.parse("1.15"))) == []


def test_random_edits_are_seen() -> None:
    rng = random.Random(5)
    starter, quiet = "import tensorflow as tf\nx = tf.constant(1)\n", "x = 1\n"
    grow = "import tensorflow as tf\nfor gpu in tf.config.list_physical_devices('GPU'):\n"
    grow += "    tf.config.experimental.set_memory_growth(gpu, True)\n"
    texts = [starter, quiet, grow, "import a\n" + grow, "import b\n" + grow, "from a import *\nfrom c import x\n", None]
    for _ in range(40):
        path, text = Path(rng.choice(["a.py", "b.py", "c/__init__.py", "c.py", "train.py"])), rng.choice(texts)
        path.parent.mkdir(exist_ok=True)
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(text, encoding="utf-8")
        assert found() == found(cached=False)


# What is wrong with the cache itself


def the_file() -> Path:
    (path,) = Path("../cache").glob("check-*/*.cache")
    return path


def broken_files(whole: bytes) -> Iterator[bytes]:
    """Files in the place of the cache that are none, or damaged."""
    yield from (b"", b"\n", b"\x80\x05garbage", pickle.dumps([1]), pickle.dumps({"a": 1}), b"[]", b"null" * 1000)
    head, first, *_ = whole.split(b"\n")
    key, day, checksum, text = first.split(b" ", 3)
    yield from (head, head + b"\n", whole[: len(whole) // 2], whole[:-3], whole.replace(b" ", b""), whole[1:])
    yield b"\n".join([head, *[first] * 3, b"", b" ", b"a b c d", b"\xff 1 2 3", key + b" 99999999999999 1 1"])
    for other in (
        *(b"", b"[", b"[]", b"{}", b"1", b"[1,2]", b'["number",true]', b'["findings",{}]', b'["findings",[[]]]'),
        *(b'["program",[]]', b'["os.system","touch ../harm"]', b'["answers",{"zz":1}]', b"[" * 100_000),
        *(b"9" * 5000, b'["number",' + b"9" * 5000 + b"]", text.replace(b"error", b"terror"), text[:-1]),
        *(text.replace(b"1", b"true"), text.replace(b"1", b'"1"'), text.replace(b"null", b'{"os.system":["x"]}')),
        *(text.replace(b"[]", b"{}"), text.replace(b"{", b'{"complex":')),
    ):
        yield b"\n".join([head, b" ".join([key, day, cache._checksum(other), other]), b""])
        yield b"\n".join([head, b" ".join([key, day, checksum, other]), b""])


def test_a_broken_cache_is_replaced(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    make(Path(), {"train.py": LATE})
    first = found()
    whole = the_file().read_bytes()
    for data in broken_files(whole):
        the_file().write_bytes(data)
        assert found() == first, data[:200]
    assert capfd.readouterr() == ("", "")
    nothing_is_gone_through(monkeypatch)
    assert found() == first


@pytest.mark.parametrize("kind", ["fifo", "directory", "link"])
def test_what_is_no_file_is_done_without(kind: str) -> None:
    make(Path(), {"train.py": LATE})
    first = found()
    path = the_file()
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    assert found() == first


def test_a_damaged_bit_is_found_out() -> None:
    make(Path(), {"train.py": LATE})
    first = found()
    whole = the_file().read_bytes()
    rng = random.Random(8)
    for _ in range(100):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        the_file().write_bytes(bytes(data))
        assert found() == first


def test_a_file_has_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    place = cache.open_cache(".")
    for number in range(100):
        place.put(f"key{number}", {b"key%d" % number: number})
    monkeypatch.setattr(cache, "LIMIT_BYTES", 2000)
    place.save()
    assert 1500 < the_file().stat().st_size <= 2000
    assert 10 < len(cache.open_cache(".")._entries) < 100
    monkeypatch.setattr(cache, "LIMIT_BYTES", 1000)
    assert cache.open_cache(".")._entries == {}


class Harm:
    """What would run a command when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch ../harm",)


def harmful() -> Iterator[bytes]:
    yield pickle.dumps(Harm())
    for module in ("tfmemlint.engine.cache", "tfmemlint.cache"):
        # PROTO 4, the two names, STACK_GLOBAL, the argument, TUPLE1, REDUCE, STOP
        yield (
            b"".join(
                (b"\x80\x04", *(b"\x8c" + bytes([len(one)]) + one for one in (module.encode(), b"os.system")), b"\x93")
            )
            + b"\x8c\x0dtouch ../harm\x85R."
        )


def test_nothing_in_a_cache_is_ever_called() -> None:
    make(Path(), {"train.py": LATE})
    first = found()
    head, line, *_ = the_file().read_bytes().split(b"\n")
    key, day, _, _ = line.split(b" ", 3)
    for harm in harmful():
        for data in (
            harm,
            head + b"\n" + harm,
            b"\n".join([head, b" ".join([key, day, cache._checksum(harm), harm]), b""]),
            pickle.dumps({key.decode(): (int(day), harm)}),
        ):
            the_file().write_bytes(data)
            old = the_file().with_suffix(".pickle")
            old.write_bytes(data)
            assert found() == first
            old.unlink()
    assert not Path("../harm").exists()


def test_the_modules_of_the_cache_know_no_pickle() -> None:
    for module in (cache, cached_values, prefilter_cache):
        assert module.__file__ is not None
        imported = {
            name.name.split(".")[0]
            for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8")))
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for name in (node.names if isinstance(node, ast.Import) else [ast.alias(node.module or "")])
        }
        assert imported & {"pickle", "marshal", "shelve", "dill", "copyreg"} == set()


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
    | st.complex_numbers(allow_nan=False) | st.builds(slice, st.integers() | st.none(), st.none(), st.none())
    | st.builds(Span, *[st.integers(0, 99)] * 4),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner)
    | st.frozensets(st.integers() | st.text()) | st.sets(st.tuples(st.text(), st.integers())),
)  # fmt: skip


@settings(max_examples=50)
@given(st.dictionaries(st.text(), PLAIN))
def test_what_a_finding_holds_comes_back(details: dict[str, object]) -> None:
    finding = Finding("TFM999", "name", Severity.ERROR, "a.py", Span(1, 1, 1, 2), "é\ud800\n", details=details)
    (again,) = cached_values.decode(cached_values.encode([finding]))
    assert again == finding
    assert repr(again) == repr(finding) or "{" in repr(details)


@pytest.mark.parametrize("value", [object(), [object()], [1], "text", 1.5, {"a": 1}, {b"a": "b"}, None, True, (1,), os])
def test_what_is_not_known_is_not_kept(value: object) -> None:
    place = cache.open_cache(".")
    place.put("key", value)
    assert place.get("key") is None
    finding = Finding("TFM999", "name", Severity.ERROR, "a.py", Span(1, 1, 1, 2), "", details={"a": value})
    if not isinstance(value, (str, float, dict, bool, tuple, type(None))) and value != [1]:
        place.put("key", [finding])
        assert place.get("key") is None


def test_all_that_is_found_in_programs_comes_back() -> None:
    for folder in sorted(PROGRAMS.iterdir())[::12]:
        files = [(str(path), False) for path in sorted(folder.rglob("*.py"))]
        for result in run(files, RunContext(explain_fixes="never", cache=False)):
            if result.own_findings is not None:
                assert cached_values.decode(cached_values.encode(result.own_findings)) == result.own_findings
            if result.program is not None:
                assert cached_values.decode(cached_values.encode(result.program)) == result.program


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")
def test_what_others_can_write_is_not_read() -> None:
    make(Path(), {"train.py": LATE})
    first = found()
    the_file().chmod(0o666)
    assert cache._read(str(the_file())) == {}
    assert found() == first


def test_no_place_for_a_cache_is_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    make(Path(), {"train.py": LATE})
    Path("../file").write_text("")
    monkeypatch.setenv(cache.VARIABLE, "../file/cache")
    assert [finding.code for finding in found()] == ["TFM101"]


def test_another_version_of_the_tool_asks_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    place = cache.open_cache(".")
    place.put("key", 1)
    place.save()
    assert cache.open_cache(".").get("key") == 1
    monkeypatch.setattr(cache, "_version", lambda modules: "2")
    assert cache.open_cache(".").get("key") is None


def test_the_version_is_that_of_every_file_of_the_tool(tmp_path: Path) -> None:
    rule = tmp_path / "rule.py"
    rule.write_text("a = 1\n")
    first = VERSION([str(rule)])
    assert VERSION([str(rule)]) == first != VERSION([])
    rule.write_text("a = 12\n")
    assert VERSION([str(rule)]) != first


def test_what_nobody_asks_for_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    place = cache.open_cache(".")
    place.put("old", 1)
    place.save()
    today = cache._today()
    monkeypatch.setattr(cache, "_today", lambda: today + 31)
    place = cache.open_cache(".")
    place.put("new", 2)
    place.save()
    assert set(cache.open_cache(".")._entries) == {"new"}


def many_files() -> None:
    """As many as are worth it, of which one matters."""
    module = "import tensorflow as tf\n\n\ndef decode(x):\n    return x\n"
    make(
        Path(),
        {
            "main.py": LATE.replace("core.yolov4", "m0"),
            **{f"m{i}.py": module for i in range(prefilter_cache.MIN_FILES_FOR_CACHE)},
        },
    )


def nothing_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: bytes) -> int:
        raise AssertionError("a file is searched")

    monkeypatch.setattr("tfmemlint.engine.scan_file.scan", refuse)


def test_what_a_search_said_of_many_files_is_known_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    many_files()
    first = found()
    nothing_is_searched(monkeypatch)
    assert found() == first == []


def test_a_file_that_has_changed_is_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    many_files()
    found()
    Path("m0.py").write_text("import tensorflow as tf\n\nZERO = tf.constant(0)\ndecode = int\n", encoding="utf-8")
    changed = found()
    assert [finding.code for finding in changed] == ["TFM101"]
    assert changed == found(cached=False)
    nothing_is_searched(monkeypatch)
    assert found() == changed


def test_a_file_of_answers_that_is_broken_is_done_without() -> None:
    many_files()
    found()
    for path in Path(os.environ[cache.VARIABLE]).rglob("*.cache"):
        path.write_bytes(b"broken")
    assert found() == []
    kept = cache.open_cache(str(Path.cwd()), name="screened")
    kept.put("screened", ["nonsense"])
    kept.save()
    assert found() == []


def test_names_that_tell_a_release_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def seen(path: str, data: bytes) -> FileNames:
        read.append(path)
        return names_in(path, data)

    monkeypatch.setattr(name_answers, "names_in", seen)
    make(Path(), {"train.py": LATE})
    module = Path("core/yolov4.py")
    module.write_text("import tensorflow as tf\n\ntf.Session()\n\ndef decode(x): ...\n", encoding="utf-8")
    first = found()
    assert read
    read.clear()
    with Path("train.py").open("a", encoding="utf-8") as file:
        file.write("x = 1\n")
    assert found() == first
    assert {Path(path).name for path in read} <= {"train.py"}
    read.clear()
    module.write_text("def decode(x): ...\n\nimport tensorflow as tf\n\ntf.contrib.slim\n", encoding="utf-8")
    found()
    assert {Path(path).name for path in read} == {"yolov4.py"}


@pytest.mark.parametrize(
    "answers",
    [
        {"names:00": [[["tf.Session", 1, "x"]], [], []]},
        {"names:00": [[["tf.Session", 1]], [], []]},
        {"names:00": None},
        {"masks:00": ["1"]},
        {"masks:00": [True]},
        {"stored:00": [1]},
    ],
)
def test_answers_about_names_are_checked(answers: dict[str, object]) -> None:
    good = {"names:00": [[["tf.Session", 1, 3]], [], []], "masks:00": [1, 2], "masks:01": None, "stored:00": ["tf.x"]}
    assert cached_values.decode(cached_values.encode(good)) == good
    with pytest.raises((TypeError, ValueError)):
        cached_values.decode(json.dumps(["names", answers]))


@pytest.mark.parametrize(
    "load",
    [
        "importlib.import_module('plug' + 'ins.first')",
        "importlib.import_module('plug' + 'ins.inner.first')",
        "__import__('plug' + 'ins.first')",
        "import plugins.first",
    ],
)
@pytest.mark.parametrize("there", ["data.txt", "second.py", "inner/second.py"])
def test_a_module_that_appears_where_it_was_missed_is_seen(load: str, there: str) -> None:
    loading = f"import importlib, core\n    try:\n        {load}\n    except ImportError:\n        pass"
    make(Path(), {"train.py": LATE.replace("from core.yolov4 import decode", loading)})
    Path("plugins/inner").mkdir(parents=True)
    Path("plugins", there).write_text("", encoding="utf-8")
    assert found() == found() == found(cached=False) == []
    module = "inner/first.py" if "inner" in load else "first.py"
    Path("plugins", module).write_text("import tensorflow as tf\n\ntf.Variable(1)\n", encoding="utf-8")
    with_module = found(cached=False)
    assert [finding.code for finding in with_module] == ["TFM101"]
    assert found() == with_module
