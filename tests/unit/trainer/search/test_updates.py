"""Each runner receives each update once."""

from rlaif.game.machine.actions import Action
from rlaif.game.motion.room_graph import Crossing, RoomId
from rlaif.trainer.search.cell import Worth
from rlaif.trainer.search.search import PendingUpdates, Update

FULL = Worth(4.0, 1000)
WAY = Crossing(RoomId(0, 1), RoomId(0, 2), "edge", Action.RIGHT, 155, 70, 6, 70)


def updates_of(*runners: int) -> PendingUpdates:
    """Of runners that know everything so far."""
    updates = PendingUpdates()
    for runner in runners:
        assert updates.take(runner) is None, "it is given everything, not an update"
    return updates


def test_a_runner_gets_no_update_about_its_own_discoveries():
    updates = updates_of(0, 1)
    updates.cells({b"cave": FULL}, frozenset({"treasure:5"}), by=0)
    updates.tries({b"key": 2}, by=0)
    updates.crossings([WAY], by=0)
    assert updates.take(0) == Update()
    theirs = updates.take(1)
    assert theirs == Update({b"cave": FULL}, [], {"treasure:5"}, {b"key": 2}, [WAY])


def test_updates_are_sent_once_and_attempts_add_up():
    updates = updates_of(0)
    updates.tries({b"key": 2})
    updates.tries({b"key": 3})
    assert updates.take(0) == Update(tries={b"key": 5})
    assert updates.take(0) == Update()


def test_a_dropped_cell_is_announced_to_its_finder_too():
    updates = updates_of(0, 1)
    updates.cells({b"cave": FULL}, frozenset(), by=0)
    updates.drop([b"cave"])
    for runner in range(2):
        assert updates.take(runner) == Update(dropped=[b"cave"])


def test_a_runner_that_was_replaced_is_given_everything():
    updates = updates_of(0, 1)
    updates.forget(1)
    updates.cells({b"cave": FULL}, frozenset(), by=0)
    assert updates.take(1) is None
    assert updates.take(1) == Update()
