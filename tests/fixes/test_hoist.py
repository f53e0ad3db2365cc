"""Configuration moves above what starts the runtime, with what it needs, or stays."""

from __future__ import annotations

import pytest

from tests.fixes.helpers import code, moved, refusal

STAYS = {
    "a list that is read between would have grown": (
        """
        import tensorflow as tf
        sizes = [1]
        strategy = tf.distribute.MirroredStrategy()
        print(sizes)
        sizes.append(2)
        for gpu in tf.config.list_physical_devices("GPU")[: len(sizes)]:
            tf.config.experimental.set_memory_growth(gpu, True)
        """,
        "sizes may be changed by it, and is used in between (line 4)",
    ),
    "a setting that a function between reads would be another": (
        """
        import tensorflow as tf
        settings = {"gpus": 1}
        def show():
            print(settings["gpus"])
        strategy = tf.distribute.MirroredStrategy()
        show()
        settings["gpus"] = 2
        for gpu in tf.config.list_physical_devices("GPU")[: settings["gpus"]]:
            tf.config.experimental.set_memory_growth(gpu, True)
        """,
        "settings may be changed by it, and is used in between (line 6)",
    ),
    "the strategy itself is needed": (
        """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        for gpu in strategy.extended.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        """,
        "it needs strategy, which line 2 gives",
    ),
    "the statement also trains": (
        """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
            model.fit(data)
        """,
        "the statement around it does more than configure: model.fit(...)",
    ),
    "the guard holds the training too": (
        """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        if __name__ == "__main__":
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
            train()
        """,
        "train(...)",
    ),
    "the list is rebound between": (
        """
        import tensorflow as tf
        gpu = first()
        strategy = tf.distribute.MirroredStrategy()
        gpu = choose()
        tf.config.experimental.set_memory_growth(gpu, True)
        """,
        "it needs gpu",
    ),
    "the name is used between": (
        """
        import tensorflow as tf
        gpus = [1]
        strategy = tf.distribute.MirroredStrategy()
        print(gpus)
        gpus = tf.config.list_physical_devices("GPU")
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
        """,
        "gpus is used or bound in between (line 4)",
    ),
    "a return stands between": (
        """
        import tensorflow as tf
        def main(cpu):
            strategy = tf.distribute.MirroredStrategy()
            if cpu:
                return
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
        """,
        "there is a return in between (line 4)",
    ),
    "it stands in a function of its own": (
        """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        def setup(gpu):
            tf.config.experimental.set_memory_growth(gpu, True)
        """,
        "different functions",
    ),
    "both stand in one statement": (
        """
        import tensorflow as tf
        try:
            strategy = tf.distribute.MirroredStrategy()
        finally:
            tf.config.experimental.set_memory_growth(gpu, True)
        """,
        "in one statement",
    ),
    "the start stands below": (
        """
        import tensorflow as tf
        for _ in range(2):
            tf.config.experimental.set_memory_growth(gpu, True)
            strategy = tf.distribute.MirroredStrategy()
        """,
        "is below the configuration",
    ),
    "a star import stands between": (
        """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        from devices import *
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        """,
        "there is a star import in between",
    ),
    "a function called between sets the name": (
        """
        import tensorflow as tf
        gpu = None
        def choose():
            global gpu
            gpu = tf.config.list_physical_devices("GPU")[0]
        strategy = tf.distribute.MirroredStrategy()
        choose()
        tf.config.experimental.set_memory_growth(gpu, True)
        """,
        "it needs gpu, and moving",
    ),
}


@pytest.mark.parametrize("case", [key for key in STAYS if "sets the name" not in key])
def test_what_would_come_out_otherwise_is_not_moved(case: str) -> None:
    text, reason = STAYS[case]
    assert reason in refusal(code(text))


def test_the_call_that_sets_a_needed_name_comes_along() -> None:
    text = code(STAYS["a function called between sets the name"][0])
    assert moved(text).index("choose()\n", text.index("global")) < moved(text).index("strategy =")


def test_a_whole_guarded_block_moves_with_its_comments_and_its_list() -> None:
    text = """
        # head
        import tensorflow as tf

        # the strategy
        strategy = tf.distribute.MirroredStrategy()  # starts

        # devices
        gpus = tf.config.list_physical_devices("GPU")  # all
        print(strategy)

        if gpus:
            # grow
            try:
                for gpu in gpus:
                    tf.config.experimental.set_memory_growth(gpu, True)  # yes
            except RuntimeError as e:
                print(e)

        with strategy.scope():
            model = make()
        """
    expected = """
        # head
        import tensorflow as tf

        # devices
        gpus = tf.config.list_physical_devices("GPU")  # all

        if gpus:
            # grow
            try:
                for gpu in gpus:
                    tf.config.experimental.set_memory_growth(gpu, True)  # yes
            except RuntimeError as e:
                print(e)

        # the strategy
        strategy = tf.distribute.MirroredStrategy()  # starts

        print(strategy)

        with strategy.scope():
            model = make()
        """
    assert moved(code(text)) == code(expected)


def test_it_leaves_a_with_block_that_holds_other_things() -> None:
    text = """
        import tensorflow as tf
        def main():
        \tstrategy = tf.distribute.MirroredStrategy()
        \twith strategy.scope():
        \t\tmodel = build()
        \t\tfor gpu in tf.config.list_physical_devices("GPU"):
        \t\t\ttf.config.experimental.set_memory_growth(gpu, True)
        """
    expected = """
        import tensorflow as tf
        def main():
        \tfor gpu in tf.config.list_physical_devices("GPU"):
        \t\ttf.config.experimental.set_memory_growth(gpu, True)
        \tstrategy = tf.distribute.MirroredStrategy()
        \twith strategy.scope():
        \t\tmodel = build()
        """
    assert moved(code(text)) == code(expected)


def test_a_with_block_that_is_emptied_gets_a_pass() -> None:
    text = """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope(), other():
            gpu = tf.config.list_physical_devices("GPU")[0]
            tf.config.experimental.set_memory_growth(gpu, True)
        """
    assert moved(code(text)).endswith("with strategy.scope(), other():\n    pass\n")


def test_statements_that_share_a_line_move_one_by_one() -> None:
    text = """
        import tensorflow as tf
        a = 1; strategy = tf.distribute.MirroredStrategy(); gpu = tf.config.list_physical_devices("GPU")[0]
        b = 2; tf.config.experimental.set_memory_growth(gpu, True); c = 3  # end
        """
    expected = """
        import tensorflow as tf
        a = 1
        gpu = tf.config.list_physical_devices("GPU")[0]
        tf.config.experimental.set_memory_growth(gpu, True)
        strategy = tf.distribute.MirroredStrategy()
        b = 2
        c = 3  # end
        """
    assert moved(code(text)) == code(expected)


def test_a_start_inside_a_compound_statement_is_passed_as_a_whole() -> None:
    text = """
        import tensorflow as tf
        if many:
            strategy = tf.distribute.MirroredStrategy()
        else:
            strategy = None
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        """
    new = moved(code(text))
    assert new.index("set_memory_growth") < new.index("if many:")


def test_a_call_of_a_function_that_configures_moves_with_the_function() -> None:
    text = """
        import tensorflow as tf
        def main():
            build()
            setup()
        def build():
            return tf.distribute.MirroredStrategy()
        def setup():
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
        main()
        """
    trace = ("main()\n", "build()", "tf.distribute.MirroredStrategy()", "setup()")
    new = moved(code(text), *trace[1:], "tf.config.experimental.set_memory_growth(gpu, True)")
    assert new.startswith("import tensorflow as tf\ndef main():\n    setup()\n    build()\n")


def test_a_definition_below_the_start_comes_along() -> None:
    text = """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()

        @cache
        def setup():
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)

        setup( )
        print(strategy)
        """
    expected = """
        import tensorflow as tf

        @cache
        def setup():
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)

        setup( )

        strategy = tf.distribute.MirroredStrategy()

        print(strategy)
        """
    assert moved(code(text), "tf.distribute.MirroredStrategy()", "setup( )") == code(expected)


def test_the_same_loop_variable_between_does_not_matter() -> None:
    text = """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        strategy = tf.distribute.MirroredStrategy()
        for gpu in gpus:
            print(gpu)
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
        """
    new = moved(code(text))
    assert new.index("set_memory_growth") < new.index("strategy =") < new.index("print(gpu)")


def test_a_loop_variable_read_later_matters() -> None:
    text = """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        strategy = tf.distribute.MirroredStrategy()
        for gpu in gpus[1:]:
            print(gpu)
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
        print(gpu)
        """
    assert "gpu is used or bound in between" in refusal(code(text))


def test_the_comment_over_a_group_goes_with_all_of_it() -> None:
    assert moved(
        code("""
        import tensorflow as tf

        strategy = tf.distribute.MirroredStrategy()

        # All of the GPUs
        # that there are.

        gpus = tf.config.list_physical_devices("GPU")
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)

        # The rest.
        print(strategy)
        """)
    ) == code("""
        import tensorflow as tf

        # All of the GPUs
        # that there are.

        gpus = tf.config.list_physical_devices("GPU")
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)

        strategy = tf.distribute.MirroredStrategy()

        # The rest.
        print(strategy)
        """)


def test_the_comment_over_a_group_stays_with_what_stays_of_it() -> None:
    assert moved(
        code("""
        import tensorflow as tf

        strategy = tf.distribute.MirroredStrategy()

        # Setup

        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        print(strategy)
        """)
    ) == code("""
        import tensorflow as tf

        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)

        strategy = tf.distribute.MirroredStrategy()

        # Setup

        print(strategy)
        """)


def test_a_comment_under_the_start_stays_there() -> None:
    assert moved(
        code("""
        import tensorflow as tf

        strategy = tf.distribute.MirroredStrategy()
        # That was the first operation.

        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        print(strategy)
        """)
    ) == code("""
        import tensorflow as tf

        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)

        strategy = tf.distribute.MirroredStrategy()
        # That was the first operation.

        print(strategy)
        """)
