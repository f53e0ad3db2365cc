"""Projects whose repair makes what starts the runtime later: when it is first used."""

from __future__ import annotations

from tests.fixes.repaired import Repaired
from tests.fixes.repaired_deep import REPAIRED as DEEP

REPAIRED: dict[str, Repaired] = DEEP | {
    "a variable that several functions use is made by a cached function": Repaired(
        {
            "train.py": """
                import sys

                import tensorflow as tf

                step = tf.Variable(0, name="step")


                def advance():
                    step.assign_add(1)


                def run(function, arguments):
                    function(arguments)


                def main(arguments):
                    if len(arguments) < 9:
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)
                    advance()
                    print(int(step))
                    sys.exit()


                if __name__ == "__main__":
                    run(main, sys.argv)
                """
        },
        "Make step by get_step(), once, when it is first used",
        {
            "train.py": """
                import functools
                import sys

                import tensorflow as tf


                @functools.cache
                def get_step():
                    return tf.Variable(0, name="step")


                def advance():
                    get_step().assign_add(1)


                def run(function, arguments):
                    function(arguments)


                def main(arguments):
                    if len(arguments) < 9:
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)
                    advance()
                    print(int(get_step()))
                    sys.exit()


                if __name__ == "__main__":
                    run(main, sys.argv)
                """
        },
    ),
    "what an object makes for itself becomes a cached property": Repaired(
        {
            "devices.py": """
                import tensorflow as tf


                class Devices:
                    def __init__(self, kind):
                        self.kind = kind
                        self.gpus = tf.config.list_physical_devices(kind)
                        self.logical = tf.config.list_logical_devices(kind)

                    def grow(self):
                        for gpu in self.gpus:
                            tf.config.experimental.set_memory_growth(gpu, True)

                    def __len__(self):
                        return len(self.logical)
                """,
            "train.py": """
                from devices import Devices


                def main():
                    devices = Devices("GPU")
                    devices.grow()
                    print("ready")


                main()
                """,
        },
        "Make Devices.logical a cached property, made when it is first used",
        {
            "devices.py": """
                import functools

                import tensorflow as tf


                class Devices:
                    def __init__(self, kind):
                        self.kind = kind
                        self.gpus = tf.config.list_physical_devices(kind)

                    @functools.cached_property
                    def logical(self):
                        return tf.config.list_logical_devices(self.kind)

                    def grow(self):
                        for gpu in self.gpus:
                            tf.config.experimental.set_memory_growth(gpu, True)

                    def __len__(self):
                        return len(self.logical)
                """
        },
    ),
    "what the body of a with uses moves into it": Repaired(
        {
            "train.py": """
                import contextlib

                import tensorflow as tf


                @contextlib.contextmanager
                def growing():
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)
                    yield


                images = tf.data.Dataset.from_tensor_slices([1.0, 2.0])

                with growing():
                    for image in images:
                        print(float(image))
                """
        },
        "Move line 13 into the 'with growing()' that is below",
        {
            "train.py": """
                import contextlib

                import tensorflow as tf


                @contextlib.contextmanager
                def growing():
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)
                    yield


                with growing():
                    images = tf.data.Dataset.from_tensor_slices([1.0, 2.0])
                    for image in images:
                        print(float(image))
                """
        },
    ),
    "the default in a field of a dataclass is made by a factory": Repaired(
        {
            "train.py": """
                import dataclasses
                import sys

                import tensorflow as tf


                @dataclasses.dataclass
                class Config:
                    weights: tf.Tensor = dataclasses.field(default=tf.ones(3), repr=False)


                def main(arguments):
                    if len(arguments) < 9:
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)
                    print(float(tf.reduce_sum(Config().weights)))


                main(sys.argv)
                """
        },
        "Make the default of Config.weights by a factory",
        {
            "train.py": """
                import dataclasses
                import sys

                import tensorflow as tf


                @dataclasses.dataclass
                class Config:
                    weights: tf.Tensor = dataclasses.field(
                        default_factory=lambda: tf.ones(3), repr=False
                    )


                def main(arguments):
                    if len(arguments) < 9:
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)
                    print(float(tf.reduce_sum(Config().weights)))


                main(sys.argv)
                """
        },
    ),
    "the last of several hooks is called above the call of all": Repaired(
        {
            "hooks.py": """
                HOOKS = []


                def run_hooks():
                    for hook in HOOKS:
                        hook()
                """,
            "train.py": """
                import tensorflow as tf
                from hooks import HOOKS, run_hooks


                def setup():
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)


                def warm_up():
                    tf.ones((2, 2))


                HOOKS.append(warm_up)
                HOOKS.append(setup)
                run_hooks()
                print("ready")
                """,
        },
        "Call setup() above run_hooks() as well",
        {
            "train.py": """
                import tensorflow as tf
                from hooks import HOOKS, run_hooks


                def setup():
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)


                def warm_up():
                    tf.ones((2, 2))


                HOOKS.append(warm_up)
                HOOKS.append(setup)

                setup()

                run_hooks()
                print("ready")
                """
        },
    ),
    "what the package of a program imports is imported later in the package": Repaired(
        {
            "nets/__init__.py": """
                from nets.model import Model
                """,
            "nets/anchors.py": """
                import tensorflow as tf

                ANCHORS = tf.reshape(tf.range(6.0), (3, 2))
                """,
            "nets/model.py": """
                from nets.anchors import ANCHORS


                class Model:
                    def boxes(self):
                        return len(ANCHORS)
                """,
            "nets/train.py": """
                import sys

                import tensorflow as tf

                from nets import Model


                def main(arguments):
                    if len(arguments) < 9:
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)
                    print(Model().boxes())


                if __name__ == "__main__":
                    main(sys.argv)
                """,
        },
        "Move the import of nets.anchors into boxes()",
        {
            "nets/model.py": """
                class Model:
                    def boxes(self):
                        from nets.anchors import ANCHORS

                        return len(ANCHORS)
                """
        },
        entry="-m nets.train",
    ),
}
