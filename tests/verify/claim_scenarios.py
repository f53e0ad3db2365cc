"""What rules claim of the allocator, beyond its plain behaviour."""

from __future__ import annotations

from tests.verify.allocator_scenarios import default, takes
from tests.verify.scenarios import CARD, MIB, Scenario

CLAIMS: dict[str, Scenario] = {
    **{
        f"taken_by_{name}": Scenario(
            f"grow(); {code}; take(1)",
            default,
            says=f"growth that was set before {what} is lost",
            claim="TFM107",
        )
        for name, what, code in (
            (
                "listing",
                "device_lib.list_local_devices()",
                "from tensorflow.python.client import device_lib; device_lib.list_local_devices()",
            ),
            ("test", "tf.test.is_gpu_available()", "tf.test.is_gpu_available()"),
            ("name", "tf.test.gpu_device_name()", "tf.test.gpu_device_name()"),
        )
    },
    "taken_before_growth": Scenario(
        "tf.test.is_gpu_available(); grow(); take(1)",
        default,
        says="growth set after tf.test.is_gpu_available() raises nothing and is lost",
        claim="TFM107",
    ),
    "plain_session_keeps_growth": Scenario(
        "grow(); tf.compat.v1.Session(); take(1)",
        takes(2),
        says="a session without a config keeps the growth that was set before",
        claim="TFM107",
    ),
    "session_before_growth": Scenario(
        "tf.compat.v1.Session(); grow(); take(1)",
        default,
        says="growth set after a session raises nothing and is lost",
        claim="TFM107",
    ),
    "two_sessions": Scenario(
        "v1(tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=0.25))\n"
        "v1(tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=0.5)); take(1)",
        takes(CARD // 4),
        says="of two sessions the options of the first hold",
        claim="TFM405",
    ),
    "v1_fraction_zero": Scenario(
        "v1(tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=0.0))",
        default,
        says="a fraction of 0 is the default",
        claim="TFM304",
    ),
    "v1_fraction_and_virtual": Scenario(
        "options = tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=0.25)\n"
        "options.experimental.virtual_devices.add().memory_limit_mb.append(512); v1(options)",
        lambda out: out.error.startswith("InvalidArgumentError") and "virtual_devices is set" in out.error,
        says="a fraction together with virtual devices raises InvalidArgumentError",
        claim="TFM304",
    ),
    "clear_session": Scenario(
        "grow(); take(1000); kept.clear(); tf.keras.backend.clear_session()\nimport gc; gc.collect()",
        lambda out: not out.error and out.usage.gpus[0].current >= 1000 * MIB,
        says="clear_session gives nothing back to the driver",
        claim="TFM701",
    ),
    "limit_in_bytes": Scenario(
        "limit(gpus[0], 1024**3); take(1)",
        lambda out: not out.error and out.mib()[0] > 2000,
        says="a limit in bytes is none",
        claim="TFM302",
    ),
    "limit_in_gigabytes": Scenario(
        "limit(gpus[0], 2); take(0.5); take(4)",
        lambda out: out.mib() == [2] and out.error.startswith("ResourceExhaustedError"),
        says="a limit of 2 is one of 2 MiB: a tensor of 4 MiB is refused",
        claim="TFM302",
    ),
    "growth_then_limit": Scenario(
        "grow(); limit(gpus[0], 512); take(1)",
        takes(512),
        says="a limit set after growth drops it: all of the limit is taken at once",
        claim="TFM401",
    ),
    "split_cpu": Scenario(
        "grow(); cpu = config.list_physical_devices('CPU')[0]\n"
        "config.set_logical_device_configuration(cpu, [Limit(), Limit()]); take(1)",
        default,
        says="splitting the CPU drops growth on the GPU",
        claim="TFM401",
    ),
}
