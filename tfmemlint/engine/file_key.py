"""The name under which the findings in a file by itself are cached."""

from __future__ import annotations

from tfmemlint.config.selection import is_document
from tfmemlint.engine.cache import digest
from tfmemlint.engine.config_files import contents_of, named_config_files
from tfmemlint.engine.context import RunContext


def file_key(path: str, data: bytes | str, context: RunContext) -> str:
    """Return the name under which the findings in a file by itself are cached: all that they depend on."""
    context = context.at(path)
    codes = [rule.code for rule in context.rules_for(path)]
    launches = [launch.about for launch in context.launches_of(path)]
    stated: object = None
    if is_document(path):
        stated = context.target is not None, context.oldest_target_of(path)
    files: object = None
    if not is_document(path):
        named = named_config_files(path, data if isinstance(data, bytes) else data.encode("utf-8", "replace"))
        files = contents_of(named) if named else None
    return digest("file", path, data, codes, context.target_of(path), context.gpu_memory_mib, launches, stated, files)
