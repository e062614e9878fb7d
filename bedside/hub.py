"""The hub: every sample of every source, handed to everybody who asked for its stream."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence

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
    """Fan-out of samples, in the order of arrival, on the loop's own thread.

    Calling it publishes. Listeners that only keep what they hear may be handed many samples at
    once; any other listener of a stream makes its samples come one by one.
    """

    def __init__(self) -> None:
        self._routes: dict[Stream, tuple[tuple[Listener, ...], type]] = {
            stream: ((), VALUE_TYPES[stream]) for stream in Stream
        }
        self._keepers: dict[Stream, tuple[Listener, type]] = {}
        self._keeping: set[Listener] = set()
        self.refused: Counter[Stream] = Counter()
        self._sort_out()

    def subscribe(
        self, listener: Listener, streams: Iterable[Stream], *, keeps: bool = False
    ) -> None:
        """Hear these streams. keeps: the listener only stores, and acts on nothing."""
        if keeps:
            self._keeping.add(listener)
        for stream in streams:
            listeners, value_type = self._routes[stream]
            self._routes[stream] = ((*listeners, listener), value_type)
        self._sort_out()

    def unsubscribe(self, listener: Listener) -> None:
        for stream, (listeners, value_type) in self._routes.items():
            left = tuple(one for one in listeners if one != listener)
            self._routes[stream] = (left, value_type)
        self._sort_out()

    def inbox(self, streams: Iterable[Stream], size: int) -> Inbox:
        """A queue of at most `size` samples of these streams."""
        inbox = Inbox(size)
        self.subscribe(inbox.put, streams, keeps=True)
        return inbox

    def __call__(self, sample: Sample) -> None:
        """Hand a sample to its listeners; refuses anything else, hidden truth above all.

        A value that is not of its stream's type is dropped and counted in `refused`.
        """
        try:
            listeners, value_type = self._routes[sample[0]]
        except (KeyError, TypeError):
            raise HubRefused(f"the hub takes samples only, not {type(sample).__name__}") from None
        if type(sample[2]) is not value_type:
            self.refused[sample[0]] += 1
            return
        for listener in listeners:
            listener(sample)

    def keep(self, samples: Sequence[Sample], start: int, end: int) -> int:
        """Publish `samples[start:end]` up to the first that somebody acts on; gives its index."""
        keepers = self._keepers
        for index in range(start, end):
            sample = samples[index]
            route = keepers.get(sample[0])
            if route is None or type(sample[2]) is not route[1]:
                return index
            route[0](sample)
        return end

    def _sort_out(self) -> None:
        """Streams whose samples may be kept in bulk: heard by one keeper, or by nobody."""
        self._keepers = {}
        for stream, (listeners, value_type) in self._routes.items():
            if not listeners:
                self._keepers[stream] = (_ignore, value_type)
            elif len(listeners) == 1 and listeners[0] in self._keeping:
                self._keepers[stream] = (listeners[0], value_type)


def _ignore(sample: Sample) -> None:
    """Nobody hears this stream."""
