"""Projects whose repair moves what a method configures, what an object is given, or what is printed."""

from __future__ import annotations

from tests.fixes.repaired import Repaired
from tests.fixes.repaired_starters import REPAIRED as STARTERS

REPAIRED: dict[str, Repaired] = STARTERS | {
    "what a method configures goes into the constructor that starts the runtime": Repaired(
        {
            "train.py": """
                import os
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
                                # Others use this GPU as well.
                                os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
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
                import os
                import threading

                import tensorflow as tf


                class Service:
                    _lock = threading.Lock()

                    def __init__(self, settings):
                        self.settings = settings
                        if self.settings["share"]:
                            # Others use this GPU as well.
                            os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
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


                def limit_gpus(limit):
                    for gpu in tf.config.list_physical_devices("GPU"):
                        half = tf.config.LogicalDeviceConfiguration(memory_limit=limit)
                        tf.config.set_logical_device_configuration(gpu, [half])
                        print(gpu.name, limit)


                def main():
                    banner()
                    limit_gpus(1024)
                    print(tf.ones(2))


                if __name__ == "__main__":
                    main()
                """
        },
        "Move limit_gpus(1024) above banner(); what is printed or written comes in another order then",
        {
            "train.py": """
                import tensorflow as tf


                def banner():
                    for device in tf.config.list_logical_devices():
                        print(device.name)


                def limit_gpus(limit):
                    for gpu in tf.config.list_physical_devices("GPU"):
                        half = tf.config.LogicalDeviceConfiguration(memory_limit=limit)
                        tf.config.set_logical_device_configuration(gpu, [half])
                        print(gpu.name, limit)


                def main():
                    limit_gpus(1024)
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
                        self.limit_gpu()
                        self.weight = tf.Variable(1.0)

                    def limit_gpu(self):
                        gpus = tf.config.list_physical_devices("GPU")
                        if gpus:
                            half = tf.config.LogicalDeviceConfiguration(memory_limit=self.settings["limit"])
                            tf.config.set_logical_device_configuration(gpus[0], [half])


                def main():
                    settings = {"limit": 1024}
                    series = Series([1.0, 2.0])
                    forecaster = Forecaster(settings)
                    print(series.data, forecaster.weight)


                if __name__ == "__main__":
                    main()
                """
        },
        "Take configure_gpus() out of limit_gpu() and call it above line 24; limit_gpu() stays, as others may call it",
        {
            "train.py": """
                import tensorflow as tf


                class Series:
                    def __init__(self, values):
                        self.data = tf.data.Dataset.from_tensor_slices(values)


                def configure_gpus(settings):
                    gpus = tf.config.list_physical_devices("GPU")
                    if gpus:
                        half = tf.config.LogicalDeviceConfiguration(memory_limit=settings["limit"])
                        tf.config.set_logical_device_configuration(gpus[0], [half])


                class Forecaster:
                    def __init__(self, settings):
                        self.settings = settings
                        self.limit_gpu()
                        self.weight = tf.Variable(1.0)

                    def limit_gpu(self):
                        configure_gpus(self.settings)


                def main():
                    settings = {"limit": 1024}
                    configure_gpus(settings)
                    series = Series([1.0, 2.0])
                    forecaster = Forecaster(settings)
                    print(series.data, forecaster.weight)


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
                print(settings.strategy)
                """,
            "settings.py": """
                from dataclasses import dataclass, field

                import tensorflow as tf


                @dataclass
                class Settings:
                    growth: bool = True
                    strategy: tf.distribute.Strategy = field(default_factory=tf.distribute.MirroredStrategy)

                    def grow(self):
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, self.growth)
                """,
        },
        "Make Settings.strategy a cached property, made when it is first used",
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
                    def strategy(self):
                        return tf.distribute.MirroredStrategy()
                """
        },
    ),
}
