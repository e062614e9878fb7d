"""Values to bytes and back, for any value there is."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from bedside.recording import codec, eeg_blocks
from devices.types import VALUE_TYPES, EegBlock, Stream, Volume

SMALL_STREAMS = sorted(set(Stream) - {Stream.EEG})
FAILURES = (ValueError, TypeError, KeyError, AttributeError, OverflowError)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
FIELDS: dict[Any, st.SearchStrategy[Any]] = {
    float: NUMBERS,
    float | None: st.none() | NUMBERS,
    int: st.integers(),
    str: st.text(),
    str | None: st.none() | st.text(),
    bool: st.booleans(),
    bool | None: st.none() | st.booleans(),
    Volume | None: st.none() | st.sampled_from(Volume),
    tuple[float, ...]: st.lists(NUMBERS, max_size=4).map(tuple),
}


@st.composite
def values(draw: st.DrawFn) -> tuple[Stream, Any]:
    stream = draw(st.sampled_from(SMALL_STREAMS))
    return stream, draw(_any_of(VALUE_TYPES[stream]))


def _any_of(kind: type) -> st.SearchStrategy[Any]:
    """Any value of a frozen dataclass, with numbers that JSON can hold."""
    hints = get_type_hints(kind)
    given_fields = {
        field.name: FIELDS[hints[field.name]]
        if hints[field.name] in FIELDS
        else _any_of(hints[field.name])
        if is_dataclass(hints[field.name])
        else st.sampled_from(hints[field.name])
        for field in fields(kind)
    }
    return st.builds(kind, **given_fields)


@settings(max_examples=1000)
@given(values())
def test_any_value_comes_back_equal(given_value: tuple[Stream, Any]) -> None:
    stream, value = given_value
    payload = codec.encoder(stream)(value)
    assert codec.decoder(stream)(payload) == value


@given(values())
def test_payloads_are_plain_json_objects_without_nulls(given_value: tuple[Stream, Any]) -> None:
    stream, value = given_value
    parsed = json.loads(codec.encoder(stream)(value))
    assert isinstance(parsed, dict)
    assert "null" not in json.dumps([v for v in parsed.values() if not isinstance(v, dict | str)])


@given(values())
def test_every_field_name_is_the_name_in_the_code(given_value: tuple[Stream, Any]) -> None:
    stream, value = given_value
    parsed = json.loads(codec.encoder(stream)(value))
    assert is_dataclass(value)
    assert set(parsed) <= {field.name for field in fields(value)}


@settings(max_examples=1000)
@given(st.sampled_from(SMALL_STREAMS), st.binary(max_size=60))
def test_any_bytes_are_a_value_or_a_declared_failure(stream: Stream, payload: bytes) -> None:
    try:
        value = codec.decoder(stream)(payload)
    except FAILURES:
        return
    assert type(value) is VALUE_TYPES[stream]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
KEYS = st.sampled_from(
    ["stage", "confidence", "bpm", "rr_ms", "g", "celsius", "on_skin", "percent", "act", "minutes",
     "temperature_c", "noise_calibrated", "cue", "outcome"]
)  # fmt: skip


@settings(max_examples=1000)
@given(st.sampled_from(SMALL_STREAMS), st.dictionaries(KEYS, JSON, max_size=4))
def test_any_json_is_a_value_or_a_declared_failure(stream: Stream, given_fields: dict) -> None:
    payload = json.dumps(given_fields).encode()
    try:
        value = codec.decoder(stream)(payload)
    except FAILURES:
        return
    assert codec.decoder(stream)(codec.encoder(stream)(value)) == value


@pytest.mark.parametrize(
    "payload",
    [
        b'{"g":NaN}',
        b'{"g":Infinity}',
        b'{"g":1e999}',
        b'{"g":"1"}',
        b'{"g":true}',
        b'{"g":1} ',
        b'{"g":' + b"1" * 400 + b"}",
        b"[" * 100_000,
        b"",
        b"\xff",
    ],
)
def test_what_is_no_number_is_refused(payload: bytes) -> None:
    with pytest.raises(FAILURES):
        codec.decoder(Stream.MOVEMENT)(payload)


def test_keys_of_a_later_writer_are_ignored() -> None:
    decode = codec.decoder(Stream.MOVEMENT)
    assert decode(b'{"g":1.0,"axis":"x"}') == decode(b'{"g":1.0}')


@st.composite
def eeg(draw: st.DrawFn) -> EegBlock:
    dtype = draw(st.sampled_from(["<i2", ">i2", "<i4", ">i4"]))
    shape = draw(st.tuples(st.integers(0, 5), st.integers(0, 40)))
    counts = draw(npst.arrays(dtype, shape))
    numbers = st.lists(st.floats(allow_nan=False), min_size=shape[0], max_size=shape[0])
    offset = draw(st.just([]) | numbers)
    return EegBlock(counts, tuple(draw(numbers)), draw(st.floats(0.1, 1e4)), tuple(offset))


@given(eeg())
def test_any_eeg_block_comes_back_equal(block: EegBlock) -> None:
    got = eeg_blocks.decoder()(eeg_blocks.encode(block))
    assert got.counts.dtype.itemsize == block.counts.dtype.itemsize
    np.testing.assert_array_equal(got.counts, block.counts)
    assert (got.scale_uv, got.rate_hz, got.offset_uv) == (
        block.scale_uv,
        block.rate_hz,
        block.offset_uv,
    )


@given(st.lists(eeg(), min_size=2, max_size=4))
def test_one_decoder_reads_blocks_of_different_shapes(blocks: list[EegBlock]) -> None:
    decode = eeg_blocks.decoder()
    for block in blocks + blocks[::-1]:
        np.testing.assert_array_equal(decode(eeg_blocks.encode(block)).counts, block.counts)


def test_eeg_need_not_be_contiguous() -> None:
    counts = np.arange(48, dtype=np.int16).reshape(4, 12)[::2, ::3]
    got = eeg_blocks.decoder()(eeg_blocks.encode(EegBlock(counts, (1.0, 1.0), 4.0)))
    np.testing.assert_array_equal(got.counts, counts)


def test_the_lowest_count_stays_the_mark_of_a_missing_sample() -> None:
    low = np.iinfo(np.int16).min
    counts = np.array([[low, 32767, low, 0, low]], dtype=np.int16)
    got = eeg_blocks.decoder()(eeg_blocks.encode(EegBlock(counts, (1.0,), 5.0)))
    np.testing.assert_array_equal(got.counts, counts)


def test_the_bytes_of_a_block_are_those_of_the_reference() -> None:
    block = EegBlock(np.array([[1, 3, 2], [256, 0, 0]], dtype=np.int16), (0.5, 1.0), 256.0)
    assert eeg_blocks.encode(block).hex(" ") == (
        "01 02 00 00 02 00 00 00 03 00 00 00 00 00 00 00 00 00 70 40 "
        "00 00 00 00 00 00 e0 3f 00 00 00 00 00 00 f0 3f "
        "01 02 ff 00 00 00 "  # low bytes of 1, 2, -1, 256, -256, 0
        "00 00 ff 01 ff 00"
    )


def test_samples_of_a_block_cannot_be_changed_by_a_reader() -> None:
    block = EegBlock(np.zeros((1, 3), dtype=np.int16), (1.0,), 3.0)
    got = eeg_blocks.decoder()(eeg_blocks.encode(block))
    with pytest.raises(ValueError, match="read-only"):
        got.counts[0, 0] = 1


@settings(max_examples=1000)
@given(st.binary(max_size=80), st.binary(max_size=4))
def test_any_bytes_are_an_eeg_block_or_a_value_error(payload: bytes, head: bytes) -> None:
    real = eeg_blocks.encode(EegBlock(np.zeros((2, 3), dtype=np.int16), (1.0, 1.0), 3.0))
    for given_bytes in (payload, real[: len(payload)] + head, b"\x01\x02\x00\x00" + payload):
        try:
            eeg_blocks.decoder()(given_bytes)
        except ValueError:
            continue


def test_a_block_that_declares_more_than_is_there_is_refused_before_memory_is_taken() -> None:
    real = bytearray(eeg_blocks.encode(EegBlock(np.zeros((1, 1), dtype=np.int16), (1.0,), 3.0)))
    real[8:12] = (2**32 - 1).to_bytes(4, "little")
    with pytest.raises(ValueError, match="EEG block of"):
        eeg_blocks.decoder()(bytes(real))


def test_a_later_codec_version_is_refused_by_name() -> None:
    real = bytearray(eeg_blocks.encode(EegBlock(np.zeros((1, 1), dtype=np.int16), (1.0,), 3.0)))
    real[0] = 2
    with pytest.raises(ValueError, match="codec version 2; this Paprika reads 1"):
        eeg_blocks.decoder()(bytes(real))


def test_the_summary_of_a_second_is_rms_about_the_mean_and_the_extremes() -> None:
    low = np.iinfo(np.int16).min
    counts = np.array([[2, 4, 2, 4], [low, 10, low, 10], [low, low, low, low]], dtype=np.int16)
    summary = eeg_blocks.SecondSummary()
    assert summary.add(1.5, EegBlock(counts[:, :2], (1.0, 0.5, 1.0), 4.0)) is None
    assert summary.add(1.9, EegBlock(counts[:, 2:], (1.0, 0.5, 1.0), 4.0)) is None
    assert summary.add(2.0, EegBlock(counts[:1] * 0 + 7, (1.0,), 4.0)) == [
        {"rms_uv": 1.0, "min_uv": 2.0, "max_uv": 4.0},
        {"rms_uv": 0.0, "min_uv": 5.0, "max_uv": 5.0},
        {},
    ]
    assert summary.take() == [{"rms_uv": 0.0, "min_uv": 7.0, "max_uv": 7.0}]
    assert summary.take() is None
