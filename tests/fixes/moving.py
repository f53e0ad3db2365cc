"""Programs whose configuration moves above what leads to the start in another file, and what becomes of them."""

from __future__ import annotations

FLAT = """
    import shutil

    import numpy as np

    from core.yolov4 import decode
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)

    print(decode(np.ones([1])), shutil)
    """
FLAT_FIXED = """
    import shutil

    import numpy as np
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)

    # GPU memory is configured before this import: it starts TensorFlow's runtime
    # isort: split
    from core.yolov4 import decode  # noqa: E402

    print(decode(np.ones([1])), shutil)
    """
MAIN = '''
    """Train."""
    import sys

    from core.yolov4 import decode
    import numpy as np
    import tensorflow as tf


    def main(argv):
        """Do it."""
        # memory
        gpus = tf.config.list_physical_devices("GPU")
        if gpus:
            try:
                for gpu in gpus:
                    tf.config.experimental.set_memory_growth(gpu, True)
            except RuntimeError as error:
                print(error)
                raise

        print(decode(np.ones([1])), argv)


    if __name__ == "__main__":
        main(sys.argv)
    '''
MAIN_FIXED = '''
    """Train."""
    import sys

    import tensorflow as tf

    # memory
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        try:
            for gpu in gpus:
                tf.config.experimental.set_memory_growth(gpu, True)
        except RuntimeError as error:
            print(error)
            raise

    # GPU memory is configured before these imports: they start TensorFlow's runtime
    # isort: split
    from core.yolov4 import decode  # noqa: E402
    import numpy as np  # noqa: E402


    def main(argv):
        """Do it."""

        print(decode(np.ones([1])), argv)


    if __name__ == "__main__":
        main(sys.argv)
    '''
CHAIN = """
    import tensorflow as tf
    from core.yolov4 import decode


    def setup():
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)


    def main():
        setup()
        print(decode(1.0))


    main()
    """
CHAIN_FIXED = """
    import tensorflow as tf


    def setup():
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)


    setup()

    # GPU memory is configured before this import: it starts TensorFlow's runtime
    # isort: split
    from core.yolov4 import decode  # noqa: E402


    def main():
        print(decode(1.0))


    main()
    """
GUARD = """
    import tensorflow as tf
    from core.yolov4 import decode

    if __name__ == "__main__":
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        print(decode(1.0))
    """
GUARD_FIXED = """
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)

    # GPU memory is configured before this import: it starts TensorFlow's runtime
    # isort: split
    from core.yolov4 import decode  # noqa: E402

    if __name__ == "__main__":
        print(decode(1.0))
    """
LATE_IMPORT = """
    import tensorflow as tf


    def main():
        # heavy
        from core.yolov4 import decode
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        print(decode(1.0))


    main()
    """
LATE_IMPORT_FIXED = """
    import tensorflow as tf


    def main():
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)

        # heavy
        # GPU memory is configured before this import: it starts TensorFlow's runtime
        from core.yolov4 import decode
        print(decode(1.0))


    main()
    """
CALL = """
    import tensorflow as tf
    from core.model import build

    model = build()
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    print(model)
    """
CALL_FIXED = """
    import tensorflow as tf
    from core.model import build

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)

    model = build()
    print(model)
    """
WITH_FALLBACK = """
    import tensorflow as tf

    try:
        from core.yolov4 import decode
    except ImportError:
        decode = None

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)

    print(decode)
    """
WITH_FALLBACK_FIXED = """
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)

    # GPU memory is configured before this import: it starts TensorFlow's runtime
    try:
        from core.yolov4 import decode
    except ImportError:
        decode = None

    print(decode)
    """
MOVES = {
    "a file without blank lines below its imports": (
        """
        from core.yolov4 import decode
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        if gpus:
            for gpu in gpus:
                tf.config.experimental.set_memory_growth(gpu, True)
        print(decode)
        """,
        """
        import tensorflow as tf

        gpus = tf.config.list_physical_devices("GPU")
        if gpus:
            for gpu in gpus:
                tf.config.experimental.set_memory_growth(gpu, True)

        # GPU memory is configured before this import: it starts TensorFlow's runtime
        # isort: split
        from core.yolov4 import decode  # noqa: E402
        print(decode)
        """,
    ),
    "a loop at the top level": (FLAT, FLAT_FIXED),
    "out of main": (MAIN, MAIN_FIXED),
    "the call of a function that configures, out of main": (CHAIN, CHAIN_FIXED),
    "from under the guard": (GUARD, GUARD_FIXED),
    "above an import in a function": (LATE_IMPORT, LATE_IMPORT_FIXED),
    "above a call": (CALL, CALL_FIXED),
    "above an import with a fallback": (WITH_FALLBACK, WITH_FALLBACK_FIXED),
}
"""What ``train.py`` is, and what becomes of it; ``core/model.py`` is `projects.BUILD`."""
ENVIRONMENT = """
    import numpy as np

    from core.yolov4 import decode
    import os
    import tensorflow as tf

    os.environ["CUDA_VISIBLE_DEVICES"] = "0"
    os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
    print(decode(np.ones([1])), tf)
    """
ENVIRONMENT_FIXED = """
    import numpy as np

    import os

    os.environ["CUDA_VISIBLE_DEVICES"] = "0"
    os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"

    # The environment is set before these imports: they make TensorFlow read it
    # isort: split
    from core.yolov4 import decode  # noqa: E402
    import tensorflow as tf  # noqa: E402

    print(decode(np.ones([1])), tf)
    """
