"""What rules claim of the allocator, beyond its plain behaviour."""

from __future__ import annotations

from tests.verify.allocator_scenarios import default, takes
from tests.verify.scenarios import CARD, FREE, MIB, Outcome, Scenario


def ends(out: Outcome) -> bool:
    """The process is gone before it can tell anything."""
    return out.error == "no answer"


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
    **{
        f"env_growth_{name}": Scenario(
            "take(1)",
            default,
            env={"TF_FORCE_GPU_ALLOW_GROWTH": value},
            says=f"TF_FORCE_GPU_ALLOW_GROWTH={value!r} is ignored",
            claim=rule,
        )
        for name, value, rule in (
            ("one", "1", "TFM307"),
            ("yes", "yes", "TFM307"),
            ("blank", " true", "TFM307"),
            ("run_together", "true TF_GPU_ALLOCATOR=cuda_malloc_async", "TFM314"),
        )
    },
    "env_forces_growth": Scenario(
        "for gpu in gpus: config.experimental.set_memory_growth(gpu, False)\ntake(1)",
        takes(2),
        env={"TF_FORCE_GPU_ALLOW_GROWTH": "true"},
        says="TF_FORCE_GPU_ALLOW_GROWTH=true beats set_memory_growth(gpu, False)",
        claim="TFM403",
    ),
    "env_beats_session": Scenario(
        "v1(tf.compat.v1.GPUOptions(allow_growth=True))",
        default,
        env={"TF_FORCE_GPU_ALLOW_GROWTH": "false"},
        says="TF_FORCE_GPU_ALLOW_GROWTH=false beats allow_growth of a session",
        claim="TFM403",
    ),
    **{
        f"env_number_{name}": Scenario("take(1)", check, env={variable: value}, says=says, claim="TFM307")
        for name, variable, value, check, says in (
            ("unit", "TF_PER_DEVICE_MEMORY_LIMIT_MB", "1024MB", ends, "a limit with a unit ends the process"),
            ("share", "TF_PER_DEVICE_MEMORY_LIMIT_MB", "0.5", ends, "a share as a limit ends the process"),
            ("bytes", "TF_PER_DEVICE_MEMORY_LIMIT_MB", "1073741824", default, "a limit in bytes is none"),
            ("reserve", "TF_DEVICE_MIN_SYS_MEMORY_IN_MB", "1GB", default, "a reserve with a unit is ignored"),
            ("host", "TF_GPU_HOST_MEM_LIMIT_IN_MB", "4GB", default, "a limit of host memory with a unit is ignored"),
            ("count", "TF_MIN_GPU_MULTIPROCESSOR_COUNT", "all", default, "a word as a number is ignored"),
            ("schedule", "TF_CUDA_PLATFORM_GPU_DEVICE_SCHEDULE", "blocking", ends, "an unknown word ends the process"),
            ("collection", "TF_ENABLE_GPU_GARBAGE_COLLECTION", "yes", default, "an unknown word is ignored"),
            ("wide", "TF_FORCE_GPU_ALLOW_GROWTH", "\uff54rue", default, "full-width letters are ignored"),
        )
    },
    "env_thread_mode": Scenario(
        "take(1)",
        lambda out: "InvalidArgumentError: Invalid gpu_thread_mode" in out.error,
        env={"TF_GPU_THREAD_MODE": "gpu-private"},
        says="a mode of threads that there isn't raises InvalidArgumentError",
        claim="TFM307",
    ),
    "unknown_allocator": Scenario(
        "take(1)",
        default,
        env={"TF_GPU_ALLOCATOR": "cudaMallocAsync"},
        says="an allocator that there isn't is ignored",
        claim="TFM307",
    ),
    "async_share": Scenario(
        "with tf.Graph().as_default():\n"
        "    with tf.device('/GPU:0'):\n"
        "        x = tf.raw_ops.Empty(shape=[256, 1024 * 600], dtype=tf.float32)\n"
        "    options = tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=0.1)\n"
        "    tf.compat.v1.Session(config=tf.compat.v1.ConfigProto(gpu_options=options)).run(x.op)",
        lambda out: not out.error and sum(out.usage.gpus[0].pooled) >= 600 * MIB,
        env={"TF_GPU_ALLOCATOR": "cuda_malloc_async"},
        says="cuda_malloc_async does not keep to a tenth of the card",
        claim="TFM407",
    ),
    **{
        f"made_up_{name}": Scenario(
            "take(1)", default, env={variable: value}, says=f"{variable} has no effect", claim="TFM207"
        )
        for name, variable, value in (
            ("limit", "TF_GPU_MEMORY_LIMIT", "1024"),
            ("growth", "TF_GPU_ALLOW_GROWTH", "true"),
            ("order", "TF_FORCE_ALLOW_GPU_GROWTH", "true"),
            ("of_jax", "XLA_PYTHON_CLIENT_PREALLOCATE", "false"),
        )
    },
    "other_number": Scenario(
        "with tf.device('/GPU:2'): value = tf.random.normal((2,)).device",
        lambda out: not out.error and out.value.endswith("GPU:0"),
        env={"CUDA_VISIBLE_DEVICES": "2"},
        machine={"gpus": 3},
        says="of card 2 alone, '/GPU:2' quietly becomes GPU 0",
        claim="TFM308",
    ),
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
    "v1_fraction_negative": Scenario(
        "v1(tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=-0.5))",
        lambda out: not out.error and out.mib()[0] > FREE - out.reserve and len(out.usage.gpus[0].refused) > 5,
        says="a negative fraction is none: more is taken than by default",
        claim="TFM304",
    ),
    "v1_fraction_percent": Scenario(
        "v1(tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=50, allow_growth=True))",
        lambda out: not out.error and out.mib() == [] and sum(out.usage.gpus[0].managed) == 2 * MIB,
        says="a fraction of 50 is no percentage: memory is unified memory",
        claim="TFM304",
    ),
    "three_limits_beyond_card": Scenario(
        "limit(gpus[0], 2000, 2000, 2000); take(1); take(1, '/GPU:1'); take(1, '/GPU:2')",
        lambda out: not out.error and out.mib()[0] == 2000 and out.mib()[2] < 500,
        says="of three logical devices the third gets what the first two leave",
        claim="TFM309",
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
    "limits_twice": Scenario(
        "limit(gpus[0], 512); limit(gpus[0], 1024)\nvalue = len(config.list_logical_devices('GPU')); take(1)",
        lambda out: out.value == 1 and out.mib() == [1024],
        says="limits that are set again replace those that were set before",
        claim="TFM408",
    ),
    "visible_in_a_loop": Scenario(
        "for gpu in gpus: config.set_visible_devices(gpu, 'GPU')\n"
        "value = len(config.list_logical_devices('GPU')); take(1)",
        lambda out: out.value == 1 and out.mib(0) == [] and bool(out.mib(1)),
        machine={"gpus": 2},
        says="visible GPUs that are set one by one replace each other: the last is left",
        claim="TFM409",
    ),
    "peak_after_reset": Scenario(
        "grow(); take(20); kept.clear()\ninfo = config.experimental.get_memory_info\nbefore = info('GPU:0')\n"
        "config.experimental.reset_memory_stats('GPU:0')\nvalue = [before, info('GPU:0')]",
        lambda out: (
            out.value[0]["peak"] >= 20 * MIB and out.value[1]["peak"] == out.value[1]["current"] < out.value[0]["peak"]
        ),
        says="the peak right after its reset is the memory in use",
        claim="TFM607",
    ),
    "peak_of_two_works": Scenario(
        "grow(); info = config.experimental.get_memory_info\nvalue = []\n"
        "for size in (64, 4):\n    take(size); kept.clear(); value.append(info('GPU:0')['peak'])\n"
        "config.experimental.reset_memory_stats('GPU:0')\ntake(4); value.append(info('GPU:0')['peak'])",
        lambda out: out.value[0] == out.value[1] >= 64 * MIB > 8 * MIB > out.value[2],
        says="the peak stays that of earlier work until it is reset",
        claim="TFM609",
    ),
    "memory_of_two_gpus": Scenario(
        "take(20, '/GPU:1')\ninfo = config.experimental.get_memory_info\nvalue = [info('GPU:0'), info('GPU:1')]",
        lambda out: out.value[0]["peak"] == 0 and out.value[1]["current"] >= 20 * MIB,
        machine={"gpus": 2},
        says="the figures of a GPU without work stay at 0",
        claim="TFM608",
    ),
    "session_behind_a_server": Scenario(
        "server = tf.compat.v1.train.Server({'local': ['localhost:0']}, start=False)\n"
        "v1(tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=0.2))",
        lambda out: out.mib() == [FREE - out.reserve],
        says="a server makes the GPU devices, and the options of a session behind it are ignored",
        claim="TFM405",
    ),
    "server_with_options": Scenario(
        "options = tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=0.2)\n"
        "proto = tf.compat.v1.ConfigProto(gpu_options=options)\n"
        "server = tf.compat.v1.train.Server({'local': ['localhost:0']}, config=proto)\nv1(None)",
        lambda out: 0 < out.mib()[0] < CARD * 0.21,
        says="the GPU devices that a server makes have its options",
        claim="TFM405",
    ),
}
