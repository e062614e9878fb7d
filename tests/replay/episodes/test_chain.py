"""Episodes: the chain, its hashes, what may influence what, and going on after a kill."""

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import zstandard

from agents.rem_rule import RemRule
from bedside.recording import MemoryRecording, write_night
from devices.types import PaprikaError
from replay.commands.episode import agent_maker, episode
from replay.commands.episode import recorded_nights as nights_in
from replay.conditions import condition_named
from replay.episodes import (
    DigestRule,
    Episode,
    EpisodeError,
    EpisodeSpec,
    MemoryState,
    MorningReport,
    ScriptedMorning,
    SeenNight,
    run_episode,
)
from replay.export import export
from replay.recorded_night import RecordedNight
from replay.summary import summarise
from replay.trace_lines import read_lines
from tests.replay.nights import START_WALL_NS, night, recording, setting

DAY_NS = 86_400 * 10**9
LETTERS = ("LLLL" + "R" * 60 + "DD", "LLDD" + "R" * 48, "R" * 60, "LL" + "R" * 50 + "W")
"""REM runs so long that the rule cues ten times or more a night."""

SHORT = ("LLLRRRR", "LLRRRRR")
BRIEF = ("LL" + "R" * 9, "LD" + "R" * 8, "R" * 10, "L" + "R" * 8 + "W")
"""A cue or two a night."""


def nights(letters: Sequence[str] = LETTERS) -> list[RecordedNight]:
    return [
        night(one, night_id=f"n{k}", start_wall_ns=START_WALL_NS + k * DAY_NS)
        for k, one in enumerate(letters)
    ]


SPEC = EpisodeSpec(DigestRule, setting(1.0))


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def header(folder: Path, session: int, side: str) -> dict[str, Any]:
    path = folder / f"sessions/{session:03}/{side}/trace.jsonl.zst"
    first: dict[str, Any] = json.loads(zstandard.decompress(path.read_bytes()).splitlines()[0])
    return first


class Counting:
    """A memory that hears everything and tells how often it was called."""

    name = "counting"

    def __init__(self, lines: tuple[str, ...] = (), secret: str = "") -> None:
        self.heard: list[tuple[int, float | None]] = []
        self._lines = lines
        self._secret = secret

    def before(self, session: int) -> MemoryState:
        told = f"{self._secret}{self.heard}"
        return MemoryState(self._lines, sha256(told.encode()).hexdigest())

    def after(self, seen: SeenNight, report: MorningReport) -> None:
        self.heard.append((seen.session, report.theme))


# --- the chain


def test_sessions_are_chained_in_the_order_of_their_dates(tmp_path: Path) -> None:
    done = run_episode(nights()[::-1], SPEC, out=tmp_path)
    assert [row.night for row in done.rows] == ["n0", "n1", "n2", "n3"]
    assert [row.session for row in done.rows] == [1, 2, 3, 4]
    digests = [header(tmp_path, k, "memory")["digest"] for k in (1, 2, 3, 4)]
    assert digests[0][0] == "Play at medium volume."
    assert digests[1][0].startswith("After ")
    assert header(tmp_path, 2, "plain")["digest"] == []


def test_what_is_learnt_is_played(tmp_path: Path) -> None:
    spec = EpisodeSpec(DigestRule, setting(4.0))  # medium wakes from REM with 0.6
    done = run_episode(nights(), spec, out=tmp_path)
    assert "Play at low volume." in header(tmp_path, 2, "memory")["digest"]
    first, *later = done.rows
    assert first.memory.wakings == first.plain.wakings
    assert sum(r.memory.wakings for r in later) < sum(r.plain.wakings for r in later)


def test_rows_are_counted_from_the_traces(tmp_path: Path) -> None:
    spec = EpisodeSpec(RemRule, setting(0.0), morning=ScriptedMorning(recall=0.0))
    (row,) = run_episode(nights(["LLLL" + "R" * 20]), spec, out=tmp_path).rows
    # Cues at the 6th epoch of REM and every fourth: 4 in 20 epochs, which are 10 minutes.
    assert (row.plain.cues, row.plain.rem_cues, row.plain.rem_epochs) == (4, 4, 20)
    assert (row.plain.dose, row.plain.wakings, row.plain.theme) == (0.4, 0, None)


def test_a_side_is_counted_as_a_run_counts_an_attempt(tmp_path: Path) -> None:
    faulty = setting(4.0, condition=condition_named("cue_fails"))
    (row,) = run_episode(nights(LETTERS[:1]), EpisodeSpec(RemRule, faulty), out=tmp_path).rows
    place = tmp_path / "sessions/001/plain"
    trace, hidden = (read_lines(place / f"{name}.jsonl.zst") for name in ("trace", "hidden"))
    done = summarise(trace, hidden, nights(LETTERS[:1])[0].shown)
    side = row.plain
    assert (side.cues, side.wakings) == (len(done.cues), len(done.wakings))
    assert side.violations == sum(done.violations.values())
    assert side.rem_epochs == done.stage_counts["rem"]
    # A cue that failed reached nobody: it is no part of the dose.
    failed = sum(line.get("fault") == "cue_fails" for line in hidden)
    assert failed > 0
    assert side.rem_cues == done.cues_by_stage["rem"] - failed


def test_a_night_without_rem_has_no_dose(tmp_path: Path) -> None:
    (row,) = run_episode(nights(["LLDDLL"]), SPEC, out=tmp_path).rows
    assert (row.memory.dose, row.memory.cues) == (None, 0)


def test_an_agent_that_uses_no_memory_does_the_same_with_and_without(tmp_path: Path) -> None:
    done = run_episode(nights(), EpisodeSpec(RemRule, setting(1.0)), out=tmp_path)
    for row in done.rows:
        assert (row.memory.cues, row.memory.wakings) == (row.plain.cues, row.plain.wakings)
    mean = done.differences["wakings"]["mean"]
    assert mean is not None
    assert (mean.value, mean.low, mean.high, mean.p) == (0.0, 0.0, 0.0, 1.0)


def test_a_morning_without_report_is_null_and_left_out_of_the_slope(tmp_path: Path) -> None:
    spec = EpisodeSpec(DigestRule, setting(1.0), morning=ScriptedMorning(recall=0.0))
    done = run_episode(nights(BRIEF), spec, out=tmp_path)
    assert done.values("memory", "theme") == [None] * 4
    assert done.slopes["memory"]["theme"] is None
    told = json.loads((tmp_path / "episode.json").read_bytes())
    assert told["sessions"][0]["memory"]["theme"] is None
    assert told["slopes"]["memory"]["theme"] is None


def test_reports_are_labelled_synthetic_wherever_they_stand(tmp_path: Path) -> None:
    run_episode(nights(BRIEF), SPEC, out=tmp_path)
    assert json.loads((tmp_path / "episode.json").read_bytes())["reports"] == "synthetic"
    told = json.loads((tmp_path / "sessions/001/session.json").read_bytes())
    assert told["report"]["synthetic"] is True


# --- hashes


def test_memory_is_a_hashed_ingredient_of_the_attempt(tmp_path: Path) -> None:
    ids, shas = [], []
    for secret in ("a", "b"):
        spec = EpisodeSpec(DigestRule, setting(1.0), memory=lambda s=secret: Counting((), s))
        run_episode(nights(BRIEF), spec, out=tmp_path / secret)
        place = tmp_path / secret / "sessions/002/memory/manifest.json"
        manifest = json.loads(place.read_bytes())
        ids.append(manifest["id"])
        shas.append(manifest["memory"]["sha256"])
        assert manifest["id"] == header(tmp_path / secret, 2, "memory")["session"]
        plain = json.loads((place.parents[1] / "plain/manifest.json").read_bytes())
        assert plain["memory"] is None
    assert len(set(ids)) == len(set(shas)) == 2


def test_digest_lines_stand_in_the_manifest(tmp_path: Path) -> None:
    run_episode(nights(), SPEC, out=tmp_path)
    for k in (1, 4):
        manifest = json.loads((tmp_path / f"sessions/{k:03}/memory/manifest.json").read_bytes())
        assert manifest["digest"] == header(tmp_path, k, "memory")["digest"] != []


# --- what may influence what


def sessions_of(folder: Path, count: int) -> dict[str, bytes]:
    wanted = tuple(f"sessions/{k:03}/" for k in range(1, count + 1))
    return {name: raw for name, raw in files_in(folder).items() if name.startswith(wanted)}


def test_a_later_session_never_influences_an_earlier_one(tmp_path: Path) -> None:
    run_episode(nights(), SPEC, out=tmp_path / "all")
    run_episode(nights()[:2], SPEC, out=tmp_path / "two")
    run_episode(nights([*LETTERS[:2], "D" * 30, "W" * 20]), SPEC, out=tmp_path / "other")
    first = sessions_of(tmp_path / "all", 2)
    assert len(first) == 2 * 7
    assert first == sessions_of(tmp_path / "two", 2) == sessions_of(tmp_path / "other", 2)


def test_an_earlier_session_influences_a_later_one_by_memory_alone(tmp_path: Path) -> None:
    run_episode(nights(), SPEC, out=tmp_path / "a")
    run_episode(nights(["W" * 30, *LETTERS[1:]]), SPEC, out=tmp_path / "b")
    plain = [files_in(tmp_path / name / "sessions/004/plain") for name in "ab"]
    assert plain[0] == plain[1]
    assert header(tmp_path / "a", 4, "memory") != header(tmp_path / "b", 4, "memory")


def test_an_episode_is_the_same_bytes_again(tmp_path: Path) -> None:
    run_episode(nights(BRIEF), SPEC, out=tmp_path / "a")
    run_episode(nights(BRIEF), SPEC, out=tmp_path / "b")
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")


# --- going on


class Killed(BaseException):
    pass


def killed_before(session: int) -> Any:
    def report(done: int, of: int, what: str) -> None:
        if done == session - 1:
            raise Killed

    return report


@pytest.mark.parametrize("session", [1, 2, 4])
def test_a_killed_episode_goes_on_from_the_last_whole_session(tmp_path: Path, session: int) -> None:
    with pytest.raises(Killed):
        run_episode(nights(BRIEF), SPEC, out=tmp_path / "a", progress=killed_before(session))
    torn = tmp_path / f"a/sessions/.{session:03}.part/memory"
    torn.mkdir(parents=True)
    (torn / "trace.jsonl.zst").write_bytes(b"half")
    done = run_episode(nights(BRIEF), SPEC, out=tmp_path / "a", resume=True)
    run_episode(nights(BRIEF), SPEC, out=tmp_path / "b")
    assert done.gone_on == session - 1
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")


def test_whole_sessions_are_heard_again_in_their_order(tmp_path: Path) -> None:
    memories: list[Counting] = []

    def made() -> Counting:
        memories.append(Counting())
        return memories[-1]

    spec = EpisodeSpec(DigestRule, setting(1.0), memory=made)
    run_episode(nights(BRIEF), spec, out=tmp_path)
    first = next(one for one in memories if one.heard)
    memories.clear()
    assert run_episode(nights(BRIEF), spec, out=tmp_path, resume=True).gone_on == 4
    assert next(one for one in memories if one.heard).heard == first.heard
    assert [number for number, _ in first.heard] == [1, 2, 3, 4]


def test_an_episode_is_not_mixed_into_a_run_of_tasks(tmp_path: Path) -> None:
    (tmp_path / "attempts").mkdir()
    with pytest.raises(EpisodeError, match="holds a run of tasks"):
        run_episode(nights(), SPEC, out=tmp_path)


def test_an_episode_is_not_gone_on_with_unasked(tmp_path: Path) -> None:
    run_episode(nights(BRIEF), SPEC, out=tmp_path)
    with pytest.raises(EpisodeError, match="--resume"):
        run_episode(nights(BRIEF), SPEC, out=tmp_path)


@pytest.mark.parametrize(
    "other",
    [
        EpisodeSpec(RemRule, setting(1.0)),
        EpisodeSpec(DigestRule, setting(2.0)),
        EpisodeSpec(DigestRule, setting(1.0, seed=2)),
        EpisodeSpec(DigestRule, setting(1.0, theme="sea")),
        EpisodeSpec(DigestRule, setting(1.0), memory=Counting),
    ],
)
def test_sessions_of_something_else_are_refused(tmp_path: Path, other: EpisodeSpec) -> None:
    run_episode(nights(BRIEF), SPEC, out=tmp_path)
    with pytest.raises(EpisodeError, match="sessions/001: made of another"):
        run_episode(nights(BRIEF), other, out=tmp_path, resume=True)


def test_sessions_of_other_nights_are_refused_where_they_begin(tmp_path: Path) -> None:
    run_episode(nights(BRIEF), SPEC, out=tmp_path)
    other = nights([BRIEF[0], "L" * 9, *BRIEF[2:]])
    with pytest.raises(EpisodeError, match="sessions/002: made of another"):
        run_episode(other, SPEC, out=tmp_path, resume=True)


@pytest.mark.parametrize(
    "name",
    ["session.json", "memory/trace.jsonl.zst", "plain/trace.jsonl.zst", "plain/hidden.jsonl.zst"],
)
@pytest.mark.parametrize("raw", [None, b"", b"[1]", zstandard.compress(b'{"kind":"step"}\n')])
def test_a_session_that_was_changed_is_refused(
    tmp_path: Path, name: str, raw: bytes | None
) -> None:
    run_episode(nights(SHORT), SPEC, out=tmp_path)
    path = tmp_path / "sessions/001" / name
    if raw is None:
        path.unlink()
    else:
        path.write_bytes(raw)
    with pytest.raises(EpisodeError, match=r"sessions/001"):
        run_episode(nights(SHORT), SPEC, out=tmp_path, resume=True)


# --- nights


def test_nights_without_a_date_or_at_one_time_have_no_order(tmp_path: Path) -> None:
    undated = night("LLRR", night_id="when", start_wall_ns=None)
    with pytest.raises(EpisodeError, match="when: no date"):
        run_episode([*nights(), undated], SPEC, out=tmp_path)
    with pytest.raises(EpisodeError, match="n0 and n0b start at one time"):
        run_episode([*nights(), night("LL", night_id="n0b")], SPEC, out=tmp_path)
    with pytest.raises(EpisodeError, match="no nights"):
        run_episode([], SPEC, out=tmp_path)


@pytest.fixture
def folder_of_nights(tmp_path: Path) -> Path:
    folder = tmp_path / "nights"
    folder.mkdir()
    for k, letters in enumerate(BRIEF):
        made = recording(letters, night_id=f"n{k}", start_wall_ns=START_WALL_NS + k * DAY_NS)
        write_night(folder / f"n{k}.mcap", made)
    return folder


def test_the_command_prints_sessions_slopes_and_differences(
    tmp_path: Path, folder_of_nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert episode([folder_of_nights], wake_scale=4.0, out=out) == 0
    said = capsys.readouterr().out
    lines = said.splitlines()
    assert lines[0] == "Episode of 4 sessions · digest_rule · waking_memory"
    assert "SYNTHETIC" in lines[1]
    assert max(map(len, lines)) <= 80 + len(str(out))
    rows = [line.split() for line in lines if line.split()[1:2] in (["n0"], ["n3"])]
    assert [row[0] for row in rows] == ["1", "4"]
    assert episode([folder_of_nights], wake_scale=4.0, out=out, resume=True, json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["gone_on"], len(told["sessions"])) == (4, 4)
    first = told["sessions"][0]
    assert rows[0][2:5] == [
        str(first["memory"]["cues"]),
        f"{first['memory']['dose']:.2f}",
        str(first["memory"]["wakings"]),
    ]
    assert set(told["differences"]) == {"theme", "wakings", "dose"}


def test_an_episode_can_be_exported_and_a_session_of_it_branched(
    tmp_path: Path, folder_of_nights: Path
) -> None:
    from replay.branching import asked_action, branch

    out = tmp_path / "out"
    assert episode([folder_of_nights], out=out, json=True) == 0
    done = export(out, tmp_path / "records", hidden=True)
    assert (done.episodes, done.left_out) == (8, ())
    place = out / "sessions/003/memory"
    parted = branch(
        place,
        7,
        asked_action("sound:high"),
        then="rem_rule",
        night=folder_of_nights / "n2.mcap",
        out=tmp_path / "branch",
    )
    assert parted.parted == 7


@pytest.mark.parametrize("name", ["nowhere.mcap", "empty"])
def test_nights_that_are_not_there_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(PaprikaError, match=name):
        nights_in([tmp_path / name])
    with pytest.raises(PaprikaError, match="--nights"):
        nights_in([])


def test_nights_are_found_as_those_of_a_run_in_folders_of_folders(tmp_path: Path) -> None:
    place = tmp_path / "a" / "b"
    place.mkdir(parents=True)
    write_night(place / "n0.mcap", recording("LLRR", night_id="n0"))
    found = nights_in([tmp_path, place / "n0.mcap"])
    assert [night.info.night_id for night in found] == ["n0"]


def test_a_dry_run_says_what_would_be_played_and_plays_nothing(
    tmp_path: Path, folder_of_nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert episode([folder_of_nights], out=out, dry_run=True) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Episode of 4 sessions · digest_rule · waking_memory"
    assert lines[1].startswith("8 attempts would be made")
    rows = [line.split() for line in lines if re.fullmatch(r" *\d  n\d", line)]
    assert rows == [[str(k + 1), f"n{k}"] for k in range(4)]
    episode([folder_of_nights], out=out, dry_run=True, json=True)
    planned = json.loads(capsys.readouterr().out)
    assert not out.exists()
    episode([folder_of_nights], out=out, json=True)
    done = json.loads(capsys.readouterr().out)
    assert (planned["id"], planned["folder"]) == (done["id"], done["folder"])
    assert [row["night"] for row in planned["sessions"]] == [r["night"] for r in done["sessions"]]


def test_mode_and_theme_are_those_of_the_configuration_or_those_given(
    tmp_path: Path, folder_of_nights: Path
) -> None:
    nights = [folder_of_nights / "n0.mcap"]
    episode(nights, out=tmp_path / "default", json=True)
    episode(nights, mode="enforce", theme="sea", out=tmp_path / "given", json=True)
    told = [header(tmp_path / name, 1, "plain") for name in ("default", "given")]
    # config/paprika.toml: theme = "forest", [replay] mode = "observe".
    assert [(one["theme"], one["mode"]) for one in told] == [
        ("forest", "observe"),
        ("sea", "enforce"),
    ]


def test_agents_are_found_by_name_and_made_anew(tmp_path: Path) -> None:
    assert agent_maker("digest_rule")() is not agent_maker("digest_rule")()
    assert agent_maker("rem_rule")().name == "rem_rule"
    with pytest.raises(PaprikaError, match="no agent 'dreamer'"):
        agent_maker("dreamer")


def test_real_nights_of_one_person_in_a_row(recorded_nights: Path, tmp_path: Path) -> None:
    from replay.importers.intake import ImportOptions
    from replay.importers.zeo import read

    place = recorded_nights / "hypnograms" / "zeo"
    first = sorted(place.glob("*.csv"))[0]
    made = list(islice(read(first, ImportOptions()), 2))
    spec = EpisodeSpec(DigestRule, setting(1.0, steps=300))
    known = [RecordedNight(one) for one in made if isinstance(one, MemoryRecording)]
    done: Episode = run_episode(known[::-1], spec, out=tmp_path / "out")
    starts = [row.start_wall_ns for row in done.rows]
    assert len(starts) == 2
    assert starts == sorted(starts)
    assert all(row.memory.rem_epochs > 0 for row in done.rows)
