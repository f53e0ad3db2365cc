"""The files of TensorFlow's profiler: what is read of them, beside TensorFlow's own class for them."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys

import pytest

from tfmemlint.fit.child.xspace import events

pytestmark = pytest.mark.slow

PROFILED = """
import importlib, json, pathlib, sys
import tensorflow as tf

folder = pathlib.Path(sys.argv[1])
tf.profiler.experimental.start(str(folder))
values = [tf.random.uniform((256, number)) for number in range(1, 20)]
total = tf.add_n([tf.reduce_sum(value) for value in values])
tf.profiler.experimental.stop()
(path,) = folder.rglob("*.xplane.pb")
path.rename(folder / "profile.pb")

for name in ("tensorflow.tsl.profiler.protobuf.xplane_pb2", "tensorflow.core.profiler.protobuf.xplane_pb2"):
    try:
        own = importlib.import_module(name)
        break
    except ImportError:
        continue
space = own.XSpace.FromString((folder / "profile.pb").read_bytes())
found = []
for plane in space.planes:
    for line in plane.lines:
        for event in line.events:
            values = {}
            for stat in event.stats:
                kind = stat.WhichOneof("value")
                value = getattr(stat, kind)
                value = plane.stat_metadata[value].name if kind == "ref_value" else value
                values[plane.stat_metadata[stat.metadata_id].name] = str(value)
            time = line.timestamp_ns * 1000 + event.offset_ps
            found.append([plane.event_metadata[event.metadata_id].name, time, values])
(folder / "own.json").write_text(json.dumps(found))
"""


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[tuple[str, int, dict[str, str]]]]:
    """A profile of the installed TensorFlow, and all events in it, read by TensorFlow's own class."""
    pytest.importorskip("tensorflow", reason="there is no TensorFlow to make a profile")
    folder = tmp_path_factory.mktemp("profile")
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-c", PROFILED, str(folder)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    own = json.loads((folder / "own.json").read_text())
    return (folder / "profile.pb").read_bytes(), [tuple(event) for event in own]


def test_a_profile_is_read_as_tensorflow_reads_it(profile: tuple[bytes, list[tuple[str, int, dict[str, str]]]]) -> None:
    data, own = profile
    names = {name for name, _, _ in own}
    assert names
    found = [
        (event.name, event.time_ps, {title: str(value) for title, value in event.values.items()})
        for event in events(data, names)
    ]
    assert found == own


def test_a_truncated_profile_is_one_clear_error(
    profile: tuple[bytes, list[tuple[str, int, dict[str, str]]]],
) -> None:
    data, _ = profile
    for length in (1, 7, len(data) // 3, len(data) - 1):
        with pytest.raises(ValueError, match="the profiler's file is truncated or broken"):
            list(events(data[:length], ("MemoryAllocation",)))


def varint(number: int) -> bytes:
    """A number as protocol buffers have it; a negative one takes ten bytes."""
    number %= 2**64
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, value: int | bytes) -> bytes:
    """One field of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def space(*stats: bytes, event: bytes = b"", line: bytes = b"", plane: bytes = b"") -> bytes:
    """A file with one event, and these values of it, all called ``x``."""
    titles = [field(5, field(1, 1) + field(2, field(1, 1) + field(2, b"x")))]
    titles += [field(5, field(1, 2) + field(2, field(1, 2) + field(2, b"a title")))]
    kinds = field(4, field(1, 5) + field(2, field(1, 5) + field(2, b"Event")))
    body = field(1, 5) + event + b"".join(field(4, field(1, 1) + stat) for stat in stats)
    return field(1, field(3, line + field(4, body)) + kinds + b"".join(titles) + plane)


VALUES = {
    "negative": (field(4, -5), -5),
    "the least": (field(4, -(2**63)), -(2**63)),
    "unsigned": (field(3, 2**64 - 5), 2**64 - 5),
    "zero": (field(4, 0), 0),
    "double": (varint(2 << 3 | 1) + struct.pack("<d", -0.5), -0.5),
    "text": (field(5, "ü".encode()), "ü"),
    "bytes that are no text": (field(5, b"a\xff"), "a\ufffd"),
    "a title": (field(7, 2), "a title"),
    "a title that is missing": (field(7, 9), ""),
    "nothing": (b"", None),
}


@pytest.mark.parametrize("kind", VALUES)
def test_the_values_of_an_event(kind: str) -> None:
    pytest.importorskip("google.protobuf", reason="the protobuf runtime comes with TensorFlow")
    stat, expected = VALUES[kind]
    (found,) = events(space(stat), ("Event",))
    assert found.values == {"x": expected}


def test_times_may_be_negative_and_unknown_fields_are_skipped() -> None:
    pytest.importorskip("google.protobuf", reason="the protobuf runtime comes with TensorFlow")
    unknown = field(99, b"what a later release adds") + field(98, 7)
    data = space(field(4, 1), event=field(2, -3) + unknown, line=field(3, 2) + unknown, plane=unknown) + unknown
    (found,) = events(data, ("Event",))
    assert (found.name, found.time_ps) == ("Event", 1997)
    assert list(events(data, ("Other",))) == []
    assert list(events(b"", ("Event",))) == []
