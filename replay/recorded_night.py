"""A recording with what every attempt on it needs: shown and hidden stages, histories."""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate

from bedside.recording import MemoryRecording, Recording, RecordingInfo
from bedside.sleep_history import SleepHistory
from devices.types import Stage
from replay.hypnogram import shown_stages, stage4_sha256, true_stages
from replay.pages import Pages, PagesOnce, shared_pages


class RecordedNight:
    """Worked out once, shared by all attempts on the same recording."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def __deepcopy__(self, memo: object) -> RecordedNight:
        """Itself: it never changes, and an environment's spec copies what it was made with."""
        return self

    @property
    def info(self) -> RecordingInfo:
        return self.recording.info

    @property
    def place(self) -> str:
        """The night's file, or its id where it has none."""
        return str(getattr(self.recording, "path", self.info.night_id))

    @property
    def damage(self) -> str | None:
        """Where a torn file stops being whole; known once it was played."""
        found = getattr(self.recording, "damage", None)
        return None if found is None else str(found)

    @cached_property
    def shown(self) -> tuple[Stage, ...]:
        """What the recording's stage stream shows, an epoch each."""
        return shown_stages(self.recording)

    @cached_property
    def hidden(self) -> tuple[Stage, ...]:
        """The experts' stages where there are any, else the shown ones; as many as `shown`."""
        truth = true_stages(self.recording)
        if not truth:
            return self.shown
        missing = len(self.shown) - len(truth)
        return truth[: len(self.shown)] + (Stage.UNKNOWN,) * missing

    @cached_property
    def stage4_sha256(self) -> str:
        """Of the hidden stages: the night's key for rolls."""
        return stage4_sha256(self.hidden)

    def pages(self, first: int) -> Pages:
        """Pages from epoch `first` on: shared where the samples are in memory anyway."""
        if self._shared is not None:
            return self._shared
        return PagesOnce(self.recording, first)

    @cached_property
    def _shared(self) -> Pages | None:
        if isinstance(self.recording, MemoryRecording):
            return shared_pages(self.recording)
        return None

    @property
    def epochs(self) -> int:
        return len(self.shown)

    def history_before(self, epoch: int) -> SleepHistory:
        """What the shown stages before `epoch` add up to, for a session that starts there."""
        return self._histories[epoch].moved(epoch)

    @cached_property
    def _histories(self) -> tuple[SleepHistory, ...]:
        coarse = enumerate(stage.coarse for stage in self.shown)
        return tuple(
            accumulate(coarse, lambda history, one: history.after(*one), initial=SleepHistory())
        )
