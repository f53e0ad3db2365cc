"""The rules' own fixes in whole files: where they go, and where they are unsafe or withheld."""

from __future__ import annotations

from tests.fixes.helpers import code
from tfmemlint.engine.check_source import check_source
from tfmemlint.fixes.compute_fix import Options
from tfmemlint.fixes.loop import Fixed, fix_source
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Severity
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import Source

RULES = tuple(rule for rule in rules() if rule.severity is not Severity.ADVICE)


def fixed(text: str, *, unsafe: bool = True) -> Fixed:
    """What the fixes of all rules that run by default make of a text."""
    target = Target.newest()
    return fix_source(
        Source("f.py", code(text)),
        rules=RULES,
        target=target,
        check=lambda source: check_source(source, RULES, target),
        options=Options(unsafe=unsafe),
    )


def reasons(outcome: Fixed, rule: str) -> list[str]:
    """Why the findings of a rule weren't fixed."""
    return [finding.withheld for finding in outcome.findings if finding.code == rule]


def test_what_a_module_has_lost_is_not_renamed_with_it() -> None:
    outcome = fixed("""
        import tensorflow as tf

        layers = tf.layers
        gpus = tf.config.list_physical_devices("GPU")
        x = tf.layers.dense(gpus, 1)
        """)
    assert "layers = tf.layers\n" in outcome.text
    assert "x = tf.layers.dense(gpus, 1)\n" in outcome.text
    assert reasons(outcome, "TFM206") == ["line 5 stays as it is, and so does this", ""]


def test_what_left_later_keeps_nothing_from_being_renamed() -> None:
    outcome = fixed("""
        import tensorflow as tf

        x = tf.random_normal([2])
        model = tf.keras.utils.multi_gpu_model(x, 2)
        """)
    assert "x = tf.random.normal([2])\n" in outcome.text
    assert reasons(outcome, "TFM206") == [""]


def test_only_a_condition_about_gpus_guards_a_report() -> None:
    outcome = fixed("""
        import sys
        import tensorflow as tf

        if len(sys.argv) > 1:
            print(tf.config.experimental.get_gpu_memory_usage())
        """)
    assert 'get_memory_info("GPU:0" if ' in "".join(outcome.text.replace("'", '"').split("\n            "))


def test_a_condition_about_the_list_guards_its_first_gpu() -> None:
    outcome = fixed("""
        import tensorflow as tf

        cards = tf.config.list_physical_devices("GPU")
        if len(cards) == 1:
            tf.config.experimental.set_memory_limit(cards[0], 2048)
        """)
    assert outcome.text.count("if ") == 1


def test_a_loop_over_an_iterator_is_not_made_two() -> None:
    outcome = fixed("""
        import tensorflow as tf

        gpus = iter(tf.config.list_physical_devices("GPU"))
        for i, gpu in enumerate(gpus):
            tf.config.experimental.set_memory_growth(gpu, True)
            print(tf.config.experimental.get_memory_info(f"GPU:{i}"))
        """)
    assert reasons(outcome, "TFM106") == ["the loop's iterator can be consumed only once"]


def test_a_loop_over_an_enumerated_list_is_made_two() -> None:
    outcome = fixed("""
        import tensorflow as tf

        gpus = tf.config.list_physical_devices("GPU")
        for i, gpu in enumerate(gpus):
            tf.config.experimental.set_memory_growth(gpu, True)
            print(tf.config.experimental.get_memory_info(f"GPU:{i}"))
        """)
    assert outcome.text.count("for gpu in gpus:\n") == 1
    assert outcome.text.count("for i, gpu in enumerate(gpus):\n") == 1


def test_a_loop_that_does_more_for_every_device_is_narrowed_as_unsafe_only() -> None:
    text = """
        import tensorflow as tf

        for device in tf.config.list_physical_devices():
            print(device.name)
            tf.config.experimental.set_memory_growth(device, True)
        """
    assert fixed(text, unsafe=False).text == code(text)
    assert 'in tf.config.list_physical_devices("GPU"):' in fixed(text).text
    alone = text.replace("print(device.name)", "")
    assert 'in tf.config.list_physical_devices("GPU"):' in fixed(alone, unsafe=False).text


def test_a_handler_that_hides_one_error_is_not_left_with_another() -> None:
    text = """
        import tensorflow as tf

        session = tf.compat.v1.Session(config=tf.compat.v1.ConfigProto(log_device_placement=True))
        print(tf.ones([4]))
        for gpu in tf.config.list_physical_devices("GPU"):
            try:
                tf.config.experimental.set_memory_limit(gpu, 2048)
            except AttributeError:
                print("no limit set")
        """
    outcome = fixed(text)
    assert "set_memory_limit(gpu, 2048)" in outcome.text
    assert "set_logical_device_configuration" not in outcome.text
    assert reasons(outcome, "TFM202")


def test_growth_that_is_refused_on_another_way_is_dropped_as_unsafe_only() -> None:
    text = """
        import os

        import tensorflow as tf

        mib = int(os.environ.get("GPU_MIB", "2048"))
        gpus = tf.config.list_physical_devices("GPU")
        try:
            if mib > 0:
                for gpu in gpus:
                    tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(mib)])
            for gpu in gpus:
                tf.config.experimental.set_memory_growth(gpu, True)
        except ValueError as error:
            print(error)
        for gpu in gpus:
            tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(1024)])
        """
    assert fixed(text, unsafe=False).text == code(text)


def test_graph_mode_is_turned_on_below_the_import_of_tensorflow() -> None:
    outcome = fixed("""
        from __future__ import print_function
        '''What this is about.'''
        import numpy
        data = numpy.ones(3)
        import tensorflow as tf
        import time
        with tf.Session() as session:
            print(session.run(tf.constant(data)), time.time())
        """)
    assert outcome.text.startswith(
        code("""
        from __future__ import print_function
        '''What this is about.'''
        import numpy
        data = numpy.ones(3)
        import tensorflow as tf
        import time

        tf.compat.v1.disable_v2_behavior()

        with tf.compat.v1.Session() as session:
        """)
    )
