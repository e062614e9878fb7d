"""One look at held-out dice for each build of an agent, kept in a file that is only appended to."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.rem_rule import RemRule
from bedside.agent_loading import identity
from replay.tasks.exposure import Exposed, Exposure, ExposureError, exposures

BUILD = {"name": "rem_rule", "source_sha256": "1a2b3c4d" * 8, "settings": {}}
REBUILT = {**BUILD, "source_sha256": "ffff0000" * 8}


def looks(
    run: str = "run-1", *, agent: dict[str, object] = BUILD, night: str = "n", seed: int = 6
) -> tuple[Exposed, ...]:
    return exposures([agent], [night], [seed], run)


def ledger(tmp_path: Path) -> Exposure:
    return Exposure(tmp_path / "deep" / "exposure.jsonl")


def test_only_held_out_seeds_are_looks() -> None:
    found = exposures([BUILD], ["n", "m"], range(1, 9), "run-1")
    assert [(one.night, one.seed) for one in found] == [
        (night, seed) for night in ("n", "m") for seed in (6, 7, 8)
    ]


def test_a_first_look_is_allowed_and_noted(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    book.check(looks())
    book.record(looks())
    assert book.seen() == looks()
    (row,) = book.path.read_text().splitlines()
    assert json.loads(row) == {
        "schema": 1,
        "night": "n",
        "seed": 6,
        "agent": "rem_rule",
        "source_sha256": BUILD["source_sha256"],
        "run": "run-1",
    }


def test_a_second_look_is_refused_in_one_clear_line(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    book.record(looks())
    with pytest.raises(ExposureError) as refused:
        book.check(looks("run-2"))
    assert str(refused.value) == (
        "rem_rule (build 1a2b3c4d) was already tried on seed 6 of n, in run run-1: a held-out seed "
        f"is for one look. Resume that run, or use seeds 1-5 ({book.path})"
    )
    with pytest.raises(ExposureError):
        book.record(looks("run-2"))
    assert book.seen() == looks()


def test_resuming_the_same_run_is_no_second_look(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    book.record(looks())
    book.check(looks())
    book.record(looks())
    assert len(book.seen()) == 1


@pytest.mark.parametrize(
    "other",
    [
        looks("run-2", agent=REBUILT),
        looks("run-2", night="m"),
        looks("run-2", seed=7),
        looks("run-2", agent={**BUILD, "name": "other"}),
    ],
)
def test_another_build_night_seed_or_agent_has_a_look_of_its_own(
    tmp_path: Path, other: tuple[Exposed, ...]
) -> None:
    book = ledger(tmp_path)
    book.record(looks())
    book.record(other)
    assert book.seen() == (*looks(), *other)


def test_one_refused_look_lets_none_of_its_run_be_noted(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    book.record(looks())
    with pytest.raises(ExposureError):
        book.record((*looks("run-2", night="m"), *looks("run-2")))
    assert book.seen() == looks()


def test_the_build_of_an_agent_is_its_source() -> None:
    (look,) = exposures([identity(RemRule())], ["n"], [8], "run-1")
    assert look.agent == "rem_rule"
    assert look.source_sha256 is not None
    assert len(look.source_sha256) == 64


def test_an_agent_without_a_source_has_one_build(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    unknown = {"name": "typed_in", "source_sha256": None}
    book.record(looks(agent=unknown))
    with pytest.raises(ExposureError, match=r"typed_in \(build unknown\)"):
        book.check(looks("run-2", agent=unknown))


def test_development_seeds_leave_no_file(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    book.record(exposures([BUILD], ["n"], range(1, 6), "run-1"))
    assert not book.path.exists()
    assert book.seen() == ()


def test_a_torn_last_line_is_told_and_the_next_begins_anew(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    book.record(looks())
    whole = book.path.read_bytes()
    book.path.write_bytes(whole + whole[:40])
    assert book.seen() == looks()
    assert book.messages == (
        f"{book.path}: line 2 is broken off and left out: a look may be missing",
    )
    book.record(looks("run-2", night="m"))
    assert book.seen() == (*looks(), *looks("run-2", night="m"))
    assert book.path.read_bytes().startswith(whole + whole[:40] + b"\n")


def test_a_file_that_lacks_only_its_last_newline_loses_nothing(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    book.record(looks())
    book.path.write_bytes(book.path.read_bytes().rstrip())
    book.record(looks("run-2", night="m"))
    assert len(book.seen()) == 2
    assert book.messages == ()


def test_a_newer_ledger_is_refused_by_name(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    book.path.parent.mkdir()
    book.path.write_text('{"schema": 2}\n')
    with pytest.raises(ExposureError, match=r"line 1: schema 2 is newer than 1; update Paprika"):
        book.seen()


def test_a_ledger_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ExposureError, match="directory"):
        Exposure(tmp_path).seen()
    with pytest.raises(ExposureError, match="directory"):
        Exposure(tmp_path).record(looks())


def test_the_ledger_lies_in_the_home_of_paprika(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPRIKA_HOME", str(tmp_path))
    Exposure().record(looks())
    assert (tmp_path / "exposure.jsonl").is_file()


def test_two_programs_at_once_take_one_look_between_them(tmp_path: Path) -> None:
    path = tmp_path / "exposure.jsonl"
    program = (
        "import sys; from pathlib import Path; from replay.tasks.exposure import *\n"
        "agents = [{'name': 'a', 'source_sha256': None}]\n"
        "looks = exposures(agents, ['n'], [6, 7, 8], sys.argv[2])\n"
        "try: Exposure(Path(sys.argv[1])).record(looks)\n"
        "except ExposureError: print('refused')\n"
    )
    root = Path(__file__).resolve().parents[3]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(path), f"run-{k}"],
            cwd=root,
            stdout=subprocess.PIPE,
            text=True,
        )
        for k in range(4)
    ]
    said = [one.communicate()[0].strip() for one in running]
    assert said.count("refused") == 3
    assert len(Exposure(path).seen()) == 3
    assert len({one.run for one in Exposure(path).seen()}) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("schema", "night", "seed", "agent", "run")), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=40)
@given(
    st.lists(
        st.one_of(st.binary(max_size=60), JSON.map(lambda v: json.dumps(v).encode())), max_size=6
    )
)
def test_whatever_stands_in_the_file_is_read_or_told(rows: list[bytes]) -> None:
    book = Exposure(Path("ledger"))
    with suppress(ExposureError):  # a newer schema
        found = book._parsed(b"\n".join(rows))
        assert len(found) + len(book.messages) <= len(b"\n".join(rows).splitlines())


@settings(max_examples=40)
@given(
    st.builds(
        Exposed,
        st.text(max_size=20),
        st.sampled_from((6, 7, 8)),
        st.text(max_size=20),
        st.none() | st.text(max_size=8),
        st.text(max_size=8),
    )
)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, one: Exposed
) -> None:
    book = Exposure(tmp_path_factory.mktemp("ledger") / "exposure.jsonl")
    book.record([one])
    assert book.seen() == (one,)
    assert book.messages == ()
