"""What TensorFlow's own allocator does on the simulated driver: the behaviour that users of real GPUs know.

The expected sizes come from TensorFlow's documented rules (regions, reserves, limits), not from the driver.
"""

from __future__ import annotations

from tests.verify.scenarios import CARD, FREE, MIB, Check, Outcome, Scenario


def takes(*sizes: float) -> Check:
    """Exactly these regions of the first GPU and no error."""
    return lambda out: not out.error and out.mib() == list(sizes)


def default(out: Outcome) -> bool:
    """All that is free but for the reserve."""
    return not out.error and out.mib() == [FREE - out.reserve]


SCENARIOS: dict[str, Scenario] = {
    "list_only": Scenario(
        "pass",
        lambda out: out.mib() == [] and not out.usage.gpus[0].context,
        says="nothing is taken, and no context is made",
    ),
    "init_only": Scenario(
        "config.list_logical_devices()",
        lambda out: out.mib() == [] and out.usage.gpus[0].context,
        says="a context, and no memory",
    ),
    "default_grab": Scenario(
        "tf.constant(1.0)",
        default,
        says="one region of all that is free but for the reserve (1800 MiB; 1536 MiB on 2.12)",
    ),
    "cpu_scope": Scenario(
        "with tf.device('/CPU:0'): tf.random.normal((10,))", takes(), says="nothing is taken where only the CPU is used"
    ),
    "other_process": Scenario(
        "take(1)",
        lambda out: out.mib() == [CARD - 1024 - out.reserve],
        machine={"used_mib": 1024},
        says="what another process uses is left to it",
    ),
    "card_80_gib": Scenario(
        "grow(); take(10000)",
        lambda out: not out.error and out.mib()[-1] == 16384 and out.usage.gpus[0].total == 80 << 30,
        machine={"memory_mib": [81920]},
        says="a card larger than this machine's memory works",
    ),
    "small_card": Scenario(
        "take(1)", takes(2048 - 300 - 225), machine={"memory_mib": [2048]}, says="of a card of 2 GiB 225 MiB are left"
    ),
    "growth": Scenario(
        "grow(); take(1); take(100); take(1000)",
        takes(2, 128, 1024),
        says="regions of 2, 128 and 1024 MiB as tensors of 1, 100 and 1000 MiB come",
    ),
    "growth_small": Scenario(
        "grow()\nfor _ in range(20): take(1)", takes(2, 4, 8, 16), says="regions of 2, 4, 8 and 16 MiB"
    ),
    "growth_kept": Scenario(
        "grow(); take(1000); kept.clear()\nimport gc; gc.collect()",
        lambda out: out.mib()[-1] == 1024 and out.usage.gpus[0].current == sum(out.usage.gpus[0].regions),
        says="memory that is no longer used is not given back",
    ),
    "growth_oom": Scenario(
        "grow(); take(5000)",
        lambda out: out.error.startswith("ResourceExhaustedError"),
        says="ResourceExhaustedError beyond the card",
    ),
    "limit": Scenario("limit(gpus[0], 512); take(100)", takes(512), says="exactly 512 MiB are taken"),
    "limit_oom": Scenario(
        "limit(gpus[0], 512); take(600)",
        lambda out: (
            out.mib() == [512]
            and out.error.startswith("ResourceExhaustedError")
            and "GPU_0_bfc" in out.error + out.stderr
        ),
        says="ResourceExhaustedError by GPU_0_bfc beyond 512 MiB",
    ),
    "two_logical": Scenario(
        "limit(gpus[0], 1000, 2000); take(1); take(1, '/GPU:1')", takes(1000, 2000), says="1000 and 2000 MiB"
    ),
    "limit_beyond_card": Scenario(
        "limit(gpus[0], 2 * 4096); take(1)",
        # The request is made smaller by a tenth until it fits.
        lambda out: len(out.mib()) == 1 and 0.9 * FREE <= out.mib()[0] <= FREE and len(out.usage.gpus[0].refused) > 5,
        says="a limit beyond the card is made smaller until it fits; nothing is raised",
        claim="TFM309",
    ),
    "limits_beyond_card": Scenario(
        "limit(gpus[0], 2500, 2500); take(1); take(1, '/GPU:1')",
        lambda out: out.mib()[0] == 2500 and 0.9 * (FREE - 2500) <= out.mib()[1] <= FREE - 2500,
        says="the second device silently gets what is left",
        claim="TFM309",
    ),
    "limit_half_mib": Scenario(
        "limit(gpus[0], 0.5); take(1)", lambda out: bool(out.error), says="the first use raises", claim="TFM301"
    ),
    "limit_negative": Scenario(
        "limit(gpus[0], -100); take(1)",
        lambda out: not out.error and out.mib()[0] > 2000,
        says="a negative limit is none",
        claim="TFM302",
    ),
    "env_growth": Scenario(
        "take(1)",
        takes(2),
        env={"TF_FORCE_GPU_ALLOW_GROWTH": "true"},
        says="TF_FORCE_GPU_ALLOW_GROWTH=true makes memory grow",
        claim="TFM403",
    ),
    "env_growth_not_lower": Scenario(
        "take(1)",
        default,
        env={"TF_FORCE_GPU_ALLOW_GROWTH": "True"},
        says="TF_FORCE_GPU_ALLOW_GROWTH=True is ignored",
        claim="TFM307",
    ),
    "env_beats_growth": Scenario(
        "grow(); take(1)",
        default,
        env={"TF_FORCE_GPU_ALLOW_GROWTH": "false"},
        says="TF_FORCE_GPU_ALLOW_GROWTH=false beats set_memory_growth",
        claim="TFM403",
    ),
    "env_growth_with_limit": Scenario(
        "limit(gpus[0], 512); take(1); take(300)",
        lambda out: out.mib()[0] == 2 and sum(out.mib()) <= 512,
        env={"TF_FORCE_GPU_ALLOW_GROWTH": "true"},
        says="the variable and a limit together: growth up to 512 MiB",
        claim="TFM401",
    ),
    "async": Scenario(
        "limit(gpus[0], 512); take(1); take(600); value = config.experimental.get_memory_info('GPU:0')['current']",
        lambda out: (
            not out.error and out.mib() == [] and sum(out.usage.gpus[0].pooled) >= 601 * MIB and out.value >= 601 * MIB
        ),
        env={"TF_GPU_ALLOCATOR": "cuda_malloc_async"},
        says="cuda_malloc_async does not keep to a limit of 512 MiB",
        claim="TFM407",
    ),
    "cuda_malloc": Scenario(
        "take(1); take(3)",  # Before 2.14 TensorFlow itself fails, since this allocator keeps no statistics.
        lambda out: 3 in out.mib() if out.minor >= 14 else "No allocator statistics" in out.error,
        env={"TF_GPU_ALLOCATOR": "cuda_malloc"},
        says="each tensor is allocated by itself",
        claim="TFM407",
    ),
    "v1_fraction": Scenario(
        "v1(tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=0.25))",
        takes(CARD // 4),
        says="a quarter of the whole card",
        claim="TFM304",
    ),
    "v1_unified": Scenario(
        "v1(tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=2.0))",
        lambda out: not out.error and out.mib() == [] and sum(out.usage.gpus[0].managed) > CARD * MIB,
        says="a fraction of 2 asks for unified memory, more than the card has",
        claim="TFM304",
    ),
    "v1_growth_first": Scenario(
        "v1(tf.compat.v1.GPUOptions(allow_growth=True)); take(1)",
        takes(2),
        says="the options of the first session hold for the process",
        claim="TFM405",
    ),
    "v1_growth_late": Scenario(
        "take(1); v1(tf.compat.v1.GPUOptions(allow_growth=True))",
        default,
        says="the options of a later session are lost",
        claim="TFM405",
    ),
    "two_gpus": Scenario(
        "take(1)",
        lambda out: out.mib(0) == [FREE - out.reserve] and out.mib(1) == [] and out.usage.gpus[1].context,
        machine={"gpus": 2},
        says="memory is taken of the GPU that is used, a context is made on both",
    ),
    "growth_lost": Scenario(
        "limit(gpus[0], 512); config.experimental.set_memory_growth(gpus[1], True); take(1); take(1, '/GPU:1')",
        lambda out: out.mib(0) == [512] and out.mib(1) == [FREE - out.reserve],
        machine={"gpus": 2},
        says="a limit on GPU 0 drops growth on GPU 1, which is taken whole",
        claim="TFM401",
    ),
    "visible_second": Scenario(
        "config.set_visible_devices(gpus[1], 'GPU'); take(1)",
        lambda out: out.mib(0) == [] and len(out.mib(1)) == 1,
        machine={"gpus": 2},
        says="only the visible GPU is used",
    ),
    "cuda_visible_devices": Scenario(
        "grow(); take(1); value = len(gpus)",
        lambda out: out.value == 1 and out.usage.gpus[0].card == 1 and out.mib() == [2],
        env={"CUDA_VISIBLE_DEVICES": "1"},
        machine={"gpus": 2},
        says="card 1 becomes GPU 0",
        claim="TFM308",
    ),
    "hidden": Scenario(
        "value = len(gpus)", lambda out: out.value == 0, env={"CUDA_VISIBLE_DEVICES": "-1"}, says="no GPU"
    ),
}
