"""Projects whose repair moves what a method configures, what an object is given, or what is printed."""

from __future__ import annotations

from tests.fixes.repaired import Repaired
from tests.fixes.repaired_starters import REPAIRED as STARTERS

REPAIRED: dict[str, Repaired] = STARTERS | {
    "what a method configures goes into the constructor that starts the runtime": Repaired(
        {
            "train.py": """
                import threading

                import tensorflow as tf


                class Service:
                    _lock = threading.Lock()

                    def __init__(self, settings):
                        self.settings = settings
                        self.table = tf.Variable([1.0, 2.0])
                        self.started = False

                    def start(self):
                        with self._lock:
                            if self.started:
                                return
                            if self.settings["share"]:
                                # Others use these GPUs as well.
                                for gpu in tf.config.list_physical_devices("GPU"):
                                    tf.config.experimental.set_memory_growth(gpu, True)
                            self.started = True

                    def handle(self, number):
                        self.start()
                        return self.table[number]


                print(Service({"share": True}).handle(1))
                """
        },
        "Move the configuration from start() into Service.__init__()",
        {
            "train.py": """
                import threading

                import tensorflow as tf


                class Service:
                    _lock = threading.Lock()

                    def __init__(self, settings):
                        self.settings = settings
                        if self.settings["share"]:
                            # Others use these GPUs as well.
                            for gpu in tf.config.list_physical_devices("GPU"):
                                tf.config.experimental.set_memory_growth(gpu, True)
                        self.table = tf.Variable([1.0, 2.0])
                        self.started = False

                    def start(self):
                        with self._lock:
                            if self.started:
                                return
                            self.started = True

                    def handle(self, number):
                        self.start()
                        return self.table[number]


                print(Service({"share": True}).handle(1))
                """
        },
    ),
    "a function that lists the devices comes after one that prints": Repaired(
        {
            "train.py": """
                import tensorflow as tf


                def banner():
                    for device in tf.config.list_logical_devices():
                        print(device.name)


                def grow(growth):
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, growth)
                        print(gpu.name, growth)


                def main():
                    banner()
                    grow(True)
                    print(tf.ones(2))


                if __name__ == "__main__":
                    main()
                """
        },
        "Move grow(True) above banner(); what is printed or written comes in another order then",
        {
            "train.py": """
                import tensorflow as tf


                def banner():
                    for device in tf.config.list_logical_devices():
                        print(device.name)


                def grow(growth):
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, growth)
                        print(gpu.name, growth)


                def main():
                    grow(True)
                    banner()
                    print(tf.ones(2))


                if __name__ == "__main__":
                    main()
                """
        },
    ),
    "an attribute is what the constructor is given": Repaired(
        {
            "train.py": """
                import tensorflow as tf


                class Series:
                    def __init__(self, values):
                        self.data = tf.data.Dataset.from_tensor_slices(values)


                class Forecaster:
                    def __init__(self, settings):
                        self.settings = settings
                        self.set_growth()
                        self.weight = tf.Variable(1.0)

                    def set_growth(self):
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, self.settings["growth"])


                def main():
                    settings = {"growth": True}
                    series = Series([1.0, 2.0])
                    forecaster = Forecaster(settings)
                    print(len(series.data), float(forecaster.weight))


                if __name__ == "__main__":
                    main()
                """
        },
        "Take configure_gpus() out of set_growth() and call it above line 22; "
        "set_growth() stays, as others may call it",
        {
            "train.py": """
                import tensorflow as tf


                class Series:
                    def __init__(self, values):
                        self.data = tf.data.Dataset.from_tensor_slices(values)


                def configure_gpus(settings):
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, settings["growth"])


                class Forecaster:
                    def __init__(self, settings):
                        self.settings = settings
                        self.set_growth()
                        self.weight = tf.Variable(1.0)

                    def set_growth(self):
                        configure_gpus(self.settings)


                def main():
                    settings = {"growth": True}
                    configure_gpus(settings)
                    series = Series([1.0, 2.0])
                    forecaster = Forecaster(settings)
                    print(len(series.data), float(forecaster.weight))


                if __name__ == "__main__":
                    main()
                """
        },
    ),
    "what is counted does not start the runtime": Repaired(
        {
            "train.py": """
                import tensorflow as tf

                from settings import REPLICAS


                def main(count):
                    if count < 9:
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)
                    print(count, tf.ones(2))


                if __name__ == "__main__":
                    main(REPLICAS)
                """,
            "settings.py": """
                import tensorflow as tf

                REPLICAS = max(1, len(tf.config.list_logical_devices("GPU")))
                """,
        },
        "Count the GPUs in line 3 with list_physical_devices, which does not start the runtime",
        {
            "settings.py": """
                import tensorflow as tf

                REPLICAS = max(1, len(tf.config.list_physical_devices("GPU")))
                """
        },
    ),
    "an optimizer that is a default is made anew": Repaired(
        {
            "train.py": """
                from fitting import fit, grow

                grow()
                print(fit())
                """,
            "fitting.py": """
                import tensorflow as tf


                def grow():
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)


                def fit(optimizer=tf.keras.optimizers.AdamW(2e-3)):
                    return optimizer.learning_rate
                """,
        },
        "Make the default of optimizer in fit() anew in each call",
        {
            "fitting.py": """
                import tensorflow as tf


                def grow():
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)


                def fit(optimizer=None):
                    if optimizer is None:
                        optimizer = tf.keras.optimizers.AdamW(2e-3)
                    return optimizer.learning_rate
                """
        },
    ),
    "a metric of a class becomes one of each object": Repaired(
        {
            "train.py": """
                from scoring import Scores, grow

                grow()
                print(Scores().name())
                """,
            "scoring.py": """
                import tensorflow as tf


                class Scores:
                    auc = tf.keras.metrics.AUC(name="auc")

                    def name(self):
                        return self.auc.name


                def grow():
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)
                """,
        },
        "Make Scores.auc a cached property: each object has its own, made when it is first used",
        {
            "scoring.py": """
                import functools

                import tensorflow as tf


                class Scores:
                    @functools.cached_property
                    def auc(self):
                        return tf.keras.metrics.AUC(name="auc")

                    def name(self):
                        return self.auc.name


                def grow():
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)
                """
        },
    ),
    "the factory of a field that is TensorFlow's": Repaired(
        {
            "train.py": """
                from settings import Settings

                settings = Settings()
                settings.grow()
                print(settings.optimizer.name)
                """,
            "settings.py": """
                from dataclasses import dataclass, field

                import tensorflow as tf


                @dataclass
                class Settings:
                    growth: bool = True
                    optimizer: object = field(default_factory=tf.keras.optimizers.Adam)

                    def grow(self):
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, self.growth)
                """,
        },
        "Make Settings.optimizer a cached property, made when it is first used",
        {
            "settings.py": """
                import functools
                from dataclasses import dataclass

                import tensorflow as tf


                @dataclass
                class Settings:
                    growth: bool = True

                    def grow(self):
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, self.growth)

                    @functools.cached_property
                    def optimizer(self):
                        return tf.keras.optimizers.Adam()
                """
        },
    ),
}
