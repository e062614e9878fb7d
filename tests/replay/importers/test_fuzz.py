"""Whatever the bytes, an importer gives nights or `ImportFailed`: one line, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replay.hypnogram import figures, night_stages
from replay.importers import FORMATS, ImportFailed, ImportOptions, recognised

SMALL = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
OPTIONS = st.builds(ImportOptions, lenient=st.booleans())

FILES: dict[str, bytes] = {
    "zeo": b"Start of Night,Detailed Sleep Graph\n05/04/2012 23:00,1 3 2 2 4\n",
    "label_per_second": b"5\n" * 40,
    "yasa": b"# 1 value per 30 seconds\n0\n1\n4\n",
    "stage_bridge": b"timestamp,stage,confidence,contact,battery,seq\n"
    + b"".join(b"%d,rem,0.5,true,50,%d\n" % (k, k) for k in range(30)),
    "dod": b"[0,1,2,3,4,-1]",
}
CHARACTERS = "0123456789-+.,:# \n\r\"'[]{}eEnaNfT\x14\x15\0é"
JSON_LINES = b"".join(b'{"v":1,"t":%d,"stage":"deep","conf":0.5}\n' % k for k in range(30))


@pytest.fixture
def samples(
    annotated: Callable[..., bytes],
    edf: Callable[..., bytes],
    signal: Callable[..., object],
    stage_text: Callable[..., str],
) -> dict[str, bytes]:
    """A whole small file of each format."""
    ramp = [[k, -k] for k in range(30)]
    return FILES | {
        "sleep_edf": annotated(stage_text(0, 60, "Sleep stage R")),
        "edf_signals": edf([signal("EEG C3", "uV", ("-1", "1"), (-32768, 32767), ramp)]),
    }


def place(name: str, content: bytes, tmp_path: Path) -> Path:
    """The file that an importer reads; for DOD a folder in which each file has the content."""
    path = tmp_path / "night"
    if name != "dod":
        path.write_bytes(content)
        return path
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    for file in ("scorer_1", "scorer_2", "scorer_3", "scorer_4", "scorer_5", "auto_f4_o2"):
        (folder / f"{file}.json").write_bytes(content)
    return folder


def check(name: str, path: Path, options: ImportOptions) -> None:
    try:
        outcomes = list(FORMATS[name].read(path, options))
    except ImportFailed as failure:
        outcomes = [failure]
    for outcome in outcomes:
        if isinstance(outcome, ImportFailed):
            assert len(str(outcome).splitlines()) == 1
        else:
            assert figures(night_stages(outcome) or ())["epoch_s"] == 30


@pytest.mark.parametrize("name", FORMATS)
def test_a_whole_file_of_each_format_is_read(name: str, samples: dict[str, bytes], tmp_path: Path):
    path = place(name, samples[name], tmp_path)
    found = recognised(path).FORMAT
    assert found == name
    (night,) = FORMATS[name].read(path, ImportOptions())
    assert not isinstance(night, ImportFailed)


@pytest.mark.parametrize("name", FORMATS)
@SMALL
@given(content=st.binary(max_size=600), options=OPTIONS)
def test_any_bytes_at_all(name: str, content: bytes, options: ImportOptions, tmp_path: Path):
    check(name, place(name, content, tmp_path), options)


@pytest.mark.parametrize("name", FORMATS)
@SMALL
@given(text=st.text(st.sampled_from(CHARACTERS), max_size=300), options=OPTIONS)
def test_any_text_of_the_characters_that_formats_use(
    name: str, text: str, options: ImportOptions, tmp_path: Path
):
    check(name, place(name, text.encode(), tmp_path), options)


@pytest.mark.parametrize("name", FORMATS)
@SMALL
@given(data=st.data(), options=OPTIONS)
def test_a_good_file_with_bytes_changed_cut_out_or_put_in(
    name: str,
    data: st.DataObject,
    options: ImportOptions,
    samples: dict[str, bytes],
    tmp_path: Path,
):
    content = samples[name]
    at = data.draw(st.integers(0, len(content)), "at")
    gone = data.draw(st.integers(0, 12), "gone")
    added = data.draw(st.binary(max_size=12), "added")
    check(name, place(name, content[:at] + added + content[at + gone :], tmp_path), options)


@SMALL
@given(data=st.data(), options=OPTIONS)
def test_json_lines_with_bytes_changed(data: st.DataObject, options: ImportOptions, tmp_path: Path):
    at = data.draw(st.integers(0, len(JSON_LINES)), "at")
    added = data.draw(st.text(max_size=8), "added").encode()
    content = JSON_LINES[:at] + added + JSON_LINES[at + len(added) :]
    check("stage_bridge", place("stage_bridge", content, tmp_path), options)


@SMALL
@given(content=st.binary(max_size=400))
def test_recognising_gives_a_format_or_one_line(content: bytes, tmp_path: Path):
    path = place("zeo", content, tmp_path)
    try:
        said = recognised(path).FORMAT
    except ImportFailed as failure:
        said = str(failure)
    assert len(said.splitlines()) == 1
