"""Attempts of a paid agent: recorded, repeated with the provider switched off, limited, priced."""

from __future__ import annotations

import asyncio
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.types import Action, Observation, Request, Session, Wait
from agents.wait import WaitAgent
from bedside.outside import OutsideError, Said
from replay.attempt import WayOut
from replay.decisions import (
    CacheCorrupt,
    CacheMiss,
    CacheMode,
    DecisionError,
    DecisionOptions,
    DecisionWayOut,
    Price,
    Prices,
    PriceUnknown,
    SpendCapReached,
    cache_folder,
    costs,
    ledger_at,
    services_from,
)
from replay.latency import LatencyModel
from tests.replay.decisions.provider import (
    COST,
    MODEL,
    USAGE,
    PaidScript,
    fails,
    hang_up,
    ok,
    provider,
    raw,
    status,
)
from tests.replay.nights import Line, Lived, lived, night, setting

NIGHT = night("LLRRRRDDRRRRRRLLRRRR", truth="LLRRRRDDRRRRRRLLRRRR")
ASKED = len("LLRRRRDDRRRRRRLLRRRR")
PRICES = DecisionOptions().prices


def play(options: DecisionOptions, agent: Any = None, made: Any = None, **given: Any) -> Lived:
    way_out = way(options, **given)
    return lived(NIGHT, agent or PaidScript(waits=True), made, way_out=way_out)


def way(options: DecisionOptions, **given: Any) -> DecisionWayOut:
    return DecisionWayOut(options, **{"task": "night-a/t", "seed": 1, **given})


def calls(done: Lived) -> list[Line]:
    return [line for line in done.trace if line["kind"] == "call"]


@pytest.fixture
def options(tmp_path: Path) -> DecisionOptions:
    return DecisionOptions(
        services={"model": "http://127.0.0.1:9/v1"},
        mode=CacheMode.RECORD,
        cache=tmp_path / "cache",
        ledger=tmp_path / "run" / "ledger.jsonl",
        call_limit=None,
    )


def at(options: DecisionOptions, url: str, **changed: Any) -> DecisionOptions:
    return replace(options, services={"model": url}, **changed)


def off(options: DecisionOptions, **changed: Any) -> DecisionOptions:
    """From the cache alone, at an address where nobody listens, with a ledger of its own."""
    assert options.ledger is not None
    given = {"mode": CacheMode.REPLAY_ONLY, "ledger": options.ledger.with_name("rerun"), **changed}
    return at(options, "http://127.0.0.1:9/gone", **given)


# A run repeated from its cache


def test_a_recorded_run_is_repeated_byte_for_byte_with_the_provider_switched_off(
    options: DecisionOptions,
) -> None:
    with provider([status(500, after="0"), status(429, after="0")]) as there:
        first = play(at(options, there.url))
        assert len(there.asked) == ASKED + 2
    again = play(off(options))
    assert (again.trace_bytes, again.hidden_bytes) == (first.trace_bytes, first.hidden_bytes)
    assert {line["action"]["kind"] for line in first.steps} == {"sound", "wait"}
    assert [line["attempts"] for line in calls(first)][:2] == [3, 1]
    assert all(line["latency_s"] > 0.0 for line in calls(first))


def test_a_run_whose_provider_fails_half_of_its_calls_repeats_byte_for_byte_too(
    options: DecisionOptions,
) -> None:
    with provider(choose=fails(0.5, seed=3)) as there:
        first = play(at(options, there.url), made=setting(1.0), unit="u")
    found = costs(first.trace, PRICES)
    assert found.calls == ASKED
    assert 0.2 * ASKED < found.failed_calls < 0.8 * ASKED
    assert found.client_calls == ASKED + 2 * found.failed_calls
    assert found.client_calls == len(there.asked)
    again = play(off(options), made=setting(1.0))
    assert (again.trace_bytes, again.hidden_bytes) == (first.trace_bytes, first.hidden_bytes)


def test_the_agent_is_told_that_a_reply_came_from_the_cache_and_the_trace_is_not(
    options: DecisionOptions,
) -> None:
    asking, repeating = PaidScript(), PaidScript()
    with provider() as there:
        first = play(at(options, there.url), asking)
    play(off(options), repeating)
    assert (set(asking.cached), set(repeating.cached)) == ({False}, {True})
    assert b"cached" not in first.trace_bytes


def test_concurrent_calls_repeat_byte_for_byte_and_are_limited_alike(
    options: DecisionOptions,
) -> None:
    class Three(PaidScript):
        async def decide(self, observation: Observation) -> Action:
            async with asyncio.TaskGroup() as group:
                asked = [group.create_task(self._ask(observation, n)) for n in range(3)]
            return asked[0].result()

    options = replace(options, call_limit=7)
    with provider([status(500, after="0")]) as there:
        first = play(at(options, there.url), Three(waits=True))
        assert len(there.asked) == 7
    again = play(off(options), Three(waits=True))
    assert again.trace_bytes == first.trace_bytes


def test_another_latency_model_or_speed_takes_the_cached_answers_as_they_are(
    options: DecisionOptions,
) -> None:
    delayed = setting(0.0, latency=LatencyModel(1.5))
    with provider() as there:
        first = play(at(options, there.url), made=delayed)
    again = lived(
        NIGHT, PaidScript(waits=True), delayed, way_out=way(off(options)), speed=100_000.0
    )
    assert again.trace_bytes == first.trace_bytes


def test_attempts_at_other_wake_scales_share_answers_as_long_as_they_see_the_same(
    options: DecisionOptions,
) -> None:
    with provider() as there:
        one, two = (
            play(at(options, there.url), made=setting(scale), unit=f"x{scale}")
            for scale in (0.0, 4.0)
        )
        assert ASKED < len(there.asked) < 2 * ASKED
    woken = next(k for k, line in enumerate(two.steps) if line["epoch"] != one.steps[k]["epoch"])
    assert one.steps[: woken - 1] == two.steps[: woken - 1]
    for scale, first in ((0.0, one), (4.0, two)):
        assert play(off(options), made=setting(scale)).trace_bytes == first.trace_bytes


@pytest.mark.parametrize("other", [{"trial": 2}, {"seed": 2}, {"task": "night-b/t"}])
def test_another_trial_seed_or_task_is_asked_anew(
    options: DecisionOptions, other: dict[str, Any]
) -> None:
    with provider() as there:
        play(at(options, there.url))
        play(at(options, there.url), **other)
        assert len(there.asked) == 2 * ASKED


def test_a_run_broken_off_goes_on_where_it_was_and_pays_nothing_twice(
    options: DecisionOptions,
) -> None:
    with provider() as there:
        short = lived(
            NIGHT,
            PaidScript(waits=True),
            setting(0.0, steps=7),
            way_out=way(at(options, there.url), unit="u"),
        )
        whole = play(at(options, there.url), made=setting(0.0), unit="u")
        assert len(there.asked) == ASKED
    assert whole.steps[:7] == short.steps
    assert options.ledger is not None
    found = costs(whole.trace, PRICES, ledger_at(options.ledger).of("u"))
    assert (found.cached, found.cost_paid) == (0, round(ASKED * COST, 9))


# Misses, damage, failures


def test_a_miss_ends_the_attempt_and_names_the_key(options: DecisionOptions) -> None:
    with pytest.raises(CacheMiss, match=r"nothing is stored under [0-9a-f]{16}: model call 1 of"):
        play(off(options))


def test_a_damaged_entry_ends_the_attempt_and_names_the_file(options: DecisionOptions) -> None:
    with provider() as there:
        play(at(options, there.url))
    assert options.cache is not None
    path = sorted(options.cache.rglob("*.json"))[0]
    path.write_bytes(path.read_bytes()[:-40])
    for rerun in (off(options), options):
        with pytest.raises(CacheCorrupt, match=path.name):
            play(rerun)


def test_a_fill_asks_again_only_for_what_failed(options: DecisionOptions) -> None:
    with provider(choose=fails(0.5, seed=3)) as there:
        failed = costs(play(at(options, there.url)).trace, PRICES).failed_calls
    with provider() as there:
        filling = at(options, there.url, mode=CacheMode.FILL).begun()
        assert filling.fill == 1
        filled = play(filling, PaidScript(waits=True))
        # An answer where there was none changes what follows it: those are new questions.
        assert failed <= len(there.asked) < ASKED
    assert costs(filled.trace, PRICES).failed_calls == 0
    assert play(off(options)).trace_bytes == filled.trace_bytes


def test_a_fill_without_a_number_is_not_begun(options: DecisionOptions) -> None:
    with pytest.raises(DecisionError, match="begun"):
        way(replace(options, mode=CacheMode.FILL))


@pytest.mark.parametrize(
    ("say", "error"),
    [
        (raw(b"<html>"), "model: answered with what is not JSON"),
        (raw(b'{"a":"' + b"x" * (1 << 20) + b'"}'), "model: answered with more than 1024 kB"),
        (raw(b'{"half of a pair": "\\ud800"}'), "model: the answer is not JSON"),
        (status(401), "model: HTTP 401 Unauthorized"),
    ],
)
def test_a_provider_s_nonsense_is_a_failed_call_and_the_night_goes_on(
    options: DecisionOptions, say: Any, error: str
) -> None:
    with provider([say]) as there:
        done = play(at(options, there.url))
    assert [line["error"] for line in calls(done)] == [error, *[None] * (ASKED - 1)]
    assert play(off(options)).trace_bytes == done.trace_bytes


def test_a_lost_connection_is_asked_again(options: DecisionOptions) -> None:
    with provider([hang_up]) as there:
        done = play(at(options, there.url))
    assert [line["attempts"] for line in calls(done)] == [2, *[1] * (ASKED - 1)]


def test_nobody_listening_is_a_run_of_failed_calls(options: DecisionOptions) -> None:
    limited = at(options, "http://127.0.0.1:9/gone", call_limit=1)
    done = play(limited)
    found = costs(done.trace, PRICES)
    assert (found.calls, found.failed_calls, found.limit_waits) == (1, 1, ASKED - 1)
    assert found.cost_nominal == 0.0


# The allowance


@pytest.mark.parametrize("limit", [0, 1, 5, 12, 24])
def test_after_the_limit_every_step_waits_and_is_counted(
    options: DecisionOptions, limit: int
) -> None:
    options = replace(options, call_limit=limit)
    with provider() as there:
        first = play(at(options, there.url))
        assert len(there.asked) == min(limit, ASKED)
    found = costs(first.trace, PRICES)
    assert (found.calls, found.client_calls) == (min(limit, ASKED),) * 2
    assert found.limit_waits == max(0, ASKED - limit)
    assert found.failed_calls == 0
    refused = calls(first)[limit:]
    assert all(line["refused"] == "call_limit" for line in refused)
    assert all(line["error"] == "model: no client call is left in this task" for line in refused)
    again = play(off(options))
    assert again.trace_bytes == first.trace_bytes


def test_retries_count_against_the_limit_and_never_pass_it(options: DecisionOptions) -> None:
    with provider([ok, *[status(500, after="0")] * 9]) as there:
        done = play(at(options, there.url, call_limit=5))
        assert len(there.asked) == 5
    assert [line["attempts"] for line in calls(done)][:4] == [1, 3, 1, 0]


def test_an_agent_that_cues_in_spite_of_a_refusal_has_not_waited(options: DecisionOptions) -> None:
    class Stubborn(PaidScript):
        async def decide(self, observation: Observation) -> Action:
            await self._ask(observation, 0)
            return Wait() if self._step else await super().decide(observation)

    with provider() as there:
        done = play(at(options, there.url, call_limit=0), PaidScript())
    # An error of the agent's is a wait too.
    assert costs(done.trace, PRICES).limit_waits == ASKED
    lines = [
        {**line, "action": {"kind": "sound"}} if line["kind"] == "step" else line
        for line in done.trace
    ]
    assert costs(lines, PRICES).limit_waits == 0


def test_a_cap_in_dollars_a_task_counts_cached_calls_like_paid_ones(
    options: DecisionOptions,
) -> None:
    capped = replace(options, task_cap_usd=4.5 * COST)
    with provider() as there:
        first = play(at(capped, there.url))
        assert len(there.asked) == 5
    assert [line["refused"] for line in calls(first)] == [None] * 5 + ["spend_cap"] * (ASKED - 5)
    assert play(off(capped)).trace_bytes == first.trace_bytes


def test_a_cap_of_the_run_counts_what_all_its_attempts_have_paid(options: DecisionOptions) -> None:
    capped = replace(options, run_cap_usd=25.5 * COST)
    with provider() as there:
        play(at(capped, there.url), unit="one")
        with pytest.raises(SpendCapReached, match=r"spent 0\.0390 of 0\.03825 US dollars"):
            play(at(capped, there.url), unit="two", trial=2)
        assert len(there.asked) == 26
        # What is cached costs nothing and needs no money.
        play(at(capped, there.url), unit="three")
    play(off(capped), unit="four")


@pytest.mark.parametrize("cap", [{"task_cap_usd": 1.0}, {"run_cap_usd": 1.0}])
@pytest.mark.parametrize("model", ["unheard-of", None])
def test_a_cap_without_a_price_is_refused(
    options: DecisionOptions, cap: dict[str, float], model: str | None
) -> None:
    with provider() as there, pytest.raises(PriceUnknown, match="--prices"):
        play(at(options, there.url, **cap), PaidScript(model=model))
    assert there.asked == []


def test_a_cap_without_counts_of_tokens_is_refused_at_the_first_answer(
    options: DecisionOptions,
) -> None:
    uncounted = raw(b'{"action":{"kind":"wait"}}')
    with (
        provider([uncounted] * 9) as there,
        pytest.raises(PriceUnknown, match="without counts of tokens"),
    ):
        play(at(options, there.url, task_cap_usd=1.0))
    assert len(there.asked) == 1


# Costs


def test_paid_and_nominal_are_apart(options: DecisionOptions) -> None:
    ledger = options.ledger
    assert ledger is not None
    with provider([status(500, after="0")]) as there:
        done = play(at(options, there.url), unit="u")
    again = play(off(options), unit="u")
    first = costs(done.trace, PRICES, ledger_at(ledger).of("u"))
    rerun = costs(again.trace, PRICES, ledger_at(ledger.with_name("rerun")).of("u"))
    nominal = round(ASKED * COST, 9)
    assert (first.cost_paid, first.cost_nominal, first.cached) == (nominal, nominal, 0)
    assert (rerun.cost_paid, rerun.cost_nominal, rerun.cached) == (0.0, nominal, ASKED)
    assert replace(rerun, cost_paid=first.cost_paid, cached=0) == first
    assert (first.tokens_in, first.tokens_out) == (1000 * ASKED, 100 * ASKED)
    assert (first.calls, first.client_calls) == (ASKED, ASKED + 1)


def test_without_a_ledger_what_was_paid_is_unknown_unless_nothing_was_called(
    options: DecisionOptions,
) -> None:
    with provider() as there:
        done = play(at(options, there.url))
    assert costs(done.trace, PRICES).cost_paid is None
    quiet = costs(lived(NIGHT, WaitAgent()).trace, PRICES)
    assert (quiet.calls, quiet.cost_paid, quiet.cost_nominal) == (0, 0.0, 0.0)


def test_a_model_without_a_price_has_an_unknown_cost(options: DecisionOptions) -> None:
    with provider() as there:
        done = play(at(options, there.url), PaidScript(model="unheard-of"), unit="u")
    assert options.ledger is not None
    found = costs(done.trace, PRICES, ledger_at(options.ledger).of("u"))
    assert (found.cost_paid, found.cost_nominal) == (None, None)
    assert found.tokens_in == 1000 * ASKED
    known = Prices({"unheard-of": Price(2.0, 0.0)})
    assert costs(done.trace, known).cost_nominal == round(ASKED * 0.002, 9)


def test_what_a_cmd_agent_s_process_is_asked_is_no_paid_call() -> None:
    line = {"kind": "call", "service": "process", "refused": None, "error": "ended", "usage": {},
            "attempts": 1, "model": None}  # fmt: skip
    found = costs([line], PRICES)
    assert (found.calls, found.failed_calls, found.cost_nominal) == (0, 0, 0.0)


# Options


def test_options_go_to_another_process_and_the_way_out_is_one_of_attempt_s(
    options: DecisionOptions,
) -> None:
    assert pickle.loads(pickle.dumps(options)) == options
    one: WayOut = way(options)
    assert list(one.services) == ["model"]


def test_what_settles_the_bytes_is_the_same_for_a_run_and_its_repetition(
    options: DecisionOptions,
) -> None:
    assert off(options, run_cap_usd=3.0).as_dict() == options.as_dict()
    assert replace(options, call_limit=24).as_dict() != options.as_dict()
    assert replace(options, prices=Prices()).as_dict() != options.as_dict()


def test_an_agent_that_asks_nobody_is_left_alone(options: DecisionOptions) -> None:
    agent = WaitAgent()
    assert way(options).watching(agent) is agent


def test_a_way_out_without_services_changes_no_byte_of_a_rule_agent_s_run() -> None:
    plain = lived(NIGHT, WaitAgent())
    assert play(DecisionOptions(), WaitAgent()).trace_bytes == plain.trace_bytes


def test_an_agent_that_asks_for_a_service_that_is_not_there_is_told_so() -> None:
    done = play(DecisionOptions())
    assert calls(done)[0]["error"] == "no service is named 'model'; there are: none"


class InProcess:
    """A service without HTTP; its first answer cannot be stored."""

    def __init__(self) -> None:
        self.asked = 0

    async def answer(self, request: Request) -> Said:
        self.asked += 1
        bad = {"action": {"kind": {1, 2}}}
        return Said(bad if self.asked == 1 else {"action": {"kind": "wait"}}, USAGE)


def test_a_service_may_be_any_object_and_what_is_not_json_is_an_error(
    options: DecisionOptions,
) -> None:
    service = InProcess()
    options = replace(options, services={})
    done = play(options, services={"model": service})
    assert service.asked == ASKED
    assert calls(done)[0]["error"] == "model: the answer is not JSON"
    again = play(replace(options, services={"model": "http://127.0.0.1:9"}))
    assert again.trace_bytes == done.trace_bytes


class Odd(PaidScript):
    """Asks what is not JSON."""

    async def decide(self, observation: Observation) -> Action:
        assert self._outside is not None
        odd = {"n": float("nan")} if observation.clock_s % 60 else {"half of a pair": "\ud800"}
        reply = await self._outside.call(Request("model", odd))
        return Wait(reply.error or "")

    def reset(self, session: Session) -> None:
        """Nothing to begin."""


def test_a_body_that_is_not_json_is_an_error_in_every_mode(options: DecisionOptions) -> None:
    first = play(options, Odd())
    assert {line["error"] for line in calls(first)} == {"model: the request is not JSON"}
    assert play(off(options), Odd()).trace_bytes == first.trace_bytes


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"mode": CacheMode.RECORD, "cache": None}, "--cache-mode record: give the folder"),
        ({"call_limit": -1}, "--call-limit -1"),
        ({"task_cap_usd": -0.5}, "--task-cap -0.5"),
        ({"run_cap_usd": float("nan")}, "--spend-cap nan"),
    ],
)
def test_options_that_do_not_fit_are_refused_by_name(given: dict[str, Any], error: str) -> None:
    with pytest.raises(DecisionError, match=error):
        DecisionOptions(**given)


def test_a_cap_of_the_run_needs_a_ledger() -> None:
    with pytest.raises(DecisionError, match="--spend-cap needs a run folder"):
        DecisionOptions(run_cap_usd=1.0).begun()


def test_services_are_read_from_words() -> None:
    spoken = ["model=http://127.0.0.1:80/v1?a=b", "judge=https://example.com"]
    assert services_from(spoken) == {
        "model": "http://127.0.0.1:80/v1?a=b",
        "judge": "https://example.com",
    }


@pytest.mark.parametrize(
    ("spoken", "error"),
    [
        (["http://127.0.0.1"], "give NAME=URL"),
        (["Model=http://127.0.0.1"], "give NAME=URL"),
        (["process=http://127.0.0.1"], "taken"),
        (["a=http://127.0.0.1", "a=http://127.0.0.1"], "given twice"),
        (["a=ftp://127.0.0.1"], "begins with http"),
    ],
)
def test_words_that_name_no_service_are_refused(spoken: list[str], error: str) -> None:
    with pytest.raises(OutsideError, match=error):
        services_from(spoken)


def test_the_cache_lies_in_the_home_unless_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPRIKA_HOME", str(tmp_path))
    assert cache_folder(None) == tmp_path / "cache" / "decisions"
    assert cache_folder(tmp_path / "a") == tmp_path / "a"
    assert MODEL in PRICES.models
