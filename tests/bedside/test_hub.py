import pytest

from bedside.hub import Hub, HubRefused
from devices.types import Movement, Sample, Stage, StageReading, Stream, Truth


def moved(t: float) -> Sample:
    return Sample(Stream.MOVEMENT, t, Movement(0.0))


def staged(t: float) -> Sample:
    return Sample(Stream.STAGE, t, StageReading(Stage.REM))


def test_a_sample_reaches_those_who_asked_for_its_stream_in_the_order_they_asked() -> None:
    hub, heard = Hub(), []
    hub.subscribe(lambda s: heard.append(("first", s.t)), [Stream.STAGE])
    hub.subscribe(lambda s: heard.append(("second", s.t)), [Stream.STAGE, Stream.MOVEMENT])
    hub(staged(1.0))
    hub(moved(2.0))
    assert heard == [("first", 1.0), ("second", 1.0), ("second", 2.0)]


def test_the_hub_refuses_the_hidden_truth() -> None:
    hub = Hub()
    for stream in Stream:
        hub.subscribe(lambda s: pytest.fail(f"heard {s}"), [stream])
    with pytest.raises(HubRefused, match="Truth"):
        hub(Truth(15.0, Stage.REM))  # type: ignore[arg-type]


@pytest.mark.parametrize("thing", [None, 3, "stage", (1.0, 2), object()])
def test_the_hub_refuses_what_is_no_sample(thing: object) -> None:
    with pytest.raises((HubRefused, TypeError)):
        Hub()(thing)  # type: ignore[arg-type]


def test_a_listener_that_leaves_while_it_is_called_disturbs_nobody() -> None:
    hub, heard = Hub(), []

    def once(sample: Sample) -> None:
        heard.append("once")
        hub.unsubscribe(once)

    hub.subscribe(once, [Stream.MOVEMENT])
    hub.subscribe(lambda s: heard.append("always"), [Stream.MOVEMENT])
    hub(moved(0.0))
    hub(moved(1.0))
    assert heard == ["once", "always", "always"]


def test_a_full_inbox_drops_the_oldest_and_counts_it_by_stream() -> None:
    hub = Hub()
    inbox = hub.inbox([Stream.STAGE, Stream.MOVEMENT], size=3)
    hub(staged(0.0))
    for t in (1.0, 2.0, 3.0, 4.0):
        hub(moved(t))
    assert len(inbox) == 3
    assert [sample.t for sample in inbox.take()] == [2.0, 3.0, 4.0]
    assert inbox.dropped == {Stream.STAGE: 1, Stream.MOVEMENT: 1}
    assert inbox.take() == []


def test_a_value_of_another_type_is_dropped_and_counted() -> None:
    hub, heard = Hub(), []
    hub.subscribe(heard.append, [Stream.MOVEMENT, Stream.STAGE])
    hub(Sample(Stream.MOVEMENT, 0.0, StageReading(Stage.REM)))
    hub(Sample(Stream.MOVEMENT, 1.0, None))  # type: ignore[arg-type]
    assert heard == []
    assert hub.refused == {Stream.MOVEMENT: 2}


def test_samples_that_are_only_kept_may_come_in_bulk_until_somebody_acts() -> None:
    hub, kept, acted = Hub(), [], []
    hub.subscribe(kept.append, [Stream.MOVEMENT, Stream.STAGE], keeps=True)
    night = [moved(0.0), staged(1.0), moved(2.0)]
    assert hub.keep(night, 0, 3) == 3
    assert kept == night
    hub.subscribe(acted.append, [Stream.STAGE])
    assert hub.keep(night, 0, 3) == 1  # the stage must come by itself
    assert acted == []
    hub.unsubscribe(acted.append)
    assert hub.keep(night, 0, 3) == 3


def test_in_bulk_nothing_of_another_type_slips_in() -> None:
    hub, kept = Hub(), []
    hub.subscribe(kept.append, [Stream.MOVEMENT], keeps=True)
    wrong = Sample(Stream.MOVEMENT, 1.0, StageReading(Stage.REM))
    assert hub.keep([moved(0.0), wrong], 0, 2) == 1
    assert kept == [moved(0.0)]
