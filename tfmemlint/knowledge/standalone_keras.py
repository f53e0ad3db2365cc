"""The standalone package ``keras``: from TensorFlow 2.6 on ``tf.keras`` is that very package.

Its objects then do to TensorFlow's runtime what those of ``tf.keras`` do, unless Keras 3 runs on another backend. Seen
on 2.15 with Keras 2.15 and on 2.21 with Keras 3: ``tf.keras.layers.Dropout is keras.layers.Dropout``, and so is every
function of the parts below that both have.
"""

from __future__ import annotations

from tfmemlint.knowledge.releases import Target, position

_PARTS = frozenset(
    {
        *(
            "Input",
            "Layer",
            "Model",
            "Sequential",
            "StatelessScope",
            "Variable",
            "activations",
            "applications",
            "callbacks",
            "config",
            "constraints",
            "datasets",
            "distribution",
            "dtype_policies",
            "export",
            "initializers",
            "preprocessing",
        ),
        *("layers", "losses", "metrics", "models", "ops", "optimizers", "random", "regularizers", "utils"),
    }
)
"""Parts that are the same in both. ``keras.backend`` is none of them: its functions about sessions differ."""
_MOVED = {"saving.load_model": "models.load_model", "saving.save_model": "models.save_model"}
"""The same functions (2.15 and 2.21), by the name that ``tf.keras`` of every release has."""
_SINCE = "2.6"


def name_in_tensorflow(name: str, target: Target) -> str:
    """Return the name in ``tf.keras`` of what ``keras`` calls ``name``; "" if the two differ, or may."""
    package, _, rest = name.partition(".")
    rest = _MOVED.get(rest, rest)
    if package != "keras" or rest.partition(".")[0] not in _PARTS or target.index < position(_SINCE):
        return ""
    return f"tf.keras.{rest}"
