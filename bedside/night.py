"""The night: one loop from samples to cues, the same object live and in replay.

Every 30 seconds the epoch closes, the agent is asked what to do, the gate judges the answer at the
moment it would be carried out, the intent is written down and made safe, and only then anything
plays. Sleep goes on meanwhile: samples arrive while the agent decides and while a cue sounds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from agents.types import (
    Agent,
    AgentError,
    AsksOutside,
    Observation,
    Outside,
    PlaySound,
    SessionKind,
    Stop,
    UseObject,
    Wait,
    Whisper,
)
from bedside import record
from bedside.clock import SessionClock
from bedside.decider import Decider, Decision, told
from bedside.epocher import Epoch, Epocher
from bedside.hub import Hub
from bedside.observer import CueLedger, Observer
from bedside.person import PersonState
from bedside.plan import Ending, NightPlan, Resumed
from bedside.safety.caps import duration_s
from bedside.safety.gate import Mode, judge
from bedside.safety.limits import History
from bedside.safety.rules import CueAction
from bedside.safety.waking import Sign
from bedside.sleep_history import SleepHistory
from bedside.trace import Trace, rounded
from bedside.waking_watch import WakingWatch
from devices.ports import Actuator, Continuous, Source
from devices.types import (
    EPOCH_S,
    Cue,
    CueKind,
    CueSounded,
    Outcome,
    OutcomeStatus,
    PersonEvent,
    Sample,
    Stream,
    Volume,
)

INTENT_LIMIT_S: Final = 1.0
"""A cue whose intent is not safe after so long is dropped. Source: `design.md` §5, Trace."""
OUTCOME_GRACE_S: Final = 5.0
"""An actuator that has not returned so long after a cue's end has failed. Assumed."""


@dataclass(frozen=True, slots=True)
class StepDone:
    """What the end of a step can be judged by."""

    step: int
    t: float
    stopped: bool
    history: SleepHistory


class Night:
    """One session, from the first epoch to its ending.

    Args:
        plan: what was settled before. clock: session time.
        sources: the preferred source of a stream first. actuators: the first that has a kind
            performs it. agent: who decides. outside: its only way out.
        trace: where every decision is written before it is carried out.
        ended: asked after every step; an ending stops the night.
    """

    def __init__(
        self,
        plan: NightPlan,
        *,
        clock: SessionClock,
        sources: Sequence[Source],
        actuators: Sequence[Actuator],
        agent: Agent,
        trace: Trace,
        ended: Callable[[StepDone], Ending | None],
        outside: Outside | None = None,
    ) -> None:
        self._plan = plan
        self._clock = clock
        self._sources = sources
        self._actuators = actuators
        self._beds = [one for one in actuators if isinstance(one, Continuous)]
        self._agent = agent
        self._outside = outside
        self._trace = trace
        self._ended = ended
        self._streams = [info for source in sources for info in source.streams]
        self.hub = Hub()
        self._epocher = Epocher(self._streams)
        self._observer = Observer(plan.session, plan.history)
        self._decider = Decider(agent, clock)
        self._person = PersonState(on_stop=self._silence, on_clear=self._rearm)
        self._watch = WakingWatch(self.hub, self._epocher.windows, self._suspect)
        self._tally = record.Tally()
        resumed = plan.resumed or Resumed(first_step=0)
        self._first_step = resumed.first_step
        self._cues = CueLedger(
            resumed.past, resumed.given, suspected_wakings=resumed.suspected_wakings
        )
        self._stopped = resumed.agent_stopped
        if resumed.person_stopped:
            self._person.stop()
        self._running: asyncio.Task[object] | None = None
        self._asked_to_end: Ending | None = None

    def stop(self) -> None:
        """The person's STOP: silence now, and no cue until they clear it. Safe from any thread,
        also while the loop is blocked; tell the night by a `person` sample as well."""
        self._person.stop()

    def end(self, ending: Ending) -> None:
        """End the session now, from the loop's own thread; `run` then returns this ending."""
        self._asked_to_end = ending
        if self._running is not None:
            self._running.cancel()

    async def run(self) -> Ending:
        """Live the night through; the trace is complete when this returns, also when cancelled."""
        self._running = task = asyncio.current_task()
        self._epocher.listen(self.hub)
        self.hub.subscribe(self._hear_person, (Stream.PERSON,))
        if isinstance(self._agent, AsksOutside) and self._outside is not None:
            self._agent.connect(self._outside)
        self._begin_agent()
        self._trace.line("header", record.header(self._plan, self._agent.name, self._streams))
        try:
            ending = await self._live()
        except asyncio.CancelledError:
            ending = self._asked_to_end or Ending.CANCELLED
            self._trace.line("footer", self._tally.footer(self._clock.t(), ending))
            if self._asked_to_end is None or task is None:
                raise
            task.uncancel()
            return ending
        self._trace.line("footer", self._tally.footer(self._clock.t(), ending))
        return ending

    def _begin_agent(self) -> None:
        try:
            self._agent.reset(replace(self._plan.session))
        except (Exception, SystemExit) as error:
            raise AgentError(f"{self._agent.name} cannot begin: {told(error)}") from error

    async def _live(self) -> Ending:
        async with AsyncExitStack() as devices:
            for actuator in self._actuators:
                await devices.enter_async_context(actuator.ready(self._clock))
            for source in self._sources:
                await devices.enter_async_context(source.pushing(self.hub, self._clock))
            self._epocher.warm()
            try:
                async with asyncio.TaskGroup() as performing:
                    return await self._steps(performing)
            except ExceptionGroup as several:
                raise several.exceptions[0] from several

    async def _steps(self, performing: asyncio.TaskGroup) -> Ending:
        for step in count(self._first_step):
            await self._clock.until((step + 1) * EPOCH_S)
            await self._step(step, performing)
            done = StepDone(step, self._clock.t(), self._stopped, self._observer.history)
            ending = self._ended(done)
            if ending is not None:
                if ending.has_more_to_see:
                    await self._last_look(step + 1)
                return ending
        raise AssertionError("unreachable")

    async def _step(self, step: int, performing: asyncio.TaskGroup) -> None:
        """One epoch: close it, observe, ask, and carry out what the gate lets through."""
        epoch, observation = self._observe(step)
        seen = record.seen(epoch, observation)  # before anybody can write into it
        limit_s = self._plan.decision_limit_s
        decision = await self._decider.ask(observation, epoch.end_t, limit_s)
        t = self._clock.t()
        cue = self._judge(epoch, seen, decision, t)
        if isinstance(decision.action, Stop):
            self._stopped = True
        if cue is None:
            return
        clock_s = self._plan.session.start_clock_s + t
        self._cues.add(cue, t, clock_s, self._observer.history.rem_period)
        safe = await self._trace.settle(INTENT_LIMIT_S)
        dropped = self._dropped(safe, epoch.end_t + limit_s)
        if dropped is None:
            self._watch.begin(cue, self._clock.t())
            performing.create_task(self._perform(cue), name=f"cue {cue.number}")
        else:
            self._end(cue, self._failed(f"dropped: {dropped}"))

    def _observe(self, step: int) -> tuple[Epoch, Observation]:
        epoch = self._epocher.close(step)
        for bed in self._beds:
            bed.renew()
        self._person.close_epoch(asleep=epoch.stage.is_sleep)
        return epoch, self._observer.observe(epoch, self._cues, self._person)

    async def _last_look(self, step: int) -> None:
        """What the last action led to: one more epoch, for which nobody is asked."""
        await self._clock.until((step + 1) * EPOCH_S)
        self._trace.line("last", record.seen(*self._observe(step)))

    def _judge(self, epoch: Epoch, seen: record.Line, decision: Decision, t: float) -> Cue | None:
        """Judge the action as of now and write the step; the cue to begin, if any."""
        action = decision.action
        verdict, cue, delivery = None, None, None
        if not isinstance(action, Wait | Stop):
            shown = self._epocher.shown(t)
            verdict = judge(
                action,
                t=t,
                shown=shown,
                words=self._plan.words,
                lines=self._plan.session.lines,
                memory=self._plan.session.memory,
                history=self._history(t),
                personal=self._plan.personal,
                mode=self._plan.mode,
            )
            if verdict.delivered is not None:
                cue = self._cue(verdict.delivered, epoch.index)
            delivery = record.delivery(t, shown, verdict, cue)
        self._trace.line("step", record.step(seen, decision, delivery))
        self._tally.step(decision, verdict, cue)
        return cue

    def _history(self, t: float) -> History:
        slept = self._observer.history
        waits_for = slept.sustained_onset
        if self._plan.session.kind in (SessionKind.SLEEP_ONSET, SessionKind.TDI):
            waits_for = slept.onset
        return History(
            cues=self._cues.past,
            suspected_wakings=self._cues.suspected_wakings,
            rem_period=slept.rem_period,
            agent_stopped=self._stopped,
            person_stopped=self._person.stopped,
            record_only=self._plan.record_only,
            paused_until=self._person.pause_at(t),
            reported_awake=self._person.reported_awake,
            before_onset=waits_for is None,
        )

    def _cue(self, action: CueAction, step: int) -> Cue:
        number, theme, plan = len(self._cues.past) + 1, self._plan.session.theme, self._plan
        match action:
            case PlaySound(volume=volume):
                kind, line, asked_s = CueKind.SOUND, None, plan.sound_s
            case Whisper(line=line, volume=volume):
                kind, asked_s = CueKind.WHISPER, plan.whisper_s
            case UseObject(object=thing):
                kind, line, asked_s, volume = CueKind(thing.value), None, plan.object_s, Volume.LOW
        lasts_s = duration_s(kind, asked_s).value
        return Cue(number, kind, volume, theme, lasts_s, line, step=step)

    def _dropped(self, safe: bool, deadline_t: float) -> str | None:
        """Why a cue whose intent is written is not begun after all; None: it is."""
        t = self._clock.t()
        if not safe:
            return "its intent was not on the disk in time"
        if t >= deadline_t:
            return "its time was over before its intent was on the disk"
        if self._person.stopped:
            return "the person pressed stop"
        quiet = self._person.pause_at(t) is not None or self._person.reported_awake
        if quiet and self._plan.mode is Mode.ENFORCE:
            return "the person asked for quiet"
        return None

    async def _perform(self, cue: Cue) -> None:
        actuator = next((a for a in self._actuators if cue.kind in a.kinds), None)
        if actuator is None:
            self._end(cue, self._failed(f"no device performs {cue.kind}"))
            return
        try:
            self._end(cue, await self._outcome(actuator, cue))
        except asyncio.CancelledError:
            actuator.fade_out()
            t = self._clock.t()
            self._end(cue, Outcome(OutcomeStatus.SILENCED, None, t, detail="the night ended"))
            raise

    def _end(self, cue: Cue, outcome: Outcome) -> None:
        t = self._clock.t()
        self._cues.end(cue, outcome)
        self._tally.outcome(outcome)
        self._trace.line("event", record.outcome(cue, outcome, t))
        self.hub(Sample(Stream.CUE, t, CueSounded(cue, outcome), "night"))

    async def _outcome(self, actuator: Actuator, cue: Cue) -> Outcome:
        try:
            async with asyncio.timeout(cue.deadline_s + cue.duration_s + OUTCOME_GRACE_S):
                outcome: object = await actuator.perform(cue)
        except TimeoutError:
            self._hush(actuator)
            return self._failed(f"{actuator.name} did not return")
        except Exception as error:
            self._hush(actuator)
            return self._failed(f"{actuator.name}: {told(error)}")
        if isinstance(outcome, Outcome):
            return outcome
        self._hush(actuator)
        return self._failed(f"{actuator.name}: {type(outcome).__name__} is no outcome")

    def _failed(self, detail: str) -> Outcome:
        return Outcome(OutcomeStatus.FAILED, None, self._clock.t(), detail=detail)

    def _suspect(self, cue: Cue, t: float, signs: tuple[Sign, ...]) -> None:
        """Signs of waking after a cue: note them, and end the cue where it still sounds."""
        self._cues.suspected_wakings += (t,)
        self._tally.suspected_wakings += 1
        self._event("suspected_waking", cue=cue.number, signs=signs)
        if self._plan.mode is Mode.ENFORCE:
            for actuator in self._actuators:
                actuator.fade_out()

    def _hear_person(self, sample: Sample) -> None:
        self._person.hear(sample)
        assert isinstance(sample.value, PersonEvent)
        minutes = rounded(sample.value.minutes, "minutes")
        self._event("person", act=sample.value.act, minutes=minutes)

    def _event(self, name: str, **fields: object) -> None:
        self._trace.line("event", {"t": rounded(self._clock.t(), "t"), "event": name, **fields})

    def _hush(self, actuator: Actuator) -> None:
        """Silence a device that does not behave; the next cue may try it again."""
        actuator.silence()
        if not self._person.stopped:
            actuator.rearm()
        if self._person.stopped:  # pressed from another thread just now
            actuator.silence()

    def _silence(self) -> None:
        for actuator in self._actuators:
            actuator.silence()

    def _rearm(self) -> None:
        for actuator in self._actuators:
            actuator.rearm()
