from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bedside.recording import MemoryRecording
from devices.types import Battery, Contact, Sample, Stage, StageReading, Stream
from replay.hypnogram import letters, shown_stages
from replay.importers import ImportFailed, ImportOptions, recognised
from replay.importers.stage_bridge import read

Write = Callable[[str, str | bytes], Path]

HEADER = "timestamp,stage\n"
START_S = 1_772_340_600
TWO_HZ = 0.5


def rows(stages: str, interval_s: float = TWO_HZ, start_s: float = START_S) -> str:
    words = {"W": "awake", "L": "light", "D": "deep", "R": "rem", "?": "unknown"}
    return "".join(f"{start_s + k * interval_s},{words[stage]}\n" for k, stage in enumerate(stages))


def night(path: Path, *, lenient: bool = False) -> MemoryRecording:
    (found,) = read(path, ImportOptions(lenient=lenient))
    assert isinstance(found, MemoryRecording)
    return found


def test_two_labels_a_second_become_epochs(write: Write):
    path = write("band night.csv", HEADER + rows("W" * 60 + "L" * 35 + "R" * 25 + "D" * 60))
    assert recognised(path).FORMAT == "stage_bridge"
    found = night(path)
    assert letters(shown_stages(found)) == "WLD"
    assert found.info.epochs == 3
    assert found.info.night_id == "band-night"
    assert found.info.kind == "stage_bridge"
    assert found.info.streams[0].interval_s == 0.5
    assert found.info.start_wall_ns == START_S * 1_000_000_000
    assert found.info.utc_offset_s is None
    assert [sample.t for sample in found.samples()][:3] == [0.0, 0.5, 1.0]


def test_every_column_of_the_contract_is_taken_in(write: Write):
    content = "seq,battery,contact,confidence,stage,timestamp,other\n"
    content += f"7,71,true,0.83,rem,{START_S},x\n8,,,,light,{START_S}.5,y\n"
    found = night(write("a.csv", content + rest_of_epoch()))
    assert list(found.samples())[:4] == [
        Sample(Stream.STAGE, 0.0, StageReading(Stage.REM, 0.83), "stage_bridge", None, 7),
        Sample(Stream.CONTACT, 0.0, Contact(True), "stage_bridge", None, 7),
        Sample(Stream.BATTERY, 0.0, Battery(71.0), "stage_bridge", None, 7),
        Sample(Stream.STAGE, 0.5, StageReading(Stage.LIGHT), "stage_bridge", None, 8),
    ]
    assert {one.stream for one in found.info.streams} == {
        Stream.STAGE, Stream.CONTACT, Stream.BATTERY,
    }  # fmt: skip


def rest_of_epoch() -> str:
    return "".join(f"{k},,true,,light,{START_S + k / 2},\n" for k in range(2, 60))


def test_iso_times_are_the_same_moments_as_unix_times(write: Write):
    # The two test lines of the contract: the second is half a second after the first.
    lines = [
        '{"v":1,"t":1772340600.0,"stage":"rem","conf":0.83,"seq":12345,"contact":true,"batt":71}',
        '{"v":1,"t":"2026-03-01T05:50:00.500+01:00","stage":"light"}',
    ]
    lines += [
        json.dumps({"v": 1, "t": START_S + k / 2, "stage": "light", "conf": None})
        for k in range(2, 60)
    ]
    path = write("a.jsonl", "".join(line + "\n" for line in lines))
    assert recognised(path).FORMAT == "stage_bridge"
    found = night(path)
    stage_times = [sample.t for sample in found.samples({Stream.STAGE})]
    assert stage_times == [k / 2 for k in range(60)]
    first = next(iter(found.samples()))
    assert first == Sample(
        Stream.STAGE, 0.0, StageReading(Stage.REM, 0.83), "stage_bridge", None, 12345
    )
    assert letters(shown_stages(found)) == "L"


def test_the_offset_of_the_first_iso_time_is_kept(write: Write):
    content = HEADER + "".join(f"2026-03-01T05:50:{second:02d}+01:00,rem\n" for second in range(30))
    found = night(write("a.csv", content))
    assert found.info.start_wall_ns == START_S * 1_000_000_000
    assert found.info.utc_offset_s == 3600
    assert found.info.streams[0].interval_s == 1.0


def test_a_change_of_the_offset_is_no_step_in_time(write: Write):
    content = HEADER + "2026-10-25T02:59:30+02:00,rem\n2026-10-25T02:00:00+01:00,rem\n"
    found = night(write("a.csv", content))
    assert [sample.t for sample in found.samples()] == [0.0, 30.0]


def test_a_last_line_without_a_newline_is_left_out_with_a_note(write: Write):
    found = night(write("a.csv", HEADER + rows("R" * 60) + f"{START_S + 30},awa"))
    assert letters(shown_stages(found)) == "R"
    assert found.info.notes == ("last line without newline left out",)


def test_a_dropout_leaves_its_epochs_unknown(write: Write):
    content = HEADER + rows("R" * 60) + rows("L" * 60, start_s=START_S + 90)
    assert letters(shown_stages(night(write("a.csv", content)))) == "R??L"


def test_under_twenty_of_sixty_is_unknown(write: Write):
    content = HEADER + rows("R" * 60) + rows("R" * 19, start_s=START_S + 30)
    content += rows("L" * 60, start_s=START_S + 60)
    assert letters(shown_stages(night(write("a.csv", content)))) == "R?L"


def test_a_file_off_the_skin_shows_no_stage_there(write: Write):
    content = "timestamp,stage,contact\n"
    content += "".join(f"{START_S + k / 2},rem,{k < 60}\n" for k in range(120))
    assert letters(shown_stages(night(write("a.csv", content)))) == "R?"


def test_the_last_window_is_an_epoch_from_a_third_of_its_lines_on(write: Write):
    def stages(lines: int) -> str:
        return letters(shown_stages(night(write("a.csv", HEADER + rows("R" * lines)))))

    assert [stages(n) for n in (60, 79, 80, 119, 120)] == ["R", "R", "RR", "RR", "RR"]


def test_a_slower_file_declares_its_own_interval(write: Write):
    found = night(write("a.csv", HEADER + rows("WLDR", interval_s=30.0)))
    assert found.info.streams[0].interval_s == 30.0
    assert letters(shown_stages(found)) == "WLDR"


GOOD = HEADER + rows("RR")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "a.csv: is empty"),
        (HEADER, "a.csv: has no whole line of data"),
        (HEADER + f"{START_S},rem", "a.csv: has no whole line of data"),
        ("time,stage\n1,rem\n", "a.csv, line 1: no column timestamp and stage"),
        (GOOD + f"{START_S + 1},REM\n", "a.csv, line 4: unknown stage 'REM'"),
        (GOOD + f"{START_S + 1},n2\n", "a.csv, line 4: unknown stage 'n2'"),
        (GOOD + f"{START_S + 1},\n", "a.csv, line 4: unknown stage ''"),
        (GOOD + f"{START_S + 1}\n", "a.csv, line 4: broken row, 1 columns where the header has 2"),
        (GOOD + f"{START_S + 1},rem,1\n", "a.csv, line 4: broken row, 3 columns"),
        (GOOD + f"{START_S}.5,rem\n", "a.csv, line 4: its time repeats that of the line before"),
        (GOOD + f"{START_S},rem\n", "a.csv, line 4: its time runs backwards"),
        (GOOD + f"{START_S + 172801},rem\n", "a.csv, line 4: spans 48.0 h"),
        (GOOD + ",rem\n", "a.csv, line 4: time '' is neither Unix seconds nor ISO 8601"),
        (GOOD + "nan,rem\n", "a.csv, line 4: time 'nan' is no Unix time"),
        (GOOD + "-5,rem\n", "a.csv, line 4: time '-5' is no Unix time"),
        (GOOD + "1772340601000,rem\n", "a.csv, line 4: time '1772340601000' is no Unix time"),
        (GOOD + "1e99999,rem\n", "a.csv, line 4: time '1e99999' is no Unix time"),
        (GOOD + "2026-03-01T05:50:01,rem\n", "a.csv, line 4: time '2026-03-01T05:50:01' has no"),
        (GOOD + "0001-01-01T00:00:00+01:00,rem\n", "a.csv, line 4: time '0001-01-01T00:00:00+01:0"),
        (GOOD + '"1,rem\n', "a.csv, line 4: broken row"),
        (HEADER + rows("?" * 60), "a.csv: not one valid epoch in 1"),
        (HEADER + rows("R" * 19), "a.csv: not one valid epoch in 0"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(write: Write, content: str, message: str):
    with pytest.raises(ImportFailed) as failure:
        night(write("a.csv", content))
    assert str(failure.value).startswith(message)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("confidence", "1.1"), ("confidence", "nan"), ("confidence", "high"),
        ("battery", "101"), ("battery", "-1"), ("contact", "maybe"), ("seq", "-1"), ("seq", "1.5"),
    ],
)  # fmt: skip
def test_a_value_out_of_its_range_is_refused(write: Write, column: str, value: str):
    content = f"timestamp,stage,{column}\n{START_S},rem,{value}\n"
    with pytest.raises(ImportFailed, match=f"a.csv, line 2: {column} '{value}'"):
        night(write("a.csv", content))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"v":1,"t":1772340600,"stage":', "line 2: is not JSON"),
        ("[1]", "line 2: is no JSON object"),
        ('{"v":2,"t":1772340600,"stage":"rem"}', "line 2: format version is '2', not 1"),
        ('{"t":1772340600,"stage":"rem"}', "line 2: format version is 'None', not 1"),
        ('{"v":1,"t":[1],"stage":"rem"}', "line 2: time ''"),
        ('{"v":1,"t":NaN,"stage":"rem"}', "line 2: time ''"),
        ('{"v":1,"t":1772340601,"stage":3}', "line 2: unknown stage '3'"),
        ("[" * 100_000, "line 2: is not JSON"),
    ],
)
def test_a_bad_json_line_is_refused_with_its_number(write: Write, line: str, message: str):
    good = '{"v":1,"t":1772340599,"stage":"rem"}\n'
    with pytest.raises(ImportFailed) as failure:
        night(write("a.jsonl", good + line + "\n"))
    assert message in str(failure.value)


def test_lenient_takes_unknown_words_as_unknown_and_counts_them(write: Write):
    content = HEADER + rows("R" * 60) + f"{START_S + 30},nap\n{START_S + 30.5},nap\n"
    found = night(write("a.csv", content), lenient=True)
    assert found.info.notes == ("2 labels of unknown stages taken as unknown: 'nap' 2",)


def test_the_columns_may_be_quoted_and_in_any_case(write: Write):
    path = write("a.csv", '"Timestamp" , "Stage"\r\n'.replace(" , ", ",") + rows("R" * 60))
    assert recognised(path).FORMAT == "stage_bridge"
    assert letters(shown_stages(night(path))) == "R"
