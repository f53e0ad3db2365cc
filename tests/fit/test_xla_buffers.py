"""XLA's plans of memory, and what was held with the values of the plans in place of the blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tfmemlint.fit.held import COPIED, RESULTS, SPACE, XLA, complete, named_share, shown
from tfmemlint.fit.observation import DeviceUsage
from tfmemlint.fit.xla_buffers import Block, Piece, blocks_in, read_plan

PLAN = """\
BufferAssignment:
allocation 0: size 4096, parameter 0, shape |f32[1024]| at ShapeIndex {}:
 value: <1 arg0.1 @0> (size=4096,offset=0): f32[1024]{0}
allocation 1: 0x55d0c8a1b2c0, size 8192, output shape is |f32[2048]|, maybe-live-out:
 value: <2 last @0> (size=8192,offset=0): f32[2048]{0}
allocation 2: size 256, thread-local:
 value: <3 inner @0> (size=256,offset=0): f32[]
allocation 3: size 5000, preallocated-temp:
 value: <4 early @0> (size=1000,offset=0): f32[250]{0}
 value: <5 fused{} @0> (size=16,offset=4096): (f32[500]{0}, s32[500]{0})
 value: <6 fused{0} @0> (size=2000,offset=0): f32[500]{0}
 value: <7 fused{1} @0> (size=2000,offset=2048): s32[500]{0}
 value: <8 alias @0> (size=2000,offset=0): f32[500]{0}

Total bytes used: 17544 (17.1KiB)

Used values:
<4 early @0>
 positions:
  early
 uses:
  fused, operand 0
 from instruction: %early = f32[250]{0} add(%arg0.1, %arg0.1), metadata={op_type="AddV2" op_name="model/first/add"}
<6 fused{0} @0>
 from instruction: %fused = (f32[500]{0}, s32[500]{0}) fusion(%early), metadata={op_name="model/second/Relu" line=1}
<8 alias @0>
 from instruction: %alias = f32[500]{0} bitcast(%fused)

HloLiveRange (max 9):
  InstructionSequence:
    0:arg0.1
    1:early
  BufferLiveRange:
    early{}:1-2
    fused{}:3-6
    fused{0}:3-6
    fused{1}:4-6
    alias{}:5-6
    last{}:7-9
"""


def test_a_block_has_what_is_alive_when_it_is_fullest() -> None:
    output, temporaries = read_plan(PLAN.splitlines(keepends=True))
    assert output == Block(8192, [Piece("last", "float32", "[2048]", 8192)])
    assert temporaries.size == 5000
    assert [(piece.what, piece.kind, piece.size) for piece in temporaries.pieces] == [
        ("model/second/Relu", "float32", 2000),
        ("model/second/Relu", "int32", 2000),
        ("model/second/Relu", "", 16),
    ]
    assert temporaries.free == 5000 - 4016


def test_a_value_without_a_known_life_is_there_all_the_time() -> None:
    (block,) = [block for block in read_plan(PLAN.replace("fused{1}:4-6", "").splitlines(True)) if block.size == 5000]
    assert sum(piece.size for piece in block.pieces) == 4016


@pytest.mark.parametrize("text", ["", "BufferAssignment:\n", "allocation x\n value: nothing\n    a{}:1-\n", "\0\0"])
def test_what_is_no_plan_has_no_blocks(text: str) -> None:
    assert read_plan(text.splitlines(True)) == []


def test_plans_are_found_by_the_sizes_of_their_blocks(tmp_path: Path) -> None:
    (tmp_path / "module_1.gpu_after_optimizations-buffer-assignment.txt").write_text(PLAN)
    (tmp_path / "module_1.gpu_after_optimizations.txt").write_text(PLAN)
    (tmp_path / "module_2.gpu_after_optimizations-buffer-assignment.txt").write_bytes(b"\xff\xfeallocation")
    assert sorted(blocks_in(tmp_path)) == [5000, 8192]
    assert blocks_in(tmp_path / "absent") == {}


def _held(*groups: dict[str, Any]) -> dict[str, Any]:
    total = sum(group["bytes"] for group in groups)
    roles: dict[str, int] = {}
    for group in groups:
        roles[group["role"]] = roles.get(group["role"], 0) + group["bytes"]
    return {"peak": total, "asked": total, "asked_peak": total, "roles": roles, "groups": list(groups)}


def _group(role: str, what: str, size: int, *, given: int | None = None, number: int = 1, kind: str = "") -> Any:
    taken = size if given is None else given
    shape = "[1]" if kind else ""
    return {"role": role, "what": what, "type": kind, "shape": shape, "number": number, "asked": size, "bytes": taken}


def test_a_block_is_replaced_by_its_values_and_nothing_is_lost() -> None:
    block = Block(1000, [Piece("a", "float32", "[200]", 800), Piece("b", "float32", "[25]", 100)])
    held = complete(
        _held(
            _group(RESULTS, "", 1000, given=1024),
            _group(RESULTS, "conv", 500, kind="float32"),
            _group(COPIED, "", 10),
            _group(RESULTS, "", 77),
        ),
        {1000: block},
    )
    assert held["roles"] == {RESULTS: 577, XLA: 1024, COPIED: 10}
    assert [(group["what"], group["bytes"]) for group in held["groups"] if group["role"] == XLA] == [
        ("a", 800),
        (SPACE, 124),
        ("b", 100),
    ]
    assert named_share(held) == pytest.approx((1024 + 500 + 10) / 1611)


def test_two_blocks_of_one_size_count_twice_and_one_with_a_name_is_left_alone() -> None:
    block = Block(1000, [Piece("a", "float32", "[250]", 1000)])
    held = complete(
        _held(_group(RESULTS, "", 2000, number=2), _group(RESULTS, "conv", 1000), _group("other variables", "v", 1000)),
        {1000: block},
    )
    assert held["roles"] == {RESULTS: 1000, XLA: 2000, "other variables": 1000}
    assert [group["number"] for group in held["groups"] if group["role"] == XLA] == [2]


def test_what_the_process_did_not_list_is_in_the_sum() -> None:
    told = _held(_group(RESULTS, "conv", 100))
    told["roles"][RESULTS] = 150
    held = complete(told, {})
    assert held["roles"] == {RESULTS: 150}
    assert named_share(held) == pytest.approx(100 / 150)
    assert shown(held, RESULTS)[0]["what"] == "conv"


def test_requests_are_unknown_where_the_peak_was_not_recorded() -> None:
    held = complete(_held(_group(RESULTS, "conv", 100)), {})
    assert DeviceUsage("GPU:0", 0, 100, 1000, False, False, 1000, held).asked_peak == 100
    assert DeviceUsage("GPU:0", 0, 101, 1000, False, False, 1000, held).asked_peak is None
    assert DeviceUsage("GPU:0", 0, 101, 1000, False, False, 1000).asked_peak is None
