"""Each worker receives each update once."""

from rlaif.game.machine.actions import Action
from rlaif.game.motion.room_graph import Crossing, RoomId
from rlaif.trainer.search.cell import Worth
from rlaif.trainer.search.search import PendingUpdates

FULL = Worth(4.0, 1000)
WAY = Crossing(RoomId(0, 1), RoomId(0, 2), "edge", Action.RIGHT, 155, 70, 6, 70)


def test_a_worker_gets_no_update_about_its_own_discoveries():
    updates = PendingUpdates(2)
    updates.cells({b"cave": FULL}, frozenset({"treasure:5"}), by=0)
    updates.tries({b"key": 2}, by=0)
    updates.crossings([WAY], by=0)
    ours, theirs = updates.take(0), updates.take(1)
    assert (ours.cells, ours.marks, ours.tries, ours.crossings) == ({}, set(), {}, [])
    assert theirs.cells == {b"cave": FULL}
    assert theirs.marks == {"treasure:5"}
    assert theirs.tries == {b"key": 2}
    assert theirs.crossings == [WAY]


def test_updates_are_sent_once_and_attempts_add_up():
    updates = PendingUpdates(1)
    updates.tries({b"key": 2})
    updates.tries({b"key": 3})
    assert updates.take(0).tries == {b"key": 5}
    assert updates.take(0).tries == {}


def test_the_knowledge_of_a_resumed_search_is_sent_to_all_workers():
    updates = PendingUpdates(3)
    updates.cells({b"cave": FULL}, frozenset())
    assert [updates.take(worker).cells for worker in range(3)] == [{b"cave": FULL}] * 3


def test_a_dropped_cell_is_announced_to_its_finder_too():
    updates = PendingUpdates(2)
    updates.cells({b"cave": FULL}, frozenset(), by=0)
    updates.drop([b"cave"])
    for worker in range(2):
        told = updates.take(worker)
        assert (told.cells, told.dropped) == ({}, [b"cave"])
