"""Programs whose configuration can't be moved by a rewrite of one file, and the reason that is given."""

from __future__ import annotations

from tests.fixes.moving import MAIN
from tests.fixes.projects import GROW

HEAD = """
    import sys

    import tensorflow as tf
    from core.yolov4 import decode
    """
STAYS: dict[str, tuple[dict[str, str], str]] = {
    "it needs what the import gives": (
        {
            "core/devices.py": """
                import tensorflow as tf

                gpus = tf.config.list_physical_devices("GPU")
                weights = tf.zeros([1])
                """,
            "train.py": """
                import tensorflow as tf
                from core.devices import gpus

                for gpu in gpus:
                    tf.config.experimental.set_memory_growth(gpu, True)
                """,
        },
        "train.py:5 can't be moved above train.py:2: it needs gpus, which line 2 gives",
    ),
    "TensorFlow is imported in the same try": (
        {
            "train.py": """
                try:
                    import tensorflow as tf
                    from core.yolov4 import decode
                except ImportError:
                    raise SystemExit("no TensorFlow") from None

                for gpu in tf.config.list_physical_devices("GPU"):
                    tf.config.experimental.set_memory_growth(gpu, True)
                """,
        },
        "train.py:8 can't be moved above train.py:3: it needs tf, which line 1 gives",
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
    "a star import stands between": (
        {
            "core/names.py": "SIZE = 3\n",
            "train.py": """
                import tensorflow as tf
                from core.yolov4 import decode
                from core.names import *

                for gpu in tf.config.list_physical_devices("GPU"):
                    tf.config.experimental.set_memory_growth(gpu, True)
                """,
        },
        "train.py:6 can't be moved above train.py:2: there is a star import in between (line 3)",
    ),
    "it is in another file": (
        {
            "core/config.py": GROW,
            "train.py": """
                from core.yolov4 import decode
                from core.config import grow


                def main():
                    grow()
                    decode(1)


                main()
                """,
        },
        "train.py:6 leads to it, and runs after train.py:1",
    ),
    "others import the module": (
        {
            "train.py": MAIN,
            "sweep.py": "import train\n\nprint(train)\n",
        },
        "sweep.py imports this file, and would configure the GPUs too",
    ),
    "it needs an argument": (
        {
            "train.py": HEAD
            + """

    def main(number):
        gpus = tf.config.list_physical_devices("GPU")[:number]
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
        decode(1)


    main(1)
    """,
        },
        "it needs number, which line 7 gives",
    ),
    "it needs what is read from the command line": (
        {
            "train.py": HEAD
            + """
    many = len(sys.argv) > 1


    def main():
        for gpu in tf.config.list_physical_devices("GPU") if many else []:
            tf.config.experimental.set_memory_growth(gpu, True)
        decode(1)


    main()
    """,
        },
        "it needs what line 6 gives, which may have another value by then",
    ),
    "main is called under a condition": (
        {
            "train.py": HEAD
            + """

    def main():
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        decode(1)


    if len(sys.argv) < 9:
        main()
    """,
        },
        "line 14 makes its call under a condition",
    ),
    "its names are names of the module": (
        {
            "train.py": HEAD
            + """
    gpu = "none"


    def main():
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        decode(1)


    main()
    print(gpu)
    """,
        },
        "gpu would become a name of the module, which has one already",
    ),
    "a method configures": (
        {
            "train.py": HEAD
            + """

    class Trainer:
        def run(self):
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
            decode(1)


    Trainer().run()
    """,
        },
        "the function around line 10 is not at the module's top level",
    ),
    "a command calls main": (
        {
            "pyproject.toml": """
                [project]
                name = "p"
                scripts = { p = "core.cli:main" }
                """,
            "core/cli.py": """
                import tensorflow as tf
                from core.yolov4 import decode


                def main():
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)
                    decode(1)
                """,
        },
        "core/cli.py:7 can't be moved above core/cli.py:2: what calls main() is outside of this file",
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
        "the finding would still be there",
    ),
}
