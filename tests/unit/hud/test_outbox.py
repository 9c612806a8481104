import json

from rlaif.hud.browsers.outbox import RESYNC, SECTIONS_INTERVAL, Outbox, Outgoing


def drain(outbox: Outbox, now: float = 0.0) -> list[Outgoing]:
    items: list[Outgoing] = []
    while (item := outbox.take(now)) is not None:
        items.append(item)
    return items


def test_only_the_newest_frame_waits() -> None:
    outbox = Outbox()
    for number in (1, 2, 3):
        outbox.put_frame(number, b"%d" % number)
    assert drain(outbox) == [b"3"]
    assert outbox.frames_skipped == 2


def test_at_most_three_frames_are_under_way() -> None:
    outbox = Outbox()
    sent = []
    for number in range(1, 10):
        outbox.put_frame(number, b"%d" % number)
        sent += drain(outbox)
    assert sent == [b"1", b"2", b"3"]


def test_an_ack_covers_the_frames_before_it_and_lets_the_newest_go() -> None:
    outbox = Outbox()
    for number in range(1, 10):
        outbox.put_frame(number, b"%d" % number)
        drain(outbox)
    outbox.ack(3)
    sent = drain(outbox)
    for number in (10, 11, 12):
        outbox.put_frame(number, b"%d" % number)
        sent += drain(outbox)
    assert sent == [b"9", b"10", b"11"]


def test_an_ack_of_something_never_sent_is_harmless() -> None:
    outbox = Outbox()
    outbox.ack(99)
    outbox.put_frame(1, b"1")
    assert drain(outbox) == [b"1"]


def test_a_rate_of_zero_sends_no_frame_but_events_go_on() -> None:
    outbox = Outbox()
    outbox.limit_rate(0)
    outbox.put_frame(1, b"1")
    outbox.put_event("event")
    assert drain(outbox) == ["event"]
    assert outbox.due_in(0.0) is None
    outbox.limit_rate(30)
    assert drain(outbox) == [b"1"]


def test_a_rate_spaces_the_frames() -> None:
    outbox = Outbox()
    outbox.limit_rate(10)
    outbox.put_frame(1, b"1")
    assert drain(outbox, 5.0) == [b"1"]
    outbox.put_frame(2, b"2")
    assert drain(outbox, 5.05) == []
    assert 0 < (outbox.due_in(5.05) or 0) <= 0.0501
    assert drain(outbox, 5.11) == [b"2"]


def test_sections_are_joined_and_the_newest_value_wins() -> None:
    outbox = Outbox()
    outbox.put_sections({"run": "1", "loop": "2"})
    outbox.put_sections({"run": "3"})
    [text] = drain(outbox)
    assert json.loads(str(text)) == {"v": 1, "type": "metrics", "data": {"run": 3, "loop": 2}}


def test_sections_go_four_times_a_second_at_most() -> None:
    outbox = Outbox()
    sent = 0
    for tick in range(100):
        outbox.put_sections({"run": str(tick)})
        sent += len(drain(outbox, tick / 100))
    assert sent == 1 / SECTIONS_INTERVAL


def test_events_keep_their_order_and_go_first() -> None:
    outbox = Outbox()
    outbox.put_frame(1, b"frame")
    outbox.put_sections({"run": "1"})
    outbox.put_event("one")
    outbox.put_event("two")
    assert drain(outbox)[:2] == ["one", "two"]


def test_a_thousand_events_wait_and_one_more_asks_for_a_snapshot() -> None:
    outbox = Outbox()
    for number in range(1000):
        outbox.put_event(str(number))
    assert outbox.take(0.0) == "0"
    outbox.put_event("a thousand again")
    outbox.put_event("too many")
    outbox.put_event("part of the snapshot")
    assert drain(outbox) == [RESYNC]


def test_after_a_snapshot_events_go_on() -> None:
    outbox = Outbox()
    outbox.put_resync()
    assert drain(outbox) == [RESYNC]
    outbox.put_event("next")
    assert drain(outbox) == ["next"]
