"""What importing a library, or calling it, does to TensorFlow's runtime and to the environment: measured, one by one.

The table (``data/libraries.txt``, made by ``tools/knowledge/libraries.py``) rests on real packages, each in an
environment of its own: what was imported and called there, with which version, and what was different afterwards in
TensorFlow's context, in its sessions and in ``os.environ``, with a simulated GPU. What was not measured, what failed,
and what depends on the arguments or on the order of imports is not in it, and nothing is concluded from that.

Names of TensorFlow itself are in `effects`. The table is read when a name of one of its libraries is asked about, and
no earlier: most programs use none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from tfmemlint.knowledge import tables
from tfmemlint.knowledge.effects import Effect
from tfmemlint.knowledge.releases import Target, position

_NAMES = """
    GPUtil acme alibi alibi_detect autokeras baselines basic_pitch bert4keras deepface dopamine edward2
    efficientnet gpflow gpt_2_simple gpustat horovod keras keras_bert keras_cv keras_hub keras_nlp
    keras_retinanet keras_tuner kerastuner larq mlflow mtcnn nvgpu official opennmt pynvml ray retinaface
    reverb segmentation_models setGPU shap sonnet spektral spleeter stable_baselines tensorboard tensorboardX
    tensorflow_addons tensorflow_datasets tensorflow_decision_forests tensorflow_gnn tensorflow_graphics
    tensorflow_hub tensorflow_io tensorflow_model_optimization tensorflow_privacy tensorflow_probability
    tensorflow_quantum tensorflow_ranking tensorflow_recommenders tensorflow_similarity tensorflow_text
    tensorpack tf_agents tf_keras tf_slim tflearn torch transformers trfl umap wandb
"""
LIBRARIES = frozenset(_NAMES.split())
"""The first parts of all names in the table."""

_STRENGTH = (Effect.NOTHING, Effect.LISTS, Effect.ALLOCATES, Effect.STARTS)


@dataclass(frozen=True, slots=True)
class Doing:
    """What an import or a call does.

    Attributes:
        effect: what it does to the runtime; None where that isn't known, but something else is.
        environment: the variables that it sets, where they weren't set before, with the value; None for a value that
            depends on the machine. Of all variables, those that GPU memory or the choice of Keras depends on.
        growth: it lets the memory of a GPU grow: in TensorFlow's configuration, in the session that it makes, or in
            the configuration of sessions that it returns.
        eager_off: it disables eager execution.
        with_gpu: it does so where there is a GPU, and less where there is none.
        measured: the versions that showed it: ``transformers 4.40.2 with TensorFlow 2.15.1``.
    """

    effect: Effect | None
    environment: Mapping[str, str | None] = field(default_factory=dict)
    growth: bool = False
    eager_off: bool = False
    with_gpu: bool = False
    measured: str = ""

    @property
    def harmless(self) -> bool:
        """Whether it is known to leave the runtime, its configuration and the environment as they were."""
        return self.effect is Effect.NOTHING and not (self.environment or self.growth or self.eager_off)


def imported(name: str, target: Target | None = None) -> Doing | None:
    """What importing ``name`` does, a module or something out of one; None where nothing is known of it.

    Importing ``a.b`` imports ``a``, so that what the parents do counts. Where only they were measured, a runtime that
    they start is started, and otherwise the effect isn't known.

    Args:
        target: the TensorFlow in use. Keras 2 and 3 differ, so that a library measured with one of them has no answer
            for the other. Without it, there is an answer where all that was measured agree.
    """
    if name.partition(".")[0] not in LIBRARIES:
        return None
    parts = name.split(".")
    found = [_at(".".join(parts[:count]), "import", target) for count in range(1, len(parts) + 1)]
    known = [name for name in found if name is not None]
    if not known:
        return None
    whole = _together(known)
    if found[-1] is not None or whole.effect is Effect.STARTS:
        return whole
    if whole.environment or whole.growth or whole.eager_off:
        return replace(whole, effect=None)
    return None


def called(name: str, target: Target | None = None) -> Doing | None:
    """What calling ``name`` does, after its import; None where nothing is known of it.

    ``name`` is canonical; a method is written as ``transformers.TFBertModel().fit``. ``target`` is as in `imported`.
    """
    if name.partition(".")[0] not in LIBRARIES:
        return None
    return _at(name, "call", target)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: what it says, and the releases that it says it of."""

    name: str
    how: str
    doing: Doing
    first: int
    last: int


@lru_cache(maxsize=4096)
def _at(name: str, how: str, target: Target | None) -> Doing | None:
    rows = _table().get((name, how)) or [row for pattern, row in _patterns(how) if pattern.fullmatch(name)]
    if target is not None:
        rows = [row for row in rows if row.first <= target.index <= row.last]
    if not rows:
        return None
    first, *others = (row.doing for row in rows)
    if any(replace(other, measured=first.measured) != first for other in others):
        return None
    return _together([first, *others])


def _together(doings: Iterable[Doing]) -> Doing:
    """All of ``doings``, one after the other."""
    listed = list(doings)
    environment: dict[str, str | None] = {}
    for doing in listed:
        environment.update(doing.environment)
    return Doing(
        effect=max((doing.effect or Effect.NOTHING for doing in listed), key=_STRENGTH.index),
        environment=environment,
        growth=any(doing.growth for doing in listed),
        eager_off=any(doing.eager_off for doing in listed),
        with_gpu=any(doing.with_gpu for doing in listed),
        measured=", ".join(dict.fromkeys(name for doing in listed for name in doing.measured.split(", "))),
    )


def rows() -> list[Row]:
    """All of the table. A line is ``name import|call letter version/tensorflow,... first-last [flag ...]``."""
    lines = tables.text("libraries.txt").splitlines()
    return [_row(line) for line in lines if line and line[0] != "#"]


def _row(line: str) -> Row:
    name, how, letter, versions, span, *flags = line.split(" ")
    environment: dict[str, str | None] = {}
    for flag in flags:
        if flag.startswith("env:"):
            variable, _, value = flag[len("env:") :].partition("=")
            environment[variable] = None if value == "?" else value
    library = name.partition(".")[0]
    pairs = (pair.partition("/")[::2] for pair in versions.split(","))
    doing = Doing(
        effect=Effect(letter),
        environment=environment,
        growth="growth" in flags,
        eager_off="eager-off" in flags,
        with_gpu="with-gpu" in flags,
        measured=", ".join(f"{library} {own} with TensorFlow {tensorflow}" for own, tensorflow in pairs),
    )
    first, _, last = span.partition("-")
    return Row(name, how, doing, position(first), position(last))


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, str], list[Row]]:
    table: dict[tuple[str, str], list[Row]] = {}
    for row in rows():
        table.setdefault((row.name, row.how), []).append(row)
    return table


@lru_cache(maxsize=2)
def _patterns(how: str) -> list[tuple[re.Pattern[str], Row]]:
    """The rows about several names: ``*`` stands for what a name has between two dots."""
    return [
        (re.compile(re.escape(row.name).replace(r"\*", r"[^.()]*")), row)
        for (name, its), found in _table().items()
        if "*" in name and its == how
        for row in found
    ]
