"""The hub: every sample of every source, handed to everybody who asked for its stream."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from devices.types import VALUE_TYPES, Sample, Stream

Listener = Callable[[Sample], object]
Test = Callable[[Sample], bool]
Together = Callable[[Sequence[Sample]], object]


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
    once; any other listener of a stream makes the samples that it acts on come one by one.
    """

    def __init__(self) -> None:
        self._routes: dict[Stream, tuple[tuple[Listener, ...], type]] = {
            stream: ((), VALUE_TYPES[stream]) for stream in Stream
        }
        self._keepers: dict[Stream, tuple[Listener, type, Test | None]] = {}
        self._together: dict[Stream, Together] = {}
        self._keeping: set[Listener] = set()
        self._tests: dict[Listener, Test] = {}
        self.refused: Counter[Stream] = Counter()
        self._sort_out()

    def subscribe(
        self,
        listener: Listener,
        streams: Iterable[Stream],
        *,
        keeps: Together | bool = False,
        acts_on: Test | None = None,
    ) -> None:
        """Hear these streams.

        keeps: the listener only stores, and acts on nothing; how it takes many samples of one
        stream together, or True. acts_on: which samples it does anything with; it may or may not
        be handed the others. Asking changes nothing.
        """
        if keeps:
            self._keeping.add(listener)
            if callable(keeps):
                self._together |= dict.fromkeys(streams, keeps)
        if acts_on is not None:
            self._tests[listener] = acts_on
        for stream in streams:
            listeners, value_type = self._routes[stream]
            self._routes[stream] = ((*listeners, listener), value_type)
        self._sort_out()

    def unsubscribe(self, listener: Listener) -> None:
        for stream, (listeners, value_type) in self._routes.items():
            left = tuple(one for one in listeners if one != listener)
            self._routes[stream] = (left, value_type)
        self._tests.pop(listener, None)
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
            keeper, _, acts_on = route
            if acts_on is not None and acts_on(sample):
                return index
            keeper(sample)
        return end

    def keep_all(self, by_stream: Mapping[Stream, Sequence[Sample]]) -> bool:
        """Publish samples whose order between streams matters to nobody; False: not one was.

        A stream's samples come in order. The caller has seen to it that values fit their streams.
        """
        keepers, together = self._keepers, self._together
        for stream in by_stream:
            route = keepers.get(stream)
            if route is None or route[2] is not None:
                return False
        for stream, samples in by_stream.items():
            keeper = keepers[stream][0]
            if keeper is _ignore:
                continue
            if stream in together:
                together[stream](samples)
            else:
                for sample in samples:
                    keeper(sample)
        return True

    def _sort_out(self) -> None:
        """Streams whose samples may be kept in bulk: heard by nobody, or by one keeper, beside whom
        at most one other listens who says what it acts on."""
        self._keepers = {}
        for stream, (listeners, value_type) in self._routes.items():
            keeper, *others = listeners or (_ignore,)
            tests = [self._tests[one] for one in others if one in self._tests]
            if listeners and keeper not in self._keeping:
                continue
            if len(tests) == len(others) <= 1:
                self._keepers[stream] = (keeper, value_type, tests[0] if tests else None)


def _ignore(sample: Sample) -> None:
    """Nobody hears this stream."""
