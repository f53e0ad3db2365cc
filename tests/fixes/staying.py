"""Programs whose configuration can't come in time by any repair, and the reason that is given."""

from __future__ import annotations

from tests.fixes.moving import MAIN

STAYS: dict[str, tuple[dict[str, str], str]] = {
    "the object that configures is made of what starts the runtime": (
        {
            "config.py": """
                import tensorflow as tf


                class Config:
                    def __init__(self, net):
                        self.net = net

                    def show_first(self):
                        gpus = tf.config.list_physical_devices("GPU")
                        if len(gpus) > len(self.net.shape):
                            tf.config.set_visible_devices(gpus[0], "GPU")
                """,
            "train.py": """
                import tensorflow as tf

                from config import Config

                net = tf.Variable(tf.zeros([2]))
                config = Config(net)
                config.show_first()
                """,
        },
        "it needs net, which line 5 gives",
    ),
    "it is what is done where the import fails": (
        {
            "core/broken.py": """
                import tensorflow as tf

                tf.zeros([1])
                raise ImportError
                """,
            "train.py": """
                import tensorflow as tf

                try:
                    import core.broken
                except ImportError:
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)
                """,
        },
        "are in one statement",
    ),
    "others take the import from the module": (
        {
            "train.py": MAIN,
            "sweep.py": "from train import decode\n\nprint(decode)\n",
            "export.py": "from core.yolov4 import decode\n\nprint(decode)\n",
        },
        "the statement around it does more than configure: np.ones(...)",
    ),
    "what would move along starts the runtime itself": (
        {
            "core/devices.py": """
                import tensorflow as tf

                weights = tf.zeros([1])
                chosen = ["GPU"]
                """,
            "train.py": """
                import tensorflow as tf
                from core.yolov4 import decode
                from core.devices import chosen

                for gpu in tf.config.list_physical_devices(chosen[0]):
                    tf.config.experimental.set_memory_growth(gpu, True)
                """,
        },
        "the import in line 3 does more than configure: tf.zeros(...) in core/devices.py",
    ),
    "the object gets the field of a dataclass as an argument": (
        {
            "train.py": """
                from dataclasses import dataclass, field

                import tensorflow as tf


                @dataclass
                class Options:
                    grow: bool = True
                    scale: tf.Tensor = field(default_factory=lambda: tf.constant(2.0))

                    def configure(self):
                        if self.grow:
                            for gpu in tf.config.list_physical_devices("GPU"):
                                tf.config.experimental.set_memory_growth(gpu, True)


                options = Options(True, tf.ones([2]))
                options.configure()
                print(options.grow)
                """,
        },
        "it needs options, which line 17 gives",
    ),
    "the object is printed with all its fields": (
        {
            "train.py": """
                from dataclasses import dataclass, field

                import tensorflow as tf


                @dataclass
                class Options:
                    grow: bool = True
                    scale: tf.Tensor = field(default_factory=lambda: tf.constant(2.0))

                    def configure(self):
                        if self.grow:
                            for gpu in tf.config.list_physical_devices("GPU"):
                                tf.config.experimental.set_memory_growth(gpu, True)


                options = Options()
                options.configure()
                print(options)
                """,
        },
        "it needs options, which line 17 gives",
    ),
    "the condition has another value by then": (
        {
            "train.py": """
                import tensorflow as tf


                class Agent:
                    def __init__(self, states, growth):
                        self.states = states
                        if growth:
                            self._grow()

                    def _grow(self):
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)


                def main(options):
                    states = tf.zeros((4, 2))
                    options["growth"] = options["growth"] or states.shape[0] > 2
                    print(Agent(states, options["growth"]).states.shape)


                main({"growth": False})
                """
        },
        "it needs states, which line 16 gives",
    ),
    "a function of the program's own counts who asks for the fields": (
        {
            "train.py": """
                import tensorflow as tf


                class Options:
                    growth = True
                    asked = 0


                def asdict(options):
                    options.asked += 1
                    return {"growth": options.growth}


                def configure(growth):
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, growth)


                options = Options()
                data = tf.zeros((options.asked + 1,))
                configure(**asdict(options))
                print(data.shape)
                """
        },
        "options may be changed by it, and is used in between",
    ),
    "a registry keeps what it is given": (
        {
            "train.py": """
                import argparse

                import tensorflow as tf

                WEIGHTS = {}


                def register(name, weight):
                    WEIGHTS[name] = weight

                    def decorate(function):
                        return lambda value: weight * function(value)

                    return decorate


                @register("plain", tf.constant(2.0))
                def plain(value):
                    return value


                def main():
                    parser = argparse.ArgumentParser()
                    parser.add_argument("--growth", default=True)
                    args = parser.parse_args()
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, args.growth)
                    print(float(plain(1.0)), WEIGHTS)


                main()
                """
        },
        "the statement around it does more than configure",
    ),
}
