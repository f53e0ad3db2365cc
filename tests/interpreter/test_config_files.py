"""Values that a program reads from configuration files of its project, by constant paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixes.projects import make
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.sources import walk

LIMITED = """

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit={limit})])
"""
HEAD = "import configparser, json, os, sys\nfrom pathlib import Path\nimport tensorflow as tf\nimport yaml\n"
STATED = {"config.yaml": 'gpu:\n  limit: "4096"\n', "pyproject.toml": "[project]\nname = 'one'\n"}


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")


def found(code: str, limit: str = 'config["gpu"]["limit"]', path: str = "train.py") -> list[str]:
    """Return what is found in a program of this project, with the place in the configuration file."""
    make(Path(), {path: HEAD + code.strip("\n") + LIMITED.format(limit=limit)})
    context = RunContext(explain_fixes="never", cache=False)
    findings = [
        finding for result in run([(one, False) for one in walk(["."]).files], context) for finding in result.findings
    ]
    return [" ".join([each.code, *(f"{step.path}:{step.span.row}" for step in each.trace[:1])]) for each in findings]


@pytest.mark.parametrize(
    ("code", "limit"),
    [
        ('config = yaml.safe_load(open("config.yaml"))', 'config["gpu"]["limit"]'),
        (
            'text = open(os.path.join(os.path.dirname(__file__), "config.yaml")).read()',
            'yaml.safe_load(text)["gpu"]["limit"]',
        ),
        ('config = yaml.load(Path("config.yaml").open(), Loader=yaml.SafeLoader)', 'config["gpu"].get("limit")'),
        (
            'text = (Path(__file__).resolve().parent / "config.yaml").read_text()',
            'yaml.safe_load(text)["gpu"]["limit"]',
        ),
        (
            'with open(f"{os.path.dirname(__file__)}/config.yaml") as f:\n    of = yaml.safe_load(f)["gpu"]',
            'of["limit"]',
        ),
        (
            "def load(path):\n    with open(path) as f:\n        return yaml.full_load(f)",
            'load("config.yaml")["gpu"]["limit"]',
        ),
        ('from omegaconf import OmegaConf\nconfig = OmegaConf.load("config.yaml")', "config.gpu.limit"),
        ('from easydict import EasyDict\nconfig = EasyDict(yaml.safe_load(open("config.yaml")))', "config.gpu.limit"),
        ('from box import Box\nconfig = Box(yaml.safe_load(open("config.yaml")))', 'config["gpu"].limit'),
        ('from munch import munchify\nconfig = munchify(yaml.safe_load(open("config.yaml")))', "config.gpu.limit"),
        (
            'from types import SimpleNamespace\nown = SimpleNamespace(**yaml.safe_load(open("config.yaml"))["gpu"])',
            "own.limit",
        ),
        (
            "class Options:\n    def __init__(self, given):\n        for name, value in given.items():\n"
            '            setattr(self, name, value)\nof = Options(yaml.safe_load(open("config.yaml"))["gpu"])',
            "of.limit",
        ),
    ],
)
def test_a_file_is_found_however_its_path_is_made(code: str, limit: str) -> None:
    make(Path(), STATED)
    assert found(code, limit) == ["TFM302 config.yaml:2"]


def test_a_function_of_hydra_gets_the_file() -> None:
    make(Path(), {"conf/main.yaml": "defaults:\n  - _self_\ngpu:\n  limit: '4096'\n"})
    program = """
import hydra
@hydra.main(version_base=None, config_path="conf", config_name="main")
def main(config):
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(
            gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=config.gpu.limit)]
        )
    sys.exit()
main()
"""
    assert found(program, "4096") == ["TFM302 conf/main.yaml:4"]


def test_values_of_a_dotenv_file_are_texts() -> None:
    make(Path(), {".env": "GPU_LIMIT=4294967296\n"})
    code = "from dotenv import dotenv_values\nconfig = dotenv_values('.env')"
    assert found(code, 'config["GPU_LIMIT"]') == ["TFM302 .env:1"]
    assert found(code, 'int(config["GPU_LIMIT"])') == ["TFM302 .env:1"]
    assert found(code, 'int(config["GPU_LIMIT"]) // 2**20') == []


LISTED = "tf.config.list_physical_devices()\n"


@pytest.mark.parametrize(
    ("code", "codes"),
    [
        (f"from dotenv import load_dotenv\n{LISTED}load_dotenv()", ["TFM105 .env:2"]),
        (f"import dotenv\n{LISTED}dotenv.load_dotenv(dotenv.find_dotenv(), override=True)", ["TFM105 .env:2"]),
        (f"from dotenv import load_dotenv\n{LISTED}load_dotenv(Path(__file__).parent / '.env')", ["TFM105 .env:2"]),
        (f"from dotenv import load_dotenv\nload_dotenv()\n{LISTED}", []),
        (f"from dotenv import load_dotenv\n{LISTED}load_dotenv('other.env')", []),
        (f"from dotenv import load_dotenv\n{LISTED}load_dotenv(sys.argv[1])", []),
        (f"from dotenv import load_dotenv\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n{LISTED}load_dotenv()", []),
    ],
)
def test_an_environment_file_that_is_loaded_too_late_is_reported(code: str, codes: list[str]) -> None:
    project = "[project]\nname = 'one'\n"
    make(
        Path(),
        {".env": "WANDB_MODE=offline\nCUDA_VISIBLE_DEVICES=0\n", "other.env": "A=1\n", "pyproject.toml": project},
    )
    assert found(code, "4096") == codes


@pytest.mark.parametrize(
    "code",
    [
        'name = "config.yaml" if os.environ.get("SMALL") else "large.yaml"\nconfig = yaml.safe_load(open(name))',
        'if os.environ.get("SMALL"):\n    config = yaml.safe_load(open("config.yaml"))\n'
        'else:\n    config = yaml.safe_load(open("large.yaml"))',
        'open("config.yaml", "w").write("gpu: {limit: 4096}")\nconfig = yaml.safe_load(open("config.yaml"))',
        'config = yaml.safe_load(open("config.yaml"))\nconfig["gpu"]["limit"] = int(config["gpu"]["limit"])',
        'config = yaml.safe_load(open("config.yaml"))\nconfig["gpu"].update(json.loads(sys.argv[1]))',
        'config = yaml.safe_load(open("config.yaml"))\nfor part in config.values():\n    part["limit"] = 4096',
        'config = yaml.safe_load(open("/etc/config.yaml"))',
        'config = yaml.safe_load(open("../config.yaml"))',
        'config = yaml.safe_load(open("linked.yaml"))',
        'config = yaml.safe_load(open("pipe.yaml"))',
        'config = yaml.safe_load(open("missing.yaml"))',
        'config = yaml.safe_load(open("config.yaml").readline())',
        'config = yaml.safe_load(open("config.yaml"))\nfor name, part in config.items():\n    part["limit"] = 4096',
        'config = yaml.safe_load(open("config.yaml"))\nlist(config.items())[0][1]["limit"] = 4096',
        "from easydict import EasyDict\nread = EasyDict(yaml.safe_load(open('config.yaml')))\n"
        "read.gpu.limit = int(read.gpu.limit)\nconfig = {'gpu': {'limit': read.gpu.limit}}",
        "from omegaconf import OmegaConf\nconfig = OmegaConf.load('config.yaml')\nconfig['gpu']['limit'] = 4096",
        "from omegaconf import OmegaConf\nconfig = OmegaConf.load('config.yaml')\nconfig.merge_with(sys.argv[1:])",
        "from omegaconf import OmegaConf\n"
        "config = OmegaConf.merge(OmegaConf.load('config.yaml'), OmegaConf.from_cli(sys.argv[1:]))",
    ],
)
def test_what_may_be_another_value_is_not_reported(code: str) -> None:
    make(Path(), {**STATED, "large.yaml": "gpu:\n  limit: 8192\n"})
    Path("../config.yaml").write_text(STATED["config.yaml"], encoding="utf-8")
    Path("linked.yaml").symlink_to("../config.yaml")
    if "pipe" in code:
        import os

        os.mkfifo("pipe.yaml")
    assert found(code) == []


@pytest.mark.parametrize(
    ("limit", "codes"),
    [
        ('config["gpu"].get("megabytes", "4096")', ["TFM302"]),
        ('config.get("other", {}).get("megabytes", 4096)', []),
        ('config["gpu"].get("share", 0.5)', ["TFM301"]),
        ('config["gpu"].get("megabytes", 4096)', []),
        ('config["gpu"].get("megabytes", read())', []),
        ('config["gpu"].get("limit", 4096)', ["TFM302"]),
    ],
)
def test_a_default_counts_where_the_file_lacks_the_key(limit: str, codes: list[str]) -> None:
    make(Path(), STATED)
    assert [each.partition(" ")[0] for each in found('config = yaml.safe_load(open("config.yaml"))', limit)] == codes


def test_a_default_beside_a_file_decides_no_condition() -> None:
    make(Path(), STATED)
    code = """
config = yaml.safe_load(open("config.yaml"))
if config.get("mode", "eager") == "eager" or config.get("steps", 1):
    tf.config.set_memory_limit(1)
"""
    assert found(code, "4096") == ["TFM202"]


@pytest.mark.parametrize(("limit", "codes"), [("0.5", ["TFM301"]), ("4096", []), ("'0.5'", [])])
def test_a_file_gives_options_their_defaults(limit: str, codes: list[str]) -> None:
    make(Path(), {"config.yaml": f"limit: {limit}\n", "pyproject.toml": "[project]\nname = 'one'\n"})
    code = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--limit", type=int)
parser.set_defaults(**yaml.safe_load(open("config.yaml")))
"""
    assert [each.partition(" ")[0] for each in found(code, "parser.parse_args().limit")] == codes


@pytest.mark.parametrize("hook", ["lambda table: SimpleNamespace(**table)", "Options"])
def test_each_table_of_a_file_goes_through_the_hook(hook: str) -> None:
    make(Path(), {"config.json": '{"gpu": {"limit": "4096"}}', "pyproject.toml": "[project]\nname = 'one'\n"})
    code = f"""
from types import SimpleNamespace
class Options:
    def __init__(self, table):
        self.__dict__.update(table)
config = json.load(open("config.json"), object_hook={hook})
"""
    assert found(code, "config.gpu.limit") == ["TFM302 config.json:1"]


def test_of_two_files_of_a_name_nobody_knows_which_is_meant() -> None:
    make(Path(), {**STATED, "tools/config.yaml": "gpu:\n  limit: 4096\n"})
    code = 'config = yaml.safe_load(open("config.yaml"))'
    assert found(code, path="tools/train.py") == []
    Path("tools/config.yaml").unlink()
    assert found(code, path="tools/train.py") == ["TFM302 config.yaml:2"]


def test_no_condition_is_decided_by_a_file() -> None:
    make(Path(), {**STATED, "flags.json": '{"grow": false, "name": "a", "limit": 4}'})
    code = """
flags = json.load(open("flags.json"))
if flags["grow"] or flags["name"] == "b" or "other" in flags or flags.get("more"):
    tf.config.set_memory_limit(1)
config = yaml.safe_load(open("config.yaml"))
"""
    assert found(code, "4096") == ["TFM202"]


@pytest.mark.parametrize(
    ("limit", "codes"),
    [
        ('parser["gpu"]["limit"]', ["TFM302"]),
        ('parser.get("gpu", "limit")', ["TFM302"]),
        ('int(parser["gpu"]["limit"])', []),
        ('parser.getint("gpu", "limit")', []),
        ('parser.getfloat("gpu", "share")', ["TFM301"]),
        ('parser.getint("gpu", "bytes")', ["TFM302"]),
        ('parser.getint("gpu", "missing", fallback=4096)', []),
    ],
)
@pytest.mark.parametrize("reads", ['parser.read("gpu.ini")', "parser.read_string(TEXT)"])
def test_options_of_an_ini_file_are_texts(limit: str, codes: list[str], reads: str) -> None:
    text = "[gpu]\nlimit = 4096\nshare = 0.5\nbytes = 4294967296\n"
    make(Path(), {"gpu.ini": text})
    code = f"TEXT = {text!r}\nparser = configparser.ConfigParser()\n{reads}"
    assert [each.partition(" ")[0] for each in found(code, limit)] == codes
