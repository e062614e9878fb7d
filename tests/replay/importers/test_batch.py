from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bedside.recording import NightFile
from devices.types import Stage
from replay.hypnogram import night_stages
from replay.importers import FORMATS, ImportFailed, find, import_all, recognised

Write = Callable[[str, str | bytes], Path]

ZEO = "Start of Night,Detailed Sleep Graph\n05/04/2012 23:00,1 3 2 2 4\n"
TWO_ZEO_NIGHTS = ZEO + "05/05/2012 23:00,1 9\n05/06/2012 23:00,3 3\n"
YASA = "# 1 value per 30 seconds of data\n0\n2\n4\n"
PER_SECOND = "5\n" * 60


def dod(write: Write, name: str) -> Path:
    for file in ("scorer_1", "scorer_2", "scorer_3", "scorer_4", "scorer_5", "auto_f4_o2"):
        path = write(f"{name}/{file}.json", "[0,2,4]")
    return path.parent


def test_a_folder_gives_every_recording_in_it_and_counts_the_rest(write: Write, tmp_path: Path):
    write("in/zeo/export.csv", ZEO)
    write("in/b_hypno_30s.txt", YASA)
    dod(write, "in/dodh/0123abcd-1")
    write("in/README.md", "# Nights\n")
    write("in/.hidden.txt", YASA)
    result = import_all([tmp_path / "in"], tmp_path / "out")
    assert [night.id for night in result.nights] == ["yasa-b", "dodh-0123abcd", "zeo-01"]
    assert result.failed == ()
    assert result.skipped == 1


def test_each_night_is_written_with_the_figures_that_are_reported(write: Write, tmp_path: Path):
    path = write("export.csv", ZEO)
    (night,) = import_all([path], tmp_path / "out").nights
    assert night.file == str(tmp_path / "out" / "zeo-01.mcap")
    assert night.source == str(path)
    assert night.epochs == 5
    assert night.counts4 == {"awake": 1, "light": 1, "deep": 1, "rem": 2, "none": 0}
    assert night.rem_run_starts == (2,)
    assert night.kind == "headband_4stage"
    # printf WLRRD | sha256sum
    assert night.stage4_sha256 == (
        "d777cb8558334cf3cd2808671f989ccdca6f26e30252379f83dba72f3fd4efea"
    )
    written = NightFile.open(Path(night.file))
    assert night_stages(written) == (
        Stage.AWAKE, Stage.LIGHT, Stage.REM, Stage.REM, Stage.DEEP,
    )  # fmt: skip
    assert written.info.night_id == "zeo-01"


def test_truth_and_device_stage_both_come_back_from_the_file(write: Write, tmp_path: Path):
    (night,) = import_all([dod(write, "dodo/0123abcd-1")], tmp_path / "out").nights
    written = NightFile.open(Path(night.file))
    assert [one.stage for one in written.truth()] == [Stage.AWAKE, Stage.N2, Stage.REM]
    assert written.info.streams[0].source == "auto_f4_o2"


def test_the_object_for_json_has_the_keys_that_were_promised(write: Write, tmp_path: Path):
    missing = tmp_path / "missing.csv"
    found = import_all([write("e.csv", ZEO), missing], tmp_path / "out").as_dict()
    assert json.loads(json.dumps(found)) == found
    (night,) = found["nights"]
    assert list(night) == [
        "id", "file", "source", "epochs", "counts4", "stage4_sha256", "rem_run_starts",
    ]  # fmt: skip
    assert night["rem_run_starts"] == [2]
    assert found["failed"] == [
        {
            "source": str(missing),
            "error": f"{missing}: no such file or folder; check the path",
        }
    ]


def test_good_nights_are_imported_beside_bad_ones_which_are_named(write: Write, tmp_path: Path):
    path = write("in/export.csv", TWO_ZEO_NIGHTS)
    write("in/cut.edf", b"0       cut")
    result = import_all([tmp_path / "in"], tmp_path / "out")
    assert [night.id for night in result.nights] == ["zeo-01", "zeo-03"]
    assert [source for source, _ in result.failed] == [str(path.parent / "cut.edf"), str(path)]
    assert result.failed[0][1].startswith("cut.edf, byte 11: no EDF header")
    assert result.failed[1][1].startswith("export.csv, line 3: unknown stage '9'")
    assert not (tmp_path / "out" / "zeo-02.mcap").exists()


def test_lenient_reaches_every_importer(write: Write, tmp_path: Path):
    result = import_all([write("e.csv", TWO_ZEO_NIGHTS)], tmp_path / "out", lenient=True)
    assert [night.id for night in result.nights] == ["zeo-01", "zeo-02", "zeo-03"]
    assert result.nights[1].notes[-1].startswith("1 labels of unknown stages")


def test_the_second_night_of_an_id_is_an_error(write: Write, tmp_path: Path):
    first, second = write("a/e.csv", ZEO), write("b/e.csv", ZEO)
    result = import_all([first, second], tmp_path / "out")
    assert [night.source for night in result.nights] == [str(first)]
    assert result.failed[0][0] == str(second)
    assert "night zeo-01 came already from" in result.failed[0][1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "note.txt: is empty"),
        (b"dear diary\n", "note.txt: not a recording; known formats are zeo, sleep_edf"),
        (b"1\n2\n", "note.txt: could be label_per_second or yasa; say which with --format"),
        (b"\0\1\2\3", "note.txt: not a recording"),
    ],
)
def test_a_file_named_by_a_person_must_be_one_recording(
    write: Write, tmp_path: Path, content: bytes, message: str
):
    path = write("note.txt", content)
    result = import_all([path], tmp_path / "out")
    assert result.nights == ()
    assert result.failed[0][0] == str(path)
    assert result.failed[0][1].startswith(message)


def test_an_ambiguous_file_in_a_folder_is_named_too(write: Write, tmp_path: Path):
    write("in/a.csv", "1\n2\n")
    result = import_all([tmp_path / "in"], tmp_path / "out")
    assert "--format" in result.failed[0][1]


def test_the_format_option_settles_it(write: Write, tmp_path: Path):
    path = write("in/a.csv", "4\n" * 60)
    (second,) = import_all([path], tmp_path / "1", format="label_per_second").nights
    (epoch,) = import_all([path.parent], tmp_path / "2", format="yasa").nights
    assert (second.epochs, second.counts4["deep"]) == (2, 2)
    assert (epoch.epochs, epoch.counts4["rem"]) == (60, 60)


def test_with_a_format_other_files_of_a_folder_are_left_alone(write: Write, tmp_path: Path):
    write("in/zeo.csv", ZEO)
    write("in/b.txt", YASA)
    dod(write, "in/0123abcd-1")
    result = import_all([tmp_path / "in"], tmp_path / "out", format="zeo")
    assert [night.id for night in result.nights] == ["zeo-01"]
    assert result.failed == ()


def test_an_unknown_format_names_the_known_ones(tmp_path: Path):
    with pytest.raises(ImportFailed, match="--format xdf: not known; known are zeo, sleep_edf"):
        import_all([tmp_path], tmp_path / "out", format="xdf")


def test_a_folder_without_recordings_is_an_error(write: Write, tmp_path: Path):
    folder = write("in/readme.txt", "nothing here\n").parent
    result = import_all([folder], tmp_path / "out")
    assert result.failed == (
        (str(folder), f"{folder}: no recordings in this folder; give another path"),
    )
    assert result.skipped == 1


def test_a_folder_is_needed_to_write_to(write: Write, tmp_path: Path):
    path = write("e.csv", ZEO)
    with pytest.raises(ImportFailed, match=r"e\.csv: cannot be the folder to write to"):
        import_all([path], path)


def test_a_night_that_cannot_be_written_is_named_and_leaves_nothing(write: Write, tmp_path: Path):
    write("out/zeo-01.mcap/in_the_way", "a folder stands where the night should")
    result = import_all([write("e.csv", ZEO)], tmp_path / "out")
    assert result.nights == ()
    assert "zeo-01.mcap" in result.failed[0][1]
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["zeo-01.mcap"]


def test_a_pipe_is_not_waited_for(write: Write, tmp_path: Path):
    write("in/e.csv", ZEO)
    pipe = tmp_path / "in" / "pipe"
    os.mkfifo(pipe)
    result = import_all([tmp_path / "in", pipe], tmp_path / "out")
    assert [night.id for night in result.nights] == ["zeo-01"]
    assert [error for _, error in result.failed] == [
        "pipe: neither a file nor a folder; give another path"
    ] * 2


def test_progress_names_each_source_and_ends_complete(write: Write, tmp_path: Path):
    write("in/a.csv", ZEO)
    write("in/b.txt", YASA)
    told: list[tuple[int, int, str]] = []
    import_all([tmp_path / "in"], tmp_path / "out", progress=lambda *step: told.append(step))
    folder = tmp_path / "in"
    assert told == [(0, 2, str(folder / "a.csv")), (1, 2, str(folder / "b.txt")), (2, 2, "")]


def test_finding_reads_no_night(write: Write, tmp_path: Path):
    path = write("in/broken.csv", TWO_ZEO_NIGHTS)
    findings = find([tmp_path / "in"])
    (found,) = findings.found
    assert (found.source, found.error) == (str(path), None)
    assert found.importer is FORMATS["zeo"]


def test_content_goes_before_the_name(write: Write):
    assert recognised(write("zeo.csv", YASA)).FORMAT == "yasa"
    assert recognised(write("yasa.txt", PER_SECOND)).FORMAT == "label_per_second"


def test_the_same_import_again_gives_the_same_file(write: Write, tmp_path: Path):
    export = write("in/export.csv", ZEO)
    first = import_all([export], tmp_path / "out")
    before = Path(first.nights[0].file).read_bytes()
    again = import_all([export], tmp_path / "out")
    assert again.failed == ()
    assert Path(again.nights[0].file).read_bytes() == before


def test_another_night_of_the_same_name_never_takes_the_place_of_an_earlier_one(
    write: Write, tmp_path: Path
):
    first = import_all([write("a/export.csv", ZEO)], tmp_path / "out")
    before = Path(first.nights[0].file).read_bytes()
    other = write("b/export.csv", ZEO.replace("1 3 2 2 4", "1 3 3 3 4"))
    result = import_all([other], tmp_path / "out")
    assert result.nights == ()
    assert "holds another night already; name another folder by --out" in result.failed[0][1]
    assert Path(first.nights[0].file).read_bytes() == before


def test_a_file_that_is_no_night_is_not_overwritten(write: Write, tmp_path: Path):
    in_the_way = write("out/zeo-01.mcap", "somebody's notes")
    result = import_all([write("in/export.csv", ZEO)], tmp_path / "out")
    assert "no night file of ours; move it away" in result.failed[0][1]
    assert in_the_way.read_text() == "somebody's notes"
