"""The hub: every sample of every source, handed to everybody who asked for its stream."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable

from devices.types import VALUE_TYPES, Sample, Stream

Listener = Callable[[Sample], object]


class HubRefused(TypeError):
    """Something that is not a sample was published, such as a recording's hidden truth."""


class Inbox:
    """A bounded queue of samples for a consumer that works at its own pace.

    When full, the oldest sample goes and is counted by stream in `dropped`.
    """

    def __init__(self, size: int) -> None:
        self._samples: deque[Sample] = deque()
        self._size = size
        self.dropped: Counter[Stream] = Counter()

    def __len__(self) -> int:
        return len(self._samples)

    def put(self, sample: Sample) -> None:
        if len(self._samples) >= self._size:
            self.dropped[self._samples.popleft().stream] += 1
        self._samples.append(sample)

    def take(self) -> list[Sample]:
        """Everything waiting, oldest first."""
        taken = list(self._samples)
        self._samples.clear()
        return taken


class Hub:
    """Fan-out of samples, in the order of arrival, on the loop's own thread."""

    def __init__(self) -> None:
        self._listeners: dict[Stream, tuple[Listener, ...]] = dict.fromkeys(Stream, ())
        self.refused: Counter[Stream] = Counter()

    def subscribe(self, listener: Listener, streams: Iterable[Stream]) -> None:
        for stream in streams:
            self._listeners[stream] += (listener,)

    def unsubscribe(self, listener: Listener) -> None:
        for stream, listeners in self._listeners.items():
            self._listeners[stream] = tuple(one for one in listeners if one != listener)

    def inbox(self, streams: Iterable[Stream], size: int) -> Inbox:
        """A queue of at most `size` samples of these streams."""
        inbox = Inbox(size)
        self.subscribe(inbox.put, streams)
        return inbox

    def publish(self, sample: Sample) -> None:
        """Hand a sample to its listeners; refuses anything else, hidden truth above all.

        A value that is not of its stream's type is dropped and counted in `refused`.
        """
        try:
            listeners = self._listeners[sample[0]]
        except (KeyError, TypeError):
            raise HubRefused(f"the hub takes samples only, not {type(sample).__name__}") from None
        if type(sample[2]) is not VALUE_TYPES[sample[0]]:
            self.refused[sample[0]] += 1
            return
        for listener in listeners:
            listener(sample)
