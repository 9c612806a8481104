import struct
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from rlaif.hud.browsers.frame_group import MOST, WAIT, Grouping, pack_group


def unpacked(message: bytes) -> list[bytes]:
    """The frames of a group, as a page reads it."""
    version, kind, count, rest = message[:4]
    assert (version, kind, rest) == (1, 2, 0)
    frames, at = [], 4
    for _ in range(count):
        (length,) = struct.unpack_from("<I", message, at)
        frames.append(message[at + 4 : at + 4 + length])
        at += 4 + length
    assert at == len(message)
    return frames


class Given:
    """What a grouping gave, and what it wants to be called for later."""

    def __init__(self) -> None:
        self.groups: list[tuple[int, list[bytes], int]] = []
        self.later: list[tuple[float, Callable[[], None]]] = []
        self.grouping = Grouping(self._give, lambda *call: self.later.append(call))

    def _give(self, sequence: int, message: bytes, count: int) -> None:
        self.groups.append((sequence, unpacked(message), count))


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=255))
def test_every_frame_of_a_group_can_be_read_from_it(frames: list[bytes]) -> None:
    assert unpacked(pack_group(frames)) == frames


def test_four_frames_go_together_in_their_order() -> None:
    seen = Given()
    for number in range(1, 10):
        seen.grouping.add(number, b"%d" % number)
    first, second = [b"1", b"2", b"3", b"4"], [b"5", b"6", b"7", b"8"]
    assert seen.groups == [(4, first, MOST), (8, second, MOST)]
    assert not seen.grouping.is_empty


def test_frames_do_not_wait_for_others_that_never_come() -> None:
    seen = Given()
    seen.grouping.add(1, b"1")
    seen.grouping.add(2, b"2")
    ((seconds, call),) = seen.later
    assert seconds == WAIT
    call()
    assert seen.groups == [(2, [b"1", b"2"], 2)]
    assert seen.grouping.is_empty


def test_an_alarm_of_a_group_that_is_gone_sends_nothing_of_the_next() -> None:
    seen = Given()
    for number in range(1, MOST + 2):
        seen.grouping.add(number, b"%d" % number)
    seen.later[0][1]()
    assert len(seen.groups) == 1
    seen.later[1][1]()
    assert seen.groups[1:] == [(MOST + 1, [b"%d" % (MOST + 1)], 1)]


def test_nothing_is_sent_for_no_frames() -> None:
    seen = Given()
    seen.grouping.flush()
    assert seen.groups == []
