"""The tasks of a night: names, themes, dice and settings."""

import json
from collections import Counter

import pytest

from bedside.configuration import default_toml
from bedside.safety.gate import Mode
from replay.conditions import PLAIN, Condition, PersonAct, SignalFault
from replay.latency import LatencyModel
from replay.tasks.start_points import DEFAULT_KINDS
from replay.tasks.task import DEVELOPMENT_SEEDS, HELD_OUT_SEEDS, StartKind, Task
from replay.tasks.task_set import make_tasks, task_setting, theme_of
from tests.replay.nights import night
from tests.replay.tasks.made import TABLE, bundled_night, task_at, tried

FLICKER = Condition(signal=SignalFault.FLICKER)
CHANGED = Condition(person=PersonAct.THEME_CHANGED)
SEEDS = (*DEVELOPMENT_SEEDS, *HELD_OUT_SEEDS)
THEMES = ["forest", "sea", "cat", "clock", "eating coconut chicken in Hainan"]


def bundled(**given: object) -> tuple[Task, ...]:
    return make_tasks(bundled_night(), seeds=SEEDS, **given)  # type: ignore[arg-type]


def test_the_bundled_night_gives_15_start_points_under_8_seeds() -> None:
    made = bundled()
    assert len(made) == 120
    assert len({task.name for task in made}) == 120
    assert Counter(task.held_out for task in made) == {False: 75, True: 45}


def test_each_start_meets_every_theme_once_in_five_seeds() -> None:
    met: dict[int, set[str]] = {}
    for task in bundled():
        if task.seed <= 5:
            met.setdefault(task.start.epoch, set()).add(task.theme)
    assert all(sorted(themes) == sorted(THEMES) for themes in met.values())


def test_each_seed_shares_the_themes_out_evenly() -> None:
    counts = Counter((task.seed, task.theme) for task in bundled())
    assert set(counts.values()) == {3}


def test_the_number_of_a_theme_is_its_place_in_the_bundled_file() -> None:
    assert all(THEMES[task.theme_number - 1] == task.theme for task in bundled())


def test_fewer_kinds_change_no_theme() -> None:
    every = {(task.start.epoch, task.seed): task.theme for task in bundled()}
    deep = bundled(kinds=(StartKind.LONGEST_DEEP,))
    assert deep
    assert all(every[task.start.epoch, task.seed] == task.theme for task in deep)


def test_n1_changes_no_theme_of_the_others() -> None:
    recorded = night("WW" + "1" * 5 + "RRRRRR" + "D" * 60)
    plain = make_tasks(recorded, seeds=(1, 2))
    more = make_tasks(recorded, seeds=(1, 2), kinds=tuple(StartKind))
    assert {task.name for task in plain} < {task.name for task in more}


def test_conditions_of_one_start_and_seed_share_its_theme() -> None:
    made = bundled(conditions=(PLAIN, FLICKER))
    assert len(made) == 240
    for plain, flicker in zip(made[::2], made[1::2], strict=True):
        assert flicker.name == f"{plain.name}-flicker"
        assert (plain.start, plain.seed, plain.theme) == (
            flicker.start,
            flicker.seed,
            flicker.theme,
        )


def test_other_names_may_be_rotated() -> None:
    assert {task.theme for task in bundled(themes=("sea", "cat"))} == {"sea", "cat"}


def test_the_name_of_a_task_is_the_seeds_own() -> None:
    first = bundled()[0]
    assert first.name == "sleep_onset-0548-t1-s1"


def test_a_setting_holds_what_the_task_and_the_caller_say() -> None:
    recorded, task = night("R" * 60), task_at(7, seed=4, condition=FLICKER)
    latency = LatencyModel(2.0)
    made = task_setting(
        task,
        recorded,
        wake_table=TABLE,
        mode=Mode.ENFORCE,
        dropout=0.02,
        latency=latency,
        ends_at_stop=False,
        digest=("the sea came back",),
    )
    assert (made.first_epoch, made.steps, made.seed) == (7, 40, 4)
    assert (made.mode, made.dropout, made.condition) == (Mode.ENFORCE, 0.02, FLICKER)
    assert (made.latency, made.ends_at_stop, made.digest) == (
        latency,
        False,
        ("the sea came back",),
    )
    assert made.theme.name == "cat"


def test_a_task_is_forty_actions_from_the_epoch_on_and_then_cut_short() -> None:
    recorded = night("W" * 5 + "L" * 41)
    done = tried(recorded, task_at(5), {})
    assert len(done.steps) == 40
    assert done.trace[-1]["ending"] == "step_limit"
    assert done.steps[0]["observation"]["clock_s"] == 39_600 + 6 * 30
    assert [line["kind"] for line in done.trace].count("last") == 1


def test_history_before_the_task_is_warmed_and_cues_start_empty() -> None:
    recorded = night("WW" + "R" * 60)
    seen = tried(recorded, task_at(20), {}).steps[0]["observation"]
    assert seen["rem_epochs_in_row"] == 19
    assert seen["minutes_since_onset"] == 9.5  # from the start of epoch 2 to that of 21
    assert seen["cues"] == 0


@pytest.mark.parametrize(("given", "told"), [("cat", "clock"), (THEMES[-1], "forest")])
def test_a_changed_theme_is_the_one_after_the_tasks(given: str, told: str) -> None:
    plain = task_at(0)
    changed = Task(plain.night, plain.start, given, THEMES.index(given) + 1, 1, CHANGED)
    assert theme_of(changed).name == told
    own = next(one for one in default_toml("themes")["theme"] if one["name"] == told)
    done = tried(night("R" * 60), changed, {})
    assert done.trace[0]["theme"] == told
    assert done.trace[0]["memory"] == own["memory"]
    assert done.trace[0]["lines"] == own["lines"]


def test_agents_never_see_the_name_of_a_task() -> None:
    done = tried(night("R" * 60), task_at(0, condition=FLICKER), {})
    assert "rem_onset" not in json.dumps(done.trace)
    assert "flicker" not in json.dumps(done.trace)


def test_the_default_kinds_are_the_seeds() -> None:
    assert [kind.value for kind in DEFAULT_KINDS] == [
        "sleep_onset",
        "rem_onset",
        "longest_light",
        "longest_deep",
    ]
