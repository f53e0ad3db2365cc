"""Leave out work of TensorFlow and Keras on which no GPU memory depends.

Building the graph of a training step takes most of a run's processor time. With Keras 3 the Python code that builds it
runs twice, because the optimizer and the metrics make their variables while it is built the first time (measured on
TensorFlow 2.21 with ResNet50: 27 of 69 s). Here they make the same variables just before they are needed, and the code
runs once, as with Keras 2. TensorFlow records the Python stack of every node that it makes, and XLA writes it into its
own graph; both only serve messages (4 of 53 s).
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from tfmemlint.verify.child.recording import module

_VARIABLES = "keras.src.backend.tensorflow.core"
"""The module in which Keras 3 makes variables of TensorFlow."""
_OPTIMIZERS = {
    "keras.src.optimizers.base_optimizer": "BaseOptimizer",
    "keras.src.optimizers.loss_scale_optimizer": "LossScaleOptimizer",
}
"""The classes of Keras 3 that make an optimizer's variables when gradients are applied, by their modules."""


def install() -> None:
    """Install all shortcuts. The script decides whether Keras is imported; Keras 2 needs none."""
    _without_stacks()
    shortcuts = _Shortcuts()
    # TensorFlow itself needs wrapt, which waits for an import.
    when_imported = module("wrapt").register_post_import_hook
    when_imported(shortcuts.make_variables_at_once, _VARIABLES)
    for name, kind in _OPTIMIZERS.items():
        when_imported(lambda loaded, kind=kind: shortcuts.build_at_once(getattr(loaded, kind)), name)


def _without_stacks() -> None:
    """Let TensorFlow record no stack for the nodes of graphs."""
    ops = module("tensorflow.python.framework.ops")
    real = ops._create_c_op
    if "extract_traceback" not in inspect.signature(real).parameters:
        return

    def create(*args: Any, **kwargs: Any) -> Any:
        return real(*args, **{**kwargs, "extract_traceback": False})

    ops._create_c_op = create


class _Shortcuts:
    """The shortcuts, which know of each other."""

    def __init__(self) -> None:
        self._building = False
        self._tensorflow = module("tensorflow")

    def _is_tracing(self) -> bool:
        """True in a function that is being traced, without a strategy: under one, Keras makes all variables before."""
        return not self._tensorflow.executing_eagerly() and not self._tensorflow.distribute.has_strategy()

    def make_variables_at_once(self, core: Any) -> None:
        """Let Keras make single variables, such as those of metrics, outside of the function that is being traced."""
        real = core.Variable._initialize_with_initializer
        tensorflow = self._tensorflow

        def not_lifted(make: Any, **options: Any) -> Any:
            return make(**{**options, "experimental_enable_variable_lifting": False})

        def initialize(variable: Any, initializer: Any) -> Any:
            if self._building or not self._is_tracing():
                return real(variable, initializer)
            with tensorflow.init_scope(), tensorflow.variable_creator_scope(not_lifted):
                if tensorflow.executing_eagerly():
                    try:
                        return real(variable, initializer)
                    except Exception:
                        pass  # an initializer that uses tensors of the function
            return real(variable, initializer)

        core.Variable._initialize_with_initializer = initialize

    def build_at_once(self, kind: Any) -> None:
        """Let an optimizer make its variables in a small function of its own.

        In a function, and not eagerly, since TensorFlow keeps the constants of the function that initializes them: a
        percent of ResNet50's peak.
        """
        real = kind.apply

        def apply(own: Any, grads: Any, trainable_variables: Any = None) -> Any:
            if trainable_variables is not None:
                trainable_variables = list(trainable_variables)
                if not own.built and not self._building and self._is_tracing():
                    self._build(own, trainable_variables)
            return real(own, grads, trainable_variables)

        kind.apply = apply

    def _build(self, optimizer: Any, variables: list[Any]) -> None:
        tensorflow = self._tensorflow
        scope: Callable[..., Any] = module("keras.src.backend").name_scope

        def make() -> None:
            if not optimizer.built:  # it is traced twice
                with scope(optimizer.name, caller=optimizer):
                    optimizer.build(variables)
                optimizer.built = True

        self._building = True
        try:
            with tensorflow.init_scope():
                if tensorflow.executing_eagerly():
                    with _without_second_initialization():
                        tensorflow.function(make, autograph=False)()
                    self._initialize_rest(optimizer)
        finally:
            self._building = False

    def _initialize_rest(self, optimizer: Any) -> None:
        """Give a value to the variables that TensorFlow could not initialize in a function of its own."""
        for variable in optimizer.variables:
            value = getattr(variable, "_value", variable)
            if not value.is_initialized():
                value.assign(self._tensorflow.zeros(value.shape, value.dtype))


@contextlib.contextmanager
def _without_second_initialization() -> Iterator[None]:
    """Let a function that makes variables have no branches in which they are initialized.

    TensorFlow initializes them in a function of its own, and builds two branches for each variable for the case that
    this is impossible: most of the work of building an optimizer for ResNet50.
    """
    functions = module("tensorflow.python.eager.polymorphic_function.polymorphic_function")
    real = functions.cond

    class Unconditional:
        """The module ``cond``, without its function."""

        @staticmethod
        def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, **more: Any) -> None:
            """Build nothing."""

    functions.cond = Unconditional
    try:
        yield
    finally:
        functions.cond = real
