"""Statements that configure TensorFlow, that start its runtime, and that only look as if they did."""

from __future__ import annotations

from tests.truth.programs.model import Line, Statement, block
from tests.truth.programs.scope import LISTING, Scope

GROWTH = "tf.config.experimental.set_memory_growth"

_STARTING: tuple[tuple[float, str], ...] = (
    # The cheap ones often: the first operation of a process costs ten times as much as the start itself.
    (4, '$ = tf.config.list_logical_devices("GPU")'),
    (2.5, '$ = tf.device("/CPU:0")'),
    (2.5, '$ = tf.distribute.OneDeviceStrategy("/cpu:0")'),
    (1, '$ = tf.config.experimental.get_memory_info("CPU:0")'),
    (4, "$ = tf.constant(1)"),
    (1, "$ = tf.zeros((2,))"),
    (1, "$ = tf.Variable(1.0)"),
    (0.7, "$ = tf.random.normal((2,))"),
    (0.7, "$ = tf.data.Dataset.range(3)"),
    (0.4, "$ = tf.function(lambda: 1)()"),
    (0.4, "print(tf.reduce_sum([1, 2]))"),
    (0.4, '$ = tf.convert_to_tensor([1.0], name="x")'),
    (0.3, "$ = tf.range(3)"),
    (0.3, "$ = tf.keras.metrics.Mean()"),
    (0.3, "$ = tf.keras.optimizers.Adam()"),
    (0.2, "$ = tf.keras.layers.Dense(1)(tf.zeros((1, 2)))"),
    (0.3, '$ = tf.distribute.MirroredStrategy(["/cpu:0"])'),
)
_HARMLESS = (
    "tf.random.set_seed(1)",
    f"$ = {LISTING}",
    "$ = tf.keras.Input((3,))",
    "$ = tf.keras.losses.MeanSquaredError()",
    "$ = tf.TensorSpec((1,))",
    "$ = tf.keras.layers.Dense(1)",
    "tf.keras.backend.clear_session()",
    "$ = tf.function(lambda: tf.constant(1))",
    "$ = tf.config.get_visible_devices()",
    "tf.config.set_soft_device_placement(True)",
    'tf.get_logger().setLevel("ERROR")',
    "print(tf.__version__)",
    "$ = 1",
)


def starting(scope: Scope) -> list[Statement]:
    """Something that starts the runtime."""
    if scope.chance(0.06):
        head = scope.one_of('with tf.device("/CPU:0"):', 'with tf.distribute.OneDeviceStrategy("/cpu:0").scope():')
        return [block(head, [Line(f"{scope.name('x')} = 1")])]
    return [Line(scope.weighted(_STARTING).replace("$", scope.name("x")))]


def harmless(scope: Scope) -> list[Statement]:
    """Something that doesn't."""
    if scope.chance(0.15):
        return [block("with tf.Graph().as_default():", starting(scope))]
    return [Line(scope.rng.choice(_HARMLESS).replace("$", scope.name("x")))]


def configuring(scope: Scope) -> list[Statement]:
    """One setting, or one for each GPU."""
    kind = scope.weighted(
        (
            (7, _growth_of_all),
            (2.5, _growth_of_one),
            (3, _limit),
            (2.5, _visible),
            (1.5, _threads),
            (1.5, _environment),
        )
    )
    return kind(scope)


def _growth_of_all(scope: Scope) -> list[Statement]:
    gpus, gpu, value = scope.gpus(), scope.name("gpu"), "False" if scope.chance(0.12) else "True"
    call = f"{GROWTH}({gpu}, {value})"
    form = scope.rng.randrange(12)
    if form == 0:
        return [Line(f"[{call} for {gpu} in {gpus}]")]
    if form == 1:
        return [Line(f"list(map(lambda {gpu}: {call}, {gpus}))")]
    if form == 2:
        return [block(f"for {scope.name('i')}, {gpu} in enumerate({gpus}):", [Line(call)])]
    if form == 3:
        index = scope.name("i")
        return [block(f"for {index} in range(len({gpus})):", [Line(f"{GROWTH}({gpus}[{index}], {value})")])]
    body: list[Statement] = [Line(call)]
    if form == 4:
        body = [*starting(scope), *body] if scope.chance(0.5) else [*body, *starting(scope)]
    if form == 5:
        guarded: list[Statement] = [block(f"for {gpu} in {gpus}:", body)]
        return [block(f"if {gpus}:", guarded)]
    return [block(f"for {gpu} in {gpus}:", body)]


def _growth_of_one(scope: Scope) -> list[Statement]:
    value = "False" if scope.chance(0.15) else "True"
    return [Line(f"{GROWTH}({scope.gpu()}, {value})")]


def _limit(scope: Scope) -> list[Statement]:
    size = scope.one_of(512, 1024)
    old = scope.chance(0.3)
    made = "tf.config.experimental.VirtualDeviceConfiguration" if old else "tf.config.LogicalDeviceConfiguration"
    call = "experimental.set_virtual_device_configuration" if old else "set_logical_device_configuration"
    limits = ", ".join([f"{made}(memory_limit={size})"] * scope.weighted(((5, 1), (1, 2))))
    if scope.chance(0.5):
        return [Line(f"tf.config.{call}({scope.gpu()}, [{limits}])")]
    gpu = scope.name("gpu")
    return [block(f"for {gpu} in {scope.gpus()}:", [Line(f"tf.config.{call}({gpu}, [{limits}])")])]


def _visible(scope: Scope) -> list[Statement]:
    gpu = scope.gpu()
    shown = scope.one_of(gpu, f"[{gpu}]", scope.gpus(), f"{scope.gpus()}[:1]", "[]")
    return [Line(f'tf.config.set_visible_devices({shown}, "GPU")')]


def _threads(scope: Scope) -> list[Statement]:
    which = scope.one_of("intra", "inter")
    return [Line(f"tf.config.threading.set_{which}_op_parallelism_threads({scope.one_of(1, 2)})")]


def _environment(scope: Scope) -> list[Statement]:
    name, value = scope.one_of(
        ("CUDA_VISIBLE_DEVICES", "0"),
        ("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(scope.shared.gpus)))),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "true"),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "true"),
    )
    form = scope.one_of('os.environ["{}"] = "{}"', 'os.environ["{}"] = "{}"', 'os.environ.update({{"{}": "{}"}})')
    return [Line(form.format(name, value))]
