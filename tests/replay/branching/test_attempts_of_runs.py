"""Attempts of a run are branched where they lie, and come out again with their faults."""

HEAD
# --- attempts of a run


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    spec = small_spec(
        folder,
        "rem_rule",
        "oracle",
        "late_25s",
        "after_stop",
        dropout=0.1,
        conditions=(
            PLAIN,
            Condition(SignalFault.FLICKER, ActuatorFault.CUE_LATE, PersonAct.STOP_PRESSED),
        ),
    )
    made(resolve(spec), folder / "made")
    return folder / "made"


@pytest.mark.parametrize("agent", ["rem_rule", "oracle", "late_25s", "after_stop"])
def test_attempts_of_a_run_come_out_again_with_their_faults(
    tmp_path: Path, run_folder: Path, agent: str
) -> None:
    traces = sorted(run_folder.glob(f"attempts/*/*/{agent}/x1.trace.jsonl.zst"))
    assert len(traces) >= 4
    for number, trace in enumerate(traces):
        rows = b"".join(raw_lines(trace))
        steps = steps_of(lines_of(rows))
        at = len(steps) // 2
        bare = {k: v for k, v in steps[at]["action"].items() if k != "reason"}
        done = branch(trace, at, asked_action(json.dumps(bare)), out=tmp_path / str(number))
        assert done.files["trace.jsonl"].read_bytes() == rows
        hidden = b"".join(raw_lines(trace.with_name("x1.hidden.jsonl.zst")))
        assert done.files["hidden.jsonl"].read_bytes() == hidden
        assert (done.otherwise, done.same_agent) == ((), True)


def test_an_attempt_of_a_run_is_branched_from_its_folder(tmp_path: Path, run_folder: Path) -> None:
    place = sorted(run_folder.glob("attempts/*/rem_onset*/rem_rule"))[0]
    done = branch(place, 10, Stop(), then="clock_only", out=tmp_path / "branch")
    assert (done.branch.ending, len(done.branch.stages)) == ("agent_stop", 11)
    manifest = json.loads(done.files["manifest.json"].read_bytes())
    assert manifest["branch"]["parent_key"].endswith("/rem_rule/x1")


def test_a_run_that_was_made_of_something_else_is_refused(tmp_path: Path, run_folder: Path) -> None:
    copy = copytree(run_folder, tmp_path / "copy")
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "id": "0" * 16}))
    place = sorted(copy.glob("attempts/*/*/rem_rule"))[0]
    with pytest.raises(BranchError, match="paprika plan"):
        branch(place, 3, Wait(), out=tmp_path / "branch")
