"""Who is told what, once."""

from rlaif.game.machine.actions import Action
from rlaif.game.motion.room_graph import Crossing, RoomId
from rlaif.trainer.search.cell import Worth
from rlaif.trainer.search.notices import Notices

FULL = Worth(4.0, 1000)
WAY = Crossing(RoomId(0, 1), RoomId(0, 2), "edge", Action.RIGHT, 155, 70, 6, 70)


def test_who_found_something_is_not_told_of_it():
    notices = Notices(2)
    notices.cells({b"cave": FULL}, frozenset({"treasure:5"}), by=0)
    notices.tries({b"key": 2}, by=0)
    notices.crossings([WAY], by=0)
    ours, theirs = notices.take(0), notices.take(1)
    assert (ours.cells, ours.marks, ours.tries, ours.crossings) == ({}, set(), {}, [])
    assert theirs.cells == {b"cave": FULL}
    assert theirs.marks == {"treasure:5"}
    assert theirs.tries == {b"key": 2}
    assert theirs.crossings == [WAY]


def test_news_are_told_once_and_tries_add_up():
    notices = Notices(1)
    notices.tries({b"key": 2})
    notices.tries({b"key": 3})
    assert notices.take(0).tries == {b"key": 5}
    assert notices.take(0).tries == {}


def test_what_a_search_that_goes_on_knows_is_told_to_all():
    notices = Notices(3)
    notices.cells({b"cave": FULL}, frozenset())
    assert [notices.take(worker).cells for worker in range(3)] == [{b"cave": FULL}] * 3


def test_a_cell_that_was_dropped_is_told_as_such_to_who_found_it_too():
    notices = Notices(2)
    notices.cells({b"cave": FULL}, frozenset(), by=0)
    notices.drop([b"cave"])
    for worker in range(2):
        told = notices.take(worker)
        assert (told.cells, told.dropped) == ({}, [b"cave"])
