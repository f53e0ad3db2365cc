"""Projects whose repair changes a file that is only imported, or hands on what a function is given."""

from __future__ import annotations

from tests.fixes.repaired import REPAIRED as SHALLOW
from tests.fixes.repaired import Repaired

MAIN = """
    from nets.memory import configure_memory
    from nets.model import size


    def main():
        configure_memory()
        print(size())


    if __name__ == "__main__":
        main()
    """
MEMORY = """
    import tensorflow as tf


    def configure_memory():
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    """
PREPARE = """
    import tensorflow as tf


    def prepare(args, seed):
        tf.random.set_seed(seed)
        if args.growth:
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
    """
PARSED = """
    import argparse

    import tensorflow as tf

    from prepare import {imported}


    def main():
        parser = argparse.ArgumentParser()
        parser.add_argument("--growth", default=True)
        parser.add_argument("--width", default=2)
        args = parser.parse_args()
    {call}    weights = tf.ones(args.width)
        prepare(args, 3)
        print(weights.shape)


    if __name__ == "__main__":
        main()
    """

REPAIRED_DEEP: dict[str, Repaired] = {
    "the tensor of a module that a package imports goes into the function that uses it": Repaired(
        {
            "nets/__init__.py": 'from .model import size\n\n__all__ = ["size"]\n',
            "nets/model.py": """
                import tensorflow as tf

                EPSILON = tf.constant(1e-6)


                def size():
                    return float(EPSILON) > 0
                """,
            "nets/memory.py": MEMORY,
            "main.py": MAIN,
        },
        "Move EPSILON into size(), which alone uses it",
        {
            "nets/model.py": """
                import tensorflow as tf


                def size():
                    EPSILON = tf.constant(1e-6)
                    return float(EPSILON) > 0
                """
        },
        entry="main.py",
    ),
    "what a function is given is given to the one that is taken out of it": Repaired(
        {"prepare.py": PREPARE, "main.py": PARSED.format(imported="prepare", call="")},
        "Take configure_gpus() out of prepare() and call it above line 13",
        {
            "prepare.py": """
                import tensorflow as tf


                def configure_gpus(args):
                    if args.growth:
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)


                def prepare(args, seed):
                    tf.random.set_seed(seed)
                """,
            "main.py": PARSED.format(imported="configure_gpus, prepare", call="    configure_gpus(args)\n    "),
        },
        entry="main.py",
    ),
    "a call of a function that a star import gives moves": Repaired(
        {
            "utils.py": MEMORY,
            "main.py": """
                import tensorflow as tf

                from utils import *

                if __name__ == "__main__":
                    weights = tf.ones(2)
                    configure_memory()
                    print(weights.shape)
                """,
        },
        "Move configure_memory() above line 6",
        {
            "main.py": """
                import tensorflow as tf

                from utils import *

                if __name__ == "__main__":
                    configure_memory()
                    weights = tf.ones(2)
                    print(weights.shape)
                """
        },
        entry="main.py",
    ),
    "what the factory of a dataclass makes becomes a cached property": Repaired(
        {
            "train.py": """
                from dataclasses import dataclass, field

                import tensorflow as tf


                @dataclass
                class Options:
                    scale: tf.Tensor = field(default_factory=lambda: tf.constant(2.0))
                    grow: bool = True

                    def configure(self):
                        if self.grow:
                            for gpu in tf.config.list_physical_devices("GPU"):
                                tf.config.experimental.set_memory_growth(gpu, True)


                options = Options()
                options.configure()
                print(float(options.scale))
                """
        },
        "Make Options.scale a cached property, made when it is first used",
        {
            "train.py": """
                import functools
                from dataclasses import dataclass

                import tensorflow as tf


                @dataclass
                class Options:
                    grow: bool = True

                    def configure(self):
                        if self.grow:
                            for gpu in tf.config.list_physical_devices("GPU"):
                                tf.config.experimental.set_memory_growth(gpu, True)

                    @functools.cached_property
                    def scale(self):
                        return tf.constant(2.0)


                options = Options()
                options.configure()
                print(float(options.scale))
                """
        },
    ),
    "an import that only the guarded block uses goes below the configuration there": Repaired(
        {
            "data.py": """
                import tensorflow as tf

                train_set = tf.data.Dataset.range(8)
                """,
            "train.py": """
                import argparse

                import tensorflow as tf

                from data import train_set


                def get_args():
                    return argparse.ArgumentParser().parse_known_args()[0]


                if __name__ == "__main__":
                    args = get_args()
                    gpus = tf.config.list_physical_devices("GPU")
                    if len(vars(args)) < 9:
                        for gpu in gpus:
                            tf.config.experimental.set_memory_growth(gpu, True)
                    print(len(list(train_set)))
                """,
        },
        "Move the import of data below line 15",
        {
            "train.py": """
                import argparse

                import tensorflow as tf


                def get_args():
                    return argparse.ArgumentParser().parse_known_args()[0]


                if __name__ == "__main__":
                    args = get_args()
                    gpus = tf.config.list_physical_devices("GPU")
                    if len(vars(args)) < 9:
                        for gpu in gpus:
                            tf.config.experimental.set_memory_growth(gpu, True)

                    from data import train_set

                    print(len(list(train_set)))
                """
        },
    ),
    "a method that does nothing any more goes": Repaired(
        {
            "train.py": """
                import abc

                import tensorflow as tf


                class Base(abc.ABC):
                    def __init__(self):
                        self.build()
                        # Then the devices.
                        self.prepare_devices()

                    @abc.abstractmethod
                    def build(self):
                        pass

                    def prepare_devices(self):
                        # All of them.
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)


                class Linear(Base):
                    def build(self):
                        self.w = tf.Variable([1.0])


                print(Linear().w.shape)
                """,
        },
        "Take configure_gpus() out of prepare_devices() and call it above self.build()",
        {
            "train.py": """
                import abc

                import tensorflow as tf


                def configure_gpus():
                    # All of them.
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)


                class Base(abc.ABC):
                    def __init__(self):
                        configure_gpus()
                        self.build()

                    @abc.abstractmethod
                    def build(self):
                        pass


                class Linear(Base):
                    def build(self):
                        self.w = tf.Variable([1.0])


                print(Linear().w.shape)
                """,
        },
    ),
    "a method of the same name in another class may be the one that is called": Repaired(
        {
            "train.py": """
                import tensorflow as tf


                class Other:
                    def prepare(self):
                        print("other")


                class Trainer:
                    def __init__(self, other):
                        self.other = other
                        self.model = tf.Variable(1.0)
                        self.prepare()
                        self.other.prepare()

                    def prepare(self):
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)


                Trainer(Other())
                """,
        },
        "Take configure_gpus() out of prepare() and call it above line 12; prepare() stays, as others may call it",
        {
            "train.py": """
                import tensorflow as tf


                class Other:
                    def prepare(self):
                        print("other")


                def configure_gpus():
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)


                class Trainer:
                    def __init__(self, other):
                        self.other = other
                        configure_gpus()
                        self.model = tf.Variable(1.0)
                        self.prepare()
                        self.other.prepare()

                    def prepare(self):
                        configure_gpus()


                Trainer(Other())
                """,
        },
    ),
}

REPAIRED = {**SHALLOW, **REPAIRED_DEEP}
