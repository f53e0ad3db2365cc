"""Count training steps, however they are written, by the fact that training takes gradients.

If a gradient is taken eagerly, each call is a step. If it is taken inside a function that is being traced, each call of
that function is a step. If it is put into a graph of TensorFlow 1, each run of a session that fetches something behind
it is a step. Keras does one of the first two. Calls from different places are counted separately, so that the two
networks of a GAN don't count twice.
"""

from __future__ import annotations

import importlib
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from tfmemlint.verify.child.recording import module

MAX_STEPS_WITHOUT_UPDATE = 64
"""The number of steps after which a run ends that has an optimizer and never applies it: few accumulate over more."""


class StepCounter:
    """The training steps of a run."""

    def __init__(
        self, wanted: int, after: Callable[[int], None], enough: Callable[[], None], incomplete: Callable[[], bool]
    ) -> None:
        """Prepare to count.

        Args:
            wanted: the number of steps after which ``enough`` is called; 0 for never.
            after: called after each step, with its number.
            enough: ends the run and does not return. It is called when the next step would begin, so that everything
                that belongs to the last step is over.
            incomplete: asked then; True if the steps so far have not done all that a training does.
        """
        self._wanted = wanted
        self._after = after
        self._enough = enough
        self._incomplete = incomplete
        self._counts: Counter[Any] = Counter()
        self._training: weakref.WeakSet[Any] = weakref.WeakSet()
        self._behind: weakref.WeakKeyDictionary[Any, dict[str, bool]] = weakref.WeakKeyDictionary()

    @property
    def done(self) -> int:
        """Return the number of steps that have ended."""
        return max(self._counts.values(), default=0)

    def install(self) -> None:
        """Watch the TensorFlow of this process."""
        self._watch_tape(module("tensorflow.python.eager.backprop").GradientTape)
        self._watch_graphs(module("tensorflow.python.ops.gradients_util"))
        self._watch_functions(_concrete_function())
        self._watch_sessions(module("tensorflow.python.client.session").BaseSession)

    def _begin(self, key: Any) -> None:
        done = self._counts[key]
        if not self._wanted or done < self._wanted:
            return
        if done >= MAX_STEPS_WITHOUT_UPDATE or not self._incomplete():
            self._enough()

    def _end(self, key: Any) -> None:
        before = self.done
        self._counts[key] += 1
        if self.done > before:
            self._after(self.done)

    def _watch_tape(self, tape: Any) -> None:
        real = tape.gradient
        context = module("tensorflow.python.eager.context")

        def gradient(own: Any, *args: Any, **kwargs: Any) -> Any:
            if not context.executing_eagerly():
                self._mark()
                return real(own, *args, **kwargs)
            frame = sys._getframe(1)
            key = (frame.f_code, frame.f_lineno)
            self._begin(key)
            found = real(own, *args, **kwargs)
            self._end(key)
            return found

        tape.gradient = gradient

    def _watch_graphs(self, gradients: Any) -> None:
        real = gradients._GradientsHelper

        def helper(*args: Any, **kwargs: Any) -> Any:
            found = real(*args, **kwargs)
            self._mark()
            for gradient in found:
                operation = getattr(getattr(gradient, "values", gradient), "op", None)
                if operation is not None:
                    self._behind.setdefault(operation.graph, {})[operation.name] = True
            return found

        gradients._GradientsHelper = helper

    def _mark(self) -> None:
        """Mark the graph that is being traced as training, and the graphs around it."""
        graph = module("tensorflow.python.framework.ops").get_default_graph()
        while graph is not None:
            self._training.add(graph)
            graph = getattr(graph, "outer_graph", None)

    def _watch_functions(self, function: Any) -> None:
        real = function._call_flat
        context = module("tensorflow.python.eager.context")

        def call_flat(own: Any, *args: Any, **kwargs: Any) -> Any:
            if own.graph not in self._training:
                return real(own, *args, **kwargs)
            if not context.executing_eagerly():
                self._mark()
                return real(own, *args, **kwargs)
            key = own.graph.name
            self._begin(key)
            found = real(own, *args, **kwargs)
            self._end(key)
            return found

        function._call_flat = call_flat

    def _watch_sessions(self, session: Any) -> None:
        real = session.run

        def run(own: Any, fetches: Any, *args: Any, **kwargs: Any) -> Any:
            if not self._trains(own.graph, fetches):
                return real(own, fetches, *args, **kwargs)
            key = ("session", id(own.graph))
            self._begin(key)
            found = real(own, fetches, *args, **kwargs)
            self._end(key)
            return found

        session.run = run
        make = session._make_callable_from_options

        def make_callable(own: Any, options: Any) -> Any:
            made = make(own, options)
            if not self._trains(own.graph, [*options.fetch, *options.target]):
                return made
            key = ("session", id(own.graph))

            def call(*args: Any, **kwargs: Any) -> Any:
                self._begin(key)
                found = made(*args, **kwargs)
                self._end(key)
                return found

            return call

        # Keras runs a graph of TensorFlow 1 so.
        session._make_callable_from_options = make_callable

    def _trains(self, graph: Any, fetches: Any) -> bool:
        """True if something that is fetched depends on a gradient."""
        known = self._behind.get(graph)
        if not known:
            return False
        for fetched in _flat(fetches):
            try:
                element = graph.as_graph_element(fetched, allow_tensor=True, allow_operation=True)
            except (TypeError, ValueError, KeyError):
                continue
            if _depends(getattr(element, "op", element), known):
                return True
        return False


def _flat(fetches: Any) -> list[Any]:
    """Return what is fetched, one by one. Keys are not sorted, as a monitored session has its hooks as keys."""
    if isinstance(fetches, Mapping):
        return [tensor for part in fetches.values() for tensor in _flat(part)]
    if isinstance(fetches, list | tuple):
        return [tensor for part in fetches for tensor in _flat(part)]
    return [fetches]


def _depends(operation: Any, known: dict[str, bool]) -> bool:
    """True if an operation depends on one that ``known`` maps to True. The result is added to ``known``."""
    waiting = [operation]
    names: set[str] = set()
    while waiting:
        current = waiting.pop()
        if known.get(current.name):
            known[operation.name] = True
            return True
        if current.name in names or current.name in known:
            continue
        names.add(current.name)
        waiting += [tensor.op for tensor in current.inputs]
        waiting += current.control_inputs
    known.update(dict.fromkeys(names, False))
    return False


def _concrete_function() -> Any:
    """Return the class of traced functions, whose module differs between releases."""
    package = "tensorflow.python.eager.polymorphic_function"
    try:
        return importlib.import_module(f"{package}.concrete_function").ConcreteFunction
    except ImportError:
        return module(f"{package}.monomorphic_function").ConcreteFunction
