"""The effects of importing and calling other libraries on TensorFlow's runtime and on the environment, measured.

``tools/knowledge/libraries.py`` makes the table (``data/libraries.txt``) from real packages, each in an environment of
its own with a simulated GPU. An entry states what was imported or called, which version, and what changed in
TensorFlow's context, its sessions and ``os.environ``. Anything that was not measured, that failed, or that depends on
arguments or on the order of imports has no entry; nothing is concluded from a missing entry.

`effects` has TensorFlow's own names. The table is read only when a name of one of its libraries is looked up: most
programs use none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import lru_cache

from tfmemlint.knowledge import tables
from tfmemlint.knowledge.effects import Effect
from tfmemlint.knowledge.releases import Target, position
from tfmemlint.model.records import dataclass

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
"""The first component of every name in the table."""

_STRENGTH = (Effect.NOTHING, Effect.LISTS, Effect.ALLOCATES, Effect.STARTS)


@dataclass(frozen=True, slots=True)
class Doing:
    """The effects of an import or a call.

    Attributes:
        effect: the effect on the runtime; None if that is unknown but another effect is known.
        environment: the variables that it sets if they were unset, with the value; None for a value that depends on the
            machine. Only variables that affect GPU memory or the choice of Keras.
        growth: True if it enables memory growth on a GPU: in TensorFlow's configuration, in the session that it
            creates, or in the session configuration that it returns.
        eager_off: True if it disables eager execution.
        with_gpu: True if it has these effects only on a machine with a GPU.
        measured: the versions that were measured: ``transformers 4.40.2 with TensorFlow 2.15.1``.
    """

    effect: Effect | None
    environment: Mapping[str, str | None] = field(default_factory=dict)
    growth: bool = False
    eager_off: bool = False
    with_gpu: bool = False
    measured: str = ""

    @property
    def harmless(self) -> bool:
        """True if it is known to leave the runtime, its configuration and the environment unchanged."""
        return self.effect is Effect.NOTHING and not (self.environment or self.growth or self.eager_off)


def imported(name: str, target: Target | None = None) -> Doing | None:
    """Return the effects of importing ``name``, a module or a member of one; None if nothing is known about it.

    Importing ``a.b`` imports ``a``, so the effects of the parents count. If only the parents were measured, a runtime
    that they start counts as started; otherwise the effect is unknown.

    Args:
        target: the TensorFlow in use. Keras 2 and 3 differ, so a library measured with one of them has no answer for
            the other. Without a target, there is an answer only if all measurements agree.
    """
    if name.partition(".")[0] not in LIBRARIES:
        return None
    parts = name.split(".")
    found = [_at(".".join(parts[:count]), "import", target) for count in range(1, len(parts) + 1)]
    known = [name for name in found if name is not None]
    if not known:
        return None
    whole = _combine(known)
    if found[-1] is not None or whole.effect is Effect.STARTS:
        return whole
    if whole.environment or whole.growth or whole.eager_off:
        return replace(whole, effect=None)
    return None


def called(name: str, target: Target | None = None) -> Doing | None:
    """Return the effects of calling ``name`` after its import; None if nothing is known about it.

    ``name`` is canonical; a method is written ``transformers.TFBertModel().fit``. ``target`` is as in `imported`.
    """
    if name.partition(".")[0] not in LIBRARIES:
        return None
    return _at(name, "call", target)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: the effects, and the releases that it covers."""

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
    return _combine([first, *others])


def _combine(doings: Iterable[Doing]) -> Doing:
    """Return the combined effects of all of ``doings``, in sequence."""
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
    """Return the whole table. A line is ``name import|call letter version/tensorflow,... first-last [flag ...]``."""
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
    """Return the rows about several names: ``*`` matches the part of a name between two dots."""
    return [
        (re.compile(re.escape(row.name).replace(r"\*", r"[^.()]*")), row)
        for (name, its), found in _table().items()
        if "*" in name and its == how
        for row in found
    ]
