"""The words and expressions that the search of bytes looks for, as `tfmemlint.facts.line_search` takes it.

``tools/make_search_index.py`` makes this file from the triggers of the rules.
"""

# fmt: off
# ruff: noqa: E501, RUF100
from __future__ import annotations

from tfmemlint.facts.line_search import Group

TRIGGERS: tuple[Group, ...] = (
    ('.name', False, '(?:[=!]=|\\bin)\\s*[\\w.\\[\\]()]{1,80}\\.name\\b|\\.name\\s*[=!]='),
    ('CUDA_', False, '(?:TF_|CUDA_)\\w{0,60}(?:GROW|GROT|MEM|FRACTION|ALLOC|DEVI[CS]|GPU)'),
    ('ConfigProto', False, 'ConfigProto|ConfigProto|GPUOptions'),
    ('DEVICE', False, '(?:VISIBLE_DEVICES|visible_device|logical_device|virtual_device|memory_growth)|CUDA_DEVICE_ORDER|VISIBLE_DEVICES'),
    ('Device', False, '(?:Logical|Virtual)Device|(?:Logical|Virtual)DeviceConfiguration|nvmlDeviceGetHandle'),
    ('GPU', False, 'ConfigProto|GPUOptions|GPUOptions|GPU_ALLO[CW]|GPUtil|TF_FORCE_GPU|TF_GPU|TF_GPU_ALLOCATOR|\\b(?:tf|tensorflow|K|backend|experimental|extended)\\.[\\w.]*(?:[Mm]emory|gpu|GPU|vram)|\\b(?:tf|tensorflow|K|backend|experimental|extended)\\.[\\w.]*(?:[Mm]emory|gpu|GPU|vram|growth)'),
    ('Pool(', False, '\\bPool\\('),
    ('ProcessPoolExecutor', False, 'ProcessPoolExecutor'),
    ('Session', False, 'InteractiveSession|Monitored\\w*Session|\\bSession\\('),
    ('Strategy', False, '(?:device|Strategy)\\((?:[a-z_]+=)?\\[?["\']?[0-9]|Strategy\\(\\s*[\\w*]'),
    ('TF_', False, '(?:TF_|CUDA_)\\w{0,60}(?:GROW|GROT|MEM|FRACTION|ALLOC|DEVI[CS]|GPU)|TF_CUDNN'),
    ('VERSION', False, '\\bVERSION\\b'),
    ('XLA_PYTHON_CLIENT', False, 'XLA_PYTHON_CLIENT'),
    ('_session', False, '(?:set|clear)_session|clear_session|set_session'),
    ('cuda:', False, 'cuda:[0-9{]'),
    ('declare -x', False, '\\b(?:export|declare -x) [\\"\']?\\$\\w|\\b(?:export|declare -x) [\\"\']?\\$\\{\\w'),
    ('delayed(', False, '\\bdelayed\\('),
    ('device', False, '(?:VISIBLE_DEVICES|visible_device|logical_device|virtual_device|memory_growth)|(?:device|Strategy)\\((?:[a-z_]+=)?\\[?["\']?[0-9]|(?:logical|physical|visible)_device|(?:logical|physical|visible|local)_device|(?:logical|physical|visible|virtual)_device|(?:logical|virtual)_device|(?:logical|virtual)_device_configuration|(?:logical|virtual|visible|physical)_device|(?:logical|virtual|visible|physical|local)_device|\\bdevice_type\\b|device_count|get_device_details|gpu_device_name|local_device|physical_device|visible_device'),
    ('distribute.', False, 'distribute\\.\\w{0,60}\\.?\\w{0,60}(?:Strategy|Resolver)'),
    ('emory', False, '(?:VISIBLE_DEVICES|visible_device|logical_device|virtual_device|memory_growth)|\\b(?:tf|tensorflow|K|backend|experimental|extended)\\.[\\w.]*(?:[Mm]emory|gpu|GPU|vram)|\\b(?:tf|tensorflow|K|backend|experimental|extended)\\.[\\w.]*(?:[Mm]emory|gpu|GPU|vram|growth)|contrib\\.memory|get_memory_info|gpu_memory|memory_(?:fraction|growth|limit|optimi[sz]er)|memory_(?:growth|info|usage|stats)|memory_(?:info|usage|stats)|memory_(?:info|usage|stats|used|total)|memory_(?:limit|fraction)|memory_(?:total|used)|memory_fraction|memory_growth|memory_info|memory_limit|memory_stats|memory_usage|nvmlDeviceGetMemoryInfo|per_process_gpu_memory_fraction|reset_memory_stats'),
    ('enable_eager_execution', False, 'enable_eager_execution'),
    ('environ', False, '(?:environ\\.get|environ\\.setdefault|getenv)\\([^()]{1,80},\\s{0,9}[\\"\'](?:0|[Ff]alse|FALSE|[Nn]o|[Oo]ff)[\\"\']|\\bbool\\(\\s*os\\.(?:environ|getenv)|\\bload_dotenv|\\benviron\\.update\\(|environ\\[[^\\]\\n]{0,80}\\]\\s{0,9}=='),
    ('experimental', False, '\\.config\\.experimental|set_experimental_options'),
    ('export', False, '\\b(?:export|declare -x) [\\"\']?\\$\\w|\\b(?:export|declare -x) [\\"\']?\\$\\{\\w'),
    ('get_context(', False, 'get_context\\('),
    ('getattr', False, '\\b(?:hasattr|getattr)\\('),
    ('getenv', False, '(?:environ\\.get|environ\\.setdefault|getenv)\\([^()]{1,80},\\s{0,9}[\\"\'](?:0|[Ff]alse|FALSE|[Nn]o|[Oo]ff)[\\"\']|\\bbool\\(\\s*os\\.(?:environ|getenv)'),
    ('gpu', False, '\\b(?:tf|tensorflow|K|backend|experimental|extended)\\.[\\w.]*(?:[Mm]emory|gpu|GPU|vram)|\\b(?:tf|tensorflow|K|backend|experimental|extended)\\.[\\w.]*(?:[Mm]emory|gpu|GPU|vram|growth)|gpu_options|is_gpu_available'),
    ('gpu', True, '(?i:["\']/?(?:xla_)?gpu[0-9{])|(?i:["\']/device:gpu["\'0-9])|(?i:[\\"\'/]gpu:)|(?i:gpu:[0-9]+,)|[\'\\"]/?(?:(?:physical_)?device:)?(?i:gpu):[\\d{%]'),
    ('growth', False, '\\b(?:tf|tensorflow|K|backend|experimental|extended)\\.[\\w.]*(?:[Mm]emory|gpu|GPU|vram|growth)|allow_growth'),
    ('hasattr', False, '\\b(?:hasattr|getattr)\\('),
    ('initializer', False, '\\binitializer\\s{0,4}='),
    ('keras', False, '\\bkeras[\\w. ,()]*(?:[Mm]emory|[Gg]rowth|gpu|GPU|vram|cuda|session|device)'),
    ('load_dotenv', False, '\\bload_dotenv|\\benviron\\.update\\('),
    ('memory', True, '(?i:class \\w{0,60}memory)|(?i:def \\w{0,60}(?:memory|vram|usage))'),
    ('noqa', True, '(?i:(?:noqa|tfmemlint:)[^\\n]*TFM\\d)'),
    ('nvidia-smi', False, 'nvidia-smi'),
    ('parallelism_threads', False, 'parallelism_threads'),
    ('set_int', False, 'set_int(?:ra|er)_op_'),
    ('set_jit', False, 'set_jit'),
    ('set_start_method(', False, 'set_start_method\\('),
    ('store_', False, 'store_(?:true|false)'),
    ('target', False, '\\btarget\\s{0,4}='),
    ('tensorflow', False, 'get_distribution\\(\\s*[\\"\']tensorflow|tensorflow/serving|tensorflow_backend|tensorflow_model_server'),
    ('tf.config', False, '\\btf\\.config\\b'),
    ('tf_serving_entrypoint', False, 'tf_serving_entrypoint'),
    ('tfmemlint:', False, 'tfmemlint:'),
    ('tfmemlint:', True, '(?i:(?:noqa|tfmemlint:)[^\\n]*TFM\\d)'),
    ('tritonserver', False, 'tritonserver'),
    ('type', False, '\\btype\\s*=\\s*bool\\b|allocator_type'),
    ('usage', True, '(?i:def \\w{0,60}(?:memory|vram|usage))'),
    ('version', False, '\\bversion\\(\\s*[\\"\']tensorflow|__version__'),
    ('vram', False, '\\b(?:tf|tensorflow|K|backend|experimental|extended)\\.[\\w.]*(?:[Mm]emory|gpu|GPU|vram)|\\b(?:tf|tensorflow|K|backend|experimental|extended)\\.[\\w.]*(?:[Mm]emory|gpu|GPU|vram|growth)'),
    ('vram', True, '(?i:def \\w{0,60}(?:memory|vram|usage))'),
    ('with(', False, '\\.name\\.(?:starts|ends)with\\('),
)
"""The triggers of the tool's own rules."""

LAUNCHED: tuple[Group, ...] = (
    ('gpu:', True, '(?i:gpu:[1-9])'),
)
"""Those for programs that are launched."""

CONFIGURING: tuple[Group, ...] = (
    ('Configuration', False, 'LogicalDeviceConfiguration|VirtualDeviceConfiguration'),
    ('DEVICE', False, 'CUDA_VISIBLE_DEVICES|TF_PER_DEVICE_MEMORY_LIMIT_MB'),
    ('GPUOptions', False, 'GPUOptions'),
    ('TF_FORCE_GPU_ALLOW_GROWTH', False, 'TF_FORCE_GPU_ALLOW_GROWTH'),
    ('TF_GPU_ALLOCATOR', False, 'TF_GPU_ALLOCATOR'),
    ('device', False, 'set_logical_device_configuration|set_virtual_device_configuration|set_visible_devices'),
    ('environ', False, 'environ\\.setdefault\\(k,|environ\\.setdefault\\(key|environ\\.setdefault\\(name|environ\\[key|environ\\[name'),
    ('gpu_options', False, 'gpu_options'),
    ('load_dotenv', False, 'load_dotenv'),
    ('memory', False, 'set_gpu_memory|set_memory_growth|set_memory_limit'),
    ('parallelism', False, 'set_inter_op_parallelism_threads|set_intra_op_parallelism_threads'),
)
"""The words of code that configures GPUs."""
