"""The standalone package ``keras``, as far as it does what ``tf.keras`` does.

From TensorFlow 2.6 on ``tf.keras`` is that very package. Its objects do to TensorFlow's runtime what those of
``tf.keras`` do, unless Keras 3 runs on another backend. Seen on 2.15 with Keras 2.15 and on 2.21 with Keras 3:
``tf.keras.layers.Dropout is keras.layers.Dropout``, and so is every function of the parts below that both have.

With 2.3 and 2.4 the package is Keras 2.4, which forwards to ``tf.keras``: no earlier one makes a layer there (2.3.1
with 2.3.4: AttributeError ``_TensorLike``). 2.5 brings a copy of its own. With 2.0 to 2.2 it may be Keras 2.3.1 too, an
implementation of its own. Seen with 2.0.4 and 2.2.3: it starts the runtime where ``tf.keras`` does, when layers are
built, models compiled and metrics made. 84 of its layers were made, and none of them does so then, where those of
``tf.keras`` that are called ``LSTM`` and ``GRU`` do.

On TensorFlow 1 it is an implementation of its own, too, and makes a session where ``tf.keras`` makes one. Seen of 2.3.1
and of ``tf.keras`` on 1.15.5: where models are fitted, asked for weights, saved and loaded, where a variable's value is
asked for or set, and by ``get_session``.
"""

from __future__ import annotations

import re

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
_SINCE = "2.0"
_FORWARDED_SINCE = "2.3"
_BACKEND = re.compile(r"backend\.(?:tensorflow_backend\.)?(get_session|(?:batch_)?[gs]et_value|eval|function)\Z")
"""Functions of the backend that make a session under TensorFlow 1 (2.3.1 on 1.15.5). Those of ``tf.keras`` do so, too,
but for ``function``: there the call of its result does."""
_OWN = re.compile(r"layers\.(?:recurrent\.|experimental\.)?(?:LSTM|GRU)\b|optimizers\b")
"""Parts that Keras 2.3.1 implements in its own way: its optimizers start the runtime, its layers do not."""


def name_in_tensorflow(name: str, target: Target) -> str:
    """Return the name in ``tf.keras`` of what ``keras`` calls ``name``; "" if the two differ, or may."""
    package, _, rest = name.partition(".")
    rest = _MOVED.get(rest, rest)
    if package != "keras":
        return ""
    if target.index < position(_SINCE) and (of_session := _BACKEND.match(rest)) is not None:
        return f"tf.keras.backend.{of_session[1]}{'()' if of_session[1] == 'function' else ''}"
    if rest.partition(".")[0] not in _PARTS:
        return ""
    if target.index < position(_FORWARDED_SINCE) and _OWN.match(rest):
        return ""
    return f"tf.keras.{rest}"
