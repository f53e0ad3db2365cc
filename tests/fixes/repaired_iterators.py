"""Projects in which what configures when it is gone through is made in time, and gone through too late."""

from __future__ import annotations

from tests.fixes.repaired import Repaired

REPAIRED: dict[str, Repaired] = {
    "a generator that is joined after the start becomes a list": Repaired(
        {
            "train.py": """
                import tensorflow as tf


                def claim(growth=True):
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, growth)
                        yield gpu.device_type


                def main():
                    claimed = claim()
                    total = tf.reduce_sum(tf.ones(3))
                    print("used", ", ".join(claimed), float(total))


                main()
                """
        },
        "Run claim() to its end where it is made",
        {
            "train.py": """
                import tensorflow as tf


                def claim(growth=True):
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, growth)
                        yield gpu.device_type


                def main():
                    claimed = list(claim())
                    total = tf.reduce_sum(tf.ones(3))
                    print("used", ", ".join(claimed), float(total))


                main()
                """
        },
    ),
    "a generator of which more is asked becomes an iterator over a list": Repaired(
        {
            "train.py": """
                import tensorflow as tf


                def claim(growth=True):
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, growth)
                        yield gpu.device_type


                def main():
                    claimed = claim(growth=True)
                    print(float(tf.reduce_sum(tf.ones(3))))
                    if claimed:
                        print(list(claimed))
                    print(list(claimed))


                main()
                """
        },
        "Run claim(...) to its end where it is made",
        {
            "train.py": """
                import tensorflow as tf


                def claim(growth=True):
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, growth)
                        yield gpu.device_type


                def main():
                    claimed = iter(list(claim(growth=True)))
                    print(float(tf.reduce_sum(tf.ones(3))))
                    if claimed:
                        print(list(claimed))
                    print(list(claimed))


                main()
                """
        },
    ),
    "a map that a function returns becomes an iterator over a list for its object": Repaired(
        {
            "train.py": """
                import tensorflow as tf


                def grow(gpu):
                    tf.config.experimental.set_memory_growth(gpu, True)
                    return gpu.device_type


                def prepare():
                    return map(grow, tf.config.list_physical_devices("GPU"))


                class Trainer:
                    def __init__(self, sizes):
                        self.types = prepare()
                        self.weights = [tf.ones(size) for size in sizes]

                    def show(self):
                        print(len(self.weights), *self.types)


                def main(sizes):
                    Trainer(sizes).show()


                main([1, 2])
                """
        },
        "Run map(...) to its end where it is made",
        {
            "train.py": """
                import tensorflow as tf


                def grow(gpu):
                    tf.config.experimental.set_memory_growth(gpu, True)
                    return gpu.device_type


                def prepare():
                    return iter(list(map(grow, tf.config.list_physical_devices("GPU"))))


                class Trainer:
                    def __init__(self, sizes):
                        self.types = prepare()
                        self.weights = [tf.ones(size) for size in sizes]

                    def show(self):
                        print(len(self.weights), *self.types)


                def main(sizes):
                    Trainer(sizes).show()


                main([1, 2])
                """
        },
    ),
    "a generator expression that a function goes through becomes a list": Repaired(
        {
            "train.py": """
                import tensorflow as tf


                def grow(gpu):
                    tf.config.experimental.set_memory_growth(gpu, True)
                    return gpu.device_type


                def report(types):
                    for number, name in enumerate(types):
                        print(number, name)


                def main(gpus):
                    types = (grow(gpu) for gpu in gpus if gpu)
                    print(float(tf.reduce_sum(tf.ones(3))))
                    report(types)


                main(tf.config.list_physical_devices("GPU"))
                """
        },
        "Run the generator expression in line 15 to its end where it is made",
        {
            "train.py": """
                import tensorflow as tf


                def grow(gpu):
                    tf.config.experimental.set_memory_growth(gpu, True)
                    return gpu.device_type


                def report(types):
                    for number, name in enumerate(types):
                        print(number, name)


                def main(gpus):
                    types = [grow(gpu) for gpu in gpus if gpu]
                    print(float(tf.reduce_sum(tf.ones(3))))
                    report(types)


                main(tf.config.list_physical_devices("GPU"))
                """
        },
    ),
    "a starmap in a chain becomes a list": Repaired(
        {
            "train.py": """
                import itertools

                import tensorflow as tf


                def grow(gpu, growth):
                    tf.config.experimental.set_memory_growth(gpu, growth)
                    return gpu.device_type


                def main():
                    pairs = [(gpu, True) for gpu in tf.config.list_physical_devices("GPU")]
                    types = itertools.chain(itertools.starmap(grow, pairs), ["CPU"])
                    print(float(tf.reduce_sum(tf.ones(3))))
                    print(sorted(types))


                main()
                """
        },
        "Run itertools.starmap(...) to its end where it is made",
        {
            "train.py": """
                import itertools

                import tensorflow as tf


                def grow(gpu, growth):
                    tf.config.experimental.set_memory_growth(gpu, growth)
                    return gpu.device_type


                def main():
                    pairs = [(gpu, True) for gpu in tf.config.list_physical_devices("GPU")]
                    types = itertools.chain(list(itertools.starmap(grow, pairs)), ["CPU"])
                    print(float(tf.reduce_sum(tf.ones(3))))
                    print(sorted(types))


                main()
                """
        },
    ),
    "a generator of another file becomes a list": Repaired(
        {
            "core/gpus.py": """
                import tensorflow as tf


                def claim():
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)
                        yield gpu.device_type
                """,
            "train.py": """
                import tensorflow as tf

                from core.gpus import claim


                def main():
                    claimed = claim()
                    print(float(tf.reduce_sum(tf.ones(3))))
                    for name in claimed:
                        print("claimed", name)


                main()
                """,
        },
        "Run claim() to its end where it is made",
        {
            "train.py": """
                import tensorflow as tf

                from core.gpus import claim


                def main():
                    claimed = list(claim())
                    print(float(tf.reduce_sum(tf.ones(3))))
                    for name in claimed:
                        print("claimed", name)


                main()
                """
        },
    ),
}
