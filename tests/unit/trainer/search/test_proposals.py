"""Proposals in a room and their order."""

import numpy as np

from rlaif.contracts.game.items import NAMED_ITEMS
from rlaif.game.decisions.catalog import AIMED, DECISIONS, INTERACT, WALK, item
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.motion.grid import WALKS
from rlaif.game.motion.room_watcher import standing
from rlaif.trainer.search.proposals import (
    Proposal,
    Tries,
    choose,
    decisions_of,
    proposals,
    untried,
)


def changed(ram: RamBlocks, **values: int) -> RamBlocks:
    wram = bytearray(ram.wram)
    for name, value in values.items():
        wram[address(name) - 0xC000] = value
    return RamBlocks(bytes(wram), ram.dungeon_layout)


def played(proposal: Proposal, ram: RamBlocks) -> list[int]:
    steps = decisions_of(proposal, np.random.default_rng(0))
    found = [next(steps)]
    try:
        while True:
            found.append(steps.send(ram))
    except StopIteration:
        return found


def test_doors_people_signs_and_edges_are_proposed(village: RamBlocks):
    found = proposals(village)
    assert {each.verb for each in found} >= {"leave", "enter", "touch", "push"}
    assert all(each.verb != "use" for each in found)  # the player has no items
    names = {DECISIONS[each.target].family for each in found if each.target >= 0}
    assert names == {"LEAVE", "GO_TO"}


def test_a_new_item_makes_all_proposals_untried_again(village: RamBlocks):
    tries = Tries()
    for each in proposals(village):
        tries.add(each.key)
    assert untried(proposals(village), tries) == 0
    armed = changed(village, wInventoryB=NAMED_ITEMS["sword"])
    found = proposals(armed)
    assert untried(found, tries) == len({each.key for each in found}) > 4
    assert any(each.verb == "use" and each.item == "sword" for each in found)


def test_more_money_makes_only_conversations_untried_again(village: RamBlocks):
    tries = Tries()
    for each in proposals(village):
        tries.add(each.key)
    rich = changed(village, wNumRupees=0x20)
    fresh = [each for each in proposals(rich) if not tries[each.key]]
    assert fresh
    assert {each.verb for each in fresh} <= {"touch", "push"}


def test_rarely_tried_proposals_are_preferred(village: RamBlocks):
    found, tries, rng = proposals(village), Tries(), np.random.default_rng(0)
    rare = found[-1]
    for each in found:
        if each.key != rare.key:
            for _ in range(99):
                tries.add(each.key)
    chosen = [choose(found, tries, rng).key for _ in range(200)]
    assert chosen.count(rare.key) > 150


def test_counts_of_other_workers_are_added_but_not_reported_again():
    ours, theirs = Tries(), Tries()
    ours.add(b"key")
    theirs.learn(ours.news())
    assert theirs[b"key"] == 1
    assert theirs.news() == {}
    assert ours.news() == {}
    again = Tries()
    again.load_state_dict(theirs.state_dict())
    assert again[b"key"] == 1


def test_an_open_question_has_three_proposals(village: RamBlocks):
    asked = changed(village, wTextIsActive=1, wTextDisplayMode=1)
    found = proposals(asked)
    assert {each.verb for each in found} == {"touch", "answer_other", "refuse"}
    answers = [played(each, asked) for each in found]
    assert answers == [[INTERACT], [int(Action.RIGHT), INTERACT], [int(Action.B)]]


def test_a_push_or_jump_follows_the_facing_direction(village: RamBlocks):
    way = WALKS.index(standing(village).facing)
    target = next(each.target for each in proposals(village) if each.verb == "touch")
    push = played(Proposal("push", target, None, b""), village)
    assert push == [target, WALK.start + way, WALK.start + way]
    jump = played(Proposal("use", target, "feather", b""), village)
    assert jump == [target, item("feather"), AIMED.start + way]


def test_a_block_is_walked_around_to_be_pushed_from_each_side(village: RamBlocks):
    facing_up = changed(village, **{"w1Link.direction": 0})
    up, down, left, right = (WALK.start + WALKS.index(way) for way in WALKS)

    def pushed(way: Action) -> list[int]:
        return played(Proposal("push", 99, None, b"", way), facing_up)[1:]

    assert pushed(Action.UP) == [up, up]
    assert pushed(Action.RIGHT) == [left, up, right, right]
    assert pushed(Action.LEFT) == [right, up, left, left]
    around = pushed(Action.DOWN)
    assert around in ([left, up, up, right, down, down], [right, up, up, left, down, down])
