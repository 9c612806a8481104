import json

from rlaif.hud.browsers.outbox import RESYNC, SECTIONS_INTERVAL, Outbox, Outgoing
from rlaif.hud.browsers.told import News


def drain(outbox: Outbox, now: float = 0.0) -> list[Outgoing]:
    items: list[Outgoing] = []
    while (item := outbox.take(now)) is not None:
        items.append(item)
    return items


def sent_each(outbox: Outbox, numbers: range, count: int = 1) -> list[Outgoing]:
    """What goes out as frames, or groups of `count` that end with these, come one by one."""
    sent = []
    for number in numbers:
        outbox.put_frame(number, b"%d" % number, count)
        sent += drain(outbox, number)
    return sent


def whole(text: str) -> News:
    return News(text, None)


def test_frames_that_come_at_once_all_go_to_a_page_that_wants_all() -> None:
    outbox = Outbox()
    outbox.put_frame(1, b"1")
    outbox.put_frame(2, b"2")
    assert drain(outbox) == [b"1", b"2"]
    assert outbox.frames_skipped == 0


def test_of_frames_that_wait_long_the_newest_three_are_kept() -> None:
    outbox = Outbox()
    for number in range(1, 6):
        outbox.put_frame(number, b"%d" % number)
    assert drain(outbox) == [b"3", b"4", b"5"]
    assert outbox.frames_skipped == 2


def test_a_page_that_wants_some_gets_the_newest_alone() -> None:
    outbox = Outbox()
    outbox.limit_rate(10)
    for number in (1, 2, 3):
        outbox.put_frame(number, b"%d" % number)
    assert drain(outbox) == [b"3"]
    assert outbox.frames_skipped == 2


def test_at_most_twelve_frames_are_under_way() -> None:
    outbox = Outbox()
    sent = []
    for number in range(1, 20):
        outbox.put_frame(number, b"%d" % number)
        sent += drain(outbox)
    assert sent == [b"%d" % number for number in range(1, 13)]


def test_an_ack_covers_the_frames_before_it_and_lets_the_newest_go() -> None:
    outbox = Outbox()
    for number in range(1, 20):
        outbox.put_frame(number, b"%d" % number)
        drain(outbox)
    outbox.ack(3)
    sent = drain(outbox)
    for number in (20, 21, 22):
        outbox.put_frame(number, b"%d" % number)
        sent += drain(outbox)
    assert sent == [b"19", b"20", b"21"]


def test_a_group_counts_as_so_many_frames_under_way_and_as_so_many_that_were_skipped() -> None:
    outbox = Outbox()
    outbox.limit_rate(30, in_groups=True)
    sent = sent_each(outbox, range(3, 34, 3), 3)
    assert sent == [b"%d" % number for number in range(3, 25, 3)]
    assert outbox.frames_skipped == 6
    outbox.ack(3)
    assert drain(outbox, 99.0) == [b"33"]


def test_more_are_under_way_in_groups_than_one_by_one() -> None:
    outbox = Outbox()
    outbox.limit_rate(30, in_groups=True)
    assert len(sent_each(outbox, range(3, 16, 3), 3)) == 5
    outbox.ack(15)
    assert sent_each(outbox, range(16, 40)) == [b"%d" % number for number in range(16, 28)]


def test_a_crowd_that_goes_holds_no_frame_up() -> None:
    outbox = Outbox()
    outbox.limit_rate(30, in_groups=True)
    sent_each(outbox, range(3, 16, 3), 3)
    outbox.put_frame(16, b"16")
    assert drain(outbox, 16) == [b"16"]


def test_groups_are_for_a_page_that_asks_for_them_and_wants_all_frames() -> None:
    outbox = Outbox()
    assert not outbox.takes_groups
    for rate, asked, given in (
        (30, True, True),
        (10, True, False),
        (0, True, False),
        (30, False, False),
    ):
        outbox.limit_rate(rate, in_groups=asked)
        assert outbox.takes_groups == given


def test_an_ack_wakes_only_for_a_frame_that_waits() -> None:
    outbox = Outbox()
    sent_each(outbox, range(1, 13))
    outbox.wake.clear()
    outbox.ack(1)
    assert not outbox.wake.is_set()
    outbox.put_frame(13, b"13")
    outbox.put_frame(14, b"14")
    drain(outbox, 13.0)
    outbox.wake.clear()
    outbox.ack(2)
    assert outbox.wake.is_set()


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
    outbox.put_sections({"run": whole("1"), "loop": whole("2")}, "7")
    outbox.put_sections({"run": whole("3")}, "8")
    [text] = drain(outbox)
    data = {"run": 3, "loop": 2, "now": 8}
    assert json.loads(str(text)) == {"v": 1, "type": "metrics", "data": data, "changes": {}}


def test_a_change_that_was_not_sent_gives_way_to_the_value() -> None:
    outbox = Outbox()
    outbox.put_sections({"run": News("[1]", '{"l":1}'), "loop": News("[2]", '{"l":2}')}, "7")
    outbox.put_sections({"run": News("[3]", '{"l":3}')}, "8")
    outbox.put_sections({"run": News("[4]", '{"l":4}')}, "9")
    [text] = drain(outbox)
    message = json.loads(str(text))
    assert message["data"] == {"run": [4], "now": 9}
    assert message["changes"] == {"loop": {"l": 2}}


def test_a_page_that_rests_gets_replies_alone_and_a_snapshot_when_it_goes_on() -> None:
    outbox = Outbox()
    outbox.put_event("line")
    outbox.rest(True)
    outbox.put_event("line")
    outbox.put_sections({"run": whole("1")}, "7")
    outbox.put_reply("pong")
    outbox.put_reply("pong again")
    assert drain(outbox) == ["pong again"]
    outbox.rest(False)
    outbox.put_event("in the snapshot")
    outbox.put_sections({"run": whole("1")}, "7")
    assert drain(outbox) == [RESYNC]
    outbox.rest(False)
    assert drain(outbox) == []


def test_sections_go_four_times_a_second_at_most() -> None:
    outbox = Outbox()
    sent = 0
    for tick in range(100):
        outbox.put_sections({"run": whole(str(tick))}, "7")
        sent += len(drain(outbox, tick / 100))
    assert sent == 1 / SECTIONS_INTERVAL


def test_events_keep_their_order_and_go_first() -> None:
    outbox = Outbox()
    outbox.put_frame(1, b"frame")
    outbox.put_sections({"run": whole("1")}, "7")
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
