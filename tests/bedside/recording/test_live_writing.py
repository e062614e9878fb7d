"""The live writer: chunks by the clock, storage that fails, processes that are killed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from bedside.recording import (
    BadSample,
    NightFile,
    NightWriter,
    NoSpace,
    WriteFailed,
    inspect,
    recover,
)
from bedside.recording.mcap_file import McapFile
from devices.types import Movement, Sample, Stage, StageReading, Stream
from tests.bedside.recording.nights import INFO, eeg_sample, plain_all, read, small_night

ROOT = Path(__file__).resolve().parents[3]


def stage(t: float) -> Sample:
    return Sample(Stream.STAGE, t, StageReading(Stage.REM, 0.5), "band")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "night.mcap"


def test_what_is_added_is_read_after_closing(path: Path) -> None:
    with NightWriter(path, INFO) as writer:
        for sample in small_night().samples():
            writer.add(sample)
    assert read(path) == plain_all(small_night().samples())
    assert NightFile.open(path).info == INFO
    assert inspect(path).closed


def test_a_chunk_is_closed_each_five_seconds_of_t(path: Path) -> None:
    writer = NightWriter(path, INFO)
    for half in range(21):
        writer.add(stage(half / 2))
        assert writer.settle()
        complete = int(half / 2 // 5) * 10
        assert len(read(path)) == complete
        assert writer.safe_t == (complete / 2 - 0.5 if complete else None)
    writer.close()
    assert len(read(path)) == 21


def test_flush_closes_the_chunk_when_time_has_passed_without_a_sample(path: Path) -> None:
    with NightWriter(path, INFO) as writer:
        writer.add(stage(1.0))
        writer.flush(4.9)
        assert writer.settle()
        assert read(path) == []
        writer.flush(5.0)
        assert writer.settle()
        assert len(read(path)) == 1
        writer.add(stage(5.5))
        writer.flush()
        assert writer.settle()
        assert len(read(path)) == 2


def test_closing_twice_is_closing_once_and_nothing_can_be_added_after(path: Path) -> None:
    writer = NightWriter(path, INFO)
    writer.add(stage(1.0))
    writer.close()
    writer.close()
    with pytest.raises(WriteFailed, match="is closed"):
        writer.add(stage(2.0))
    assert len(read(path)) == 1


def test_the_thread_ends_with_the_night(path: Path) -> None:
    before = threading.active_count()
    with NightWriter(path, INFO):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_a_night_is_never_written_over(path: Path) -> None:
    path.write_text("precious")
    with pytest.raises(WriteFailed, match="File exists"):
        NightWriter(path, INFO)
    assert path.read_text() == "precious"


def test_the_file_is_the_sleepers_alone(path: Path) -> None:
    NightWriter(path, INFO).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_bad_sample_is_refused_and_the_night_goes_on(path: Path) -> None:
    with NightWriter(path, INFO) as writer:
        writer.add(stage(1.0))
        with pytest.raises(BadSample, match=r"movement of 'band' at t = 1\.5"):
            writer.add(Sample(Stream.MOVEMENT, 1.5, Movement(float("nan")), "band"))
        writer.add(stage(2.0))
    assert [sample.t for sample in NightFile.open(path).samples()] == [1.0, 2.0]


def test_without_sync_chunks_are_written_by_the_caller(path: Path) -> None:
    before = threading.active_count()
    with NightWriter(path, INFO, sync=False) as writer:
        assert threading.active_count() == before
        for t in (1.0, 5.0):
            writer.add(stage(t))
        assert len(read(path)) == 1


def test_add_does_not_wait_for_a_storage_that_hangs(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs, answers = threading.Event(), threading.Event()

    def hang(_: McapFile) -> None:
        hangs.set()
        assert answers.wait(30)

    writer = NightWriter(path, INFO)
    monkeypatch.setattr(McapFile, "sync", hang)
    failures = []
    for chunk in range(80):
        try:
            writer.add(stage(chunk * 5.0))
        except WriteFailed as failure:
            failures.append(str(failure))
        if chunk == 1:
            assert hangs.wait(30)
    assert not writer.settle(0.01)
    assert len(failures) == 1
    assert "does not answer" in failures[0]
    answers.set()
    assert writer.settle()
    writer.close()
    assert writer.dropped_chunks == 80 - 1 - 65
    assert len(read(path)) == 66


def resume_after(path: Path, damage: Callable[[bytes], bytes]) -> NightWriter:
    """A night of 12 s written, left unclosed, damaged, and taken up again."""
    writer = NightWriter(path, INFO)
    for sample in small_night().samples():
        writer.add(sample)
    assert writer.settle()
    raw = path.read_bytes()
    writer.close()
    path.write_bytes(damage(raw))
    return NightWriter.resume(path)


def test_a_night_cut_by_a_crash_goes_on_in_the_same_file(path: Path) -> None:
    given_samples = [sample for sample in small_night().samples() if sample.t < 15.0]
    more = [eeg_sample(61.0, 1), stage(61.5), Sample(Stream.MOVEMENT, 62.0, Movement(0.5), "new")]
    with resume_after(path, lambda raw: raw + b"\x06torn") as writer:
        for sample in more:
            writer.add(sample)
    assert read(path) == plain_all([*given_samples, *more])
    assert inspect(path).closed
    assert list(path.parent.iterdir()) == [path]


def test_a_resumed_night_cannot_go_back_in_time(path: Path) -> None:
    with (
        resume_after(path, lambda raw: raw) as writer,
        pytest.raises(BadSample, match=r"goes back from 14\.5"),
    ):
        writer.add(stage(14.0))


def test_a_closed_night_can_be_taken_up_again(path: Path) -> None:
    with NightWriter(path, INFO) as writer:
        writer.add(stage(1.0))
    with NightWriter.resume(path, sync=False) as writer:
        writer.add(stage(70.0))
    assert [sample.t for sample in NightFile.open(path).samples()] == [1.0, 70.0]
    assert inspect(path).closed


LIVE = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from bedside.recording import NightWriter
from tests.bedside.recording.nights import INFO, eeg_sample, small_night
from devices.types import Sample, StageReading, Stage, Stream
writer = NightWriter(Path(sys.argv[1]), INFO)
for half in range(10**7):
    t = half / 2
    if t % 5 == 0:
        writer.flush(t)
        assert writer.settle()
    writer.add(Sample(Stream.STAGE, t, StageReading(Stage.REM, 0.5), "band", seq=half))
    if half % 2:
        writer.add(eeg_sample(t, half))
    print(t, flush=True)
"""
"""A night as fast as the storage takes it; each line says up to which t it was recorded."""


def kill_while_recording(path: Path, after_lines: int) -> float:
    """Gives the last t that the killed process had recorded."""
    program = LIVE.format(root=str(ROOT))
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        last = 0.0
        for _ in range(after_lines):
            last = float(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        for line in process.stdout:
            if line.endswith("\n"):
                last = float(line)
    return last


def trials(path: Path, numbers: range) -> None:
    dice = Random(23)
    for number in numbers:
        torn, out = path.with_name(f"{number}.mcap"), path.with_name(f"{number}.out.mcap")
        last = kill_while_recording(torn, dice.randrange(20, 400))
        got = [sample for sample in NightFile.open(torn).samples() if sample.stream is Stream.STAGE]
        assert [sample.seq for sample in got] == list(range(len(got)))
        assert last - got[-1].t <= 5.0
        report = recover(torn, out)
        assert report.exit_code == 3
        assert read(out) == read(torn)
        with NightWriter.resume(torn) as writer:
            writer.add(stage(last + 60.0))
        assert next(reversed(list(NightFile.open(torn).samples()))).t == last + 60.0


def test_a_killed_recorder_loses_at_most_five_seconds(path: Path) -> None:
    trials(path, range(3))


@pytest.mark.fuzz
@pytest.mark.timeout(600)
def test_ten_killed_recorders_lose_at_most_five_seconds(path: Path) -> None:
    trials(path, range(3, 13))


FULL = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from bedside.recording import NightFile, NightWriter, NoSpace, write_night
from devices.types import Movement, Sample, Stream
from tests.bedside.recording.nights import INFO, eeg_sample, small_night
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])

def disk(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

writer = NightWriter(path, INFO)
disk(9_000)
told = []
for second in range(600):
    t = float(second)
    if second == 302:
        disk(resource.RLIM_INFINITY)
    source = "band" if second < 200 else "other band"
    for sample in (eeg_sample(t, second), Sample(Stream.MOVEMENT, t, Movement(t), source)):
        try:
            writer.add(sample)
        except NoSpace as error:
            told.append((t, str(error)))
    if second % 5 == 0:
        assert writer.settle()
    if second == 299:
        print("while full", len(list(NightFile.open(path).samples(frozenset({{Stream.MOVEMENT}})))))
writer.close()
print("told", len(told), told[0][1])
print("dropped", writer.dropped_chunks)
times = [s.t for s in NightFile.open(path).samples(frozenset({{Stream.MOVEMENT}}))]
print("before", times.index(300.0) if 300.0 in times else None)
print("after", times[-300:] == [float(t) for t in range(300, 600)])
print("damage", NightFile.open(path).damage)
"""


def test_a_full_disk_is_told_once_and_recording_goes_on_when_there_is_room(path: Path) -> None:
    lines = run(FULL, path)
    assert len(lines["while full"]) <= 3
    seconds = int(lines["while full"])
    assert seconds % 5 == 0
    assert 10 <= seconds < 200
    assert lines["told"].startswith("1 ")
    assert "no space left" in lines["told"]
    assert int(lines["dropped"]) == (300 - seconds) // 5
    assert int(lines["before"]) == seconds
    assert lines["after"] == "True"
    assert lines["damage"] == "None"


AT_ONCE = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from bedside.recording import NightWriter, NoSpace, recover, write_night
from tests.bedside.recording.nights import INFO, small_night
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
whole = path.with_name("whole.mcap")
write_night(whole, small_night(60))
size = whole.stat().st_size
for limit in (0, 100, size // 2, size - 1):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    for attempt in (lambda: write_night(path, small_night(60)), lambda: recover(whole, path)):
        try:
            attempt()
        except NoSpace:
            print("told", limit)
    if limit <= 100:
        try:
            NightWriter(path, INFO)
        except NoSpace:
            print("told", limit)
print("left", [each.name for each in path.parent.iterdir()])
"""


def test_a_full_disk_leaves_nothing_that_looks_whole(path: Path) -> None:
    output = output_of(AT_ONCE, path)
    assert output.count("told") == 10
    assert "left ['whole.mcap']" in output


def output_of(program: str, path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program.format(root=str(ROOT)), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(program: str, path: Path) -> dict[str, str]:
    """What the program printed: the last word of each line by the words before it."""
    lines = output_of(program, path).splitlines()
    names = ("while full", "told", "dropped", "before", "after", "damage")
    return {
        name: line.removeprefix(name).strip()
        for line in lines
        for name in names
        if line.startswith(f"{name} ")
    }


def test_an_unwritable_folder_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(WriteFailed, match=r"n\.mcap: cannot be written \(No such file") as caught:
        NightWriter(tmp_path / "none" / "n.mcap", INFO)
    assert not isinstance(caught.value, NoSpace)
    assert "\n" not in str(caught.value)
