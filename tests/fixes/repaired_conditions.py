"""Projects whose configuration is under a condition, in the head of a ``with``, or is given the fields of an object."""

from __future__ import annotations

from tests.fixes.repaired import Repaired
from tests.fixes.repaired_iterators import REPAIRED as ITERATORS
from tests.fixes.repaired_objects import REPAIRED as OBJECTS

AGENT = """
    import tensorflow as tf


    class Memory:
        def __init__(self, size):
            self.states = tf.Variable(tf.zeros((size, 2)))


    class Agent:
        def __init__(self, memory, growth=True):
            self.memory = memory
            if growth:
                self._grow()

        def _grow(self):
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)

        def act(self):
            return int(tf.size(self.memory.states))
    """
REPAIRED_AGENT = """
    import tensorflow as tf


    class Memory:
        def __init__(self, size):
            self.states = tf.Variable(tf.zeros((size, 2)))


    def configure_gpus():
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)


    class Agent:
        def __init__(self, memory, growth=True):
            self.memory = memory
            if growth:
                self._grow()

        def _grow(self):
            configure_gpus()

        def act(self):
            return int(tf.size(self.memory.states))
    """

REPAIRED: dict[str, Repaired] = (
    OBJECTS
    | ITERATORS
    | {
        "a default that is true needs no condition": Repaired(
            {
                "agent.py": AGENT,
                "train.py": """
                from agent import Agent, Memory


                def main():
                    memory = Memory(4)
                    agent = Agent(memory)
                    print(agent.act())


                main()
                """,
            },
            "Take configure_gpus() out of _grow() and call it above line 5; _grow() stays, as others may call it",
            {
                "agent.py": REPAIRED_AGENT,
                "train.py": """
                from agent import Agent, Memory, configure_gpus


                def main():
                    configure_gpus()
                    memory = Memory(4)
                    agent = Agent(memory)
                    print(agent.act())


                main()
                """,
            },
        ),
        "the condition of what was parsed goes along": Repaired(
            {
                "agent.py": AGENT,
                "train.py": """
                import argparse

                from agent import Agent, Memory


                def main():
                    parser = argparse.ArgumentParser()
                    parser.add_argument("--growth", default=True)
                    parser.add_argument("--size", type=int, default=4)
                    args = parser.parse_args()
                    memory = Memory(args.size)
                    agent = Agent(memory, growth=args.growth)
                    print(agent.act())


                main()
                """,
            },
            "Take configure_gpus() out of _grow() and call it above line 11; _grow() stays, as others may call it",
            {
                "agent.py": REPAIRED_AGENT,
                "train.py": """
                import argparse

                from agent import Agent, Memory, configure_gpus


                def main():
                    parser = argparse.ArgumentParser()
                    parser.add_argument("--growth", default=True)
                    parser.add_argument("--size", type=int, default=4)
                    args = parser.parse_args()
                    if args.growth:
                        configure_gpus()
                    memory = Memory(args.size)
                    agent = Agent(memory, growth=args.growth)
                    print(agent.act())


                main()
                """,
            },
        ),
        "the condition of a call that is made above as well goes along": Repaired(
            {
                "gpu.py": """
                import tensorflow as tf


                def grow():
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)
                """,
                "agent.py": """
                import tensorflow as tf

                from gpu import grow


                class Memory:
                    def __init__(self, size):
                        self.states = tf.Variable(tf.zeros((size, 2)))


                class Agent:
                    def __init__(self, memory, options):
                        self.memory = memory
                        if options.growth and options.device == "gpu":
                            grow()

                    def act(self):
                        return int(tf.size(self.memory.states))
                """,
                "train.py": """
                import argparse

                from agent import Agent, Memory


                def main():
                    parser = argparse.ArgumentParser()
                    parser.add_argument("--growth", default=True)
                    parser.add_argument("--device", default="gpu")
                    args = parser.parse_args()
                    memory = Memory(4)
                    agent = Agent(memory, args)
                    print(agent.act())


                main()
                """,
            },
            "Call grow() above line 11 as well",
            {
                "train.py": """
                import argparse

                from agent import Agent, Memory
                from gpu import grow


                def main():
                    parser = argparse.ArgumentParser()
                    parser.add_argument("--growth", default=True)
                    parser.add_argument("--device", default="gpu")
                    args = parser.parse_args()
                    if args.growth and args.device == "gpu":
                        grow()
                    memory = Memory(4)
                    agent = Agent(memory, args)
                    print(agent.act())


                main()
                """
            },
        ),
        "the fields of a dataclass are only read": Repaired(
            {
                "train.py": """
                from dataclasses import asdict, dataclass

                import tensorflow as tf


                @dataclass
                class Options:
                    growth: bool = True
                    soft: bool = True


                def configure(growth, soft):
                    tf.config.set_soft_device_placement(soft)
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, growth)


                def load(options):
                    return tf.data.Dataset.range(4 if options.soft else 2)


                def main():
                    options = Options()
                    data = load(options)
                    configure(**asdict(options))
                    print(len(data))


                main()
                """
            },
            "Move the configuration above what starts the runtime",
            {
                "train.py": """
                from dataclasses import asdict, dataclass

                import tensorflow as tf


                @dataclass
                class Options:
                    growth: bool = True
                    soft: bool = True


                def configure(growth, soft):
                    tf.config.set_soft_device_placement(soft)
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, growth)


                def load(options):
                    return tf.data.Dataset.range(4 if options.soft else 2)


                def main():
                    options = Options()
                    configure(**asdict(options))
                    data = load(options)
                    print(len(data))


                main()
                """
            },
        ),
        "what starts the runtime goes into the block of a context manager that configures": Repaired(
            {
                "gpus.py": """
                from contextlib import contextmanager

                import tensorflow as tf


                @contextmanager
                def growing_memory(enabled=True):
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, enabled)
                    yield
                """,
                "train.py": """
                import tensorflow as tf

                from gpus import growing_memory


                def evaluate(rows):
                    # The labels are the same for all.
                    labels = tf.one_hot([0, 1], 2)
                    scores = tf.nn.softmax(rows)
                    with growing_memory():
                        print(scores.shape, labels.shape)
                    return labels


                print(evaluate([[1.0, 0.0], [0.0, 1.0]]).shape)
                """,
            },
            "Move 2 statements into the 'with growing_memory()' that is below",
            {
                "train.py": """
                import tensorflow as tf

                from gpus import growing_memory


                def evaluate(rows):
                    with growing_memory():
                        # The labels are the same for all.
                        labels = tf.one_hot([0, 1], 2)
                        scores = tf.nn.softmax(rows)
                        print(scores.shape, labels.shape)
                    return labels


                print(evaluate([[1.0, 0.0], [0.0, 1.0]]).shape)
                """
            },
        ),
        "what a registry's decorator is given is made when it is used": Repaired(
            {
                "registry.py": """
                LOSSES = {}


                def register(name, weight=1.0):
                    def decorate(function):
                        def weighted(*values):
                            return weight * function(*values)

                        LOSSES[name] = weighted
                        return function

                    return decorate
                """,
                "losses.py": """
                import tensorflow as tf

                from registry import register


                @register("focal", tf.constant(0.5))
                def focal(true, predicted):
                    return tf.abs(true - predicted)


                @register(name="squared", weight=2)
                def squared(true, predicted):
                    return (true - predicted) ** 2


                @register("plain")
                def plain(true, predicted):
                    return true - predicted
                """,
                "train.py": """
                import argparse

                import tensorflow as tf

                import losses
                from registry import LOSSES


                def main():
                    parser = argparse.ArgumentParser()
                    parser.add_argument("--growth", default=True)
                    parser.add_argument("--loss", default="focal", choices=sorted(LOSSES))
                    args = parser.parse_args()
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, args.growth)
                    print(losses.__name__, float(LOSSES[args.loss](3.0, 1.0)))


                main()
                """,
            },
            "Make weight of register() when it is used",
            {
                "registry.py": """
                LOSSES = {}


                def register(name, weight=lambda: 1.0):
                    def decorate(function):
                        def weighted(*values):
                            return weight() * function(*values)

                        LOSSES[name] = weighted
                        return function

                    return decorate
                """,
                "losses.py": """
                import tensorflow as tf

                from registry import register


                @register("focal", lambda: tf.constant(0.5))
                def focal(true, predicted):
                    return tf.abs(true - predicted)


                @register(name="squared", weight=lambda: 2)
                def squared(true, predicted):
                    return (true - predicted) ** 2


                @register("plain")
                def plain(true, predicted):
                    return true - predicted
                """,
            },
        ),
        "what starts the runtime goes into the block of an object that configures": Repaired(
            {
                "gpus.py": """
                import tensorflow as tf


                class Growing:
                    def __enter__(self):
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)

                    def __exit__(self, *error):
                        return False
                """,
                "train.py": """
                import tensorflow as tf

                import gpus


                def main():
                    images = tf.zeros((2, 2))
                    with gpus.Growing():
                        total = tf.reduce_sum(images)
                    print(float(total), images.shape)


                main()
                """,
            },
            "Move line 7 into the 'with gpus.Growing()' that is below",
            {
                "train.py": """
                import tensorflow as tf

                import gpus


                def main():
                    with gpus.Growing():
                        images = tf.zeros((2, 2))
                        total = tf.reduce_sum(images)
                    print(float(total), images.shape)


                main()
                """
            },
        ),
    }
)
