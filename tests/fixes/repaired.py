"""Projects in which configuration comes too late, each with the repair that is made: files, message, new texts."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.fixes.projects import IN_ANOTHER_FILE


@dataclass(frozen=True)
class Repaired:
    """A project (``core/yolov4.py`` with a starter is added), the message of the fix, and what it changes."""

    files: dict[str, str]
    message: str
    after: dict[str, str]
    entry: str = "train.py"
    alone: bool = field(default=False)


TENSOR = """
    import tensorflow as tf

    TABLE = tf.constant([1.0, 2.0])


    def look(i):
        return TABLE[i]
    """
SETUP = """
    import tensorflow as tf


    def setup():
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    """
TRAINER = """
    import tensorflow as tf


    class Trainer:
        def __init__(self, data):
            self.data = data
            self.gpus = tf.config.list_physical_devices("GPU")
            for gpu in self.gpus:
                tf.config.experimental.set_memory_growth(gpu, True)

        def run(self):
            print([int(value) for value in self.data])
    """

REPAIRED: dict[str, Repaired] = {
    "a call moves out of main, above the import that starts": Repaired(
        IN_ANOTHER_FILE,
        "Move grow() out of main() above the import of core.yolov4",
        {
            "train.py": """
                from core.config import grow

                grow()

                # GPU memory is configured before this import: it starts TensorFlow's runtime
                # isort: split
                from core.yolov4 import decode  # noqa: E402


                def main():
                    decode(1)


                main()
                """
        },
    ),
    "the import of a module that configures moves": Repaired(
        {
            "config.py": """
                import tensorflow as tf

                for gpu in tf.config.list_physical_devices("GPU"):
                    tf.config.experimental.set_memory_growth(gpu, True)

                SIZE = 3
                """,
            "table.py": TENSOR,
            "train.py": """
                import table
                import config

                print(float(table.look(0)), config.SIZE)
                """,
        },
        "Move the import of config above the import of table",
        {
            "train.py": """
                import config

                # GPU memory is configured before this import: it starts TensorFlow's runtime
                # isort: split
                import table

                print(float(table.look(0)), config.SIZE)
                """
        },
    ),
    "a constant that two functions use is made by a function": Repaired(
        {
            "train.py": """
                import sys

                import tensorflow as tf

                # doubles everything
                SCALE = tf.constant(2.0)


                @tf.function
                def up(x):
                    return x * SCALE


                def down(x):
                    return [x / each for each in (SCALE,)][0]


                def main(argv):
                    growth = "--no-growth" not in argv
                    if growth:
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)
                    print(float(up(tf.constant(1.0))), float(down(tf.constant(1.0))))


                main(sys.argv[1:])
                """,
        },
        "Make SCALE by make_scale(), when it is used",
        {
            "train.py": """
                import sys

                import tensorflow as tf


                # doubles everything
                def make_scale():
                    return tf.constant(2.0)


                @tf.function
                def up(x):
                    return x * make_scale()


                def down(x):
                    return [x / each for each in (make_scale(),)][0]


                def main(argv):
                    growth = "--no-growth" not in argv
                    if growth:
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)
                    print(float(up(tf.constant(1.0))), float(down(tf.constant(1.0))))


                main(sys.argv[1:])
                """
        },
    ),
    "a constant that is asked of the class becomes a static method": Repaired(
        {
            "train.py": """
                import sys

                import tensorflow as tf


                class Scaler:
                    FACTOR = tf.constant(2.0)

                    @classmethod
                    def scale(cls, x):
                        return x * cls.FACTOR

                    def show(self):
                        return float(self.FACTOR)


                def main(argv):
                    growth = "--no-growth" not in argv
                    if growth:
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)
                    print(float(Scaler.scale(1.0)), Scaler().show(), float(Scaler.FACTOR))


                main(sys.argv[1:])
                """,
        },
        "Make Scaler.FACTOR a static method, which makes the tensor when it is used",
        {
            "train.py": """
                import sys

                import tensorflow as tf


                class Scaler:
                    @staticmethod
                    def FACTOR():
                        return tf.constant(2.0)

                    @classmethod
                    def scale(cls, x):
                        return x * cls.FACTOR()

                    def show(self):
                        return float(self.FACTOR())


                def main(argv):
                    growth = "--no-growth" not in argv
                    if growth:
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)
                    print(float(Scaler.scale(1.0)), Scaler().show(), float(Scaler.FACTOR()))


                main(sys.argv[1:])
                """
        },
    ),
    "what a base class may set stays below its own": Repaired(
        {
            "train.py": """
                import tensorflow as tf


                class Base:
                    def __init__(self):
                        self.growth = False
                        self.step = tf.Variable(0)


                class Trainer(Base):
                    def __init__(self):
                        super().__init__()
                        self.growth = True
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, self.growth)


                print(Trainer().growth)
                """,
        },
        "Take configure_gpus() out of __init__() and call it above super().__init__()",
        {
            "train.py": """
                import tensorflow as tf


                class Base:
                    def __init__(self):
                        self.growth = False
                        self.step = tf.Variable(0)


                def configure_gpus():
                    growth = True
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, growth)


                class Trainer(Base):
                    def __init__(self):
                        configure_gpus()
                        super().__init__()
                        self.growth = True


                print(Trainer().growth)
                """
        },
    ),
    "an import of two modules becomes two": Repaired(
        {
            "lib/__init__.py": "",
            "lib/gpu.py": SETUP,
            "lib/table.py": TENSOR,
            "train.py": """
                from lib import gpu, table

                gpu.setup()
                print(float(table.look(1)))
                """,
        },
        "Split the import of gpu from that of table; move gpu.setup() above the import of lib",
        {
            "train.py": """
                from lib import gpu

                gpu.setup()

                # GPU memory is configured before this import: it starts TensorFlow's runtime
                # isort: split
                from lib import table  # noqa: E402

                print(float(table.look(1)))
                """
        },
    ),
    "configuration is taken out of a class in another file": Repaired(
        {
            "trainer.py": TRAINER,
            "train.py": """
                import tensorflow as tf

                from trainer import Trainer


                def main():
                    data = tf.data.Dataset.range(2)
                    Trainer(data).run()


                if __name__ == "__main__":
                    main()
                """,
            "other.py": """
                import tensorflow as tf

                from trainer import Trainer

                if __name__ == "__main__":
                    Trainer([]).run()
                """,
        },
        "Take configure_gpus() out of __init__() and call it above line 7",
        {
            "train.py": """
                import tensorflow as tf

                from trainer import Trainer, configure_gpus


                def main():
                    configure_gpus()
                    data = tf.data.Dataset.range(2)
                    Trainer(data).run()


                if __name__ == "__main__":
                    main()
                """,
            "trainer.py": """
                import tensorflow as tf


                def configure_gpus():
                    gpus = tf.config.list_physical_devices("GPU")
                    for gpu in gpus:
                        tf.config.experimental.set_memory_growth(gpu, True)


                class Trainer:
                    def __init__(self, data):
                        self.data = data
                        self.gpus = tf.config.list_physical_devices("GPU")
                        configure_gpus()

                    def run(self):
                        print([int(value) for value in self.data])
                """,
        },
    ),
    "a package that starts when it is imported configures by itself": Repaired(
        {
            "vision/__init__.py": """
                import tensorflow as tf

                MEAN = tf.constant([0.5, 0.4])
                STD = tf.constant([0.2, 0.3])
                """,
            "vision/pipeline.py": """
                import tensorflow as tf

                from vision import MEAN, STD


                def configure():
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)


                def process(rows):
                    return ((tf.ones([rows, 2]) - MEAN) / STD).shape
                """,
            "train.py": """
                from vision import pipeline

                pipeline.configure()
                print(pipeline.process(4))
                """,
        },
        "Turn memory growth on in vision/__init__.py, above what starts the runtime, in place of the call that comes "
        "too late",
        {
            "vision/__init__.py": """
                import tensorflow as tf

                for gpu in tf.config.list_physical_devices("GPU"):
                    tf.config.experimental.set_memory_growth(gpu, True)

                MEAN = tf.constant([0.5, 0.4])
                STD = tf.constant([0.2, 0.3])
                """,
            "vision/pipeline.py": """
                import tensorflow as tf

                from vision import MEAN, STD


                def process(rows):
                    return ((tf.ones([rows, 2]) - MEAN) / STD).shape
                """,
            "train.py": """
                from vision import pipeline

                print(pipeline.process(4))
                """,
        },
    ),
    "a method of an object that another file's class makes moves with the object": Repaired(
        {
            "config.py": """
                import tensorflow as tf


                class Config:
                    growth = True

                    def setup_gpu(self):
                        if self.growth:
                            for gpu in tf.config.list_physical_devices("GPU"):
                                tf.config.experimental.set_memory_growth(gpu, True)
                """,
            "net.py": """
                import tensorflow as tf


                class Net:
                    def __init__(self, size):
                        self.weights = tf.Variable(tf.zeros([size]))
                """,
            "train.py": """
                from config import Config
                from net import Net

                net = Net(3)
                config = Config()
                config.setup_gpu()
                print(net.weights.shape)
                """,
        },
        "Move config.setup_gpu() above line 4",
        {
            "train.py": """
                from config import Config
                from net import Net

                config = Config()
                config.setup_gpu()
                net = Net(3)
                print(net.weights.shape)
                """,
        },
    ),
    "an import that starts goes into the function that uses it": Repaired(
        {
            "table.py": TENSOR,
            "train.py": """
                import sys

                import tensorflow as tf
                from table import look


                def main(argv):
                    if "--cpu" not in argv:
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)
                    print(float(look(0)))


                if __name__ == "__main__":
                    main(sys.argv)
                """,
        },
        "Move the import of table into main()",
        {
            "train.py": """
                import sys

                import tensorflow as tf


                def main(argv):
                    if "--cpu" not in argv:
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)

                    from table import look

                    print(float(look(0)))


                if __name__ == "__main__":
                    main(sys.argv)
                """
        },
    ),
    "output keeps its order": Repaired(
        {
            "gpu.py": """
                import tensorflow as tf


                def setup():
                    print("setup")
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)
                """,
            "data.py": """
                import tensorflow as tf


                def load():
                    print("load")
                    return tf.constant(1)
                """,
            "train.py": """
                import data
                import gpu

                x = data.load()
                gpu.setup()
                print(int(x))
                """,
        },
        "Take configure_gpus() out of setup() and call it above line 4",
        {
            "gpu.py": """
                import tensorflow as tf


                def configure_gpus():
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)


                def setup():
                    print("setup")
                    configure_gpus()
                """,
            "train.py": """
                import data
                import gpu

                gpu.configure_gpus()

                x = data.load()
                gpu.setup()
                print(int(x))
                """,
        },
    ),
    "two tensors leave the definitions that they are defaults of": Repaired(
        {
            "losses.py": """
                import tensorflow as tf


                def first(x, scale=tf.constant(1.0)):
                    return x * scale


                def second(x, shift=tf.zeros([])):
                    \"\"\"Shift.\"\"\"
                    return x + shift
                """,
            "train.py": """
                import sys

                import tensorflow as tf
                import losses


                def main(growth):
                    if growth:
                        for gpu in tf.config.list_physical_devices("GPU"):
                            tf.config.experimental.set_memory_growth(gpu, True)
                    print(float(losses.first(1.0)), float(losses.second(2.0)))


                main(len(sys.argv) < 9)
                """,
        },
        "Make the default of scale in first() when it is called; make the default of shift in second() when it is"
        " called",
        {
            "losses.py": """
                import tensorflow as tf


                def first(x, scale=None):
                    if scale is None:
                        scale = tf.constant(1.0)
                    return x * scale


                def second(x, shift=None):
                    \"\"\"Shift.\"\"\"
                    if shift is None:
                        shift = tf.zeros([])
                    return x + shift
                """
        },
    ),
    "the last resort is the environment": Repaired(
        {
            "core/devices.py": """
                import tensorflow as tf

                gpus = tf.config.list_physical_devices("GPU")
                weights = tf.zeros([1])
                """,
            # Another program has the memory of the GPUs for itself.
            "report.py": """
                from core.devices import weights

                print(weights)
                """,
            "train.py": """
                import tensorflow as tf
                from core.devices import gpus

                for gpu in gpus:
                    tf.config.experimental.set_memory_growth(gpu, True)
                """,
        },
        "As a last resort, set TF_FORCE_GPU_ALLOW_GROWTH in train.py, for every GPU, in place of the call that comes"
        " too late",
        {
            "train.py": """
                import os

                import tensorflow as tf

                os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"

                # Memory growth is on before this import: it starts TensorFlow's runtime
                # isort: split
                from core.devices import gpus  # noqa: E402
                """
        },
    ),
}
