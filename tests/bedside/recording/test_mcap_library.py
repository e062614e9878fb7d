"""The mcap library reads our files and sees the same night: it is the oracle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcap.reader import make_reader
from mcap.records import Channel, Chunk, DataEnd, Message
from mcap.stream_reader import StreamReader

from bedside.recording import NightFile, NightWriter, codec, eeg_blocks, recover, write_night
from devices.types import EegBlock, Sample, Stream
from tests.bedside.recording.nights import INFO, TRUTH, plain, small_night

BASE_NS = INFO.start_wall_ns or 0


def written_at_once(path: Path) -> None:
    write_night(path, small_night())


def written_live(path: Path) -> None:
    with NightWriter(path, INFO) as writer:
        for sample in small_night().samples():
            writer.add(sample)


def recovered(path: Path) -> None:
    torn = path.with_name("torn.mcap")
    write_night(torn, small_night())
    raw = torn.read_bytes()
    last_chunk = raw.rindex(b"\x04\x00\x00\x00zstd", 0, raw.index(b"jsonschema", len(raw) // 2))
    torn.write_bytes(raw[: last_chunk + 20])
    recover(torn, path)


def resumed(path: Path) -> None:
    samples = list(small_night().samples())
    writer = NightWriter(path, INFO)
    for sample in samples[:25]:
        writer.add(sample)
    writer.flush()
    assert writer.settle()
    with NightWriter.resume(path) as again:
        for sample in samples[25:]:
            again.add(sample)
    writer._stop_thread(5.0)
    writer._file.close()


@pytest.fixture(params=[written_at_once, written_live, recovered, resumed])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "night.mcap"
    request.param(path)
    return path


def as_sample(channel: Channel, message: Message) -> Sample:
    stream = Stream(channel.metadata["kind"])
    decode = eeg_blocks.decoder() if stream is Stream.EEG else codec.decoder(stream)
    clocked = channel.metadata.get("publish_time") == "device_t"
    publish = message.publish_time
    signed = publish - 2**64 if publish >= 2**63 else publish
    return Sample(
        stream,
        (message.log_time - BASE_NS) / 1e9,
        decode(message.data),
        channel.metadata["source"],
        signed / 10**9 if clocked else None,
        message.sequence - 1 if message.sequence else None,
    )


def of_samples(channel: Channel) -> bool:
    return channel.metadata["kind"] in set(Stream)


def test_the_library_sees_the_same_samples_by_index_and_by_scan(path: Path) -> None:
    ours = [plain(sample) for sample in NightFile.open(path).samples()]
    with path.open("rb") as file:
        indexed = make_reader(file, validate_crcs=True).iter_messages()
        theirs = [plain(as_sample(c, m)) for _, c, m in indexed if of_samples(c)]
    assert theirs == ours
    channels: dict[int, Channel] = {}
    scanned = []
    with path.open("rb") as file:
        for record in StreamReader(file, validate_crcs=True).records:
            if isinstance(record, Channel):
                channels[record.id] = record
            if isinstance(record, Message) and of_samples(channels[record.channel_id]):
                scanned.append(plain(as_sample(channels[record.channel_id], record)))
    assert scanned == ours


def test_a_closed_file_has_a_whole_summary(path: Path) -> None:
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        assert reader.get_header().profile == "paprika"
        summary = reader.get_summary()
        counts: dict[int, int] = {}
        for _, channel, _ in reader.iter_messages():
            counts[channel.id] = counts.get(channel.id, 0) + 1
    assert summary is not None
    statistics = summary.statistics
    assert statistics is not None
    assert {n: count for n, count in statistics.channel_message_counts.items() if count} == counts
    assert statistics.message_count == sum(counts.values())
    assert statistics.chunk_count == len(summary.chunk_indexes)
    assert (statistics.schema_count, statistics.channel_count) == (
        len(summary.schemas),
        len(summary.channels),
    )
    assert statistics.message_start_time == BASE_NS - 40 * 10**9


def test_chunk_indexes_point_at_chunks_and_message_indexes(path: Path) -> None:
    with path.open("rb") as file:
        summary = make_reader(file).get_summary()
        assert summary is not None
        for index in summary.chunk_indexes:
            file.seek(index.chunk_start_offset)
            record = next(StreamReader(file, skip_magic=True, emit_chunks=True).records)
            assert isinstance(record, Chunk)
            for number, offset in index.message_index_offsets.items():
                file.seek(offset)
                found = next(StreamReader(file, skip_magic=True).records)
                assert found.channel_id == number  # type: ignore[attr-defined]
            after = index.chunk_start_offset + index.chunk_length + index.message_index_length
            file.seek(after)
            assert file.read(1) in (b"\x06", b"\x0f")


def test_the_checksum_of_the_data_section_is_that_of_the_bytes(path: Path) -> None:
    with path.open("rb") as file:
        ends = [r for r in StreamReader(file, validate_crcs=True).records if isinstance(r, DataEnd)]
    assert [end.data_section_crc != 0 for end in ends] == [True]


def test_json_payloads_keep_to_their_schema(path: Path) -> None:
    kinds = {"number": int | float, "string": str, "boolean": bool, "array": list, "object": dict}

    def keeps(value: object, schema: dict) -> bool:
        if not isinstance(value, kinds[schema["type"]]):
            return False
        if isinstance(value, list):
            return all(keeps(item, schema["items"]) for item in value)
        if not isinstance(value, dict):
            return True
        known = schema["properties"]
        return set(schema["required"]) <= set(value) <= set(known) and all(
            keeps(item, known[name]) for name, item in value.items()
        )

    with path.open("rb") as file:
        for schema, channel, message in make_reader(file).iter_messages():
            if channel.message_encoding == "json":
                assert schema is not None
                assert schema.encoding == "jsonschema"
                assert keeps(json.loads(message.data), json.loads(schema.data)), message.data


def test_each_second_of_eeg_has_a_summary_that_a_viewer_can_show(path: Path) -> None:
    blocks = sum(type(sample.value) is EegBlock for sample in NightFile.open(path).samples())
    with path.open("rb") as file:
        shown = list(make_reader(file).iter_messages(topics=["/eeg_summary/band"]))
    assert len(shown) == blocks > 0
    assert set(json.loads(shown[0][2].data)["channels"][1]) == {"rms_uv", "min_uv", "max_uv"}


def test_truth_stands_in_the_first_chunk_alone(tmp_path: Path) -> None:
    path = tmp_path / "night.mcap"
    write_night(path, small_night())
    with path.open("rb") as file:
        reader = make_reader(file)
        summary = reader.get_summary()
        truth = [
            ((message.log_time - BASE_NS) / 1e9, json.loads(message.data)["stage"])
            for _, channel, message in reader.iter_messages()
            if channel.topic == "/truth/dod five scorers"
        ]
    assert summary is not None
    assert [len(index.message_index_offsets) for index in summary.chunk_indexes][:1] == [1]
    assert truth == [(label.t, label.stage.value) for label in TRUTH]
