import json

from rlaif.hud.browsers.outbox import MAX_EVENTS, MAX_UNACKNOWLEDGED, RESYNC, Outbox, Outgoing


def drain(outbox: Outbox) -> list[Outgoing]:
    items: list[Outgoing] = []
    while (item := outbox.take()) is not None:
        items.append(item)
    return items


def sent_one_by_one(outbox: Outbox, numbers: range) -> list[Outgoing]:
    sent = []
    for number in numbers:
        outbox.put_frame(number, b"%d" % number)
        sent += drain(outbox)
    return sent


def test_of_frames_that_wait_the_newest_three_are_kept() -> None:
    outbox = Outbox()
    for number in range(1, 6):
        outbox.put_frame(number, b"%d" % number)
    assert drain(outbox) == [b"3", b"4", b"5"]


def test_at_most_twelve_frames_are_sent_ahead_of_acknowledgements() -> None:
    outbox = Outbox()
    sent = sent_one_by_one(outbox, range(1, 20))
    assert sent == [b"%d" % number for number in range(1, MAX_UNACKNOWLEDGED + 1)]


def test_an_acknowledgement_covers_the_frames_before_it() -> None:
    outbox = Outbox()
    sent_one_by_one(outbox, range(1, 13))
    outbox.acknowledge(3)
    assert sent_one_by_one(outbox, range(13, 20)) == [b"13", b"14", b"15"]


def test_an_acknowledgement_wakes_only_for_a_frame_that_waits() -> None:
    outbox = Outbox()
    sent_one_by_one(outbox, range(1, 13))
    outbox.wake.clear()
    outbox.acknowledge(1)
    assert not outbox.wake.is_set()
    sent_one_by_one(outbox, range(13, 15))
    outbox.wake.clear()
    outbox.acknowledge(2)
    assert outbox.wake.is_set()


def test_a_paused_picture_sends_no_frame_and_events_continue() -> None:
    outbox = Outbox()
    outbox.want(frames=False, texts=True)
    outbox.put_frame(1, b"1")
    outbox.put_event("event")
    assert drain(outbox) == ["event"]
    outbox.want(frames=True, texts=True)
    assert drain(outbox) == [b"1"]


def test_sections_are_joined_and_the_newest_value_wins() -> None:
    outbox = Outbox()
    outbox.put_sections({"run": "1", "loop": "2"}, "7")
    outbox.put_sections({"run": "3"}, "8")
    [text] = drain(outbox)
    data = {"run": 3, "loop": 2, "now": 8}
    assert json.loads(str(text)) == {"v": 1, "type": "metrics", "data": data}


def test_a_hidden_page_gets_replies_only_and_a_snapshot_when_it_resumes() -> None:
    outbox = Outbox()
    outbox.put_event("line")
    outbox.want(frames=False, texts=False)
    outbox.put_event("line")
    outbox.put_sections({"run": "1"}, "7")
    outbox.put_reply("pong")
    outbox.put_reply("pong again")
    assert drain(outbox) == ["pong again"]
    outbox.want(frames=False, texts=True)
    outbox.put_event("in the snapshot")
    outbox.put_sections({"run": "1"}, "7")
    assert drain(outbox) == [RESYNC]
    outbox.want(frames=True, texts=True)
    assert drain(outbox) == []


def test_too_many_events_are_replaced_by_one_snapshot() -> None:
    outbox = Outbox()
    for number in range(MAX_EVENTS):
        outbox.put_event(str(number))
    assert outbox.take() == "0"
    outbox.put_event("the maximum again")
    outbox.put_event("too many")
    outbox.put_event("part of the snapshot")
    assert drain(outbox) == [RESYNC]
    outbox.put_event("next")
    assert drain(outbox) == ["next"]
