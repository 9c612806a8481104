"""Lasting marks in words for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.trainer.run_folder.search_report import (
    mark_in_words,
    marks_in_words,
    marks_name,
)


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ("treasure:5", "sword"),
        ("treasure:20", "ember seeds"),
        ("treasure:29", "first heart"),
        ("treasure:27", "treasure 0x27"),
        ("season:3", "power of winter"),
        ("sword:2", "sword level 2"),
        ("ring_box:3", "ring box level 3"),
        ("map:1", "map 1"),
        ("boss_key:a", "boss key 10"),
        ("essence:0", "essence 1"),
        ("room:5:c7:20", "item of room 5/C7"),
        ("room:0:48:80", "event in room 0/48"),
        ("room:4:1b:01", "door up of room 4/1B"),
        ("room:0:5a:01", "change 0x01 in room 0/5A"),
        ("room:4:1b:40", "change 0x40 in room 4/1B"),
        ("something new:1", "something new:1"),
        ("season:9", "season:9"),
        ("room:4:1b", "room:4:1b"),
        ("sword", "sword"),
        ("", ""),
    ],
)
def test_a_mark_says_what_it_is(mark: str, words: str):
    assert mark_in_words(mark) == words


@given(st.text())
def test_any_text_has_words(text: str):
    assert isinstance(mark_in_words(text), str)


def test_what_says_most_comes_first():
    marks = ("room:5:c7:20", "map:1", "treasure:5", "unknown:1", "essence:0")
    assert marks_in_words(marks)[:2] == ["essence 1", "sword"]
    assert marks_name(marks) == "essence 1 +4"
    assert marks_name(["treasure:5"]) == "sword"
