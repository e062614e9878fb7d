"""A recording by epochs: each sample once, in its epoch, moved as asked."""

from hypothesis import given
from hypothesis import strategies as st

from bedside.recording import MemoryRecording, RecordingInfo
from devices.types import Movement, Sample, Stream, StreamInfo
from replay.pages import PAGES_KEPT, PagesOnce, shared_pages

INFO = RecordingInfo("n", "live", "band", 20, (StreamInfo(Stream.MOVEMENT, None, "band"),))
times = st.lists(st.floats(0.0, 599.0), max_size=60).map(sorted)


def recording(at: list[float]) -> MemoryRecording:
    return MemoryRecording(INFO, tuple(Sample(Stream.MOVEMENT, t, Movement(t)) for t in at))


@given(times)
def test_all_pages_together_are_the_recording(at: list[float]) -> None:
    night = recording(at)
    once, shared = PagesOnce(night, 0), shared_pages(night)
    for pages in (once, shared):
        assert [s.t for epoch in range(20) for s in pages(epoch, 0.0)] == at


@given(times, st.integers(0, 19), st.integers(-20, 20))
def test_a_page_holds_its_epoch_alone_moved_by_so_much(
    at: list[float], epoch: int, by_epochs: int
) -> None:
    by_s = 30.0 * by_epochs
    inside = [t for t in at if 30 * epoch <= t < 30 * (epoch + 1)]
    for pages in (PagesOnce(recording(at), epoch), shared_pages(recording(at))):
        page = pages(epoch, by_s)
        assert [s.t for s in page] == [t + by_s for t in inside]
        assert [s.value for s in page] == [Movement(t) for t in inside]


def test_a_shared_page_that_is_asked_for_again_is_the_same_one() -> None:
    pages = shared_pages(recording([1.0, 31.0]))
    assert pages(1, -30.0) is pages(1, -30.0)
    assert PAGES_KEPT >= 15 * 41


def test_pages_that_were_not_asked_for_are_passed_over() -> None:
    pages = PagesOnce(recording([1.0, 31.0, 61.0, 91.0]), 0)
    assert [s.t for s in pages(2, 0.0)] == [61.0]
    assert [s.t for s in pages(3, 0.0)] == [91.0]
    assert pages(4, 0.0) == []
